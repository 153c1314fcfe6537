"""Metrics made of other metrics of a sample: means, rules, and for which samples they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.evaluators.own.own_runs import config, content, schema, write_rows
from valor_cli import ConfigError, RunResult, evaluate, read_run
from valor_cli.pipeline.piece_size import PIECE_BYTES

CODE = '''
def tone(sample) -> float | None:
    """One by the number of words; none of an empty response."""
    words = len(sample.response.split())
    if sample.response == "boom":
        raise ValueError("no")
    return 1 / words if words else None


def short(sample) -> bool:
    """Whether the response has up to three letters."""
    return len(sample.response) <= 3
'''

ROWS = [
    {"sample_id": "a", "response": "yes", "references": ["yes"], "metadata": {"part": 1}},
    {"sample_id": "b", "response": "no no", "references": ["no no"], "metadata": {"part": 1}},
    {"sample_id": "c", "response": "", "references": ["yes"], "metadata": {"part": 2}},
    {"sample_id": "d", "response": "a b c d", "metadata": {"part": 2}},
    {"sample_id": "e", "response": "boom", "references": ["yes"], "metadata": {"part": 2}},
]
"""By hand, with thresholds of 0.5:
    tone         1, 1/2, -, 1/4, failed      passes a, b; fails d; unknown c, e
    short        1, 0,   1, 0,   0           passes a, c; fails b, d, e
    exact_match  1, 1,   0, -,   0           passes a, b; fails c, e; unknown d
