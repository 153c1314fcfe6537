"""Persistent cache of text vectors.

Texts are not stored, nor anything they could be read from: a text is identified by its SHA-256. A
vector is returned bit by bit as it was stored, or not at all.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.errors import printable
from valor_cli.models.store_file import Clock, Form, StoreFile, store_path

FILE = "vectors.sqlite3"
AT_ONCE = 500
"""Texts in a query; builds of SQLite take 999 and more."""

# Ids of models are never used again (AUTOINCREMENT): what a run keeps while another process
# forgets everything can never become another model's.
FORM = Form(
    "vectors",
    application=0x76616C76,  # "valv"
    version=1,
    tables=(
        """CREATE TABLE models (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            key TEXT NOT NULL UNIQUE,
            dimensions INTEGER NOT NULL
        )""",
        """CREATE TABLE vectors (
            model INTEGER NOT NULL,
            text BLOB NOT NULL,
            created REAL NOT NULL,
            type TEXT NOT NULL,
            checksum INTEGER NOT NULL,
            vector BLOB NOT NULL,
            PRIMARY KEY (model, text)
        )""",
    ),
    busy="end the other valor that writes to it, or set `cache: false` under `embedder:`",
    full="make room, or set `cache: false` under `embedder:`",
    blocked="name another folder with VALOR_CACHE_DIR, or set `cache: false` under `embedder:`",
    broken="move the file away, and its -wal and -shm too; the texts are then embedded anew",
    # Vectors of 384 numbers: 13 MB for 10,000 where pages of 4 kB take 21 and twice the time.
    page_bytes=16_384,
)

Vector = NDArray[np.floating[Any]]
_TYPES = {b"<f4": np.float32, b"<f8": np.float64}

_MODEL = "SELECT id, dimensions FROM models WHERE key = ?"
_NEW_MODEL = "INSERT OR REPLACE INTO models (key, dimensions) VALUES (?, ?)"
_FIND = "SELECT text, type, checksum, vector FROM vectors WHERE model = ? AND text IN ({})"
_FORGET = "DELETE FROM vectors WHERE model = ?"
_FORGET_ONE = "DELETE FROM vectors WHERE model = ? AND text = ?"
_KEEP = (
    "INSERT OR IGNORE INTO vectors (model, text, created, type, checksum, vector) "
    "VALUES (?, ?, ?, ?, ?, ?)"
)
_BY_MODEL = (
    "SELECT key, dimensions, count(*), min(created), max(created) "
    "FROM vectors JOIN models ON models.id = vectors.model GROUP BY key ORDER BY key"
)
_OLD = (
    "DELETE FROM vectors WHERE :before IS NULL OR created < :before",
    "DELETE FROM models WHERE id NOT IN (SELECT model FROM vectors)",
)


class VectorStore(StoreFile):
    """Cached vectors of one model.

    Attributes:
        failed: Why vectors are no longer kept, in words; None: they are.
    """

    def __init__(self, model: str, path: Path | None = None, *, clock: Clock = time.time) -> None:
        """Open or create the store of a model.

        Args:
            model: Which model, and how it is used; see `Embedder.keeps`.
            path: The file; None: beside the replies of judges.
            clock: Seconds since 1970.

        Raises:
            ValorError: As `StoreFile`.
        """
        super().__init__(store_path(FILE) if path is None else path, FORM, clock)
        # What is damaged may be no text at all: it is looked at as bytes.
        self._database.text_factory = bytes
        self.failed: str | None = None
        self._model = printable(model)
        self._damaged: set[bytes] = set()

    def find(self, texts: Sequence[str]) -> dict[str, Vector]:
        """The cached vectors of texts, bit by bit as stored.

        Raises:
            ValorError: The store cannot be used.
        """
        names = {_key(text): text for text in texts}
        keys = list(names)
        found: dict[str, Vector] = {}
        with self.used() as database:
            known = database.execute(_MODEL, (self._model,)).fetchone()
            for at in range(0, len(keys) if known else 0, AT_ONCE):
                part = keys[at : at + AT_ONCE]
                query = _FIND.format(", ".join("?" * len(part)))
                for key, *kept in database.execute(query, (known[0], *part)):
                    vector = _read(key, known[1], *kept)
                    if vector is None:
                        self._damaged.add(key)
                    else:
                        found[names[key]] = vector
        return found

    def keep(self, texts: Sequence[str], vectors: Vector) -> None:
        """Store vectors durably.

        A run can go on without: the first failure is said in `failed`, and the rest is not tried.

        Args:
            texts: Distinct ones.
            vectors: (texts, dimensions) float32 or float64, finite.
        """
        if self.failed is not None or not len(texts):
            return
        name = "<f8" if vectors.dtype.itemsize > 4 else "<f4"
        table = np.ascontiguousarray(vectors, name)
        now = self.clock()
        try:
            with self._database as database:
                database.execute("BEGIN IMMEDIATE")
                model = self._interned(table.shape[1])
                database.executemany(_FORGET_ONE, [(model, key) for key in self._damaged])
                database.executemany(
                    _KEEP,
                    (
                        (model, key, now, name, _checksum(key, blob), blob)
                        for key, blob in zip(map(_key, texts), map(_bytes, table), strict=True)
                    ),
                )
        except sqlite3.Error as error:
            self.failed = f"{self.path}: vectors are not kept for later runs: {error}"
        self._damaged.clear()

    def _interned(self, dimensions: int) -> int:
        """The number of the model; one that now makes vectors of another length has none yet."""
        known = self._database.execute(_MODEL, (self._model,)).fetchone()
        if known is not None and known[1] == dimensions:
            return int(known[0])
        if known is not None:
            self._database.execute(_FORGET, known[:1])
        self._database.execute(_NEW_MODEL, (self._model, dimensions))
        return int(self._database.execute(_MODEL, (self._model,)).fetchone()[0])


def _key(text: str) -> bytes:
    # Lone surrogates are no UTF-8, and two texts that differ in them are two.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _bytes(vector: Vector) -> bytes:
    return vector.tobytes()


def _checksum(key: bytes, vector: bytes) -> int:
    """Checksum against damage, including the text's key so that vectors cannot be mixed up."""
    return zlib.crc32(vector, zlib.crc32(key))


