"""samples.jsonl: a line per model and sample."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from valor_cli.reports.files.samples_jsonl import jsonl_blocks
from valor_cli.results import JudgeCalls, RunResult, SamplesResult

Build = Callable[..., RunResult]


def _lines(run: RunResult) -> list[dict[str, object]]:
    return [json.loads(line) for line in b"".join(jsonl_blocks(run)).splitlines()]


def test_lines_worked_by_hand(found: Build) -> None:
    scored = {"status": "ok", "value": 0.5, "outputs": {"tp": 3}, "reason": None}
    none = {"status": "not_applicable", "value": None, "outputs": {"tp": 0}, "reason": "no objects"}
    assert _lines(found()) == [
        {"sample_id": 1, "model": "small", "metrics": {"image_scores": scored}},
        {"sample_id": 2, "model": "small", "metrics": {"image_scores": none}},
        {"sample_id": 1, "model": "large", "metrics": {"image_scores": scored}},
        {"sample_id": 2, "model": "large", "metrics": {"image_scores": none}},
    ]


def test_a_metric_asked_twice_has_two_names(found: Build) -> None:
    run = found(("m",))
    one = run.samples[0]
    strict = replace(one, parameters={**one.parameters, "iou_threshold": 0.75})
    names = ["image_scores (iou_threshold=0.5)", "image_scores (iou_threshold=0.75)"]
    assert [list(line["metrics"]) for line in _lines(replace(run, samples=(one, strict)))] == [  # type: ignore[call-overload]
        names,
        names,
    ]
    lists = [replace(one, parameters={"at": (0, n, 2, 3, 4)}) for n in (0.5, 0.6)]
    (first, _) = _lines(replace(run, samples=lists))
    # cut to their ends, both lists read the same
    assert list(first["metrics"]) == [  # type: ignore[call-overload]
        "image_scores (at=0…4 (5) #1)",
        "image_scores (at=0…4 (5) #2)",
    ]


def test_one_output_alone_and_ids_of_any_kind(build: Build) -> None:
    ids = ("a", 1, True, "<b>\n")
    columns = {"value": [0.1, 0.2, 0.3, 0.4]}
    one = SamplesResult("score", "m", {}, ids, columns, (None,) * 4)
    lines = _lines(replace(build(("m",)), samples=(one,)))
    assert [line["sample_id"] for line in lines] == list(ids)
    assert lines[2]["sample_id"] is True
    assert lines[0]["metrics"] == {
        "score": {"status": "ok", "value": 0.1, "outputs": {}, "reason": None}
    }


def test_statuses_and_details_of_samples(build: Build) -> None:
    one = SamplesResult(
        "bleu_1",
        "m",
        {},
        ("a", "b", "c"),
        {"value": [0.5, None, None], "precision": [0.6, None, None]},
        (None, "no response", "timed out"),
        ("ok", "missing_input", "parse_failure"),
        ({"tokens": [3, 4]}, None, None),
    )
    found = [line["metrics"]["bleu_1"] for line in _lines(replace(build(("m",)), samples=(one,)))]  # type: ignore[index]
    assert found == [
        {
            "status": "ok",
            "value": 0.5,
            "outputs": {"precision": 0.6},
            "reason": None,
            "details": {"tokens": [3, 4]},
        },
        {
            "status": "missing_input",
            "value": None,
            "outputs": {"precision": None},
            "reason": "no response",
            "details": {},
        },
        {
            "status": "parse_failure",
            "value": None,
            "outputs": {"precision": None},
            "reason": "timed out",
            "details": {},
        },
    ]
    bad = replace(one, details=({"tokens": [3, {"x": float("nan")}]}, None, None))
    with pytest.raises(ValueError, match="m, bleu_1 details of 'a': NaN or infinity"):
        list(jsonl_blocks(replace(build(("m",)), samples=(bad,))))


def test_what_judges_were_asked_and_replied(build: Build) -> None:
    reply = "<script>\x1b[31m|`\n\u202e\ud800"
    one = SamplesResult(
        "faithfulness",
        "m",
        {},
        ("a", "b"),
        {"value": [0.5, None]},
        (None, "not asked"),
        ("ok", "skipped"),
        ({"claims": 4}, None),
        (JudgeCalls(3, 1, ("{}", reply, "")), JudgeCalls()),
    )
    plain = replace(one, metric="bleu_1", details=None, asked=None)
    first, second = _lines(replace(build(("m",)), samples=(one, plain)))
    assert first["metrics"] == {
        "faithfulness": {
            "status": "ok",
            "value": 0.5,
            "outputs": {},
            "reason": None,
            "details": {"claims": 4},
            "calls": 3,
            "cached": 1,
            "replies": ["{}", reply.replace("\ud800", "?"), ""],
        },
        "bleu_1": {"status": "ok", "value": 0.5, "outputs": {}, "reason": None},
    }
    prompted = replace(one, asked=(JudgeCalls(1, 0, ("{}",), ("Is it?",)), JudgeCalls()))
    told = [line["metrics"] for line in _lines(replace(build(("m",)), samples=(prompted,)))]
    assert [line["faithfulness"]["prompts"] for line in told] == [["Is it?"], []]  # type: ignore[index]
    judged = second["metrics"]["faithfulness"]  # type: ignore[index]
    assert (judged["details"], judged["calls"], judged["cached"], judged["replies"]) == (
        {}, 0, 0, []
    )  # fmt: skip


def test_metrics_of_other_samples_share_lines_where_they_can(build: Build) -> None:
    def column(metric: str, *ids: Any) -> SamplesResult:
        values = {"value": [at / 10 for at in range(len(ids))]}
        return SamplesResult(metric, "m", {}, ids, values, (None,) * len(ids))

    columns = [column("a", 1, "x", 2), column("b", 1, "x", 2), column("c", True, "x", 2)]
    lines = _lines(replace(build(("m",)), samples=[*columns, column("d", 2, 3)]))
    metrics = [line["metrics"] for line in lines]
    assert [(line["sample_id"], "".join(line["metrics"])) for line in lines] == [  # type: ignore[arg-type]
        (1, "ab"),
        ("x", "abc"),
        (2, "abcd"),
        (True, "c"),
        (3, "d"),
    ]
    assert [one["value"] for one in metrics[2].values()] == [0.2, 0.2, 0.2, 0.0]  # type: ignore[attr-defined]


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_nan_stops_the_run(found: Build, bad: float) -> None:
    run = found(("m",))
    one = replace(run.samples[0], columns={"f1": [0.5, 0.5], "tp": [1, bad]})
    with pytest.raises(ValueError, match="m, image_scores tp: NaN or infinity"):
        list(jsonl_blocks(replace(run, samples=(one,))))


def test_no_samples_no_lines(build: Build) -> None:
    assert b"".join(jsonl_blocks(build(("m",)))) == b""