"""

PARTS = [
    {"exact_match": {"threshold": 0.5}},
    {"python": "metrics.py:tone", "threshold": 0.5},
    {"python": "metrics.py:short"},
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("metrics.py").write_text(CODE, encoding="utf-8")
    write_rows("answers.jsonl", ROWS)
    return tmp_path


def composed(name: str = "made", **asked: Any) -> dict[str, Any]:
    return {"composite": {"name": name, **asked}}


def of_samples(result: RunResult, name: str = "own.made") -> list[float | str | None]:
    """Values of the samples, or why there is none."""
    (found,) = (one for one in result.samples if one.metric == name)
    (column,) = found.columns.values()
    return [
        reason if value is None else value
        for value, reason in zip(column, found.undefined, strict=True)
    ]


NO_TONE = "own.tone: the function returned None"
FAILED_TONE = "own.tone: ValueError: no (metrics.py, line 6)"
NO_REFERENCE = "exact_match: no reference"
ALL = ["own.tone", "own.short", "exact_match"]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        # (3 × tone + 1 × exact_match) / 4
        (
            {"of": {"own.tone": 3, "exact_match": 1}},
            [1.0, 0.625, NO_TONE, NO_REFERENCE, FAILED_TONE],
        ),
        # c and e have exact_match alone, d has tone alone.
        (
            {"of": {"own.tone": 3, "exact_match": 1}, "missing": "skip"},
            [1.0, 0.625, 0.0, 0.25, 0.0],
        ),
        ({"of": {"own.tone": 2}, "missing": "skip"}, [1.0, 0.5, NO_TONE, 0.25, FAILED_TONE]),
        # One that fails decides, whatever the unknown ones are.
        ({"all_of": ["own.tone", "own.short"]}, [1.0, 0.0, NO_TONE, 0.0, 0.0]),
        ({"all_of": ["own.tone", "own.short"], "missing": "skip"}, [1.0, 0.0, 1.0, 0.0, 0.0]),
        # One that passes decides.
        ({"any_of": ["own.tone", "own.short"]}, [1.0, 1.0, 1.0, 0.0, FAILED_TONE]),
        ({"any_of": ["own.tone", "own.short"], "missing": "skip"}, [1.0, 1.0, 1.0, 0.0, 0.0]),
        # c passes one of three, and may pass two; d fails two, so that it cannot.
        ({"at_least": {"k": 2, "of": ALL}}, [1.0, 1.0, NO_TONE, 0.0, 0.0]),
        ({"at_least": {"k": 2, "of": ALL}, "missing": "skip"}, [1.0, 1.0, 0.0, 0.0, 0.0]),
        # exact_match fails c and e, and is unknown of d.
        (
            {"any_of": ["own.short"], "when": {"exact_match": "passes"}},
            [1.0, 0.0, "exact_match fails", NO_REFERENCE, "exact_match fails"],
        ),
        (
            {"any_of": ["own.short"], "when": {"exact_match": "fails", "own.short": "passes"}},
            ["exact_match passes", "own.short fails", 1.0, "own.short fails", "own.short fails"],
        ),
    ],
)
def test_samples(asked: dict[str, Any], expected: list[float | str]) -> None:
    result = evaluate(config(*PARTS, composed(**asked)))
    assert of_samples(result) == expected
    known = [one for one in expected if isinstance(one, float)]
    (row,) = (one for one in result.metrics if one.metric == "own.made")
    assert (row.value, row.n) == (pytest.approx(sum(known) / len(known)), len(known))
    schema().validate(config(*PARTS, composed(**asked)))


def test_statuses_follow_the_part_without_a_value() -> None:
    result = evaluate(config(*PARTS, composed(of={"own.tone": 3, "exact_match": 1})))
    (found,) = (one for one in result.samples if one.metric == "own.made")
    assert list(found.statuses or ()) == [
        *("ok", "ok", "not_applicable", "missing_input", "parse_failure")
    ]
    told = [one.coverage for one in result.coverage if one.metric == "own.made"]
    # c does not count, d and e have no value.
    assert told == [0.5]


def test_a_failed_sample_names_the_parts_that_failed_it() -> None:
    result = evaluate(config(*PARTS, composed(all_of=ALL)))
    (found,) = (one for one in result.samples if one.metric == "own.made")
    assert list(found.undefined) == [
        *(None, "failed: own.short", "failed: exact_match"),
        *("failed: own.tone, own.short", "failed: own.short, exact_match"),
    ]


def test_an_own_metric_for_some_samples() -> None:
    gated = {"python": "metrics.py:tone", "name": "gated", "when": {"own.short": "fails"}}
    result = evaluate(config(*PARTS, gated))
    assert of_samples(result, "own.gated")[:4] == [
        *("own.short passes", 0.5, "own.short passes", 0.25)
    ]
    # e fails own.short, and the function fails on it.
    (row,) = (one for one in result.coverage if one.metric == "own.gated")
    assert dict(row.statuses) == {"ok": 2, "parse_failure": 1, "not_applicable": 2}
    schema().validate(config(*PARTS, gated))


def test_composites_of_composites_and_of_verdicts() -> None:
    result = evaluate(
        config(
            *PARTS,
            "pii_leakage",
            composed("good", all_of=["own.tone", "pii_leakage"]),
            composed("made", of={"own.good": 1, "own.tone": 1}, threshold=0.9),
            composed("last", at_least={"k": 2, "of": ["own.good", "own.made"]}),
        )
    )
    # No response leaks: own.good follows own.tone, 1, 1, -, 0, -.
    assert of_samples(result, "own.good")[:2] == [1.0, 1.0]
    assert of_samples(result)[:4] == [
        1.0,
        0.75,
        "own.good: own.tone: the function returned None",
        0.125,
    ]
    assert of_samples(result, "own.last")[:2] == [1.0, 0.0]
    (row,) = (one for one in result.metrics if one.metric == "own.last")
    assert row.parameters["thresholds"] == {"own.made": 0.9}


def test_what_follows_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{**ROWS[at % 4], "sample_id": str(at)} for at in range(40)]
    write_rows("one.jsonl", rows)
    write_rows("two.jsonl", [{**row, "response": "a b c d"} for row in rows])
    asked = config(
        *PARTS,
        composed("good", any_of=["own.tone", "own.short"]),
        composed("quality", of={"own.tone": 2, "own.short": 1}, threshold=0.6),
        samples={"two": "two.jsonl", "one": "one.jsonl"},
        interval={"resamples": 50},
        slices=["part"],
        gates=["own.good >= 0.5", "own.quality >= 0.9"],
    )
    result = evaluate(asked, out="run")
    rows_of = {(one.metric, one.model, one.slice): one for one in result.metrics}
    good = rows_of["own.good", "one", None]
    # a, b and c pass, d does not.
    assert (good.value, good.n) == (0.75, 40)
    assert (good.interval is not None, good.method) == (True, "wilson")
    assert good.interval[0] < 0.75 < good.interval[1]
    assert rows_of["own.good", "one", "metadata.part=1"].value == 1.0
    # a: (2 + 1) / 3; b: 1 / 3; d: 1 / 6; c has no tone.
    assert rows_of["own.quality", "one", None].value == pytest.approx((1 + 1 / 3 + 1 / 6) / 3)
    assert {one.metric: one.status for one in result.gates if one.model == "one"} == {
        "own.good": "passed",
        "own.quality": "failed",
    }
    tests = {one.metric: one for one in result.comparisons}
    assert (tests["own.good"].p or 1) < 0.01
    assert [one.metric for one in result.problems if one.kind == "threshold"].count(
        "own.quality"
    ) == 2
    alone = content(result)
    assert content(read_run("run")) == alone
    monkeypatch.setenv(PIECE_BYTES, "500")
    assert content(evaluate(asked, jobs=2)) == alone


def test_slices_are_searched_by_a_composite() -> None:
    result = evaluate(config(*PARTS, composed(any_of=["own.tone"]), slices="auto"))
    assert len(result.searches) == 1


def test_a_judge_is_a_part() -> None:
    replies = [{"reply": json.dumps({"rating": rating})} for rating in (4, 4, 0, 0)]
    Path("replies.jsonl").write_text("\n".join(map(json.dumps, replies)), encoding="utf-8")
    rows = [{**row, "user_input": "Really?"} for row in ROWS[:2]]
    write_rows("answers.jsonl", rows)
    result = evaluate(
        config(
            {"nv_answer_accuracy": {"threshold": 0.5}},
            {"python": "metrics.py:short"},
            composed(any_of=["nv_answer_accuracy", "own.short"]),
            judge={"backend": "scripted", "replies": "replies.jsonl"},
        )
    )
    assert of_samples(result, "nv_answer_accuracy") == [1.0, 0.0]
    assert of_samples(result) == [1.0, 0.0]


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        (
            [composed(of={"exact_match": 1})],
            "metrics.0: own.made rests on exact_match, which `metrics:` does not list",
        ),
        (
            [PARTS[0], {"exact_match": {"normalize": False}}, composed(of={"exact_match": 1})],
            "own.made rests on exact_match, which `metrics:` lists 2 times; keep one of them",
        ),
        (
            [{"python": "metrics.py:tone"}, composed(any_of=["own.tone"])],
            "own.made asks whether own.tone passes, which has no threshold; give it `threshold:`",
        ),
        (
            ["rouge_l", composed(any_of=["rouge_l.recall"])],
            "own.made asks whether rouge_l.recall passes; only the metric rouge_l itself does",
        ),
        (
            ["exact_match", "ter", composed(of={"exact_match": 1, "ter": 1})],
            (
                "metrics.2.of: the parts must agree on which direction is better; better is: "
                "exact_match higher, ter lower"
            ),
        ),
        (
            [composed(any_of=["own.made"])],
            "metrics.0.any_of.0: unknown metric 'own.made'; this config has no own metrics; ",
        ),
        (
            [composed(of={"exact_mtch": 1})],
            "metrics.0.of.exact_mtch: unknown metric 'exact_mtch' (did you mean 'exact_match'?)",
        ),
        (
            [*PARTS, composed(any_of=["own.tone"]), composed(any_of=["own.short"])],
            "metrics.4.name: another metric is called own.made already",
        ),
        (
            [composed()],
            "a composite has one of of, all_of, any_of, at_least, found none of them",
        ),
        (
            [composed(of={"exact_match": 1}, any_of=["exact_match"])],
            "a composite has one of of, all_of, any_of, at_least, found of and any_of",
        ),
        ([composed(any_of=["exact_match", "exact_match"])], "duplicate exact_match"),
        (
            [composed(at_least={"k": 2, "of": ["exact_match"]})],
            "at_least: 2 of 1 metrics cannot pass",
        ),
        ([composed(of={"exact_match": 0})], "metrics.0.of.exact_match: expected"),
        (
            [{"python": "metrics.py:tone", "when": {"exact_match": "wins"}}],
            "metrics.0.when.exact_match: expected passes or fails, found 'wins'",
        ),
        (
            [{"python": "metrics.py:tone", "when": {"exact_match": "passes"}}],
            "own.tone rests on exact_match, which `metrics:` does not list",
        ),
    ],
)
def test_what_is_said_of_mistakes(metrics: list[Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        evaluate(config(*metrics))
    assert message in str(caught.value)
