"""Judges that workers of a cluster ask: the same values, limits and money as asked from here."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.judge_runs import (
    asked_once,
    evaluated,
    faulty,
    project,
    record,
    results,
    statuses,
    well,
)
from tests.models.server import Asked, FaultServer, Turn, busy, cut, failed, seeded, stalled
from tests.scale.clusters import Cluster, cluster

pytestmark = pytest.mark.scale

SAMPLES = 8
PROMPTS = 3 * SAMPLES
ALL_OK = {"faithfulness": {"ok": SAMPLES}, "contact_information": {"ok": SAMPLES}}
HERE, THERE = "sk-client-5d1f0a7b3c9e48d2", "sk-worker-8e2a6c4f1b7d90e3"
DASK = ("--engine", "dask", "--jobs", "2")
PRICE = {"input_usd": 1000.0, "output_usd": 1000.0}

# The server takes whoever asks by name: loopback is sent no key of a provider far away, but that
# of a variable that the config names.
WORKER = f"import os; os.environ['JUDGE_KEY'] = '{THERE}'\n"


def _keys(server: FaultServer) -> Counter[str]:
    """How often each key was shown."""
    return Counter(one.headers["authorization"].removeprefix("Bearer ") for one in server.requests)


def _texts(folder: Path) -> Iterator[bytes]:
    yield from (path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The results of a run whose judge is asked from here."""
    folder = tmp_path_factory.mktemp("here")
    with FaultServer(well) as server:
        done = evaluated(project(folder, SAMPLES, server.url))
    assert done.returncode == 0, done.stderr
    return results(folder)


def _project(folder: Path, server: FaultServer, samples: int = SAMPLES, **more: Any) -> Path:
    judge = {"distribute": True, "api_key_env": "JUDGE_KEY", **more}
    return project(folder, samples, server.url, judge=judge)


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Cluster]:
    """Two workers, which have a key of their own."""
    (tmp_path / "cluster").mkdir()
    with cluster(tmp_path / "cluster", 0) as found:
        for _ in range(2):
            found.add(WORKER)
        yield found


def test_workers_ask_with_their_own_key(
    tmp_path: Path, there: Cluster, here: dict[str, Any]
) -> None:
    folder = tmp_path / "run"
    with FaultServer(well) as server:
        _project(folder, server, record="cassette.jsonl")
        done = evaluated(folder, "--engine", "dask", "--scheduler", there.address, JUDGE_KEY=HERE)
        assert done.returncode == 0, done.stderr
        assert _keys(server) == {THERE: PROMPTS}
        assert asked_once(server)
    assert results(folder) == here
    # One key was never here, the other never left; neither was written down, nor was a prompt
    # by those who carried it.
    for text in (*_texts(folder), done.stdout.encode(), done.stderr.encode()):
        assert THERE.encode() not in text
        assert HERE.encode() not in text
    for text in _texts(tmp_path / "cluster"):
        assert THERE.encode() not in text
        assert b"What is part" not in text


def test_faults_are_tried_again_and_replies_kept(tmp_path: Path, here: dict[str, Any]) -> None:
    faults = faulty(seeded(3, 0.4, (busy("0"), failed(500), cut("midway"), stalled(30.0)), most=2))
    with FaultServer(faults) as server:
        _project(tmp_path, server, timeout_s=2.0)
        done = evaluated(tmp_path, *DASK, JUDGE_KEY=HERE)
        assert done.returncode == 0, done.stderr
        assert {"busy", "500", "cut midway", "stalled"} <= server.kinds.keys()
        assert asked_once(server)
        found = results(tmp_path)
        asked = len(server.requests)
        # What workers fetched is in the cache of this machine, whoever asks next.
        again = evaluated(tmp_path, "--set", "judge.distribute=false", JUDGE_KEY=HERE)
        assert again.returncode == 0, again.stderr
        assert len(server.requests) == asked
    assert found == results(tmp_path) == here


def test_concurrency_is_shared_and_not_of_cores(tmp_path: Path, here: dict[str, Any]) -> None:
    # Two workers of a core each, and a judge that takes six requests at a time.
    with FaultServer(well, cap=6, delay_s=0.3) as server:
        _project(tmp_path, server, concurrency=6)
        done = evaluated(tmp_path, *DASK, JUDGE_KEY=HERE)
        assert done.returncode == 0, done.stderr
        assert server.in_flight_max == 6
        assert server.kinds["over the cap"] == 0
    assert results(tmp_path) == here


def test_the_budget_is_one(tmp_path: Path) -> None:
    spent = []
    for name, options in (("here", ("--set", "judge.distribute=false")), ("there", DASK)):
        with FaultServer(well) as server:
            folder = tmp_path / name
            _project(folder, server, price=PRICE, budget_usd=3.0, concurrency=1, max_tokens=64)
            done = evaluated(folder, *options, JUDGE_KEY=HERE)
            assert "budget" in done.stderr + done.stdout
            asked = len(server.requests)
            assert 0 < asked < PROMPTS
            spent.append((done.returncode, asked, record(folder)["usage"], statuses(folder)))
    assert spent[0] == spent[1]


def test_a_worker_killed_while_it_asks(
    tmp_path: Path, there: Cluster, here: dict[str, Any]
) -> None:
    asked = threading.Event()

    def plan(one: Asked) -> Turn:
        # The sixth request gets no reply, for the worker that waits for it is ended.
        if one.at == 5:
            os.kill(there.workers[0].pid, signal.SIGKILL)
            asked.set()
        return well(one)

    folder = tmp_path / "run"
    with FaultServer(plan, delay_s=0.1) as server:
        _project(folder, server, price=PRICE, budget_usd=1e6)
        done = evaluated(folder, "--engine", "dask", "--scheduler", there.address)
        assert done.returncode == 0, done.stderr
        assert asked.is_set()
        assert there.workers[0].poll() == -signal.SIGKILL
        assert len(server.requests) >= PROMPTS
    assert results(folder) == here
    assert statuses(folder) == ALL_OK


def test_a_worker_without_the_key(tmp_path: Path) -> None:
    (tmp_path / "cluster").mkdir()
    folder = tmp_path / "run"
    with FaultServer(well) as server, cluster(tmp_path / "cluster", 1) as there:
        _project(folder, server)
        done = evaluated(folder, "--engine", "dask", "--scheduler", there.address, JUDGE_KEY=HERE)
        assert server.requests == []
    assert done.returncode == 2
    told = " ".join(done.stderr.split())
    assert "the environment variable JUDGE_KEY is not set (on the worker's machine" in told
    assert HERE not in json.dumps(done.stderr)
