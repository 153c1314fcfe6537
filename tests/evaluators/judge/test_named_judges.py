"""Custom judges with a name: what gates, rows and reports call them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from valor_cli import RunResult, evaluate
from valor_cli.errors import ConfigError, DataError

TONE = {"name": "tone", "prompt": "Is {response} kind?", "classes": ["yes", "no"]}
DEPTH = {"name": "depth", "prompt": "How deep is {response}?", "rubric": {"1": "no", "5": "deep"}}

Evaluated = Callable[..., RunResult]


@pytest.fixture
def evaluated(tmp_path: Path) -> Evaluated:
    """Runs a config with judges over two answers, "a" and "b"."""

    def run(
        metrics: Sequence[Any],
        replies: Sequence[Any],
        columns: Sequence[Mapping[str, Any]] = ({}, {}),
        **more: Any,
    ) -> RunResult:
        rows = [
            {"sample_id": one, "response": one, **own}
            for one, own in zip("ab", columns, strict=True)
        ]
        lines(tmp_path / "d.jsonl", rows)
        lines(
            tmp_path / "r.jsonl",
            [{"reply": one} if isinstance(one, str) else one for one in replies],
        )
        config = {
            "task": "text_generation",
            "data": {"samples": "d.jsonl"},
            "judge": {"backend": "scripted", "replies": "r.jsonl"},
            "metrics": metrics,
            **more,
        }
        path = tmp_path / "run.yaml"
        path.write_text(json.dumps(config), encoding="utf-8")
        return evaluate(path)

    return run


def lines(path: Path, rows: Sequence[Any]) -> None:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def test_two_judges_by_their_names(evaluated: Evaluated) -> None:
    # Of "a" it says yes and 5, of "b" no and 2: half of them pass, and the mean rating is 3.5.
    gates = ["own.tone >= 0.5", "own.depth.rating >= 4"]
    found = evaluated(
        [{"custom_judge": TONE}, {"BYOP": DEPTH}], ["yes", "5", "no", "2"], gates=gates
    )
    values = {(row.metric, row.output): row.value for row in found.metrics}
    assert values["own.tone", "pass"] == 0.5
    assert values["own.depth", "pass"] == 0.5
    assert values["own.depth", "rating"] == 3.5
    assert [gate.status for gate in found.gates] == ["passed", "failed"]
    assert {row.metric for row in found.run.usage} == {"own.tone", "own.depth"}
    assert {own.metric for own in found.samples} == {"own.tone", "own.depth"}


def test_without_a_name_it_is_called_as_ever(evaluated: Evaluated) -> None:
    bare = {key: value for key, value in TONE.items() if key != "name"}
    found = evaluated([{"custom_judge": TONE}, {"custom_judge": bare}], ["yes"] * 4)
    assert {row.metric for row in found.metrics} == {"own.tone", "custom_judge"}


@pytest.mark.parametrize(
    ("metrics", "gate"),
    [
        ([TONE], {"metric": "custom_judge", "min": 0.5}),
        ([TONE], {"metric": "BYOP", "output": "pass", "min": 0.5}),
        ([DEPTH, TONE], {"metric": "custom_judge", "parameters": {"name": "tone"}, "min": 0.5}),
    ],
)
def test_a_gate_on_the_usual_name_is_of_the_judge_that_is_meant(
    evaluated: Evaluated, metrics: Sequence[Any], gate: Any
) -> None:
    replies = ["yes", "no"] if len(metrics) == 1 else ["5", "yes"] * 2
    found = evaluated([{"custom_judge": one} for one in metrics], replies, gates=[gate])
    (result,) = found.gates
    assert (result.metric, result.status) == ("own.tone", "passed")


@pytest.mark.parametrize(
    ("metrics", "gates", "message"),
    [
        (
            [TONE, DEPTH],
            [{"metric": "custom_judge", "min": 0.5}],
            "gates.0.metric: is called otherwise in `metrics:`; name one of own.tone, own.depth",
        ),
        ([TONE], ["own.ton >= 0.5"], "unknown metric 'own.ton'"),
        ([TONE], ["own.tone.ratng >= 0.5"], "unknown metric 'own.tone.ratng'"),
        ([TONE, TONE], [], "the same metric with the same parameters as metrics.0"),
    ],
)
def test_what_is_said_of_names(
    evaluated: Evaluated, metrics: Sequence[Any], gates: Sequence[Any], message: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        evaluated([{"custom_judge": one} for one in metrics], [], gates=gates)
    assert message in str(raised.value)


def test_a_function_and_a_judge_of_one_name(evaluated: Evaluated, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("def tone(sample): return 1\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"another metric is called own\.tone already"):
        evaluated([{"python": "m.py:tone"}, {"custom_judge": TONE}], [])


SHOWING = {"name": "topical", "prompt": "Is {response} about {meta.topic}, {tags}?"}


def test_columns_of_the_data_are_shown(evaluated: Evaluated) -> None:
    # Of "b" there is no topic.
    columns = [{"meta": {"topic": "tea"}, "tags": ["hot", 1]}, {"tags": "x"}]
    judge = {"backend": "scripted", "replies": "r.jsonl", "keep_prompts": True}
    found = evaluated([{"custom_judge": SHOWING}], ["true"], columns, judge=judge)
    assert found.coverage[0].statuses == {"ok": 1, "missing_input": 1}
    (own,) = found.samples
    asked = own.asked[0].prompts[0]
    assert "\ntea\n" in asked
    assert '\n["hot", 1]\n' in asked or '\n["hot",1]\n' in asked


def test_a_column_that_no_sample_has(evaluated: Evaluated) -> None:
    with pytest.raises(DataError) as raised:
        evaluated(
            [{"custom_judge": {"prompt": "{response} {topik} {meta.kind}"}}],
            [],
            [{"topic": "tea", "meta": {"topic": 1}}] * 2,
        )
    told = str(raised.value)
    assert "d.jsonl: there is no column 'topik' for a prompt (did you mean 'topic'?)" in told
    assert "there is no column 'meta.kind' for a prompt" in told


COHERENCE = {
    "name": "coherence",
    "criteria": "Each sentence follows from the one before.",
    "prompt": "{response}",
    "scale": [1, 5],
    "probabilities": True,
}


def test_steps_and_probabilities_are_recorded(evaluated: Evaluated, tmp_path: Path) -> None:
    steps = {"reply": '{"steps": ["Read it."]}'}
    said = [{"reply": '{"reason": "", "rating": 4}', "scores": {"4": 0.5, "5": 0.5}}] * 2
    tape = str(tmp_path / "tape.jsonl")
    scripted = {"backend": "scripted", "replies": "r.jsonl", "record": tape}
    metrics = [{"custom_judge": COHERENCE}]
    first = evaluated(metrics, [steps, *said], judge=scripted)
    again = evaluated(metrics, [], judge={"backend": "replay", "cassette": tape})
    for found in (first, again):
        assert found.settings["own.coherence.steps"] == '["Read it."]'
        assert {row.output: row.value for row in found.metrics}["rating"] == 4.5
        assert found.samples[0].details[0]["probabilities"] == {"4": 0.5, "5": 0.5}
    assert first.run.usage[0].calls == 3
