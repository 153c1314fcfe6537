"""Images beside a page are shown from disk, and nothing else is loaded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image
from valor_cli.reports.render.html.report import to_html

from tests.reports.browser.conftest import Opener
from tests.reports.task_runs import classified
from valor_cli.pipeline.images import _relative_url
from valor_cli.results import EmbeddedImages, Picture, RunResult

pytestmark = pytest.mark.browser

PLACES = ("report/report_files/images/image-0.png", "photos/a b#%ü?.png", "photos/'\"<i>&c:d.png")


@pytest.fixture
def run() -> Callable[[int | None], RunResult]:
    """`run(size)`: a run whose examples have images of that size, or of an unknown one."""
    from msgspec.structs import replace

    def made(size: int | None) -> RunResult:
        whole = classified(("m",), ("cat", "dog"))
        shown = [replace(whole.examples[0], picture=Picture(place, size, size)) for place in PLACES]
        return replace(whole, examples=shown)

    return made


@pytest.mark.parametrize("size", [8, None])
def test_images_beside_the_page(
    opened: Opener, run: Callable[[int | None], RunResult], tmp_path: Path, size: int | None
) -> None:
    links = {}
    for place in PLACES:
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8), "red").save(tmp_path / place)
        links[place] = _relative_url(str(tmp_path / place), tmp_path / "report")
    page_file = tmp_path / "report" / "report.html"
    page_file.write_text(to_html(run(size), EmbeddedImages(links=links)), encoding="utf-8")
    with opened(page_file) as page:
        loaded = page.evaluate(
            """() => Promise.all([...document.querySelectorAll('img.thumb, svg image')].map(
                async (each) => {
                    const image = new Image();
                    image.src = each.getAttribute('src') ?? each.getAttribute('href');
                    await image.decode();
                    return image.naturalWidth;
                }))"""
        )
    assert loaded == [8] * len(PLACES)
