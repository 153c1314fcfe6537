"""Judge that returns scripted replies in order."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from valor_cli.errors import DataError, Problem
from valor_cli.models.json_lines import (
    OUTCOME,
    PROBABILITIES,
    Faults,
    Form,
    fault_of,
    objects,
    reply_of,
)
from valor_cli.models.requests import (
    Judge,
    PermanentError,
    Price,
    RateLimited,
    Reply,
    Request,
    TransientError,
)
from valor_cli.models.settings import JudgeSettings

FAILURES: Mapping[str, type[RateLimited | TransientError | PermanentError]] = {
    "busy": RateLimited,
    "passing": TransientError,
    "unanswerable": PermanentError,
}

_FORMS = {
    "reply": Form("a text or an object", lambda value: isinstance(value, str | dict)),
    **OUTCOME,
    "scores": PROBABILITIES,
    "error": Form(
        f"one of {', '.join(FAILURES)}", lambda value: isinstance(value, str) and value in FAILURES
    ),
}


class _Line(Struct, frozen=True):
    """What one call gets."""

    reply: Reply
    error: str | None = None


class ScriptedJudge(Judge):
    """A judge whose replies are read from a file, in call order; for tests and teaching."""

    in_order = True

    def __init__(self, settings: JudgeSettings) -> None:
        """Read the replies.

        Raises:
            DataError: They cannot be used.
        """
        self._path = settings.replies or ""
        self.name = settings.called
        self.identity = {"backend": "scripted", "judge": self.name}
        self.price = None if settings.price is None else settings.price.price
        self._lines = _read(self._path, self.price)
        self._calls = 0

    async def answer(self, request: Request) -> Reply:
        """The next reply.

        Raises:
            RateLimited, TransientError, PermanentError: As the file says.
            DataError: There are no more.
        """
        purpose = request.purpose
        call = f"call {self._calls + 1} ({purpose.metric}, sample {purpose.sample_id})"
        if self._calls == len(self._lines):
            message = f"{call} has no reply: the file holds {len(self._lines)}"
            hint = "add a line for each call, in their order"
            raise DataError(Problem(self._path, message), hint=hint)
        line = self._lines[self._calls]
        self._calls += 1
        if line.error is not None:
            raise FAILURES[line.error](f"{self._path}: {call} is to fail: {line.error}")
        return line.reply

    def check(self) -> str | None:
        """A warning at the end of the run, if any."""
        unused = len(self._lines) - self._calls
        if not unused:
            return None
        return f"{self._path}: {unused} of {len(self._lines)} replies were not used"


def _read(path: str, price: Price | None) -> list[_Line]:
    faults = Faults(path)
    lines = []
    for number, said in objects(path, faults):
        fault = fault_of(said, _FORMS) or _missing(said)
        if fault is None:
            lines.append(_Line(_reply(said, price), said.get("error")))
        else:
            faults.add(number, fault)
    faults.check(hint='a line is {"reply": "…"}')
    return lines


def _missing(said: Mapping[str, Any]) -> str | None:
    if "error" in said:
        others = ", ".join(name for name in said if name != "error")
        return f"a call that fails has no {others}" if others else None
    if "reply" not in said and not said.get("refused"):
        return "the key 'reply' is missing"
    return None


def _reply(said: Mapping[str, Any], price: Price | None) -> Reply:
    text = said.get("reply", "")
    if not isinstance(text, str):
        text = json.dumps(text, ensure_ascii=False)
    tokens_in, tokens_out = said.get("tokens_in"), said.get("tokens_out")
    # Without a price nothing is paid; with one, what tokens say.
    cost = 0.0 if price is None else None
    if price is not None and tokens_in is not None and tokens_out is not None:
        cost = price.of(tokens_in, tokens_out)
    return reply_of(said, text=text, cost_usd=cost)
