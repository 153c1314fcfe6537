"""The path of a store in; a database of its form out, or why the file cannot be used.

A file that is none of ours, or broken, is left alone: whose it is, decides.
"""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path

from valor_cli.errors import Problem, ValorError

FILE = "judge.sqlite3"
BUSY_S = 30.0
"""How long to wait for another process that writes."""

APPLICATION = 0x76616C72  # "valr": tells our files from other programs'
VERSION = 1

# `start` counts how often a run began anew: what it kept before is told apart from what it keeps
# now, and is replaced by it. Ids of runs are never used again (AUTOINCREMENT), so that what a run
# keeps after its ledger was cleared never becomes another run's.
_FORM = (
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
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)


def store_path() -> Path:
    """`$VALOR_CACHE_DIR`, else `$XDG_CACHE_HOME/valor`, else `~/.cache/valor`; there the file.

    Raises:
        ValorError: There is no home folder.
    """
    own = os.environ.get("VALOR_CACHE_DIR")
    shared = os.environ.get("XDG_CACHE_HOME", "")
    try:
        if own:
            return Path(own).expanduser() / FILE
        # The XDG specification: a relative path is to be ignored.
        caches = Path(shared) if os.path.isabs(shared) else Path("~/.cache").expanduser()
    except RuntimeError as error:
        problem = Problem("the cache of replies", "there is no home folder to put it in")
        raise ValorError(problem, hint="name a folder with VALOR_CACHE_DIR") from error
    return caches / "valor" / FILE


def open_file(path: Path) -> sqlite3.Connection:
    """The database, made if there is none.

    Raises:
        ValorError: The file or its folder cannot be used, or is another program's.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Made by us for its mode: replies may hold what the data holds. Its -wal and -shm follow.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        problem = Problem(str(path), f"cannot be used: {error.strerror or error}")
        raise ValorError(problem, hint="name another folder with VALOR_CACHE_DIR") from error
    try:
        # Requests are asked in a loop that need not run in the thread that opened the file.
        database = sqlite3.connect(
            path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
        )
    except sqlite3.Error as error:
        raise unusable(path, error) from error
    try:
        _bring_to_form(path, database)
    except sqlite3.Error as error:
        database.close()
        raise unusable(path, error) from error
    except ValorError:
        database.close()
        raise
    return database


def _bring_to_form(path: Path, database: sqlite3.Connection) -> None:
    with database:
        # One look in one transaction: another process may be making it right now.
        database.execute("BEGIN")
        made = _is_ours(path, database)
    if not made:
        with database:
            database.execute("BEGIN IMMEDIATE")
            if not _is_ours(path, database):
                for statement in _FORM:
                    database.execute(statement)
    _to_wal(database)
    # A commit is then with the operating system, not on the platter: killing the process loses
    # nothing, and a power cut the last replies only.
    database.execute("PRAGMA synchronous = NORMAL")


def _is_ours(path: Path, database: sqlite3.Connection) -> bool:
    """Whether it has our form already; False: it is empty.

    Raises:
        ValorError: It is another program's, or a later version's.
    """
    (application,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if (application, version) == (APPLICATION, VERSION):
        return True
    if application == APPLICATION:
        message = f"is of form {version}, this valor knows {VERSION}: another version made it"
        hint = "use that version, or name another folder with VALOR_CACHE_DIR"
        raise ValorError(Problem(str(path), message), hint=hint)
    if tables or application or version:
        problem = Problem(str(path), "is the database of another program")
        raise ValorError(problem, hint="name another folder with VALOR_CACHE_DIR")
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


def unusable(path: Path, error: sqlite3.Error) -> ValorError:
    """What SQLite says of a store, with the next step."""
    reason = str(error)
    if "locked" in reason:
        hint = "end the other valor that writes to it, then go on with --resume"
    elif "full" in reason:
        hint = "make room, then go on with --resume; `valor cache clear` forgets what is kept"
    elif isinstance(error, sqlite3.OperationalError):
        hint = "name another folder with VALOR_CACHE_DIR, on a local disk"
    else:
        hint = "move the file away, and its -wal and -shm too; the replies are then asked anew"
    return ValorError(
        Problem(str(path), f"the cache of replies cannot be used: {reason}"), hint=hint
    )
