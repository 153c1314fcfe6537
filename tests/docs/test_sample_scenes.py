"""The drawings of the sample data: one for each image, and what the script draws."""

from __future__ import annotations

import json

import numpy as np
from PIL import Image

from docs.sample_scenes import SAMPLE, scenes
from valor_cli.data.formats.images import image_size

DRAWN = dict(scenes())
FRAMES = json.loads((SAMPLE / "ground_truth.json").read_text(encoding="utf-8"))["images"]


def test_every_image_has_a_drawing_of_its_size() -> None:
    files = {path.name: image_size(str(path))[::-1] for path in (SAMPLE / "images").iterdir()}
    assert files == {one["file_name"]: (one["width"], one["height"]) for one in FRAMES}
    assert set(DRAWN) == set(files)


def test_the_drawings_are_what_the_script_draws() -> None:
    """As far as releases of libjpeg agree."""
    for name in list(DRAWN)[::20]:
        drawn, again = np.asarray(DRAWN[name]()), np.asarray(DRAWN[name]())
        assert (drawn == again).all()
        with Image.open(SAMPLE / "images" / name) as image:
            kept = np.asarray(image)
        assert np.abs(drawn.astype(int) - kept).mean() < 4
