"""Show and clear the cache of vectors."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from msgspec import Struct

from valor_cli.models.embedders.vector_store import FORM
from valor_cli.models.store_file import open_file, unusable
from valor_cli.models.store_report import shrink, size_of


class ModelKept(Struct, frozen=True):
    """Cached vectors of one model: cache key, dimensions, date."""

    model: str
    dimensions: int
    vectors: int
    oldest: float
    newest: float


class VectorsInfo(Struct, frozen=True):
    """Summary of a store.

    Attributes:
        path: Its file.
        bytes: Of the file and what belongs to it.
        models: By key.
    """

    path: Path
    bytes: int = 0
    models: tuple[ModelKept, ...] = ()

    @property
    def vectors(self) -> int:
        """Number of cached vectors."""
        return sum(one.vectors for one in self.models)

    @property
    def oldest(self) -> float | None:
        """Time of the oldest entry, in seconds since 1970; None if empty."""
        return min((one.oldest for one in self.models), default=None)

    @property
    def newest(self) -> float | None:
        """Time of the newest entry, in seconds since 1970; None if empty."""
        return max((one.newest for one in self.models), default=None)


class VectorsRemoved(Struct, frozen=True):
    """What was deleted: vectors, bytes."""

    vectors: int = 0
    bytes: int = 0


def info_of_vectors(path: Path) -> VectorsInfo:
    """Summarise a store.

    Raises:
        ValorError: The store cannot be used.
    """
    with _opened(path) as database:
        models = tuple(
            ModelKept(*row)
            for row in database.execute(
                "SELECT key, dimensions, count(*), min(created), max(created) "
                "FROM vectors JOIN models ON models.id = vectors.model GROUP BY key ORDER BY key"
            )
        )
        return VectorsInfo(path, size_of(path), models)


def clear_vectors(
    path: Path, older_than_days: float | None = None, *, clock: Callable[[], float] = time.time
) -> VectorsRemoved:
    """Delete vectors.

    Args:
        path: Of the store.
        older_than_days: Only those that were made earlier; None: all.
        clock: Seconds since 1970.

    Raises:
        ValorError: The store cannot be used.
    """
    with _opened(path) as database:
        size = size_of(path)
        with database:
            database.execute("BEGIN IMMEDIATE")
            if older_than_days is None:
                vectors = database.execute("DELETE FROM vectors").rowcount
            else:
                before = clock() - older_than_days * 86_400
                gone = "DELETE FROM vectors WHERE created < ?"
                vectors = database.execute(gone, (before,)).rowcount
            database.execute("DELETE FROM models WHERE id NOT IN (SELECT model FROM vectors)")
        if not vectors:
            return VectorsRemoved()
        shrink(database)
        return VectorsRemoved(vectors, max(0, size - size_of(path)))


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        with closing(open_file(path, FORM)) as database:
            yield database
    except sqlite3.Error as error:
        raise unusable(path, error, FORM) from error
