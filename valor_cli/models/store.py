"""Persistent cache of judge replies, with a ledger of run costs.

A reply is on disk before `keep` returns, so it survives a kill of the process, as does the ledger
of what the run has paid. Neither prompts nor provider keys are written.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from msgspec import Struct

from valor_cli.errors import Problem, ValorError, printable
from valor_cli.models.requests import Reply, Request
from valor_cli.models.store_file import open_file, store_path, unusable

Clock = Callable[[], float]

_FIND = "SELECT reply FROM replies WHERE key = ? ORDER BY id DESC LIMIT 1"
_FIND_OWN = (
    "SELECT reply FROM replies WHERE key = ? AND run = ? AND start = ? ORDER BY id DESC LIMIT 1"
)
_BEGIN = "BEGIN IMMEDIATE"
_FORGET = "DELETE FROM replies WHERE key = ? AND run = ?"
_FORGET_ALL = "DELETE FROM replies WHERE key = ?"
_KEEP = (
    "INSERT INTO replies (key, run, start, created, judge, metric, prompt, reply) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_PAID = "UPDATE runs SET spent_usd = spent_usd + ?, calls = calls + 1 WHERE id = ? AND start = ?"
_LEDGER = "SELECT id, start, spent_usd FROM runs WHERE identity = ? AND judge = ?"
_NEW = "INSERT INTO runs (identity, judge, start, started, state) VALUES (?, ?, 1, ?, 'running')"
_FRESH = (
    "UPDATE runs SET start = start + 1, started = ?, ended = NULL, state = 'running', "
    "spent_usd = 0, calls = 0 WHERE identity = ? AND judge = ?"
)
_RESUMED = "UPDATE runs SET ended = NULL, state = 'running' WHERE identity = ? AND judge = ?"
_ENDED = "UPDATE runs SET ended = ?, state = ? WHERE id = ? AND start = ?"


class Store:
    """All cached replies and the ledger of runs; a context manager.

    Several processes may use it at once. Within one it belongs to one thread at a time.
    """

    def __init__(self, path: Path, database: sqlite3.Connection, clock: Clock) -> None:
        self.path = path
        self._database = database
        self._clock = clock
        self._runs: list[RunStore] = []

    @classmethod
    def open(cls, path: Path | None = None, *, clock: Clock = time.time) -> Self:
        """Open or create the store.

        Args:
            path: Its file; None: where `store_path` says.
            clock: Seconds since 1970.

        Raises:
            ValorError: The file or its folder cannot be used, or is another program's. It stays
                as it is.
        """
        path = store_path() if path is None else path
        return cls(path, open_file(path), clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def run(self, identity: str, *, resume: bool, reuse: bool, judge: str = "") -> RunStore:
        """The part of the store for one run and judge.

        Args:
            identity: Of the run: what its config and its inputs are.
            resume: Whether it goes on where the last of that identity stopped, or starts anew.
            reuse: Whether any reply kept answers; else those that the run itself has paid.
            judge: Its name.

        Raises:
            ValorError: The store cannot be used.
        """
        run = (identity, printable(judge))
        now = self._clock()
        try:
            with self._database:
                self._database.execute(_BEGIN)
                known = self._database.execute(_LEDGER, run).fetchone() is not None
                if not known:
                    self._database.execute(_NEW, (*run, now))
                elif resume:
                    self._database.execute(_RESUMED, run)
                else:
                    self._database.execute(_FRESH, (now, *run))
                row, start, spent = self._database.execute(_LEDGER, run).fetchone()
        except sqlite3.Error as error:
            raise unusable(self.path, error) from error
        one = RunStore(
            known=known,
            spent_before=spent,
            _path=self.path,
            _database=self._database,
            _clock=self._clock,
            _row=row,
            _start=start,
            _judge=run[1],
            _reuse=reuse,
        )
        self._runs.append(one)
        return one

    def finish(self, state: str) -> None:
        """Record how the runs ended; see `RunStore.finish`."""
        for one in self._runs:
            one.finish(state)

    def info(self) -> StoreInfo:
        """Summary of the store.

        Raises:
            ValorError: The store cannot be used.
        """
        try:
            return info_of(self.path, self._database)
        except sqlite3.Error as error:
            raise unusable(self.path, error) from error

    def clear(self, older_than_days: float | None = None) -> Removed:
        """Delete replies and runs.

        Args:
            older_than_days: Only those; None: all, also what runs under way have kept.

        Raises:
            ValorError: The store cannot be used.
        """
        before = None if older_than_days is None else self._clock() - older_than_days * 86_400
        try:
            return clear_store(self.path, self._database, before)
        except sqlite3.Error as error:
            raise unusable(self.path, error) from error


class RunStore(Struct, frozen=True):
    """The cached replies of one run and judge.

    Attributes:
        known: Whether the ledger knew the run when it was opened.
        spent_before: US dollars that the run had paid before it was resumed.
    """

    known: bool
    spent_before: float
    _path: Path
    _database: sqlite3.Connection
    _clock: Clock
    _row: int
    _start: int
    _judge: str
    _reuse: bool

    def find(self, key: str) -> Reply | None:
        """The newest usable reply under a key; None if there is none.

        Raises:
            ValorError: The store cannot be used.
        """
        database = self._database
        try:
            if self._reuse:
                found = database.execute(_FIND, (key,)).fetchone()
            else:
                found = database.execute(_FIND_OWN, (key, self._row, self._start)).fetchone()
        except sqlite3.Error as error:
            raise unusable(self._path, error) from error
        return None if found is None else self._read(found[0])

    def keep(self, key: str, request: Request, reply: Reply) -> None:
        """Store a reply and its cost in one transaction.

        Raises:
            ValorError: It cannot be kept.
        """
        purpose = request.purpose
        row = (
            *(key, self._row, self._start, self._clock(), self._judge),
            *(printable(purpose.metric), printable(purpose.prompt), _written(reply)),
        )
        database = self._database
        try:
            with database:
                database.execute(_BEGIN)
                database.execute(_FORGET, (key, self._row))
                database.execute(_KEEP, row)
                database.execute(_PAID, (reply.cost_usd or 0.0, self._row, self._start))
        except sqlite3.Error as error:
            raise unusable(self._path, error) from error

    def forget(self, key: str) -> None:
        """Delete the entry of a key, for all runs; its cost stays in the ledger.

        Raises:
            ValorError: The store cannot be used.
        """
        try:
            with self._database:
                self._database.execute(_FORGET_ALL, (key,))
        except sqlite3.Error as error:
            raise unusable(self._path, error) from error

    def finish(self, state: str) -> None:
        """Record how the run ended: finished, budget, interrupted, terminated or failed.

        Raises:
            ValorError: The store cannot be used.
        """
        try:
            self._database.execute(_ENDED, (self._clock(), state, self._row, self._start))
        except sqlite3.Error as error:
            raise unusable(self._path, error) from error

    def _read(self, text: str) -> Reply:
        try:
            return Reply(**json.loads(text))
        except (ValueError, TypeError) as error:
            problem = Problem(str(self._path), "holds a reply that cannot be read")
            raise ValorError(problem, hint="forget all replies: valor cache clear") from error


def _written(reply: Reply) -> str:
    """JSON in ASCII: SQLite takes no lone surrogates, and a reply may hold some."""
    said: dict[str, Any] = {"text": reply.text}
    # Most replies are neither refused nor cut, and so a third of the bytes is saved.
    if reply.refused:
        said["refused"] = True
    if reply.cut:
        said["cut"] = True
    for name in ("tokens_in", "tokens_out", "cost_usd", "model"):
        value = getattr(reply, name)
        if value is not None:
            said[name] = value
    return json.dumps(said, allow_nan=False)


class JudgeKept(Struct, frozen=True):
    """Cached replies of one judge; times are seconds since 1970."""

    judge: str
    replies: int
    oldest: float
    newest: float


class StoreInfo(Struct, frozen=True):
    """Summary of a store.

    Attributes:
        path: Its file.
        replies: How many are kept.
        bytes: Of the file and what belongs to it.
        oldest, newest: When they were kept, in seconds since 1970; None: there are none.
        judges: By name.
        runs: In the ledger.
        unfinished: Those of them that `--resume` would go on with.
    """

    path: Path
    replies: int = 0
    bytes: int = 0
    oldest: float | None = None
    newest: float | None = None
    judges: tuple[JudgeKept, ...] = ()
    runs: int = 0
    unfinished: int = 0


class Removed(Struct, frozen=True):
    """What was deleted: replies, runs of the ledger, bytes."""

    replies: int = 0
    runs: int = 0
    bytes: int = 0


def info_of(path: Path, database: sqlite3.Connection) -> StoreInfo:
    """Summarise a store."""
    judges = tuple(
        JudgeKept(*row)
        for row in database.execute(
            "SELECT judge, count(*), min(created), max(created) FROM replies "
            "GROUP BY judge ORDER BY judge"
        )
    )
    runs, unfinished = database.execute(
        "SELECT count(*), count(*) FILTER (WHERE state != 'finished') FROM runs"
    ).fetchone()
    return StoreInfo(
        path,
        replies=sum(one.replies for one in judges),
        bytes=size_of(path),
        oldest=min((one.oldest for one in judges), default=None),
        newest=max((one.newest for one in judges), default=None),
        judges=judges,
        runs=runs,
        unfinished=unfinished,
    )


def clear_store(path: Path, database: sqlite3.Connection, before: float | None) -> Removed:
    """Delete entries older than a time, in seconds since 1970; None: all."""
    size = size_of(path)
    with database:
        database.execute("BEGIN IMMEDIATE")
        if before is None:
            replies = database.execute("DELETE FROM replies").rowcount
            runs = database.execute("DELETE FROM runs").rowcount
        else:
            gone = (before,)
            replies = database.execute("DELETE FROM replies WHERE created < ?", gone).rowcount
            # The ledger of a run stays as long as one of its replies.
            runs = database.execute(
                "DELETE FROM runs WHERE coalesce(ended, started) < ? "
                "AND id NOT IN (SELECT run FROM replies)",
                gone,
            ).rowcount
    if not replies and not runs:
        return Removed()
    shrink(database)
    return Removed(replies, runs, max(0, size - size_of(path)))


def shrink(database: sqlite3.Connection) -> None:
    """Release the space of deleted entries.

    A run under way keeps the file from shrinking; the room is then used again.
    """
    with suppress(sqlite3.OperationalError):
        database.execute("PRAGMA busy_timeout = 500")
        database.execute("VACUUM")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def size_of(path: Path) -> int:
    """Size of the file in bytes, including SQLite's auxiliary files."""
    total = 0
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            total += os.stat(f"{path}{suffix}").st_size
    return total
