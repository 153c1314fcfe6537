"""Send a run to another tool."""

from __future__ import annotations

from valor_cli.errors import ConfigError, Problem, UnknownNameError, did_you_mean
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
        from valor_cli.reports.export.mlflow_runs import log_to_mlflow

        return log_to_mlflow(run, tracking_uri)
    from valor_cli.reports.export.wandb_runs import log_to_wandb

    return log_to_wandb(run)
