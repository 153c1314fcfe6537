"""Persistent cache of judge replies, with a ledger of run costs.

A reply is on disk before `keep` returns, so it survives a kill of the process, as does the ledger
of what the run has paid. Neither prompts nor provider keys are written.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from msgspec import Struct

from valor_cli.errors import Problem, ValorError, printable
from valor_cli.models.requests import Reply, Request
from valor_cli.models.store_file import Clock, Form, StoreFile, store_path

APPLICATION = 0x76616C72  # "valr"

# `start` counts how often a run began anew: what it kept before is told apart from what it keeps
# now, and is replaced by it. Ids of runs are never used again (AUTOINCREMENT), so that what a run
# keeps after its ledger was cleared never becomes another run's.
_TABLES = (
    """CREATE TABLE runs (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        identity TEXT NOT NULL,
        judge TEXT NOT NULL,
        start INTEGER NOT NULL,
        started REAL NOT NULL,
        ended REAL,
        state TEXT NOT NULL,
        spent_usd REAL NOT NULL DEFAULT 0,
        calls INTEGER NOT NULL DEFAULT 0,
        UNIQUE (identity, judge)
    )""",
    """CREATE TABLE replies (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL,
        run INTEGER NOT NULL,
        start INTEGER NOT NULL,
        created REAL NOT NULL,
        judge TEXT NOT NULL,
        metric TEXT NOT NULL,
        prompt TEXT NOT NULL,
        reply TEXT NOT NULL
    )""",
    "CREATE INDEX replies_by_key ON replies (key)",
)

REPLIES = Form(
    "replies",
    APPLICATION,
    1,
    _TABLES,
    busy="end the other valor that writes to it, then go on with --resume",
    full="make room, then go on with --resume; `valor cache clear` forgets what is kept",
    broken="move the file away, and its -wal and -shm too; the replies are then asked anew",
)

_FIND = "SELECT reply FROM replies WHERE key = ? ORDER BY id DESC LIMIT 1"
_FIND_OWN = (
    "SELECT reply FROM replies WHERE key = ? AND run = ? AND start = ? ORDER BY id DESC LIMIT 1"
)
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
_BY_JUDGE = (
    "SELECT judge, count(*), min(created), max(created) FROM replies GROUP BY judge ORDER BY judge"
)
_RUNS = "SELECT count(*), count(*) FILTER (WHERE state != 'finished') FROM runs"
# The ledger of a run stays as long as one of its replies.
_OLD_RUNS = (
    "DELETE FROM runs WHERE (:before IS NULL OR coalesce(ended, started) < :before) "
    "AND id NOT IN (SELECT run FROM replies)"
)
_OLD = ("DELETE FROM replies WHERE :before IS NULL OR created < :before", _OLD_RUNS)


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


class Store(StoreFile):
    """All cached replies and the ledger of runs."""

    def __init__(self, path: Path | None = None, *, clock: Clock = time.time) -> None:
        """Open or create it; without a path, where `store_path` says. Raises as `StoreFile`."""
        super().__init__(store_path() if path is None else path, REPLIES, clock)
        self._runs: list[RunStore] = []

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
        now = self.clock()
        with self.changed() as database:
            known = database.execute(_LEDGER, run).fetchone() is not None
            if not known:
                database.execute(_NEW, (*run, now))
            elif resume:
                database.execute(_RESUMED, run)
            else:
                database.execute(_FRESH, (now, *run))
            row, start, spent = database.execute(_LEDGER, run).fetchone()
        one = RunStore(known, spent, self, row, start, run[1], reuse)
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
        with self.used() as database:
            judges = tuple(JudgeKept(*row) for row in database.execute(_BY_JUDGE))
            runs, unfinished = database.execute(_RUNS).fetchone()
        return StoreInfo(
            self.path,
            replies=sum(one.replies for one in judges),
            bytes=self.bytes,
            oldest=min((one.oldest for one in judges), default=None),
            newest=max((one.newest for one in judges), default=None),
            judges=judges,
            runs=runs,
            unfinished=unfinished,
        )

    def clear(self, older_than_days: float | None = None) -> Removed:
        """Delete replies and runs.

        Args:
            older_than_days: Only those; None: all, also what runs under way have kept.

        Raises:
            ValorError: The store cannot be used.
        """
        return Removed(*self.delete(_OLD, older_than_days))


class RunStore(Struct, frozen=True):
    """The cached replies of one run and judge.

    Attributes:
        known: Whether the ledger knew the run when it was opened.
        spent_before: US dollars that the run had paid before it was resumed.
        store: Where they are.
        row, start: Of the run in the ledger.
        judge: Its name.
        reuse: As of `Store.run`.
    """

    known: bool
    spent_before: float
    store: Store
    row: int
    start: int
    judge: str
    reuse: bool

    def find(self, key: str) -> Reply | None:
        """The newest usable reply under a key; None if there is none.

        Raises:
            ValorError: The store cannot be used.
        """
        with self.store.used() as database:
            if self.reuse:
                found = database.execute(_FIND, (key,)).fetchone()
            else:
                found = database.execute(_FIND_OWN, (key, self.row, self.start)).fetchone()
        return None if found is None else self._read(found[0])

    def keep(self, key: str, request: Request, reply: Reply) -> None:
        """Store a reply and its cost in one transaction.

        Raises:
            ValorError: It cannot be kept.
        """
        purpose = request.purpose
        row = (
            *(key, self.row, self.start, self.store.clock(), self.judge),
            *(printable(purpose.metric), printable(purpose.prompt), _written(reply)),
        )
        with self.store.changed() as database:
            database.execute(_FORGET, (key, self.row))
            database.execute(_KEEP, row)
            database.execute(_PAID, (reply.cost_usd or 0.0, self.row, self.start))

    def forget(self, key: str) -> None:
        """Delete the entry of a key, for all runs; its cost stays in the ledger.

        Raises:
            ValorError: The store cannot be used.
        """
        with self.store.changed() as database:
            database.execute(_FORGET_ALL, (key,))

    def finish(self, state: str) -> None:
        """Record how the run ended: finished, budget, interrupted, terminated or failed.

        Raises:
            ValorError: The store cannot be used.
        """
        with self.store.changed() as database:
            database.execute(_ENDED, (self.store.clock(), state, self.row, self.start))

    def _read(self, text: str) -> Reply:
        try:
            return Reply(**json.loads(text))
        except (ValueError, TypeError) as error:
            problem = Problem(str(self.store.path), "holds a reply that cannot be read")
            raise ValorError(problem, hint="forget all replies: valor cache clear") from error


def _written(reply: Reply) -> str:
    """JSON in ASCII: SQLite takes no lone surrogates, and a reply may hold some."""
    said: dict[str, Any] = {"text": reply.text}
    # Most replies are neither refused nor cut, and so a third of the bytes is saved.
    if reply.refused:
        said["refused"] = True
    if reply.cut:
        said["cut"] = True
    for name in ("tokens_in", "tokens_out", "cost_usd", "model", "scores"):
        value = getattr(reply, name)
        if value is not None:
            said[name] = value
    return json.dumps(said, allow_nan=False)
