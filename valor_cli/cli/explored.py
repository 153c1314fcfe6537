"""The page of a report that shows the samples of several runs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from valor_cli.reports.document import Document
    from valor_cli.reports.writer import Page
    from valor_cli.results import RunResult


def explored_page(
    document: Document, runs: Sequence[tuple[str, RunResult, str]], out: Path
) -> Page:
    """The page, with an explorer of the runs' samples and the images that they have.

    Args:
        document: What it says above the samples.
        runs: Name, result and path of each; a name may be empty.
        out: The folder of the page.
    """
    from valor_cli.pipeline.images import compared_images
    from valor_cli.reports.explorer.data import explorer_of_runs
    from valor_cli.reports.render.html import to_html
    from valor_cli.reports.writer import Page

    images = compared_images(runs, out)
    explored = explorer_of_runs([(name, result) for name, result, _ in runs], images)
    linked = bool(images.links or images.overlay_links)
    page = to_html(document, explored, linked=linked)
    return Page(page.encode(), explored.files if explored else {})
