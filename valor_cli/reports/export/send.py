"""Send a run to MLflow, to Weights & Biases (or to a folder for `wandb sync`), or to GitHub."""

from __future__ import annotations

import logging
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from valor_cli.errors import ConfigError, DataError, Problem, UnknownNameError, did_you_mean
from valor_cli.extras import extra
from valor_cli.masking import keep_secret, without_secrets
from valor_cli.reports.export.tracked_run import TrackedRun
from valor_cli.reports.run_files import read_run

MLFLOW, WANDB, PULL_REQUEST = "mlflow", "wandb", "pull-request"

PLACES = (MLFLOW, WANDB, PULL_REQUEST)
"""Where a run can be sent."""


def send(path: str, to: str, *, name: str | None = None, tracking_uri: str | None = None) -> str:
    """Send a run to another tool, and say where it is.

    Args:
        path: Results, or their folder.
        to: One of `PLACES`.
        name: What it is called there; None: as its folder.
        tracking_uri: Of the MLflow server; None: of the environment.

    Raises:
        UnknownNameError: There is no such place.
        ConfigError: A tracking URI for a place that has none.
        MissingExtraError: The client of the tool is not installed.
        DataError: The run cannot be read or sent.
    """
    if to not in PLACES:
        message = f"there is no '{to}'{did_you_mean(to, PLACES)}"
        raise UnknownNameError(Problem("--to", message), hint=f"places: {', '.join(PLACES)}")
    if tracking_uri is not None and to != MLFLOW:
        raise ConfigError(
            Problem("--tracking-uri", "needs --to mlflow"), hint="valor report --help"
        )
    if to == PULL_REQUEST:
        from valor_cli.reports.export.pull_request import comment_on_pull_request

        return comment_on_pull_request(read_run(path), path, name)
    from valor_cli.reports.export.tracked_run import tracked_run

    run = tracked_run(read_run(path, beside=()), path, name)
    if to == MLFLOW:
        return log_to_mlflow(run, tracking_uri)
    return log_to_wandb(run)


PROJECT = "valor"
"""The experiment, if MLFLOW_EXPERIMENT_NAME names none."""

_URI = "MLFLOW_TRACKING_URI"
_SECRETS = ("MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN", "DATABRICKS_TOKEN")
_BRIEF = {
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
}
"""What the client does otherwise if the environment does not say: it tries for minutes to reach a
server that is not there, and tells its makers of every call."""

_REFUSED = ("PERMISSION_DENIED", "UNAUTHENTICATED", "CUSTOMER_UNAUTHORIZED")

_BATCH = {"metrics": 1000, "params": 100, "tags": 100}
"""How many a server takes at once."""

T = TypeVar("T")


def log_to_mlflow(run: TrackedRun, tracking_uri: str | None = None) -> str:
    """Log a run, and say where it is.

    Args:
        run: The run.
        tracking_uri: Of the server; None: of the environment.

    Raises:
        MissingExtraError: The client is not installed.
        DataError: No server is named, or it cannot be reached, or refuses.
    """
    uri = tracking_uri or os.environ.get(_URI)
    if not uri:
        hint = f"name it with --tracking-uri http://HOST:5000, or in {_URI}"
        raise DataError(Problem("--to mlflow", "no server is named"), hint=hint)
    for name in _SECRETS:
        keep_secret(name, os.environ.get(name, ""), "", "")
    for name, value in _BRIEF.items():
        os.environ.setdefault(name, value)
    # Of retries the client's libraries warn line by line, with the address.
    logging.getLogger("urllib3").setLevel(logging.ERROR)
    mlflow: Any = extra("mlflow", "mlflow", "--to mlflow")
    with _problems(mlflow, uri):
        client = mlflow.MlflowClient(tracking_uri=uri)
        experiment = _experiment(client)
        tags = {**run.tags, "mlflow.runName": run.name}
        there = client.create_run(experiment, start_time=run.started, tags=tags).info
        try:
            _log(mlflow, client, there.run_id, run)
        except BaseException:
            # A run that never ends would look as if it were still going on.
            with suppress(Exception):
                client.set_terminated(there.run_id, status="FAILED")
            raise
        ended = None if run.started is None else run.started + run.duration_ms
        client.set_terminated(there.run_id, status="FINISHED", end_time=ended)
    return _address(uri, experiment, there.run_id)


def _experiment(client: Any) -> str:
    name = os.environ.get("MLFLOW_EXPERIMENT_NAME") or PROJECT
    found = client.get_experiment_by_name(name)
    return str(client.create_experiment(name) if found is None else found.experiment_id)


