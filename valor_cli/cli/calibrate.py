"""`valor calibrate`: compare judges with human labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from valor_cli.cli.evaluate import INCOMPLETE, STOPPED
from valor_cli.cli.options import (
    Config,
    FirstSamples,
    NoPlugins,
    Overrides,
    TextOrJson,
    check_folder,
    planned,
)
from valor_cli.cli.output import Messages, say, to_terminal, warn
from valor_cli.errors import ConfigError, Problem
from valor_cli.masking import without_secrets

if TYPE_CHECKING:
    from valor_cli.results.calibration import Calibrated


def calibrate(
    config: Config,
    set_: Overrides = None,
    human: Annotated[
        list[str] | None,
        typer.Option(
            "--human",
            metavar="METRIC=COLUMN",
            help="Column of the human labels for a metric, if not human_<metric>; repeatable, "
            "once for each annotator; label_* stands for several.",
        ),
    ] = None,
    labels: Annotated[
        list[str] | None,
        typer.Option(
            "--labels",
            metavar="[ANNOTATOR=]FILE",
            help="File of human labels: rows with sample_id, annotator and label; repeatable.",
        ),
    ] = None,
    limit: FirstSamples = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Use only models on this machine.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume a calibration that was stopped.")
    ] = False,
    no_plugins: NoPlugins = False,
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="DIR", help="Folder for calibration.json, .md and .html."),
    ] = None,
    format_: TextOrJson = "text",
) -> None:
    """Compare judges with human labels of the same samples.

    Judge metrics with a column human_<metric> in the data are compared: pass or fail, ratings on
    the judge's scale, its classes, or values, which count as above or below the threshold. For a
    custom_judge with a name the column is human_<name>, or else human_custom_judge.

    Labels of several annotators stand in columns human_<metric>_<annotator>, or in files
    (--labels): the judge is then compared with each, with their majority, and with how well
    people agree among themselves.

    \b
    Example:
      valor calibrate configs/text_generation_judge.yaml

    Exit codes: 0 done, 2 the config or an input cannot be used, 3 a judge did not reply about
    some samples, 4 the budget is reached, 130 interrupted, 143 terminated.
    """
    from valor_cli import __version__
    from valor_cli.pipeline.calibration.calibrate import calibrate as calibration_of
    from valor_cli.reports.digests.formatting import clean
    from valor_cli.reports.render.terminal import in_full
    from valor_cli.reports.sections.calibration import calibrated, calibration_json

    check_folder(out)
    talk = Messages(quiet=False, verbose=False)
    plan = planned(config, set_, plugins=not no_plugins)
    with talk.progress() as progress:
        found = calibration_of(
            plan,
            _columns(human or ()),
            label_files=labels or (),
            limit=limit,
            offline=offline,
            resume=resume,
            progress=progress,
        )
    for warning in dict.fromkeys(found.warnings):
        warn(warning)
    facts = {"valor": __version__, "config": config, "labels": ", ".join(labels or ())}
    files = [] if out is None else _written(found, {k: v for k, v in facts.items() if v}, out)
    if format_ == "json":
        say(calibration_json(found, whole=False))
    else:
        to_terminal(in_full(calibrated(found)))
        for path in files:
            talk.say(f"Report  {clean(str(path), 200)}")
    if found.stopped is not None:
        kind, reason = found.stopped
        typer.echo(without_secrets(f"stopped: {reason}; continue with --resume"), err=True)
        raise typer.Exit(STOPPED[kind])
    if found.unanswered:
        typer.echo(
            without_secrets(f"incomplete: judges gave no reply for {found.unanswered:,} values"),
            err=True,
        )
        raise typer.Exit(INCOMPLETE)


def _written(found: Calibrated, facts: Mapping[str, str], out: str) -> list[Path]:
    """The reports, all of them or none."""
    from valor_cli.reports.render.html import to_html
    from valor_cli.reports.render.markdown import to_markdown
    from valor_cli.reports.sections.calibration import calibration_json, calibration_report
    from valor_cli.reports.writer import write_files

    document = calibration_report(found, facts)
    contents = {
        "calibration.json": calibration_json(found, whole=True),
        "calibration.md": to_markdown(document).encode(),
        "calibration.html": to_html(document).encode(),
    }
    return write_files(Path(out), contents)


def _columns(said: Sequence[str]) -> dict[str, list[str]]:
    """Metric to columns.

    Raises:
        ConfigError: It is not said so.
    """
    columns: dict[str, list[str]] = {}
    for one in said:
        metric, equals, column = one.partition("=")
        if not (metric and equals and column):
            raise ConfigError(Problem("--human", f"expected METRIC=COLUMN, found {one!r}"))
        if column not in columns.setdefault(metric, []):
            columns[metric].append(column)
    return columns
