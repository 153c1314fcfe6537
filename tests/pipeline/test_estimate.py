"""Estimates against the run that they are of: the same calls in the same order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.calibrating import RUBRIC, lines, plan_of, written
from valor_cli import pipeline
from valor_cli.errors import ConfigError
from valor_cli.evaluators import judge
from valor_cli.models.judge.dry_run import SimulatedJudge
from valor_cli.models.judge.scripted_judge import ScriptedJudge
from valor_cli.models.requests import Reply, Request
from valor_cli.pipeline.estimate import estimate

RAG = Path(__file__).parents[2] / "sample_data" / "text_generation" / "rag.jsonl"
METRICS = [metric.name for metric in judge.WING.metrics]


def samples() -> list[dict[str, Any]]:
    return [json.loads(line) for line in RAG.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """Every request that an imagined or a scripted judge gets, in their order."""
    requests: list[Request] = []
    for judge_class in (SimulatedJudge, ScriptedJudge):
        answer: Any = judge_class.answer

        async def told(self: Any, request: Request, answer: Any = answer) -> Reply:
            requests.append(request)
            reply: Reply = await answer(self, request)
            return reply

        monkeypatch.setattr(judge_class, "answer", told)
    return requests


def counted(usage: Any) -> dict[tuple[str, str, str], tuple[int, int | None, int | None]]:
    return {
        (one.metric, one.model, one.judge): (one.calls, one.tokens_in, one.tokens_out)
        for one in usage
    }


def config(folder: Path, metrics: list[Any]) -> Path:
    embedder = {"backend": "precomputed", "vectors": "vectors.jsonl"}
    return written(folder, samples(), {"j": []}, metrics, embedder=embedder)


def test_a_run_asks_what_was_estimated_in_that_order(tmp_path: Path, asked: list[Request]) -> None:
    path = config(tmp_path, [*METRICS, {"custom_judge": {"rubric": RUBRIC}}])
    found = estimate(plan_of(path))
    imagined = list(asked)
    asked.clear()
    assert found.samples == 8
    lines(
        tmp_path / "j.jsonl",
        [
            {
                "reply": one.example_reply,
                "tokens_in": sum(round(len(m.content.encode()) / 4) for m in one.messages),
                "tokens_out": round(len(one.example_reply.encode()) / 4),
            }
            for one in imagined
        ],
    )
    questions = [json.loads(one.example_reply) for one in imagined if one.schema_name == "question"]
    texts = {one["question"] for one in questions} | {one["user_input"] for one in samples()}
    texts |= {text for one in samples() for text in (one["response"], *one["references"])}
    lines(tmp_path / "vectors.jsonl", [{"text": one, "vector": [1.0]} for one in sorted(texts)])
    run = pipeline.evaluate(plan_of(path), command="")
    assert [(one.key, one.purpose) for one in asked] == [(one.key, one.purpose) for one in imagined]
    assert counted(found.usage) == counted(run.run.usage)
    assert {one.metric for one in found.usage} <= set(METRICS)
    # Every imagined reply fits: nothing is asked again, and nothing is unread.
    assert not any(
        row.statuses.get("parse_failure") or row.statuses.get("skipped") for row in run.coverage
    )


def test_each_judge_and_repeat_is_asked_everything(tmp_path: Path) -> None:
    def calls(*repeats: int) -> int:
        replies: dict[str, list[str]] = {f"j{at}": [] for at in range(len(repeats))}
        path = written(tmp_path, samples(), replies, ["faithfulness", "sexism"])
        said = json.loads(path.read_text())
        for one, times in zip(said.get("judges") or [said["judge"]], repeats, strict=True):
            one["repeat"] = times
        path.write_text(json.dumps(said))
        return sum(one.calls for one in estimate(plan_of(path)).usage)

    once = calls(1)
    assert once == 24  # of each of 8: claims, their verdicts, one word
    assert calls(3) == 3 * once
    assert calls(1, 2) == 3 * once


def test_limit_counts_the_first_samples_of_each_model(tmp_path: Path) -> None:
    path = config(tmp_path, ["sexism"])
    found = estimate(plan_of(path), limit=1)
    assert (found.samples, [one.calls for one in found.usage]) == (2, [1, 1])


MODEL = "openai/no-such-model-anywhere"
PRICE = {"input_usd": 2, "output_usd": 8}


@pytest.mark.parametrize(
    ("settings", "costs"),
    [
        ({"backend": "litellm", "model": MODEL}, None),
        ({"backend": "litellm", "model": MODEL, "price": PRICE}, True),
        ({"backend": "local", "model": "m.gguf"}, 0.0),
        ({"backend": "replay", "cassette": "none.jsonl"}, 0.0),
        ({"backend": "scripted", "replies": "none.jsonl"}, 0.0),
        ({"backend": "scripted", "replies": "none.jsonl", "price": PRICE}, True),
    ],
)
def test_prices_are_known_free_or_unknown(
    tmp_path: Path, settings: dict[str, Any], costs: Any
) -> None:
    path = written(tmp_path, samples(), {"j": []}, ["sexism"])
    said = json.loads(path.read_text())
    # Neither model nor replies are there: none is asked for.
    lines(tmp_path / "none.jsonl", [])
    path.write_text(json.dumps({**said, "judge": settings}))
    for one in estimate(plan_of(path)).usage:
        assert one.tokens_in
        assert one.tokens_out
        dollars = (2 * one.tokens_in + 8 * one.tokens_out) / 1e6
        assert one.cost_usd == (pytest.approx(dollars) if costs is True else costs)


def test_what_is_asked_twice_is_paid_once_where_replies_are_kept(tmp_path: Path) -> None:
    same = [{"sample_id": str(at), "user_input": "Q?", "response": "A."} for at in range(3)]
    path = written(tmp_path, same, {"j": []}, ["sexism"])
    said = json.loads(path.read_text())
    price = {"input_usd": 1, "output_usd": 1}
    found = {}
    for settings in (
        {"backend": "litellm", "model": MODEL, "price": price},
        {"backend": "scripted", "replies": "j.jsonl", "price": price},
    ):
        path.write_text(json.dumps({**said, "judge": settings}))
        (found[settings["backend"]],) = estimate(plan_of(path)).usage
    kept, scripted = found["litellm"], found["scripted"]
    assert (kept.calls, kept.cached) == (3, 2)
    assert (scripted.calls, scripted.cached) == (3, 0)
    assert kept.cost_usd == pytest.approx(scripted.cost_usd / 3)
    assert kept.saved_usd == pytest.approx(2 * kept.cost_usd)


def test_a_config_without_judges_is_refused(tmp_path: Path) -> None:
    path = config(tmp_path, ["looping"])
    with pytest.raises(ConfigError, match="none of its metrics asks a judge"):
        estimate(plan_of(path))
