"""The report of the shipped detection config, as a browser shows it: the README's picture.

`python docs/report_picture.py` writes docs/images/report.png, once `make test-browser` has set up.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from valor_cli import evaluate

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "configs" / "object_detection.yaml"
PICTURE = ROOT / "docs" / "images" / "report.png"
SIZE = (1280, 1000)


def draw(browser: Any, picture: Path) -> None:
    """Evaluate, open the report, and keep its first screen."""
    with tempfile.TemporaryDirectory() as folder:
        evaluate(CONFIG, out=folder, formats=["html"])
        page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]})
        page.goto((Path(folder) / "report.html").as_uri())
        page.screenshot(path=str(picture))
        page.close()


def main() -> None:
    """Write the picture."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        draw(browser, PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