def _read(
    key: bytes, dimensions: int, name: object, checksum: object, blob: object
) -> Vector | None:
    """A vector as it was kept; None: the file is damaged here."""
    kind = _TYPES.get(name) if isinstance(name, bytes) else None
    if kind is None or not isinstance(blob, bytes) or checksum != _checksum(key, blob):
        return None
    if len(blob) != dimensions * np.dtype(kind).itemsize:
        return None
    vector: Vector = np.frombuffer(blob, np.dtype(kind).newbyteorder("<")).astype(kind, copy=False)
    return vector if np.isfinite(vector).all() else None


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
        vectors: How many are kept.
        bytes: Of the file and what belongs to it.
        oldest, newest: When they were kept, in seconds since 1970; None: there are none.
        models: By key.
    """

    path: Path
    vectors: int = 0
    bytes: int = 0
    oldest: float | None = None
    newest: float | None = None
    models: tuple[ModelKept, ...] = ()


class VectorsRemoved(Struct, frozen=True):
    """What was deleted: vectors, bytes."""

    vectors: int = 0
    bytes: int = 0


def info_of_vectors(path: Path) -> VectorsInfo:
    """Summarise a store.

    Raises:
        ValorError: The store cannot be used.
    """
    with StoreFile(path, FORM) as store, store.used() as database:
        models = tuple(ModelKept(*row) for row in database.execute(_BY_MODEL))
        return VectorsInfo(
            path,
            vectors=sum(one.vectors for one in models),
            bytes=store.bytes,
            oldest=min((one.oldest for one in models), default=None),
            newest=max((one.newest for one in models), default=None),
            models=models,
        )


def clear_vectors(
    path: Path, older_than_days: float | None = None, *, clock: Clock = time.time
) -> VectorsRemoved:
    """Delete vectors.

    Args:
        path: Of the store.
        older_than_days: Only those that were made earlier; None: all.
        clock: Seconds since 1970.

    Raises:
        ValorError: The store cannot be used.
    """
    with StoreFile(path, FORM, clock) as store:
        vectors, _, released = store.delete(_OLD, older_than_days)
        return VectorsRemoved(vectors, released) if vectors else VectorsRemoved()
