"""Requests in; replies that fit them out: the best for the sample, or any, drawn by the request."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.oracles.judges import Said
from tests.oracles.text_models import ScriptedModels, ScriptedSession
from valor_cli.metric import Call, Wing
from valor_cli.models.judge.prompts import Prompt, Prompts
from valor_cli.models.requests import Reply, Request

COUNT_AGAINST = ("bias", "toxicity", "hallucination")
"""Prompts of which a verdict of 1 is the worst."""

BEST_WORDS = {
    "contact_information": "absent",
    "language_mismatch": "same",
    "sexism": "false",
    "summarization_judge": "good",
    "custom": "true",
}


@dataclass
class ImaginingJudge:
    """A judge who finds everything right, or whatever a hash of the request says."""

    best: bool
    name: str = "imagining"
    judge_retries: int = 1
    keep_prompts: bool = False
    repeats: int = 1
    prompts: Prompts = field(default_factory=Prompts)

    @property
    def panelist(self) -> ImaginingJudge:
        return self

    def prompt(self, name: str) -> Prompt:
        return self.prompts.of(name)

    async def reply(self, request: Request) -> Said:
        return Said(Reply(self._text(request)), False)

    def forget(self, request: Request) -> None:
        """Nothing is kept."""

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        if self.best:
            return np.ones((len(texts), 3))
        drawn = [int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) for text in texts]
        return np.array([np.random.default_rng(seed).random(3) for seed in drawn])

    def _text(self, request: Request) -> str:
        prompt = request.purpose.prompt
        random = np.random.default_rng(int(request.key[:8], 16))
        imagined = request.example_reply
        if request.schema_name == "rating":
            low, high = (10, 0) if prompt == "stereotypes" else (0, _top(imagined))
            if not self.best:
                high = int(random.choice(sorted({low, high})))
            return json.dumps({"reason": "so", "rating": high})
        if request.schema_name == "word":
            said = BEST_WORDS[prompt] if self.best or random.random() < 0.5 else None
            return said or _word(imagined)
        value = json.loads(imagined)
        if request.schema_name == "correctness" and self.best:
            value = {"TP": value["TP"] + value["FP"], "FP": [], "FN": []}
        for one in value.get("verdicts", [value]):
            if "verdict" in one:
                right = int(prompt not in COUNT_AGAINST)
                one["verdict"] = right if self.best else int(random.integers(0, 2))
        if "evaluation_score" in value:
            value["evaluation_score"] = 1.0 if self.best else float(random.random())
        return json.dumps(value)


def _top(imagined: str) -> int:
    value = json.loads(imagined)
    return int(value["rating"] if isinstance(value, dict) else value)


def _word(imagined: str) -> str:
    try:
        return str(json.loads(imagined)["verdict"])
    except (ValueError, TypeError):
        return imagined


@dataclass
class ImaginingPanel:
    """One such judge."""

    jurors: Sequence[ImaginingJudge]
    combine: None = None
    told: dict[str, str] = field(default_factory=dict)

    def run(self, work: Sequence[tuple[int, Iterator[Callable[[], Awaitable[None]]]]]) -> None:
        async def all_of_it() -> None:
            for _, pieces in work:
                for piece in pieces:
                    await piece()

        asyncio.run(all_of_it())


def needs_of(wing: Wing[Any, Any], calls: Sequence[Call], data: Any, *, best: bool = False) -> Any:
    """The plan for the evidence of a data set; a wing that asks models asks imagined ones."""
    plan = wing.plan(calls, [])
    if wing.gather is None:
        return plan
    if all("judge" not in call.asks for call in calls):
        measured: Mapping[str, Any] = wing.gather(
            {"m": data}, plan, ScriptedSession(ScriptedModels(best))
        )
        return measured["m"]
    found: Mapping[str, Any] = wing.gather(
        {"m": data}, plan, ImaginingPanel([ImaginingJudge(best)])
    )
    return found["m"]
