"""`valor init`: write example configs with sample data."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from valor_cli.cli.output import say
from valor_cli.errors import ConfigError, DataError, Problem

SHOWN = 3
"""Maximum number of existing files listed by name; more are counted."""

MOST_NAMES = 2
FIRST = "object_detection"
"""The task that is written when none is named."""


def init(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TASK] [DIR]",
            help=f"Kind of evaluation ({FIRST} by default), and where to write.",
            show_default=False,
        ),
    ] = None,
    own: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="GROUND_TRUTH PREDICTIONS…", help="Write a config for these files."
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option("-o", "--out", metavar="FILE", help="With --from: the config.")
    ] = None,
    listed: Annotated[
        bool,
        typer.Option("--list", help="List the tasks and their configs; write nothing."),
    ] = False,
) -> None:
    """Write commented configs and sample data that run as they are.

    A task brings a config that shows what it can do, and one for each of some uses: a gate for CI,
    a nightly run, a comparison of models. All of them are named when they are written.

    \b
    Example:
      valor init object_detection demo
      valor init --from ground_truth.json predictions.json
      valor init --list
    """
    from valor_cli import catalogue

    given = names or []
    if own is not None:
        _write_own([own, *given], out)
        return
    if out is not None or len(given) > MOST_NAMES:
        place, message = ("--out", "is for --from") if out else (given[2], "a third argument")
        raise ConfigError(Problem(place, message), hint="valor init TASK DIR")
    task, folder = (given[0] if given else None), (given[1] if len(given) > 1 else ".")
    wanted = catalogue.task_names() if listed and task is None else (task or FIRST,)
    tasks = [catalogue.task(name).name for name in wanted]
    if listed:
        for name in tasks:
            say("\n".join((name, *_aligned((path.stem, path) for path in _configs_of(name)), "")))
        say("write the configs of a task: valor init TASK DIR")
        return
    (name,) = tasks
    configs = {Path(folder) / "configs" / path.name: path for path in _configs_of(name)}
    data = Path(folder) / "sample_data" / name
    sample = _starter("sample_data") / name
    files = sorted(path for path in sample.rglob("*") if path.is_file())
    _copy({**configs, **{data / path.relative_to(sample): path for path in files}})
    say("\n".join(_aligned((str(target), source) for target, source in configs.items())))
    say(f"wrote these configs with their data: {data}{os.sep}")
    say(f"next: valor evaluate {next(iter(configs))}")


def _write_own(paths: Sequence[str], out: str | None) -> None:
    """Write a config for files of the user's own."""
    from valor_cli.cli.from_files import write_config
    from valor_cli.pipeline.inference import infer

    inferred = infer(paths)
    target = out or f"{inferred.config['task']}.yaml"
    write_config(inferred.config, target)
    say(inferred.told)
    say(f"wrote {target}")
    say(f"next: valor evaluate {target}")


def _configs_of(task: str) -> list[Path]:
    """The configs that a task brings, its own one first."""
    found = sorted(_starter("configs").glob(f"{task}*.yaml"))
    return sorted(found, key=lambda path: path.stem != task)


def _aligned(configs: Iterable[tuple[str, Path]]) -> Iterator[str]:
    """A line for each config: what it is called here, and what it shows."""
    rows = [(name, _about(path)) for name, path in configs]
    width = max(len(name) for name, _ in rows)
    yield from (f"  {name:<{width}}  {about}" for name, about in rows)


def _about(config: Path) -> str:
    """What a config shows: its first comment, up to the command that runs it."""
    with config.open(encoding="utf-8") as file:
        first = file.readline()
    return first.removeprefix("#").strip().partition("   ")[0]


def _copy(sources: Mapping[Path, Path]) -> None:
    """Copy each file to its place.

    Raises:
        ConfigError: One of the files exists; nothing was written.
        DataError: A place cannot be written.
    """
    present = [path for path in sources if os.path.exists(path)]
    if present:
        problems = [Problem(str(path), "exists already") for path in present[:SHOWN]]
        hint = "nothing was written; choose another folder"
        raise ConfigError(problems, total=len(present), hint=hint)
    for target, source in sources.items():
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
        except OSError as error:
            reason = error.strerror or str(error)
            raise DataError(Problem(str(target), f"cannot be written: {reason}")) from None


def _starter(folder: str) -> Path:
    """A folder of starter files, in the installed package or in a checkout."""
    package = Path(__file__).parents[1]
    installed = package / "starter" / folder
    return installed if installed.is_dir() else package.parent / folder
