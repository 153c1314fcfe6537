"""Log a run to Weights & Biases, or to a folder for `wandb sync`."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any

from valor_cli.errors import DataError, Problem
from valor_cli.extras import extra
from valor_cli.masking import keep_secret, without_secrets
from valor_cli.reports.export.mlflow_runs import PROJECT
from valor_cli.reports.export.tracked_run import TrackedRun

_KEY = "WANDB_API_KEY"
_QUIET = {"WANDB_SILENT": "true", "WANDB_ERROR_REPORTING": "false"}
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
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    wandb: Any = extra("wandb", "wandb", "--to wandb")
    try:
        online = os.environ.get("WANDB_MODE") not in _OFFLINE
        if online and not wandb.login(prompt=False, verify=False):
            hint = f"set {_KEY} or run `wandb login`; WANDB_MODE=offline needs none"
            raise DataError(Problem("--to wandb", "no key is known"), hint=hint)
        return _logged(wandb, run)
    except (wandb.errors.Error, OSError, ValueError) as error:
        said = without_secrets(" ".join(str(error).split()))[:300]
        message = f"the run cannot be logged: {said}"
        hint = f"check {_KEY}, WANDB_ENTITY and WANDB_BASE_URL, or set WANDB_MODE=offline"
        raise DataError(Problem("--to wandb", message), hint=hint) from None


def _logged(wandb: Any, run: TrackedRun) -> str:
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
