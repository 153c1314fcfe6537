"""Record judge replies to a file that can be replayed.

A line for each request, {"key", "judge", "metric", "model", "sample_id", "prompt", "variant",
"repeat", "reply", "refused", "cut", "tokens_in", "tokens_out", "cost_usd"}, and "scores" where
probabilities of tokens were asked for: no prompt texts, no headers. If there was no reply, "error"
says why in place of "reply" and the keys after it, in a line for each caller. "tries" is the
number of requests made, if more than one. Replies arrive in any order; lines are sorted by model,
sample_id, metric, repeat, prompt, variant and key, as texts, so that two recordings of the same
replies are equal bytes.
"""

from __future__ import annotations

import codecs
import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from msgspec import Struct
from msgspec.structs import replace

from valor_cli.atomic_files import clear, put, temporary
from valor_cli.errors import DataError, Problem
from valor_cli.models.json_lines import (
    COUNT,
    NEEDED_TEXT,
    NUMBER_OR_NULL,
    OUTCOME,
    PROBABILITIES,
    TEXT,
    Faults,
    Form,
    fault_of,
    objects,
    reply_of,
)
from valor_cli.models.requests import NoAnswer, Purpose, Reply, Request

PARTIAL = ".partial"
"""What ends the name of a recording that is under way, or whose run died."""

_FORMS = {
    "key": NEEDED_TEXT,
    "judge": TEXT,
    "metric": TEXT,
    "model": TEXT,
    "sample_id": TEXT,
    "prompt": TEXT,
    "variant": COUNT,
    "repeat": COUNT,
    "reply": TEXT,
    "error": TEXT,
    "tries": Form("a whole number, at least 1", lambda value: COUNT.fits(value) and bool(value)),
    **OUTCOME,
    "cost_usd": NUMBER_OR_NULL,
    "scores": PROBABILITIES,
}


class Recorded(Struct, frozen=True):
    """A line of a cassette: the reply to a request, and its caller.

    Attributes:
        failure: Why there was no reply; `reply` is empty then, but for its tries.
    """

    key: str
    judge: str
    purpose: Purpose
    variant: int
    repeat: int
    reply: Reply
    failure: str | None = None

    @property
    def slot(self) -> tuple[str, ...]:
        """The key of a line: the request; for a failed one, also its caller."""
        return (self.key,) if self.failure is None else (self.key, *self.purpose)

    @property
    def place(self) -> tuple[str, str, str, int, str, int, str]:
        """The sort key of the line."""
        purpose = self.purpose
        return (
            *(purpose.model, purpose.sample_id, purpose.metric),
            *(self.repeat, purpose.prompt, self.variant, self.key),
        )

    @property
    def line(self) -> bytes:
        """The line as written."""
        reply, purpose = self.reply, self.purpose
        said = {
            "key": self.key,
            "judge": self.judge,
            "metric": purpose.metric,
            "model": purpose.model,
            "sample_id": purpose.sample_id,
            "prompt": purpose.prompt,
            "variant": self.variant,
            "repeat": self.repeat,
            **(_said(reply) if self.failure is None else {"error": self.failure}),
            **({"tries": reply.tries} if reply.tries > 1 else {}),
        }
        text = json.dumps(said, ensure_ascii=False, allow_nan=False)
        try:
            return text.encode() + b"\n"
        except UnicodeEncodeError:  # lone surrogates
            return json.dumps(said, allow_nan=False).encode() + b"\n"


