"""The report of the shipped detection config, as a browser shows it: the README's picture.

`python docs/report_picture.py` writes docs/images/report.png, once `make test-browser` has set up.
"""

from __future__ import annotations

import io
import shutil
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from valor_cli import evaluate

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "configs" / "object_detection.yaml"
PICTURE = ROOT / "docs" / "images" / "report.png"
SIZE = (1280, 1500)
FIRST = 860
"""Pixels of the height for verdict and results; an image with its errors has the rest."""
SAMPLE = 82
"""The image: cyclists, of whom the smaller model misses one."""


def draw(browser: Any, picture: Path) -> None:
    """Evaluate, open the report, and keep its first screen and an image with its errors."""
    with tempfile.TemporaryDirectory() as folder:
        evaluate(CONFIG, out=folder, formats=["html"])
        address = (Path(folder) / "report.html").as_uri()
        whole = Image.new("RGB", SIZE)
        whole.paste(_screen(browser, address, FIRST), (0, 0))
        card = _screen(browser, f"{address}#explore?sample={SAMPLE}", SIZE[1] - FIRST)
        whole.paste(card, (0, FIRST))
        # A palette is a third of the bytes; without k-means the small vivid colours are lost.
        few = whole.quantize(256, Image.Quantize.MEDIANCUT, kmeans=3, dither=Image.Dither.NONE)
        few.save(picture, optimize=True)


def _screen(browser: Any, address: str, height: int) -> Image.Image:
    page = browser.new_page(viewport={"width": SIZE[0], "height": height})
    page.goto(address)
    page.wait_for_load_state("networkidle")
    if "#" in address:
        page.locator("dialog[open]").wait_for()
        page.wait_for_timeout(500)
    content = page.screenshot()
    page.close()
    return Image.open(io.BytesIO(content)).convert("RGB")


def main() -> None:
    """Write the picture."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        draw(browser, PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
