"""What holds for all metrics that ask for statements, claims, opinions or contexts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.oracles.judge_replies import (
    UNFIT,
    asked,
    compared,
    outcome,
    question,
    rating,
    sentences,
    statements,
    verdict,
    verdicts,
)
from tests.oracles.judges import REFUSED, Said, ScriptedJudge, ScriptedPanel, call, judged
from tests.oracles.text_samples import samples
from valor_cli.evaluators.judge.evidence.evidence import gather
from valor_cli.evaluators.judge.metrics.answer_correctness import ANSWER_CORRECTNESS
from valor_cli.evaluators.judge.metrics.answer_relevance import ANSWER_RELEVANCE
from valor_cli.evaluators.judge.metrics.answer_relevancy import ANSWER_RELEVANCY
from valor_cli.evaluators.judge.metrics.bias import BIAS
from valor_cli.evaluators.judge.metrics.context_precision import CONTEXT_PRECISION
from valor_cli.evaluators.judge.metrics.context_recall import CONTEXT_RECALL
from valor_cli.evaluators.judge.metrics.context_relevance import CONTEXT_RELEVANCE
from valor_cli.evaluators.judge.metrics.context_relevancy import CONTEXT_RELEVANCY
from valor_cli.evaluators.judge.metrics.faithfulness import FAITHFULNESS
from valor_cli.evaluators.judge.metrics.hallucination import HALLUCINATION
from valor_cli.evaluators.judge.metrics.ragas_score import RAGAS_SCORE
from valor_cli.evaluators.judge.metrics.summary_coherence import SUMMARY_COHERENCE
from valor_cli.evaluators.judge.metrics.toxicity import TOXICITY
from valor_cli.metric import Metric
from valor_cli.models.requests import NoAnswer, Reply, Request, Stopped
from valor_cli.results import STATUSES

DATA = samples(
    ["an answer"],
    user_input=["asked"],
    references=[["right"]],
    retrieved_contexts=[["One sentence.", "Two sentences."]],
)
VECTORS = {"asked": [1.0, 0.0], "near": [3.0, 4.0]}

GOOD: dict[str, tuple[Metric[Any], list[str], float]] = {
    one[0].name: one
    for one in [
        (ANSWER_CORRECTNESS, [statements("a"), statements("A"), compared(["a"], [], [])], 1),
        (ANSWER_RELEVANCE, [statements("a", "b"), verdicts(1, 0)], 0.5),
        (ANSWER_RELEVANCY, [question("near")] * 3, 0.6),
        (BIAS, [statements("a", "b"), verdicts(1, 0)], 0.5),
        (TOXICITY, [statements("a", "b"), verdicts(1, 0)], 0.5),
        (CONTEXT_PRECISION, [verdict(0), verdict(1)], 0.5),
        (CONTEXT_RECALL, [statements("a", "b"), verdicts(1, 0, contexts=[1, None])], 0.5),
        (CONTEXT_RELEVANCE, [verdicts(1, 0)], 0.5),
        (CONTEXT_RELEVANCY, [sentences("One sentence.")], 0.5),
        (FAITHFULNESS, [statements("a", "b"), verdicts(1, 0)], 0.5),
        (HALLUCINATION, [verdicts(1, 0)], 0.5),
        (SUMMARY_COHERENCE, [rating(3)], 3),
        (
            RAGAS_SCORE,
            [
                *(statements("a", "b"), verdicts(1, 0)),
                *[question("near")] * 3,
                *(verdict(0), verdict(1)),
                *(statements("A"), verdicts(1, contexts=[1])),
            ],
            0.6,
        ),
    ]
}
CALLS = [
    pytest.param(metric, replies, at, value, id=f"{name}-{at + 1}")
    for name, (metric, replies, value) in GOOD.items()
    for at in range(len(replies))
]
METRICS = [pytest.param(metric, id=name) for name, (metric, _, _) in GOOD.items()]


@pytest.mark.parametrize(("metric", "replies", "at", "value"), CALLS)
class TestAnyCall:
    """Each call of each metric may be the one that goes wrong."""

    @pytest.mark.parametrize("said", [UNFIT, "", "[]", "{}", "null", REFUSED, Reply("{", cut=True)])
    def test_a_reply_that_does_not_fit_is_asked_for_again(
        self, metric: Metric[Any], replies: list[str], at: int, value: float, said: str | Reply
    ) -> None:
        told = [*replies[:at], said, *replies[at:]]
        found = judged(metric, DATA, told, vectors=VECTORS)
        assert found.values == [pytest.approx(value)]
        assert found.unused == 0
        one = outcome(found)
        assert one.asked is not None
        assert one.asked.calls == len(replies) + 1

    def test_twice_is_a_parse_failure(
        self, metric: Metric[Any], replies: list[str], at: int, value: float
    ) -> None:
        found = judged(metric, DATA, [*replies[:at], UNFIT, UNFIT], vectors=VECTORS)
        assert found.values == [None]
        one = outcome(found)
        assert (one.status, one.values) == ("parse_failure", {})
        assert one.reason
        assert found.unused == 0

    def test_refused_twice(
        self, metric: Metric[Any], replies: list[str], at: int, value: float
    ) -> None:
        found = judged(metric, DATA, [*replies[:at], REFUSED, REFUSED], vectors=VECTORS)
        one = outcome(found)
        assert (one.status, one.reason) == ("parse_failure", "the judge refused to reply")

    @pytest.mark.parametrize("retries", [0, 3])
    def test_judge_retries(
        self, metric: Metric[Any], replies: list[str], at: int, value: float, retries: int
    ) -> None:
        told = [*replies[:at], *[UNFIT] * (retries + 1)]
        calls = [(metric, {"judge_retries": retries})]
        found = judged(calls, DATA, told, vectors=VECTORS)
        assert outcome(found).status == "parse_failure"
        assert found.unused == 0
        told = [*replies[:at], *[UNFIT] * retries, *replies[at:]]
        found = judged(calls, DATA, told, vectors=VECTORS)
        assert found.values == [pytest.approx(value)]

    def test_no_answer(
        self, metric: Metric[Any], replies: list[str], at: int, value: float
    ) -> None:
        found = judged(metric, DATA, [*replies[:at], NoAnswer("HTTP 500")], vectors=VECTORS)
        assert outcome(found)[1:3] == ("judge_error", "HTTP 500")

    def test_stopped(self, metric: Metric[Any], replies: list[str], at: int, value: float) -> None:
        found = judged(metric, DATA, [*replies[:at], Stopped("interrupted")], vectors=VECTORS)
        assert outcome(found)[1:3] == ("skipped", "interrupted")


@pytest.mark.parametrize("metric", METRICS)
def test_prompts_are_those_declared(metric: Metric[Any]) -> None:
    found = judged(metric, DATA, GOOD[metric.name][1], vectors=VECTORS)
    assert tuple(dict.fromkeys(asked(found))) == metric.prompts


@pytest.mark.parametrize("metric", METRICS)
def test_declared(metric: Metric[Any]) -> None:
    assert not metric.reproducible
    assert metric.reference
    assert metric.citation
    assert metric.outputs[0].name == "value"
    assert metric.parameters[-1].name == "judge_retries"
    assert metric.parameters[-1].default is None
    assert metric.description.endswith(".")
    assert all(alias != metric.name for alias in metric.aliases)


@pytest.mark.parametrize("metric", METRICS)
def test_without_anything_nothing_is_asked(metric: Metric[Any]) -> None:
    found = judged(metric, samples([None]), [])
    assert outcome(found).status == "missing_input"
    assert found.findings[0].values[0].value is None


@pytest.mark.parametrize("metric", METRICS)
def test_told(metric: Metric[Any]) -> None:
    one = outcome(judged(metric, DATA, GOOD[metric.name][1], vectors=VECTORS))
    assert one.status == "ok"
    assert one.reason
    assert one.details
    assert one.verdicts


def test_everything_at_once_shares_what_it_can() -> None:
    # Of the answer: statements, opinions; of the reference: statements. Once each.
    replies = [
        *(statements("a"), statements("A"), compared(["a"], [], [])),
        verdicts(1),
        *[question("near")] * 3,
        *(statements("o"), verdicts(0), verdicts(0)),
        *(verdict(1), verdict(1)),
        verdicts(1, contexts=[1]),
        verdicts(1, 1),
        sentences(),
        verdicts(1),
        verdicts(0, 0),
        rating(5),
    ]
    found = judged([(one, {}) for one, _, _ in GOOD.values()], DATA, replies, vectors=VECTORS)
    assert asked(found) == [
        *("statements", "statements", "answer_correctness"),
        "answer_relevance",
        *["answer_relevancy"] * 3,
        *("opinions", "bias", "toxicity"),
        *["context_precision"] * 2,
        *("context_recall", "context_relevance", "context_relevancy"),
        *("faithfulness", "hallucination", "summary_coherence"),
    ]
    assert found.unused == 0
    # 4 / (1 + 5/3 + 1 + 1) = 6/7.
    assert outcome(found, call=len(GOOD) - 1).values["value"] == pytest.approx(6 / 7)


def test_one_metric_that_fails_leaves_the_others_alone() -> None:
    calls: list[tuple[Metric[Any], dict[str, Any]]] = [(HALLUCINATION, {}), (CONTEXT_RELEVANCE, {})]
    found = judged(calls, DATA, [UNFIT, UNFIT, verdicts(1, 1)])
    assert [outcome(found, call=at).status for at in range(2)] == ["parse_failure", "ok"]


ODD = (
    "",
    " ",
    "\n\n",
    "\0",
    "a",
    "한국어. 日本語。",
    "\ud800",
    "</data>",
    "{}",
    "1.",
    "x" * 3000,
    "%s{0}",
)


@dataclass
class ImaginedJudge(ScriptedJudge):
    """A judge who replies what the reading imagines, and an embedder of directions at random."""

    async def reply(self, request: Request) -> Said:
        return Said(Reply(request.example_reply), False)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        assert all(text.strip() for text in texts)
        return np.random.default_rng(len(texts[0])).normal(size=(len(texts), 3))


def test_odd_texts_keep_the_bounds() -> None:
    pairs = [(one, other) for one in ODD for other in ODD]
    data = samples(
        [one for one, _ in pairs],
        user_input=[other for _, other in pairs],
        references=[[other, one] for one, other in pairs],
        retrieved_contexts=[[other, one] for one, other in pairs],
    )
    calls = tuple(call(metric, {}) for metric, _, _ in GOOD.values())
    calls += (call(ANSWER_CORRECTNESS, {"weights": (0.75, 0.25)}),)
    found = gather({"m": data}, calls, ScriptedPanel([ImaginedJudge(())]))["m"]
    for one, outcomes in zip(calls, found.outcomes, strict=True):
        assert "ok" in {STATUSES[status] for status in outcomes.status}, one.metric.name
        for output in one.metric.outputs:
            values = outcomes.columns[output.name][outcomes.status == 0]
            low, high = output.bounds
            assert high is not None
            assert ((values >= low) & (values <= high)).all(), one.metric.name
        json.dumps([outcomes.details, outcomes.reasons], allow_nan=False)
