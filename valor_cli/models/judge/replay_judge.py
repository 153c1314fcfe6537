"""Judge that replays recorded replies."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from msgspec.structs import replace

from valor_cli.errors import DataError, Problem
from valor_cli.models.requests import Judge, PermanentError, Price, Reply, Request
from valor_cli.models.scheduler.cassette import Recorded, read_cassette
from valor_cli.models.settings import JudgeSettings

KEY_SHOWN = 12
HINT = (
    "the cassette was recorded with other requests: these change with prompts, data, `repeat:` "
    "and earlier replies; record it again with `record:`"
)


class ReplayJudge(Judge):
    """A judge that replays a cassette, at no cost.

    Attributes:
        misses: Requests that the cassette lacks.
    """

    price: Price | None = Price(0.0, 0.0)

    def __init__(self, settings: JudgeSettings) -> None:
        """Read the cassette.

        Raises:
            DataError: It cannot be used.
        """
        self._path = settings.cassette or ""
        recorded = read_cassette(self._path)
        judges = sorted({one.judge for one in recorded if one.judge})
        asked = settings.name or settings.model
        self.name = asked or (judges[0] if len(judges) == 1 else "replay")
        self._lines = _lines(self._path, recorded, asked if asked in judges else None)
        self._counted: set[tuple[str, ...]] = set()
        self.identity = {"backend": "replay", "judge": self.name}
        self.misses: list[Problem] = []

    async def answer(self, request: Request) -> Reply:
        """The recorded reply.

        Raises:
            PermanentError: None could be had when it was recorded; or the cassette lacks it, and
                `check` then names all of these.
        """
        own = (request.key, *request.purpose)
        one = self._lines.get(own) or self._lines.get((request.key,))
        if one is None:
            miss = f"no reply for {_description(request)}"
            self.misses.append(Problem(self._path, miss))
            raise PermanentError(f"{self._path}: {miss}")
        # The first who asks has made the retries, as when it was recorded.
        tries = 1 if one.slot in self._counted else one.reply.tries
        self._counted.add(one.slot)
        if one.failure is not None:
            raise PermanentError(one.failure, tries)
        return dataclasses.replace(one.reply, tries=tries)

    def check(self) -> str | None:
        """Raise an error if requests were missing in the cassette.

        Raises:
            DataError: Some were not; names them.
        """
        if self.misses:
            raise DataError(sorted(self.misses, key=str), hint=HINT)
        return None


def _lines(
    path: str, recorded: Sequence[Recorded], judge: str | None
) -> dict[tuple[str, ...], Recorded]:
    """The lines of one judge by their slots, a failure by its request too; None: of all judges.

    Raises:
        DataError: Judges differ about a request, and none is named.
    """
    lines: dict[tuple[str, ...], Recorded] = {}
    # Of a request that was answered to one asker, and failed for another, both stand there.
    for one in sorted(recorded, key=lambda one: one.failure is not None):
        if judge is not None and one.judge != judge:
            continue
        # What was paid was paid when it was recorded.
        free = replace(one, reply=dataclasses.replace(one.reply, cost_usd=0.0))
        for slot in (one.slot, (one.key,)):
            other = lines.setdefault(slot, free)
            alike = (other.reply, other.failure) == (free.reply, free.failure)
            if other.judge != free.judge and not alike:
                judges = ", ".join(sorted({other.judge for other in recorded}))
                problem = Problem(path, f"holds several judges who reply differently: {judges}")
                raise DataError(problem, hint="say with `name:` which of them is meant")
    return lines


def _description(request: Request) -> str:
    """Whom and what a request is for, without its words."""
    purpose = request.purpose
    about = f"sample '{purpose.sample_id}'"
    if purpose.model:
        about += f" of model '{purpose.model}'"
    repeat = f", repeat {request.repeat + 1}" if request.repeat else ""
    return (
        f"{about} ({purpose.metric}, prompt {purpose.prompt}{repeat}, "
        f"request {request.key[:KEY_SHOWN]}…)"
    )
