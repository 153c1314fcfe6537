"""Replies in the order of calls come in; what a judge metric makes of them goes out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators.judge.evidence.evidence import gather
from valor_cli.evaluators.model_metrics import measured_evidence
from valor_cli.evaluators.samples.outcomes import Outcomes
from valor_cli.metric import Call, Metric
from valor_cli.models.judge.prompts import Prompt, Prompts
from valor_cli.models.requests import NoAnswer, Reply, Request
from valor_cli.models.settings import Combine
from valor_cli.results import Findings

REFUSED = Reply("", refused=True)
"""The reply of a judge whose provider marked it as a refusal."""


class Said(NamedTuple):
    """A reply, and whether it was kept from before."""

    reply: Reply
    cached: bool


@dataclass
class ScriptedJudge:
    """A judge who says what stands in a list; it fails the test when that is used up."""

    replies: Sequence[str | Reply | Exception]
    name: str = "scripted"
    judge_retries: int = 1
    keep_prompts: bool = False
    repeats: int = 1
    vectors: Mapping[str, Sequence[float]] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    forgotten: list[Request] = field(default_factory=list)
    prompts: Prompts = field(default_factory=Prompts)

    def prompt(self, name: str) -> Prompt:
        return self.prompts.of(name)

    async def reply(self, request: Request) -> Said:
        at = len(self.requests)
        self.requests.append(request)
        assert at < len(self.replies), f"call {at + 1} has no reply: {request.messages[-1].content}"
        said = self.replies[at]
        if isinstance(said, Exception):
            raise said
        return Said(said if isinstance(said, Reply) else Reply(said), False)

    def forget(self, request: Request) -> None:
        self.forgotten.append(request)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        lacking = [text for text in texts if text not in self.vectors]
        if lacking:
            raise NoAnswer(f"no vector of {lacking[0]!r}")
        return np.array([self.vectors[text] for text in texts], np.float64)


@dataclass
class ScriptedPanel:
    """Judges asked one after the other, in the order of the work."""

    jurors: Sequence[ScriptedJudge]
    combine: Combine | None = None
    told: dict[str, str] = field(default_factory=dict)

    def run(self, work: Sequence[tuple[int, Iterator[Callable[[], Awaitable[None]]]]]) -> None:
        async def all_of_it() -> None:
            for _, pieces in work:
                for piece in pieces:
                    await piece()

        asyncio.run(all_of_it())


@dataclass
class Judging:
    """What came of it: outcomes by call, the findings, and what was asked."""

    outcomes: tuple[Outcomes, ...]
    findings: tuple[Findings, ...]
    requests: list[Request]
    unused: int

    @property
    def values(self) -> list[float | None]:
        """The primary value of each sample under the first call; None where there is none."""
        first = self.outcomes[0]
        column = next(iter(first.columns.values()))
        return [
            float(value) if status == 0 and not np.isnan(value) else None
            for value, status in zip(column, first.status, strict=True)
        ]

    def output(self, name: str) -> float | None:
        """The value of an output over all samples, under the first call."""
        return next(one.value for one in self.findings[0].values if one.output == name)


def judged(
    metric: Metric[Any] | Sequence[tuple[Metric[Any], Mapping[str, Any]]],
    data: TextDataset,
    replies: Sequence[str | Reply | Exception],
    *,
    judge_retries: int = 1,
    vectors: Mapping[str, Sequence[float]] | None = None,
    **parameters: Any,
) -> Judging:
    """Judge the samples of a data set with one metric, or with several in their order."""
    judge = ScriptedJudge(replies, judge_retries=judge_retries, vectors=vectors or {})
    calls = (
        (call(metric, parameters),)
        if isinstance(metric, Metric)
        else tuple(call(one, own) for one, own in metric)
    )
    evidence = measured_evidence(data, gather({"m": data}, calls, ScriptedPanel([judge]))["m"])
    found = tuple(one.findings(evidence) for one in calls)
    assert all(isinstance(one, Findings) for one in found)
    return Judging(
        evidence.outcomes,
        found,  # type: ignore[arg-type]
        judge.requests,
        len(replies) - len(judge.requests),
    )


def call(metric: Metric[Any], parameters: Mapping[str, Any]) -> Call:
    """A call with the parameters given, the others at their defaults."""
    defaults = {one.name: one.default for one in metric.parameters}
    return Call(metric, {**defaults, **parameters})
