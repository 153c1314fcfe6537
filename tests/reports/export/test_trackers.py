"""Runs sent to a real MLflow server, and to W&B in its offline mode, as a user sends them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from msgspec.structs import replace

from tests.oracles.github_server import github
from tests.oracles.nights import COMMIT, night, written

pytestmark = pytest.mark.export

ROOT = Path(__file__).parents[3]
SECRET = "a-secret-of-the-server"
_START_S = 400
"""Its first start reads a thousand modules, on a machine that may be busy."""


def run(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The program as a process of its own: the clients keep what they once read."""
    unset = ("MLFLOW_", "WANDB_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(unset)}
    return subprocess.run(
        [sys.executable, "-m", "valor_cli", "report", *arguments],
        cwd=cwd,
        env={**kept, "PYTHONPATH": str(ROOT), "HOME": str(cwd), **environment},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


@pytest.fixture(scope="module")
def mlflow() -> Any:
    return pytest.importorskip("mlflow", reason="an MLflow server: make test-export")


@pytest.fixture(scope="module")
def server(mlflow: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of this machine."""
    folder = tmp_path_factory.mktemp("mlflow")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    command += ["--backend-store-uri", f"sqlite:///{folder}/runs.db"]
    command += ["--artifacts-destination", str(folder / "files")]
    environment = {**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true"}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "mlflow", *command],
            stdout=log,
            stderr=log,
            env=environment,
            cwd=folder,
            start_new_session=True,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{address}/health", process, folder / "log")
        yield address
    finally:
        os.killpg(process.pid, 15)
        process.wait()


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    ends = time.monotonic() + _START_S
    while time.monotonic() < ends and process.poll() is None:
        try:
            with urlopen(url, timeout=60):  # noqa: S310 - of this machine
                return
        except (URLError, OSError):
            time.sleep(0.2)
    raise AssertionError(f"the server did not start:\n{log.read_text()}")


@pytest.fixture
def night_run(tmp_path: Path) -> Path:
    one = night(1, 9, gate=0.9)
    (path,) = written(tmp_path, replace(one, run=replace(one.run, commit=COMMIT)))
    (Path(path) / "report.html").write_text("<html>")
    return Path(path)


def test_a_run_on_the_server(mlflow: Any, server: str, night_run: Path, tmp_path: Path) -> None:
    done = run(str(night_run), "--to", "mlflow", cwd=tmp_path, MLFLOW_TRACKING_URI=server)
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = done.stdout.splitlines()
    assert line.startswith(f"{server}/#/experiments/")
    client = mlflow.MlflowClient(tracking_uri=server)
    there = client.get_run(line.rpartition("/")[2])
    assert there.info.status == "FINISHED"
    assert there.info.end_time - there.info.start_time == 1000
    assert there.info.run_name == "night-0"
    assert there.data.metrics == {
        "exact_match": 0.75,
        "f1/label/cat": 0.75,
        "f1/label/dog": 0.25,
    }
    assert there.data.params["config_sha256"] == "c0" * 32
    assert there.data.tags["valor.verdict"] == "failed"
    assert there.data.tags["mlflow.source.git.commit"] == COMMIT
    files = {one.path: one.file_size for one in client.list_artifacts(there.info.run_id)}
    sizes = {path.name: path.stat().st_size for path in night_run.iterdir()}
    assert files == {name: sizes[name] for name in ("results.json", "report.html", "samples.jsonl")}
    assert client.get_experiment(there.info.experiment_id).name == "valor"


def test_a_name_and_an_experiment(
    mlflow: Any, server: str, night_run: Path, tmp_path: Path
) -> None:
    asked = ("--to", "mlflow", "--as", "of mine", "--tracking-uri", server)
    for _ in range(2):
        done = run(str(night_run), *asked, cwd=tmp_path, MLFLOW_EXPERIMENT_NAME="detectors")
        assert done.returncode == 0, done.stderr
    client = mlflow.MlflowClient(tracking_uri=server)
    experiment = client.get_experiment_by_name("detectors")
    runs = client.search_runs([experiment.experiment_id])
    assert [one.info.run_name for one in runs] == ["of mine"] * 2


@pytest.mark.parametrize(
    ("uri", "told"),
    [
        ("http://127.0.0.1:9", "cannot be reached"),
        (f"http://me:{SECRET}@127.0.0.1:9", "cannot be reached"),
        ("nonsense://x", "cannot be logged"),
    ],
)
def test_no_server(mlflow: Any, night_run: Path, tmp_path: Path, uri: str, told: str) -> None:
    done = run(
        *(str(night_run), "--to", "mlflow", "--tracking-uri", uri),
        cwd=tmp_path,
        MLFLOW_TRACKING_PASSWORD=SECRET,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert SECRET not in done.stderr + done.stdout


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ((401, "You are not authenticated."), "refuses access (401)"),
        ((403, "Permission denied"), "refuses access (403)"),
        ((403, '{"error_code": "PERMISSION_DENIED", "message": "no"}'), "refuses access"),
        ((404, "<html>Not Found</html>"), "not understood by the server (404)"),
        ((400, '{"error_code": "BAD_REQUEST", "message": "another"}'), "cannot be logged"),
    ],
)
def test_a_server_that_refuses(
    mlflow: Any, night_run: Path, tmp_path: Path, answer: tuple[int, str], told: str
) -> None:
    with github() as other:
        other.faults = [(answer[0], {}, answer[1].encode())] * 20
        asked = (str(night_run), "--to", "mlflow", "--tracking-uri", other.url)
        done = run(*asked, cwd=tmp_path, MLFLOW_TRACKING_TOKEN=SECRET)
    assert done.returncode == 2
    assert told in done.stderr
    assert SECRET not in done.stderr + done.stdout


def test_wandb_offline(night_run: Path, tmp_path: Path) -> None:
    pytest.importorskip("wandb", reason="W&B offline: make test-export")
    asked = (str(night_run), "--to", "wandb", "--as", "of mine")
    done = run(*asked, cwd=tmp_path, WANDB_MODE="offline", WANDB_DIR=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    folder = Path(done.stdout.strip())
    assert folder.parent == tmp_path / "wandb"
    kept = {path.name for path in (folder / "files").iterdir()}
    assert {"results.json", "report.html", "samples.jsonl"} <= kept
    (record,) = folder.glob("run-*.wandb")
    content = record.read_bytes()
    for part in (b"exact_match", b"f1/label/cat", b"0.75", b"verdict:failed", b"of mine"):
        assert part in content, part


def test_wandb_without_a_key(night_run: Path, tmp_path: Path) -> None:
    pytest.importorskip("wandb", reason="W&B offline: make test-export")
    done = run(str(night_run), "--to", "wandb", cwd=tmp_path)
    assert done.returncode == 2
    assert "no key is known" in done.stderr
    assert "WANDB_MODE=offline" in done.stderr
