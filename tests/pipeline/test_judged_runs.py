"""Plans that ask judges: what makes a run the same run, and what the result says of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from valor_cli import catalogue, pipeline
from valor_cli.config import load_config
from valor_cli.errors import ConfigError, DataError
from valor_cli.metric import RunTerms
from valor_cli.pipeline.record import run_identity, usage_of
from valor_cli.pipeline.run import selection_of, session_of
from valor_cli.results import RunResult, UsageResult

ROWS = [{"sample_id": f"s{at}", "response": f"answer {at}"} for at in range(3)]
SAID = ["absent", "present", "absent"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "samples.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    lines = (json.dumps({"reply": {"verdict": word}}) for word in SAID)
    (tmp_path / "replies.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return tmp_path


SCRIPTED = {"backend": "scripted", "replies": "replies.jsonl"}


def plan(folder: Path, **more: Any) -> pipeline.Plan:
    document = {
        "task": "text_generation",
        "data": {"samples": "samples.jsonl"},
        "metrics": ["contact_information"],
        "judge": SCRIPTED,
        **more,
    }
    path = folder / "run.yaml"
    path.write_text(json.dumps({name: one for name, one in document.items() if one is not None}))
    return pipeline.make_plan(load_config(path, catalogue))


def evaluated(folder: Path, *, of_run: Mapping[str, Any] | None = None, **more: Any) -> RunResult:
    return pipeline.evaluate(plan(folder, **more), command="valor", **(of_run or {}))


def identity(folder: Path, limit: int | None = None, **more: Any) -> str:
    made = plan(folder, **more)
    loaded = made.task.load(made.config.data, made.config.options, selection_of(made, limit))
    return run_identity(made, loaded, limit)


LITELLM = {"model": "openai/gpt-4o-mini", "budget_usd": 1.0}


@pytest.mark.parametrize(
    "more",
    [
        {"judge": {**LITELLM, "budget_usd": 2.0}},
        {"judge": {**LITELLM, "concurrency": 2, "timeout_s": 60.0, "cache": False}},
        {"gates": [{"metric": "contact_information", "output": "pass", "min": 0.5}]},
        {"interval": {"resamples": 100}},
        {"report": {"out": "elsewhere"}},
    ],
)
def test_a_run_stays_the_same_under_other_limits(folder: Path, more: dict[str, Any]) -> None:
    # Else a higher budget would pay once more for all that the lower one has paid.
    assert identity(folder, **{"judge": LITELLM, **more}) == identity(folder, judge=LITELLM)


def test_other_data_and_metrics_are_another_run(folder: Path) -> None:
    first = identity(folder)
    others = [
        identity(folder, limit=2),
        identity(folder, metrics=["contact_information", "pii_leakage"]),
        identity(folder, filter={"sample_id": ["s1"]}),
    ]
    (folder / "samples.jsonl").write_text(json.dumps(ROWS[0]) + "\n")
    others.append(identity(folder))
    assert len({first, *others}) == 5


def test_the_record_says_who_judged_and_what_that_took(folder: Path) -> None:
    result = evaluated(folder)
    assert [row.value for row in result.metrics if row.output == "pass"] == [pytest.approx(2 / 3)]
    assert result.run.models_used == ("scripted",)
    assert result.settings["judge"] == "scripted"
    [usage] = result.run.usage
    assert (usage.metric, usage.model, usage.calls, usage.failed) == (
        *("contact_information", "samples"),
        *(3, 0),
    )
    assert [prompt.name for prompt in result.prompts] == ["contact_information"]
    assert result.run.stopped is None
    assert result.incomplete is None


@pytest.mark.parametrize("metrics", [["contact_information"], ["sexism", "contact_information"]])
def test_a_run_that_its_budget_stops_has_judged_the_same_samples_of_every_model(
    folder: Path, metrics: list[str]
) -> None:
    rows = [{**row, "user_input": "?", "model": model} for model in "ab" for row in ROWS * 3]
    for at, row in enumerate(rows):
        row["sample_id"] = f"s{at % 9}"
    (folder / "samples.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    words = {"sexism": "false", "contact_information": "absent"}
    replies = [
        {"reply": {"verdict": words[name]}, "tokens_in": 1000, "tokens_out": 10}
        for _ in rows
        for name in metrics
    ]
    (folder / "replies.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in replies))
    price = {"input_usd": 10, "output_usd": 10}
    judge = {**SCRIPTED, "price": price, "max_tokens": 100, "budget_usd": 0.12}
    result = evaluated(folder, judge=judge, metrics=metrics)
    assert result.run.stopped_by == "budget"
    for metric in metrics:
        asked = {
            one.model: [
                name
                for name, is_ in zip(one.sample_ids, one.statuses or (), strict=True)
                if is_ == "ok"
            ]
            for one in result.samples
            if one.metric == metric
        }
        assert 0 < len(asked["b"]) <= len(asked["a"]) < 9
        assert asked["a"][: len(asked["b"])] == asked["b"]
        assert len(asked["a"]) - len(asked["b"]) <= 1
    # Both are compared over those.
    [one] = [one for one in result.comparisons if (one.metric, one.output) == (metric, "pass")]
    assert one.n == len(asked["b"])


def test_a_recording_with_failed_calls_is_played_as_it_was(folder: Path) -> None:
    replies = [
        {"reply": {"verdict": "absent"}},
        {"error": "unanswerable"},
        *({"reply": "I would rather not."}, {"reply": {"verdict": "present"}}),
        *({"reply": {"verdict": "false"}}, {"error": "passing"}, {"reply": "Hm."}, {"reply": ""}),
    ]
    (folder / "replies.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in replies))
    recording = {**SCRIPTED, "max_retries": 0, "record": "made.jsonl"}
    metrics = ["contact_information", "sexism"]
    rows = [{**row, "user_input": "?"} for row in ROWS]
    (folder / "samples.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    first = evaluated(folder, judge=recording, metrics=metrics)
    replay = {"backend": "replay", "cassette": "made.jsonl"}
    again = evaluated(folder, judge=replay, metrics=metrics)
    assert again.metrics == first.metrics
    assert [dict(one.statuses) for one in again.coverage] == [
        {"ok": 2, "judge_error": 1},
        {"ok": 1, "parse_failure": 1, "judge_error": 1},
    ]
    assert [one.statuses for one in again.samples] == [one.statuses for one in first.samples]
    assert [one.undefined for one in again.samples] == [one.undefined for one in first.samples]
    assert [one.asked for one in again.samples] == [one.asked for one in first.samples]
    assert [(one.metric, one.calls, one.failed) for one in again.run.usage] == [
        (one.metric, one.calls, one.failed) for one in first.run.usage
    ]


def test_usage_is_told_in_the_order_of_judges_models_and_metrics(folder: Path) -> None:
    made = plan(folder, metrics=["toxicity", "bias"])
    asked = [("bias", "b", "x"), ("bias", "a", "x"), ("toxicity", "b", "x")]
    asked += [("toxicity", "a", "x"), ("bias", "a", "w")]
    rows = [UsageResult(*names, 1, 0, 0, None, None, None, None) for names in asked]
    session: Any = SimpleNamespace(usage=rows)
    loaded: Any = SimpleNamespace(datasets={"b": None, "a": None})
    found = [(one.metric, one.model, one.judge) for one in usage_of(session, made, loaded)]
    assert found == [
        *(("toxicity", "b", "x"), ("bias", "b", "x")),
        *(("toxicity", "a", "x"), ("bias", "a", "x"), ("bias", "a", "w")),
    ]
    assert usage_of(None, made, loaded) == []


def test_metrics_that_ask_nobody_open_no_session(folder: Path) -> None:
    made = plan(folder, metrics=["pii_leakage"])
    with session_of(made, RunTerms("identity")) as session:
        assert session is None
    result = pipeline.evaluate(made, command="valor")
    assert result.run.models_used == ()
    assert result.prompts == ()


def test_progress_tells_how_many_samples_were_asked_about(folder: Path) -> None:
    told: list[tuple[int, int]] = []

    def progress(stage: str, done: int, total: int) -> None:
        if stage == "asking judges":
            told.append((done, total))

    evaluated(folder, of_run={"progress": progress})
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_gates_are_checked_before_anybody_is_asked(folder: Path) -> None:
    # The replies are not even read.
    (folder / "replies.jsonl").write_text("no JSON")
    gate = {"metric": "contact_information", "output": "passes", "min": 0.5}
    with pytest.raises(ConfigError, match="passes"):
        evaluated(folder, gates=[gate])


def test_a_slice_has_its_own_values_of_what_was_asked_once(folder: Path) -> None:
    rows = [{**row, "kind": "long" if at else "short"} for at, row in enumerate(ROWS)]
    (folder / "samples.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    result = evaluated(folder, slices=["metadata.kind"])
    found = {row.slice: row.value for row in result.metrics if row.output == "fail"}
    assert found == {
        None: pytest.approx(1 / 3),
        "metadata.kind=short": 0.0,
        "metadata.kind=long": 0.5,
    }
    assert [one.calls for one in result.run.usage] == [3]


def test_replies_that_run_out_name_the_sample(folder: Path) -> None:
    (folder / "replies.jsonl").write_text('{"reply": {"verdict": "absent"}}\n')
    with pytest.raises(DataError, match=r"call 2 \(contact_information, sample s1\) has no reply"):
        evaluated(folder)


def test_prompts_are_kept_where_asked_for_without_their_secrets(folder: Path) -> None:
    secret = "sk-proj-" + "a1B2c3D4" * 6
    rows = [{**row, "user_input": f"Is {secret} a key?"} for row in ROWS]
    (folder / "samples.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    for kept in (False, True):
        [found] = evaluated(folder, judge={**SCRIPTED, "keep_prompts": kept}).samples
        assert found.asked is not None
        assert [len(one.prompts) for one in found.asked] == [int(kept)] * len(rows)
    (prompt,) = found.asked[0].prompts
    assert prompt.startswith("system:\n")
    assert rows[0]["response"] in prompt
    assert secret not in prompt


def test_a_sample_without_a_reply_makes_the_run_incomplete_unless_a_gate_says_otherwise(
    folder: Path,
) -> None:
    lines = ['{"error": "unanswerable"}', *2 * ['{"reply": {"verdict": "absent"}}']]
    (folder / "replies.jsonl").write_text("".join(f"{line}\n" for line in lines))
    assert evaluated(folder).incomplete is not None
    for least, complete in ((0.6, True), (0.7, False)):
        result = evaluated(folder, gates=[{"coverage": least}])
        assert (result.incomplete is None) == complete
        [coverage] = result.coverage
        assert (coverage.statuses["ok"], coverage.statuses["judge_error"]) == (2, 1)


def test_examples_show_the_last_replies_and_as_much_of_them_as_there_is_room_for(
    folder: Path,
) -> None:
    words = [f"no {number}" for number in range(5)] + ["x" * 700]
    lines = [{"reply": word} for word in words] + [{"reply": "absent"}] * 2
    (folder / "replies.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    metrics = [{"contact_information": {"judge_retries": 5}}]
    (example,) = evaluated(folder, metrics=metrics).examples
    assert example.kind == "unreadable"
    replies = [text for text in example.texts if text.field.startswith("judge_replies")]
    assert [text.field for text in replies] == [f"judge_replies[{at}]" for at in (3, 4, 5)]
    assert [text.text for text in replies] == ["no 3", "no 4", "x" * 600]
    assert [text.left_out for text in replies] == [0, 0, 100]
