"""Reports in headless chromium, from disk, with every host unresolvable."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[3]
AXE = Path(__file__).parents[1] / "axe/node_modules/axe-core/axe.min.js"

CONFIGS = tuple(
    path.stem
    for path in sorted((ROOT / "configs").glob("*.yaml"))
    if re.search(r"formats: .*html", path.read_text(encoding="utf-8"))
)
"""Those of this repository that write a page."""

Opener = Callable[..., Any]


@pytest.fixture
def opened(chromium: Browser, tmp_path: Path) -> Opener:
    """`with opened(report, …) as page`: a page, or its HTML, in a window of its own.

    After it nothing may have been said in the console, and nothing asked of any host.
    """

    @contextmanager
    def opening(
        report: Path | str, width: int = 1280, scheme: Any = "light", at: str = "", **rest: Any
    ) -> Iterator[Page]:
        path = report if isinstance(report, Path) else tmp_path / "report.html"
        if isinstance(report, str):
            path.write_text(report, encoding="utf-8")
        size: Any = {"width": width, "height": 900}
        window = chromium.new_context(viewport=size, color_scheme=scheme, **rest)
        page = window.new_page()
        said: list[str] = []
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url) if outside(request.url) else 0)
        page.goto(path.as_uri() + at)
        yield page
        window.close()
        assert said == []

    return opening


def outside(url: str) -> bool:
    """Whether an address is neither on this disk nor in the page itself."""
    return not url.startswith(("file:", "data:"))


@pytest.fixture(scope="session")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`shipped(name)`: the report of a config of this repository, made once."""
    made: dict[str, Path] = {}

    def report(name: str) -> Path:
        if name not in made:
            out = tmp_path_factory.mktemp(name)
            config = str(ROOT / "configs" / f"{name}.yaml")
            command = [sys.executable, "-m", "valor_cli", "evaluate", config, "--out", str(out)]
            done = subprocess.run([*command, "-q"], capture_output=True, text=True, check=False)
            assert done.returncode in (0, 1), done.stderr
            made[name] = out / "report.html"
        return made[name]

    return report


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Where the screenshots go: a folder named by VALOR_SCREENSHOTS, or one of the test's own."""
    folder = Path(os.environ.get("VALOR_SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