class CassetteWriter:
    """Writes a cassette; a context manager.

    Each reply is appended to the partial file as it arrives. `close` puts all into order and in
    the place of what stood there; where an error or a kill comes first, the partial file stays.
    """

    def __init__(self, path: str, judge: str = "") -> None:
        """Open the partial file.

        Args:
            path: Of the cassette; its folder is made if there is none.
            judge: Who replies.

        Raises:
            DataError: It cannot be written there, or something else stands there.
        """
        self.path = path
        self.partial = Path(f"{path}{PARTIAL}")
        self.judge = judge
        self._recorded: dict[tuple[str, ...], Recorded] = {}
        try:
            _check_place(path)
            self.partial.parent.mkdir(parents=True, exist_ok=True)
            # Replies may hold what the data holds: they are the user's alone.
            self._file = open(  # noqa: SIM115  # open as long as the run
                os.open(self.partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb", 0
            )
        except OSError as error:
            _stop(path, error)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()

    def record(self, request: Request, reply: Reply | NoAnswer) -> None:
        """Add a reply, or why there is none.

        Of one that is there already only who asked first by name is noted.

        Which of two askers comes first in time hangs on the judge's pace; the one named in the
        cassette must not.

        Raises:
            DataError: The file cannot be written.
        """
        asked = (request.key, self.judge, request.purpose, request.variant, request.repeat)
        if isinstance(reply, Reply):
            fresh = Recorded(*asked, reply)
        else:
            fresh = Recorded(*asked, Reply("", tries=reply.tries), str(reply))
        before = self._recorded.get(fresh.slot)
        if before is not None:
            if fresh.place < before.place:
                self._recorded[fresh.slot] = replace(fresh, reply=before.reply)
            return
        self._recorded[fresh.slot] = fresh
        try:
            self._file.write(fresh.line)
        except OSError as error:
            _stop(self.path, error)

    def close(self) -> None:
        """Write the cassette to its final path; no effect after `leave` or `close`.

        Raises:
            DataError: It cannot be written; the partial file stays.
        """
        if self._file.closed:
            return
        self._file.close()
        lines = sorted(self._recorded.values(), key=lambda one: one.place)
        path = Path(self.path)
        waiting = temporary(path)
        clear(path.parent, path.name.__eq__)
        try:
            with open(os.open(waiting, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.writelines(one.line for one in lines)
            put(waiting, path)
            self.partial.unlink(missing_ok=True)
        except OSError as error:
            waiting.unlink(missing_ok=True)
            _stop(self.path, error)

    def abort(self) -> None:
        """Stop without replacing an existing cassette; a partial file is kept unless it is
        empty.
        """
        self._file.close()
        if not self._recorded:
            self.partial.unlink(missing_ok=True)


def _check_place(path: str) -> None:
    """Reject a file that is not a cassette, so that a mistake in `record:` loses no data.

    Raises:
        OSError: Something else stands there.
    """
    if os.path.isdir(path):
        raise IsADirectoryError(None, "the path is a folder")
    if not os.path.exists(path):
        return
    if not os.path.isfile(path):
        raise FileExistsError(None, "the path is a device")
    with open(path, "rb") as file:
        line = next(filter(None, map(bytes.strip, file)), b"")
    if line and not _begins_cassette(line):
        raise FileExistsError(None, "the file there is no cassette, and is not overwritten")


def _begins_cassette(line: bytes) -> bool:
    try:
        said = json.loads(line.removeprefix(codecs.BOM_UTF8))
    except (ValueError, RecursionError):
        return False
    return isinstance(said, dict) and "key" in said and ("reply" in said or "error" in said)


def _said(reply: Reply) -> dict[str, Any]:
    said = {name: getattr(reply, name) for name in (*OUTCOME, "cost_usd")}
    scores = {} if reply.scores is None else {"scores": reply.scores}
    return {"reply": reply.text, **said, **scores}


def _stop(path: str, error: OSError) -> NoReturn:
    problem = Problem(path, f"the cassette cannot be written: {error.strerror or error}")
    raise DataError(problem, hint="name another file with `record:`") from error


def read_cassette(path: str) -> tuple[Recorded, ...]:
    """Read the lines of a cassette.

    Raises:
        DataError: It cannot be read, or some of its lines cannot.
    """
    faults = Faults(path)
    found: dict[tuple[str, ...], tuple[int, Recorded]] = {}
    for number, said in objects(path, faults):
        fault = fault_of(said, _FORMS) or _neither(said)
        if fault is not None:
            faults.add(number, fault)
            continue
        one = _recorded(said)
        first, before = found.setdefault((one.judge, *one.slot), (number, one))
        if (before.reply, before.failure) != (one.reply, one.failure):
            faults.add(number, f"another reply to the request of line {first}")
    faults.check(hint="record it again with `record:`, or fix the lines")
    return tuple(one for _, one in found.values())


def _neither(said: Mapping[str, Any]) -> str | None:
    """Why a line has no outcome of a request; None if it has one."""
    if "error" in said:
        return "has both a reply and an error" if "reply" in said else None
    return None if "reply" in said else "the key 'reply' is missing"


def _recorded(said: Mapping[str, Any]) -> Recorded:
    asked = [said.get(name, "") for name in ("metric", "model", "sample_id", "prompt")]
    return Recorded(
        said["key"],
        said.get("judge", ""),
        Purpose(*asked),
        said.get("variant", 0),
        said.get("repeat", 0),
        reply_of(said),
        said.get("error"),
    )
