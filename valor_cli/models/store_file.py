"""Open the SQLite database of a cache.

A folder has two stores: judge replies, and text vectors. A file that is not one of ours, or is
damaged, is left unchanged, for its owner to decide.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from msgspec import Struct

from valor_cli.errors import Problem, ValorError

FILE = "judge.sqlite3"
BUSY_S = 30.0
"""How long to wait for another process that writes."""

Clock = Callable[[], float]

_ANOTHER = "name another folder with VALOR_CACHE_DIR"


class Form(Struct, frozen=True):
    """Schema of a store file.

    Attributes:
        holds: In words, for messages: "replies".
        application: Tells such files from all others.
        version: Of the form; a file of another version is refused.
        tables: The statements that make them.
        busy, full, broken, blocked: What to do where another process writes, where there is no
            room, where the file cannot be read, and where it cannot be made.
        page_bytes: Of the file's pages; large values want large ones.
    """

    holds: str
    application: int
    version: int
    tables: tuple[str, ...]
    busy: str
    full: str
    broken: str
    blocked: str = _ANOTHER
    page_bytes: int = 4096

    @property
    def statements(self) -> tuple[str, ...]:
        """SQL statements that create the schema."""
        return (
            *self.tables,
            f"PRAGMA application_id = {self.application}",
            f"PRAGMA user_version = {self.version}",
        )


def store_path(file: str = FILE) -> Path:
    """Path of the file in `$VALOR_CACHE_DIR`, else `$XDG_CACHE_HOME/valor`, else `~/.cache/valor`.

    Raises:
        ValorError: There is no home folder.
    """
    own = os.environ.get("VALOR_CACHE_DIR")
    shared = os.environ.get("XDG_CACHE_HOME", "")
    try:
        if own:
            return Path(own).expanduser() / file
        # The XDG specification: a relative path is to be ignored.
        caches = Path(shared) if os.path.isabs(shared) else Path("~/.cache").expanduser()
    except RuntimeError as error:
        problem = Problem("the cache", "there is no home folder to put it in")
        raise ValorError(problem, hint="name a folder with VALOR_CACHE_DIR") from error
    return caches / "valor" / file


class StoreFile:
    """An open store; a context manager.

    Several processes may use it at once. Within one it belongs to one thread at a time.
    """

    def __init__(self, path: Path, form: Form, clock: Clock = time.time) -> None:
        """Open or create it.

        Args:
            path: Of the file; its folder is made if there is none.
            form: Its schema.
            clock: Seconds since 1970.

        Raises:
            ValorError: The file or its folder cannot be used, or is another program's. It stays
                as it is.
        """
        self.path = path
        self.clock = clock
        self._form = form
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Made by us for its mode: what is kept tells of the data. Its -wal and -shm follow.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            problem = Problem(str(path), f"cannot be used: {error.strerror or error}")
            raise ValorError(problem, hint=form.blocked) from error
        try:
            # Requests are asked in a loop that need not run in the thread that opened the file.
            self._database = sqlite3.connect(
                path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise _unusable(path, error, form) from error
        try:
            with self.used():
                _bring_to_form(path, self._database, form)
        except ValorError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    @contextmanager
    def used(self) -> Iterator[sqlite3.Connection]:
        """The database, to read.

        Raises:
            ValorError: The store cannot be used.
        """
        try:
            yield self._database
        except sqlite3.Error as error:
            raise _unusable(self.path, error, self._form) from error

    @contextmanager
    def changed(self) -> Iterator[sqlite3.Connection]:
        """The database, to change it in one transaction. Raises as `used`."""
        with self.used(), self._database as database:
            database.execute("BEGIN IMMEDIATE")
            yield database

    def delete(self, statements: Sequence[str], older_than_days: float | None) -> list[int]:
        """Delete rows, and release their space.

        Args:
            statements: With `:before`, seconds since 1970; null: all are to be deleted.
            older_than_days: Only those; None: all.

        Returns:
            Rows deleted by each statement, then the bytes released.

        Raises:
            ValorError: The store cannot be used.
        """
        days = older_than_days
        before = {"before": None if days is None else self.clock() - days * 86_400}
        size = self.bytes
        with self.changed() as database:
            deleted = [database.execute(statement, before).rowcount for statement in statements]
        if any(deleted):
            # A run under way keeps the file from shrinking; the room is then used again.
            with suppress(sqlite3.OperationalError):
                self._database.execute("PRAGMA busy_timeout = 500")
                self._database.execute("VACUUM")
                self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return [*deleted, max(0, size - self.bytes)]

    @property
    def bytes(self) -> int:
        """Size of the file, including SQLite's auxiliary files."""
        total = 0
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                total += os.stat(f"{self.path}{suffix}").st_size
        return total


def _bring_to_form(path: Path, database: sqlite3.Connection, form: Form) -> None:
    with database:
        # One look in one transaction: another process may be making it right now.
        database.execute("BEGIN")
        made = _is_ours(path, database, form)
    if not made:
        # Of a file that another process has made meanwhile this changes nothing.
        database.execute(f"PRAGMA page_size = {form.page_bytes}")
        with database:
            database.execute("BEGIN IMMEDIATE")
            if not _is_ours(path, database, form):
                for statement in form.statements:
                    database.execute(statement)
    _to_wal(database)
    # A commit is then with the operating system, not on the platter: killing the process loses
    # nothing, and a power cut the last replies only.
    database.execute("PRAGMA synchronous = NORMAL")


def _is_ours(path: Path, database: sqlite3.Connection, form: Form) -> bool:
    """Whether it has our form already; False: it is empty.

    Raises:
        ValorError: It is another program's, or a later version's.
    """
    (application,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if (application, version) == (form.application, form.version):
        return True
    if application == form.application:
        known = f"this valor knows {form.version}: another version made it"
        message = f"is of form {version}, {known}"
        hint = f"use that version, or {_ANOTHER}"
        raise ValorError(Problem(str(path), message), hint=hint)
    if tables or application or version:
        problem = Problem(str(path), "is the database of another program")
        raise ValorError(problem, hint=_ANOTHER)
    return False


def _to_wal(database: sqlite3.Connection) -> None:
    """Have readers and writers not wait for each other.

    A file system that cannot (a network's) keeps the slower journal; both are safe.
    """
    until = time.monotonic() + BUSY_S
    while database.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            database.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            # Of processes that switch at once all but one are refused, without being let wait.
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)


def _unusable(path: Path, error: sqlite3.Error, form: Form) -> ValorError:
    """An error that explains a SQLite error, with the next step."""
    reason = str(error)
    if "locked" in reason:
        hint = form.busy
    elif "full" in reason:
        hint = form.full
    elif isinstance(error, sqlite3.OperationalError):
        hint = f"{form.blocked}; it should be on a local disk with room"
    else:
        hint = form.broken
    message = f"the cache of {form.holds} cannot be used: {reason}"
    return ValorError(Problem(str(path), message), hint=hint)
