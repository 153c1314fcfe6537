"""The documentation as a site: for a screen reader, on a phone, in the dark, on no other host."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import ROOT
from tests.reports.browser.conftest import pictures
from tests.reports.browser.test_every_report import violations

__all__ = ["pictures"]

pytestmark = pytest.mark.browser

SITE = ROOT / "build" / "site"
PAGES = sorted(path.relative_to(ROOT / "docs").as_posix() for path in ROOT.glob("docs/**/*.md"))
PHONE = 390
DRAWN = ("index.md", "choosing.md", "start/object-detection.md")

Opener = Callable[..., Any]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address of the site on this machine."""
    assert (SITE / "index.html").is_file(), "the site is not built; run: make site"
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE))) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture
def opened(chromium: Any, site: str) -> Opener:
    """`with opened("index.md") as page`; no other host may be asked, nothing complained of."""

    @contextmanager
    def opening(name: str, width: int = 1280, scheme: str = "light", at: str = "") -> Iterator[Any]:
        size = {"width": width, "height": 900}
        window = chromium.new_context(viewport=size, color_scheme=scheme)
        page = window.new_page()
        said: list[str] = []
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on(
            "request",
            lambda one: 0 if one.url.startswith((site, "blob:", "data:")) else said.append(one.url),
        )
        page.goto(f"{site}/{name.replace('.md', '.html')}{at}")
        yield page
        window.close()
        assert said == []

    return opening


@pytest.mark.parametrize("name", PAGES)
def test_on_a_phone(opened: Opener, name: str) -> None:
    with opened(name, PHONE) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE
        assert page.locator("h1").count() == 1
        assert violations(page) == []


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_desk(opened: Opener, pictures: Path, name: str, scheme: str) -> None:
    with opened(name, scheme=scheme) as page:
        assert violations(page) == []
        page.screenshot(path=str(pictures / f"site-{Path(name).stem}-{scheme}.png"))


def test_it_can_be_searched(opened: Opener) -> None:
    with opened("index.md") as page:
        page.keyboard.press("/")
        page.keyboard.type("calibrate")
        page.locator(".md-search-result__item a").first.wait_for(timeout=10_000)


def test_a_real_report_opens_from_the_first_page(opened: Opener) -> None:
    with opened("index.md") as page:
        page.locator("a[href='report.html']").click()
        assert page.locator("h1").inner_text().startswith("Classification")
        assert violations(page) == []


def test_headings_have_the_anchors_of_a_code_host(opened: Opener) -> None:
    with opened("metrics.md", at="#recall-1") as page:
        assert page.locator("#recall-1").inner_text().startswith("recall")


def test_the_picture_of_the_report_is_what_a_browser_shows(chromium: Any, tmp_path: Path) -> None:
    """As far as fonts allow: of one size, and the verdict at the same place."""
    import numpy as np
    from PIL import Image

    from docs import report_picture

    report_picture.draw(chromium, tmp_path / "report.png")
    green = []
    for path in (tmp_path / "report.png", report_picture.PICTURE):
        picture = np.asarray(Image.open(path).convert("RGB")).astype(int)
        assert picture.shape[1::-1] == report_picture.SIZE
        green.append(int((picture[:150, :, 1] > picture[:150, :, 0] + 10).sum()))
    assert min(green) > 1_000
    assert max(green) < 1.5 * min(green)
