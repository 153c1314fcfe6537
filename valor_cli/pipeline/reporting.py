"""Write the report files of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from valor_cli.pipeline.images import report_images
from valor_cli.pipeline.plan import Plan
from valor_cli.reports.writer import Rendered, write_rendered
from valor_cli.results import EmbeddedImages, RunResult


def reported(
    plan: Plan, result: RunResult, folder: Path, formats: Sequence[str]
) -> tuple[Rendered, list[Path]]:
    """Write the reports of a run; returns it with their warnings, and the files.

    Raises:
        UnknownNameError: There is no such format.
        DataError: A file cannot be written; those that were there are whole.
    """
    shown, told = (
        report_images(plan, result, folder) if "html" in formats else (EmbeddedImages(), ())
    )
    run = Rendered(replace(result, warnings=(*result.warnings, *told)), shown)
    return run, write_rendered(run, folder, formats)
