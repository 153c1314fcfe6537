"""Replies outlive the run, the process and its kill; other people's files stay as they are."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from valor_cli.errors import ValorError
from valor_cli.models.requests import Purpose, Reply, Request, conversation
from valor_cli.models.scheduler.calls import Store as StoreProtocol
from valor_cli.models.store import APPLICATION, Removed, Store
from valor_cli.models.store_file import FILE, store_path

ROOT = Path(__file__).parents[2]
REQUEST = Request(
    conversation(("user", "PROMPT-TEXT")),
    purpose=Purpose("faithfulness", "gpt", "SAMPLE-TEXT", "verdicts"),
)
DAY = 86_400.0


class Clock:
    """Seconds since 1970, as a test sets them."""

    def __init__(self, now: float = 1_000 * DAY) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / FILE


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(path: Path, clock: Clock) -> Iterator[Store]:
    with Store(path, clock=clock) as store:
        yield store


def rows(path: Path, query: str, *values: object) -> list[tuple[object, ...]]:
    """What a statement says of a file, or does to it."""
    database = sqlite3.connect(path)
    try:
        with database:
            return database.execute(query, values).fetchall()
    finally:
        database.close()


@pytest.mark.parametrize(
    "reply",
    [
        Reply("yes"),
        Reply("", refused=True),
        Reply("half", cut=True, tokens_in=0, tokens_out=2048, cost_usd=0.0, model="gpt-4o"),
        Reply('{"a": "ä\\u0000\u0000\n\u2028"}', tokens_in=7, cost_usd=1e-7),
        Reply("lone \ud800 surrogate"),
    ],
)
def test_a_reply_comes_back_as_it_was(store: Store, path: Path, reply: Reply) -> None:
    run: StoreProtocol = store.run("r", resume=False, reuse=True, judge="j")
    assert run.find("k") is None
    run.keep("k", REQUEST, reply)
    assert run.find("k") == reply
    with Store(path) as other:
        assert other.run("other", resume=False, reuse=True, judge="j").find("k") == reply
    assert run.find("K") is None


def test_what_is_written(store: Store, path: Path, clock: Clock) -> None:
    clock.now = 12.5
    # There are names that no database takes.
    run = store.run("r", resume=False, reuse=True, judge="j\ud800")
    run.keep("k", REQUEST, Reply("yes"))
    found = rows(path, "SELECT key, created, judge, metric, prompt, reply FROM replies")
    assert found == [("k", 12.5, r"j\ud800", "faithfulness", "verdicts", '{"text": "yes"}')]
    # The files are the user's alone.
    modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    assert modes == {FILE: 0o600, f"{FILE}-wal": 0o600, f"{FILE}-shm": 0o600}
    # Neither the prompt's text nor the sample's name is anywhere in the files.
    for file in path.parent.iterdir():
        assert b"PROMPT-TEXT" not in file.read_bytes()
        assert b"SAMPLE-TEXT" not in file.read_bytes()


def test_the_newest_reply_answers(store: Store, clock: Clock) -> None:
    first = store.run("first", resume=False, reuse=True)
    second = store.run("second", resume=False, reuse=True)
    first.keep("k", REQUEST, Reply("old"))
    second.keep("k", REQUEST, Reply("new"))
    assert first.find("k") == second.find("k") == Reply("new")
    first.keep("k", REQUEST, Reply("newer"))
    assert second.find("k") == Reply("newer")


def test_without_reuse_only_the_run_itself_answers(store: Store) -> None:
    store.run("other", resume=False, reuse=True).keep("k", REQUEST, Reply("other"))
    run = store.run("r", resume=False, reuse=False)
    assert run.find("k") is None
    run.keep("k", REQUEST, Reply("own"))
    assert run.find("k") == Reply("own")
    # Another run of the same requests takes nothing from it.
    store.run("other", resume=False, reuse=True).keep("k", REQUEST, Reply("later"))
    assert run.find("k") == Reply("own")
    assert store.run("r", resume=True, reuse=False).find("k") == Reply("own")


def test_a_fresh_run_forgets_what_the_last_of_its_name_kept(store: Store) -> None:
    before = store.run("r", resume=False, reuse=False)
    before.keep("k", REQUEST, Reply("before"))
    before.keep("l", REQUEST, Reply("before"))
    fresh = store.run("r", resume=False, reuse=False)
    assert fresh.find("k") is None
    fresh.keep("k", REQUEST, Reply("fresh"))
    resumed = store.run("r", resume=True, reuse=False)
    assert resumed.find("k") == Reply("fresh")
    assert resumed.find("l") is None
    # What was paid once is not thrown away: runs that reuse find it, each reply once.
    reusing = store.run("reusing", resume=False, reuse=True)
    assert reusing.find("l") == Reply("before")
    assert store.info().replies == 2


def test_the_ledger(store: Store, path: Path, clock: Clock) -> None:
    def ledger() -> list[tuple[object, ...]]:
        return rows(
            path, "SELECT identity, judge, started, ended, state, spent_usd, calls FROM runs"
        )

    clock.now = 10.0
    run = store.run("r", resume=True, reuse=True, judge="j")
    assert (run.known, run.spent_before) == (False, 0.0)
    # Each judge has one of its own.
    other = store.run("s", resume=False, reuse=False, judge="j")
    store.run("s", resume=False, reuse=False, judge="k").keep("k", REQUEST, Reply("", cost_usd=1.0))
    assert other.find("k") is None
    assert store.run("s", resume=True, reuse=False, judge="j").spent_before == 0.0
    assert store.run("s", resume=True, reuse=False, judge="k").spent_before == 1.0
    rows(path, "DELETE FROM runs WHERE identity = 's'")
    run.keep("k", REQUEST, Reply("yes", cost_usd=0.25))
    run.keep("l", REQUEST, Reply("yes", cost_usd=0.5))
    run.keep("m", REQUEST, Reply("price unknown"))
    assert ledger() == [("r", "j", 10.0, None, "running", 0.75, 3)]
    clock.now = 11.0
    store.finish("budget")
    assert ledger() == [("r", "j", 10.0, 11.0, "budget", 0.75, 3)]
    assert store.info().unfinished == 1

    clock.now = 12.0
    resumed = store.run("r", resume=True, reuse=True, judge="j")
    assert (resumed.known, resumed.spent_before) == (True, 0.75)
    resumed.keep("n", REQUEST, Reply("yes", cost_usd=0.25))
    assert ledger() == [("r", "j", 10.0, None, "running", 1.0, 4)]
    resumed.finish("finished")
    assert ledger() == [("r", "j", 10.0, 12.0, "finished", 1.0, 4)]
    assert store.info().unfinished == 0

    clock.now = 13.0
    fresh = store.run("r", resume=False, reuse=True, judge="j")
    assert (fresh.known, fresh.spent_before) == (True, 0.0)
    assert ledger() == [("r", "j", 13.0, None, "running", 0.0, 0)]
    # A process of the start before is still at it: its money is not this one's.
    resumed.keep("o", REQUEST, Reply("yes", cost_usd=5.0))
    resumed.finish("failed")
    assert ledger() == [("r", "j", 13.0, None, "running", 0.0, 0)]


def test_a_reply_and_its_cost_are_kept_both_or_neither(store: Store, path: Path) -> None:
    run = store.run("r", resume=False, reuse=True)
    rows(path, "CREATE TRIGGER full BEFORE UPDATE ON runs BEGIN SELECT raise(ABORT, 'full'); END")
    with pytest.raises(ValorError, match="full"):
        run.keep("k", REQUEST, Reply("yes", cost_usd=1.0))
    assert run.find("k") is None
    rows(path, "DROP TRIGGER full")
    run.keep("k", REQUEST, Reply("yes", cost_usd=1.0))
    assert run.find("k") == Reply("yes", cost_usd=1.0)


def test_info_and_clear(store: Store, path: Path, clock: Clock) -> None:
    assert (store.info().replies, store.info().oldest, store.info().judges) == (0, None, ())
    clock.now = 100 * DAY
    old = store.run("old", resume=False, reuse=True, judge="b")
    old.keep("k", REQUEST, Reply("x" * 100_000))
    old.keep("l", REQUEST, Reply("yes"))
    old.finish("finished")
    clock.now = 105 * DAY
    store.run("new", resume=False, reuse=True, judge="a").keep("m", REQUEST, Reply("yes"))
    kept = store.info()
    assert (kept.replies, kept.runs, kept.unfinished) == (3, 2, 1)
    assert (kept.oldest, kept.newest) == (100 * DAY, 105 * DAY)
    told = [(one.judge, one.replies, one.oldest, one.newest) for one in kept.judges]
    assert told == [("a", 1, 105 * DAY, 105 * DAY), ("b", 2, 100 * DAY, 100 * DAY)]
    assert kept.bytes == sum(file.stat().st_size for file in path.parent.iterdir())

    clock.now = 110 * DAY
    assert store.clear(older_than_days=10) == Removed()
    removed = store.clear(older_than_days=9.5)
    assert (removed.replies, removed.runs) == (2, 1)
    assert removed.bytes > 50_000
    assert (store.info().replies, store.info().runs) == (1, 1)
    everything = store.clear()
    assert (everything.replies, everything.runs) == (1, 1)
    assert (store.info().replies, store.info().runs) == (0, 0)


def test_a_run_goes_on_while_the_store_is_cleared(store: Store, path: Path) -> None:
    run = store.run("r", resume=False, reuse=False)
    run.keep("k", REQUEST, Reply("yes"))
    with Store(path) as other:
        other.clear()
    assert run.find("k") is None
    run.keep("k", REQUEST, Reply("again", cost_usd=1.0))
    assert run.find("k") == Reply("again", cost_usd=1.0)
    # And what it keeps never becomes another run's.
    assert store.run("next", resume=False, reuse=False).find("k") is None


@pytest.mark.parametrize(
    ("environment", "place"),
    [
        ({"VALOR_CACHE_DIR": "/own", "XDG_CACHE_HOME": "/xdg"}, f"/own/{FILE}"),
        ({"VALOR_CACHE_DIR": "", "XDG_CACHE_HOME": "/xdg"}, f"/xdg/valor/{FILE}"),
        ({"VALOR_CACHE_DIR": "~/own"}, f"/home/of/own/{FILE}"),
        ({"XDG_CACHE_HOME": "relative"}, f"/home/of/.cache/valor/{FILE}"),
        ({}, f"/home/of/.cache/valor/{FILE}"),
    ],
)
def test_where_it_lies(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], place: str
) -> None:
    for name in ("VALOR_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/of")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert store_path() == Path(place)


def later_version(path: Path) -> None:
    Store(path).close()
    rows(path, "PRAGMA user_version = 99")


@pytest.mark.parametrize(
    ("spoil", "said", "hint"),
    [
        (lambda path: path.write_text("notes\n" * 500), "file is not a database", "move the file"),
        (lambda path: path.write_text("notes"), "file is not a database", "move the file"),
        (
            lambda path: rows(path, "CREATE TABLE theirs (a)"),
            "is the database of another program",
            "VALOR_CACHE_DIR",
        ),
        (later_version, "is of form 99, this valor knows 1", "use that version"),
        (lambda path: path.mkdir(), "Is a directory", "VALOR_CACHE_DIR"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_and_left_alone(
    path: Path, spoil: object, said: str, hint: str
) -> None:
    path.parent.mkdir()
    assert callable(spoil)
    spoil(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(ValorError) as caught:
        Store(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert said in str(caught.value)
    assert hint in str(caught.value)
    assert (path.read_bytes() if path.is_file() else None) == before


def keep_and_find(path: Path, count: int) -> None:
    with Store(path) as store:
        run = store.run("r", resume=True, reuse=True)
        for number in range(count):
            run.keep(str(number), REQUEST, Reply("x" * 1000))
        for number in range(200):
            run.find(str(number))


def test_a_broken_file_is_told_when_it_shows(path: Path) -> None:
    keep_and_find(path, 200)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValorError, match="malformed") as caught:
        keep_and_find(path, 0)
    assert "move the file away" in caught.value.hint


def test_a_reply_of_another_form_is_told(store: Store, path: Path) -> None:
    run = store.run("r", resume=False, reuse=True)
    run.keep("k", REQUEST, Reply("yes"))
    for text in ('{"words": "yes"}', "[]", '{"text"'):
        rows(path, "UPDATE replies SET reply = ?", text)
        with pytest.raises(ValorError, match="holds a reply that cannot be read"):
            run.find("k")


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    with Store(path) as store:
        assert store.info().replies == 0
    assert rows(path, "PRAGMA application_id") == [(APPLICATION,)]
    assert rows(path, "PRAGMA journal_mode") == [("wal",)]
    # No folder can be made where a file is.
    with pytest.raises(ValorError, match="cannot be used: ") as caught:
        Store(path / FILE)
    assert "VALOR_CACHE_DIR" in caught.value.hint


def test_a_store_that_another_process_holds(store: Store, path: Path) -> None:
    run = store.run("r", resume=False, reuse=True)
    store._database.execute("PRAGMA busy_timeout = 10")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(ValorError, match="database is locked") as caught:
        run.keep("k", REQUEST, Reply("yes"))
    assert "--resume" in caught.value.hint
    assert run.find("k") is None  # reading goes on meanwhile
    other.execute("ROLLBACK")
    other.close()
    run.keep("k", REQUEST, Reply("yes"))
    assert run.find("k") == Reply("yes")


KEEPER = """
import sys
from pathlib import Path
from valor_cli.models.requests import Purpose, Reply, Request
from valor_cli.models.store import Store

path, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
sys.stdin.readline()
with Store(path) as store:
    run = store.run(name, resume=True, reuse=False, judge="j")
    for number in range(count):
        key = f"{name}-{number}"
        run.keep(key, Request((), purpose=Purpose("m")), Reply(key * 20, cost_usd=0.5))
        print(key, flush=True)
    if count < 10**6:
        store.finish("finished")
"""


def keeper(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    """A process that keeps replies once it is told to, and prints the key of each that is kept."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", KEEPER, str(path), name, str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def test_several_processes_make_it_and_write_at_once(path: Path) -> None:
    keepers = [keeper(path, f"run{number}", 300) for number in range(4)]
    for one in keepers:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    for one in keepers:
        one.communicate(timeout=60)
        assert one.returncode == 0
    with Store(path) as store:
        kept = store.info()
        assert (kept.replies, kept.runs, kept.unfinished) == (1200, 4, 0)
        for number in range(4):
            run = store.run(f"run{number}", resume=True, reuse=False, judge="j")
            assert run.spent_before == 150.0  # 300 replies at half a dollar
            assert run.find(f"run{number}-299") == Reply(f"run{number}-299" * 20, cost_usd=0.5)
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]


def test_many_make_it_at_the_same_moment(tmp_path: Path) -> None:
    def make(path: Path) -> None:
        together.wait()
        with Store(path) as store:
            store.run("r", resume=True, reuse=True).keep("k", REQUEST, Reply("yes"))

    together = threading.Barrier(8)
    with ThreadPoolExecutor(8) as pool:
        for number in range(20):
            made = [pool.submit(make, tmp_path / str(number) / FILE) for _ in range(8)]
            assert [one.result(timeout=60) for one in made] == [None] * 8


@pytest.mark.parametrize("seed", range(3))
def test_what_was_kept_outlives_kill_9(path: Path, seed: int) -> None:
    child = keeper(path, "run", 10**6)
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write("go\n")
    child.stdin.flush()
    printed = [child.stdout.readline().strip() for _ in range(random.Random(seed).randint(1, 900))]
    child.send_signal(signal.SIGKILL)
    # What was printed until it died; the last line may be half a line.
    printed += [line.strip() for line in child.stdout if line.endswith("\n")]
    assert child.wait(timeout=60) == -signal.SIGKILL
    child.stdin.close()
    child.stdout.close()

    with Store(path) as store:
        run = store.run("run", resume=True, reuse=False, judge="j")
        assert run.known
        lost = [key for key in printed if run.find(key) != Reply(key * 20, cost_usd=0.5)]
        assert lost == []
        # The ledger paid for each reply that is there, printed or not, and for no other.
        assert run.spent_before == 0.5 * store.info().replies
        assert store.info().replies - len(printed) in (0, 1)
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]