def _log(mlflow: Any, client: Any, run_id: str, run: TrackedRun) -> None:
    at = run.started or 0
    metrics = [mlflow.entities.Metric(key, value, at, 0) for key, value in run.metrics.items()]
    params = [mlflow.entities.Param(key, value) for key, value in run.settings.items()]
    for part in _parts(params, _BATCH["params"]):
        client.log_batch(run_id, params=part)
    for part in _parts(metrics, _BATCH["metrics"]):
        client.log_batch(run_id, metrics=part)
    for file in run.files:
        client.log_artifact(run_id, file)


def _parts(rows: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


@contextmanager
def _problems(mlflow: Any, uri: str) -> Iterator[None]:
    """Turn what the client raises into an error that says what to do.

    Raises:
        DataError: The server cannot be reached, or refuses.
    """
    try:
        yield
    except (mlflow.exceptions.MlflowException, OSError, ValueError) as error:
        said = without_secrets(" ".join(str(error).split()))
        message, hint = _explained(said, getattr(error, "error_code", ""))
        raise DataError(Problem(uri, message), hint=hint) from None


def _explained(said: str, name: str) -> tuple[str, str]:
    code = re.search(r"failed with error code (\d+)", said)
    if name in _REFUSED or (code and code[1] in ("401", "403")):
        hint = "set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN"
        return f"the server refuses access ({code[1] if code else name})", hint
    if code:
        return f"not understood by the server ({code[1]}): {said[:200]}", "is it an MLflow server?"
    if "failed with exception" in said:
        cause = re.search(r"\(Caused by (.*)\)", said)
        why = f": {cause[1][-160:]}" if cause else ""
        return f"cannot be reached{why}", "is the server running, and the address right?"
    return f"the run cannot be logged: {said[:300]}", "see https://mlflow.org/docs/latest/tracking"


def _address(uri: str, experiment: str, run_id: str) -> str:
    if uri.startswith(("http://", "https://")):
        return f"{without_secrets(uri.rstrip('/'))}/#/experiments/{experiment}/runs/{run_id}"
    return f"run {run_id} of experiment {experiment} in {without_secrets(uri)}"


_KEY = "WANDB_API_KEY"
_SILENT = {"WANDB_SILENT": "true", "WANDB_ERROR_REPORTING": "false"}
"""The client talks, and reports its errors to its makers, unless the environment says so."""

_OFFLINE = ("offline", "dryrun", "disabled")
_SECONDS = 30


def log_to_wandb(run: TrackedRun) -> str:
    """Log a run, and say where it is.

    Raises:
        MissingExtraError: The client is not installed.
        DataError: No key is known, the server cannot be reached, or refuses.
    """
    keep_secret(_KEY, os.environ.get(_KEY, ""), "", "")
    for name, value in _SILENT.items():
        os.environ.setdefault(name, value)
    wandb: Any = extra("wandb", "wandb", "--to wandb")
    try:
        online = os.environ.get("WANDB_MODE") not in _OFFLINE
        if online and not wandb.login(prompt=False, verify=False):
            hint = f"set {_KEY} or run `wandb login`; WANDB_MODE=offline needs none"
            raise DataError(Problem("--to wandb", "no key is known"), hint=hint)
        return _logged_to_wandb(wandb, run)
    except (wandb.errors.Error, OSError, ValueError) as error:
        said = without_secrets(" ".join(str(error).split()))[:300]
        message = f"the run cannot be logged: {said}"
        hint = f"check {_KEY}, WANDB_ENTITY and WANDB_BASE_URL, or set WANDB_MODE=offline"
        raise DataError(Problem("--to wandb", message), hint=hint) from None


def _logged_to_wandb(wandb: Any, run: TrackedRun) -> str:
    settings = wandb.Settings(
        init_timeout=_SECONDS,
        console="off",
        disable_git=True,
        disable_code=True,
        disable_job_creation=True,
        x_disable_stats=True,
        x_disable_meta=True,
    )
    there = wandb.init(
        project=os.environ.get("WANDB_PROJECT") or PROJECT,
        name=run.name,
        config=dict(run.settings),
        tags=[f"{key.removeprefix('valor.')}:{value}"[:64] for key, value in run.tags.items()],
        settings=settings,
    )
    try:
        there.summary.update(dict(run.metrics))
        with tempfile.TemporaryDirectory() as folder:
            # What is saved is linked from the run's folder: a copy stays as it was sent.
            for file in run.files:
                kept = shutil.copy(file, folder)
                there.save(kept, base_path=folder, policy="now")
            there.finish()
    except BaseException:
        there.finish(exit_code=1)
        raise
    return str(there.url or os.path.dirname(there.dir))
