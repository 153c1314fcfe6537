"""Estimate how often a metric calls a judge per sample, without calling any.

The metric runs on simulated replies, as for `valor estimate`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.evaluators.judge.evidence.conversation import Conversation
from valor_cli.evaluators.judge.evidence.sample import Sample
from valor_cli.metric import Metric
from valor_cli.models.judge.prompts import Prompt, from_words
from valor_cli.models.requests import Reply, Request
from valor_cli.models.scheduler.calls import CachedReply


class JudgeCalls(NamedTuple):
    """Calls per sample: a constant, plus some per reference and per retrieved context."""

    fixed: int
    per_reference: int
    per_context: int

    def __str__(self) -> str:
        parts = [(self.fixed, ""), (self.per_reference, " per reference")]
        told = [(n, of) for n, of in [*parts, (self.per_context, " per context")] if n]
        (first, of), *rest = told or [(0, "")]
        noun = "call" if first == 1 else "calls"
        return " + ".join([f"{first} {noun}{of}", *(f"{n}{of}" for n, of in rest)])


def judge_calls(metric: Metric[Any]) -> JudgeCalls:
    """Calls of a judge metric with default parameters, for a response of usual length."""
    one, two_references, two_contexts = asyncio.run(_counts(metric))
    references, contexts = two_references - one, two_contexts - one
    return JudgeCalls(one - references - contexts, references, contexts)


async def _counts(metric: Metric[Any]) -> tuple[int, int, int]:
    """Calls for a reference and a context, for two and one, for one and two."""
    return await _count(metric, 1, 1), await _count(metric, 2, 1), await _count(metric, 1, 2)


async def _count(metric: Metric[Any], references: int, contexts: int) -> int:
    if metric.measure is None:
        raise ValueError(f"{metric.name} has no measure")
    asking = Conversation(_sample(references, contexts), _Imagined())
    await metric.measure(asking, **{one.name: one.default for one in metric.parameters})
    return asking.judge_calls().calls


def _sample(references: int, contexts: int) -> Sample:
    """Sample texts that do not contain each other, which some metrics decide without a judge."""
    right = tuple(f"right answer {number}" for number in range(references))
    retrieved = tuple(f"retrieved passage {number}" for number in range(contexts))
    return Sample("", "", 0, "some question", "some response", right, retrieved)


class _Imagined:
    """A judge whose first reply always fits."""

    name = ""
    judge_retries = 0
    keep_prompts = False

    def prompt(self, name: str) -> Prompt:
        """Any prompt: only the number of calls matters."""
        return from_words(name, "Any question.", answer="Any answer.")

    async def reply(self, request: Request) -> CachedReply:
        """What would fit."""
        return CachedReply(Reply(request.example_reply))

    def forget(self, request: Request) -> None:
        """Nothing was kept."""

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """(texts, 1) ones."""
        return np.ones((len(texts), 1))
