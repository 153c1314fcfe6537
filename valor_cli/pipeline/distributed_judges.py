"""A config and an engine in; whether judges that workers are to ask can be asked so out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from valor_cli.errors import ConfigError, Problem

if TYPE_CHECKING:
    from valor_cli.config import RunConfig
    from valor_cli.pipeline.workers import Engine


def check_engine(config: RunConfig, engine: Engine) -> None:
    """Refuse judges that workers of a cluster are to ask, where there is none, or with keys.

    Raises:
        ConfigError: There are such judges; says where.
    """
    # Of tasks with judges.
    options: Any = config.options
    distributed: tuple[tuple[str | int, ...], ...] = getattr(options, "distributed", ())
    if not distributed:
        return
    if engine != "dask":
        told = "only `--engine dask` has workers that could ask"
        problems = [Problem(config.place(*path), told) for path in distributed]
        raise ConfigError(problems, hint="add --engine dask, or leave `distribute:` out")
    from valor_cli.models.distant_judge import KEYS_THERE, keys_of

    problems = [
        Problem(config.place(*path, *within), told)
        for path, judge in (
            (path[:-1], options.judges[path[1]] if path[0] == "judges" else options.judge)
            for path in distributed
        )
        for within, told in keys_of(judge)
    ]
    if problems:
        raise ConfigError(problems, hint=KEYS_THERE)
