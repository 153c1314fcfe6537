"""Show and clear the cache of judge replies."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

from msgspec import Struct


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
