"""samples.jsonl: a line per model and sample."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from tests.reports.task_runs import filled, run_of
from valor_cli.reports.files.samples_jsonl import jsonl_blocks
from valor_cli.results import JudgeCalls, SamplesResult

IMAGES = SamplesResult(
    "image_scores", "m", {}, (1, 2), {"f1": [0.5, None], "tp": [3, 0]}, (None, "no objects")
)
OK: dict[str, Any] = {"status": "ok", "value": 0.5, "outputs": {}, "reason": None}


def _lines(*columns: SamplesResult) -> list[dict[str, Any]]:
    models = tuple(dict.fromkeys(one.model for one in columns))
    run = run_of("text_generation", models or ("m",), samples=columns)
    return [json.loads(line) for line in b"".join(jsonl_blocks(run)).splitlines()]


def _values(
    metric: str, ids: Sequence[Any], values: Mapping[str, Sequence[Any]], **rest: Any
) -> SamplesResult:
    told: dict[str, Any] = {"undefined": (None,) * len(ids), **rest}
    return filled(SamplesResult, metric, "m", {}, ids, values, **told)


def test_lines_worked_by_hand() -> None:
    scored = {**OK, "outputs": {"tp": 3}}
    none = {"status": "not_applicable", "value": None, "outputs": {"tp": 0}, "reason": "no objects"}
    assert _lines(IMAGES, replace(IMAGES, model="n")) == [
        {"sample_id": 1, "model": "m", "metrics": {"image_scores": scored}},
        {"sample_id": 2, "model": "m", "metrics": {"image_scores": none}},
        {"sample_id": 1, "model": "n", "metrics": {"image_scores": scored}},
        {"sample_id": 2, "model": "n", "metrics": {"image_scores": none}},
    ]
    assert _lines() == []


@pytest.mark.parametrize(
    ("sets", "names"),
    [
        ([{"iou": 0.5}, {"iou": 0.75}], ["iou=0.5", "iou=0.75"]),
        # cut to their ends, both lists read the same
        ([{"at": (0, n, 2, 3, 4)} for n in (0.5, 0.6)], ["at=0…4 (5) #1", "at=0…4 (5) #2"]),
    ],
)
def test_a_metric_asked_twice_has_two_names(sets: list[Any], names: list[str]) -> None:
    for line in _lines(*(replace(IMAGES, parameters=one) for one in sets)):
        assert list(line["metrics"]) == [f"image_scores ({name})" for name in names]


def test_one_output_alone_and_ids_of_any_kind() -> None:
    ids = ("a", 1, True, "<b>\n")
    lines = _lines(_values("score", ids, {"value": [0.5, 0.2, 0.3, 0.4]}))
    assert [line["sample_id"] for line in lines] == list(ids)
    assert lines[2]["sample_id"] is True
    assert lines[0]["metrics"] == {"score": OK}


BLEU = _values(
    "bleu_1",
    ("a", "b", "c"),
    {"value": [0.5, None, None], "precision": [0.6, None, None]},
    undefined=(None, "no response", "timed out"),
    statuses=("ok", "missing_input", "parse_failure"),
    details=({"tokens": [3, 4]}, None, None),
)


def test_statuses_and_details_of_samples() -> None:
    none = {"value": None, "outputs": {"precision": None}, "details": {}}
    assert [line["metrics"]["bleu_1"] for line in _lines(BLEU)] == [
        {**OK, "outputs": {"precision": 0.6}, "details": {"tokens": [3, 4]}},
        {"status": "missing_input", "reason": "no response", **none},
        {"status": "parse_failure", "reason": "timed out", **none},
    ]


def test_what_judges_were_asked_and_replied() -> None:
    reply = "<script>\x1b[31m|`\n\u202e\ud800"
    one = _values(
        "faithfulness",
        ("a", "b"),
        {"value": [0.5, None]},
        undefined=(None, "not asked"),
        statuses=("ok", "skipped"),
        details=({"claims": 4}, None),
        asked=(JudgeCalls(3, 1, ("{}", reply, "")), JudgeCalls()),
    )
    plain = replace(one, metric="bleu_1", details=None, asked=None)
    first, second = (line["metrics"] for line in _lines(one, plain))
    replies = ["{}", reply.replace("\ud800", "?"), ""]
    asked = {"details": {"claims": 4}, "calls": 3, "cached": 1, "replies": replies}
    assert first == {"faithfulness": {**OK, **asked}, "bleu_1": OK}
    assert {name: second["faithfulness"][name] for name in asked} == {
        "details": {},
        "calls": 0,
        "cached": 0,
        "replies": [],
    }
    prompted = replace(one, asked=(JudgeCalls(1, 0, ("{}",), ("Is it?",)), JudgeCalls()))
    told = [line["metrics"]["faithfulness"]["prompts"] for line in _lines(prompted)]
    assert told == [["Is it?"], []]


def test_metrics_of_other_samples_share_lines_where_they_can() -> None:
    columns = [("a", 1, "x", 2), ("b", 1, "x", 2), ("c", True, "x", 2), ("d", 2, 3)]
    lines = _lines(
        *(
            _values(name, ids, {"value": [at / 10 for at in range(len(ids))]})
            for name, *ids in columns
        )
    )
    told = [(line["sample_id"], "".join(line["metrics"])) for line in lines]
    assert told == [(1, "ab"), ("x", "abc"), (2, "abcd"), (True, "c"), (3, "d")]
    assert [one["value"] for one in lines[2]["metrics"].values()] == [0.2, 0.2, 0.2, 0.0]


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_nan_stops_the_run(bad: float) -> None:
    with pytest.raises(ValueError, match="m, image_scores tp: NaN or infinity"):
        _lines(replace(IMAGES, columns={"f1": [0.5, 0.5], "tp": [1, bad]}))
    with pytest.raises(ValueError, match="m, bleu_1 details of 'a': NaN or infinity"):
        _lines(replace(BLEU, details=({"tokens": [3, {"x": bad}]}, None, None)))
