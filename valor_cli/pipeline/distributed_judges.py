"""A config and an engine in; whether judges that workers are to ask can be asked so out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from valor_cli.errors import ConfigError, Problem

if TYPE_CHECKING:
    from valor_cli.config import RunConfig
    from valor_cli.pipeline.workers import Engine


def check_engine(config: RunConfig, engine: Engine) -> None:
    """Refuse judges that workers of a cluster are to ask, where there is none.

    Raises:
        ConfigError: There are such judges; says where.
    """
    if engine == "dask":
        return
    # Of tasks with judges.
    distributed: tuple[tuple[str | int, ...], ...] = getattr(config.options, "distributed", ())
    problems = [
        Problem(config.place(*path), "only `--engine dask` has workers that could ask")
        for path in distributed
    ]
    if problems:
        raise ConfigError(problems, hint="add --engine dask, or leave `distribute:` out")
