"""Draw a PNG of the differences between two label maps.

Three panels, left to right: the ground truth, the prediction, and where they differ, over the
image in gray if there is one, otherwise over the dimmed ground truth. Ignored pixels are hatched.
"""

from __future__ import annotations

from io import BytesIO
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from valor_cli.data.formats.images import eight_bit, opened
from valor_cli.kernels.geometry.label_maps import IGNORED

T = TypeVar("T", bound=np.generic)

LONGEST_SIDE: Final = 480
"""Pixels of a panel's longer side."""

GAP: Final = 6
"""Pixels between panels."""

_COLOURS: Final = bytes.fromhex(
    "0072b2 e6be3c 009e73 cc79a7 56b4e9 996633 aadc32 5a3c96 f0e442 117733 "
    "88ccee aa4499 ddcc77 332288 44aa99 fac8d2 788c28 beaed4 004d66 c8e6c8"
)
"""Told apart with any colour vision (after Okabe and Ito, and Tol), none of them like a mistake."""

_LABELS: Final = 80
"""Labels whose colours differ: the list in four shades; then it begins anew."""

_SHADES: Final = (1.0, 0.7, 0.5, 0.85)
_DIMMED: Final = 80
"""First index of the same colours, dimmed."""

_NONE, _NONE_DIMMED, _MISTAKE, _HATCH, _GROUND, _BETWEEN = range(160, 166)
_GRAY: Final = 176
_GRAYS: Final = 32
"""First index and number of the grays of the photo."""


def overlay(
    truth: NDArray[np.int32], prediction: NDArray[np.int32], labels: int, photo: str | None = None
) -> bytes:
    """Draw a palette PNG.

    Args:
        truth, prediction: (height, width) codes, as in `RawPair`; see `shrunk`.
        labels: How many labels there are.
        photo: Path of the image that was labelled; None to do without.

    Raises:
        DataError: The photo cannot be read.
    """
    from PIL import Image

    ignored = truth == IGNORED
    rows, columns = np.indices(truth.shape, np.int32)
    hatch = np.where((rows + columns) % 6 < 2, _HATCH, _GROUND).astype(np.uint8)
    true, found = _coloured(truth, labels), _coloured(prediction, labels)
    dimmed = np.where(true == _NONE, _NONE_DIMMED, true + _DIMMED).astype(np.uint8)
    below = dimmed if photo is None else _gray(photo, truth.shape)
    differ = np.where(truth != prediction, np.uint8(_MISTAKE), below)
    panels = [np.where(ignored, hatch, panel) for panel in (true, found, differ)]
    between = np.full((len(truth), GAP), _BETWEEN, np.uint8)
    image = Image.fromarray(np.hstack([panels[0], between, panels[1], between, panels[2]]))
    image.putpalette(_palette().tobytes())
    content = BytesIO()
    # Level 9 takes five times as long for a sixth less.
    image.save(content, "PNG", compress_level=6)
    return content.getvalue()


def colour_of(label: int) -> str:
    """The colour of a label by number, as "#rrggbb"."""
    return f"#{bytes(_palette()[label % _LABELS]).hex()}"


def shrunk(values: NDArray[T]) -> NDArray[T]:
    """Every k-th pixel, so that the longer side is at most `LONGEST_SIDE`."""
    size = np.array(values.shape)
    small = np.maximum(np.round(size * min(1, LONGEST_SIDE / size.max())), 1).astype(np.int64)
    rows, columns = (
        ((np.arange(new) + 0.5) * old / new).astype(np.int64)
        for new, old in zip(small.tolist(), size.tolist(), strict=True)
    )
    return values[np.ix_(rows, columns)]


def _coloured(codes: NDArray[np.int32], labels: int) -> NDArray[np.uint8]:
    """Indices of the palette."""
    known = (codes >= 0) & (codes < labels)
    return np.where(known, codes % _LABELS, _NONE).astype(np.uint8)


def _gray(photo: str, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """The photo in the grays of the palette, as large as a panel."""
    from PIL import Image

    height, width = shape
    with opened(photo, photo) as image:
        gray = eight_bit(image, "L")
        small = np.asarray(gray.resize((width, height), Image.Resampling.BOX))
    return (small // (256 // _GRAYS) + _GRAY).astype(np.uint8)


def _palette() -> NDArray[np.uint8]:
    """(256, 3) colours by index."""
    palette = np.zeros((256, 3))
    base = np.frombuffer(_COLOURS, np.uint8).reshape(-1, 3)
    palette[:_LABELS] = np.concatenate([base * shade for shade in _SHADES])
    # Towards a light gray: mistakes are the only strong colour there.
    palette[_DIMMED : _DIMMED + _LABELS] = palette[:_LABELS] * 0.25 + 165
    palette[_NONE], palette[_NONE_DIMMED] = 60, 150
    palette[_MISTAKE] = 213, 62, 0
    palette[_HATCH], palette[_GROUND], palette[_BETWEEN] = 140, 225, 255
    grays = np.linspace(0, 255, _GRAYS)
    palette[_GRAY : _GRAY + _GRAYS] = grays[:, None]
    return palette.round().astype(np.uint8)
