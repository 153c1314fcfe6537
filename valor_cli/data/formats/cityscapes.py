"""List the label maps of Cityscapes' layout.

Ground truth is `<city>/<city>_<sequence>_<frame>_gtFine_labelIds.png`, or `…_labelTrainIds.png`;
the colours, instances and polygons beside them are no label maps. A prediction is a PNG, in a
folder or not, whose name begins with the same `<city>_<sequence>_<frame>`. Classes are those of
cityscapesScripts, cityscapesscripts/helpers/labels.py, which says which of them are evaluated.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from valor_cli.data.formats.folders import files_under
from valor_cli.data.formats.png import PngLabelMap
from valor_cli.data.shapes.label_maps import LabelMaps
from valor_cli.data.shapes.objects.object_file import Role
from valor_cli.data.values import is_text
from valor_cli.errors import DataError, Problem

Encoding: TypeAlias = Literal["cityscapes", "cityscapes_train_ids"]
"""Whether the values of pixels are ids, or train ids."""

_IGNORED: Final = 255
"""The train id of the classes that are not evaluated (`ignoreInEval`)."""

_CLASSES: Final = """\
 0 255 unlabeled
 1 255 ego vehicle
 2 255 rectification border
 3 255 out of roi
 4 255 static
 5 255 dynamic
 6 255 ground
 7   0 road
 8   1 sidewalk
 9 255 parking
10 255 rail track
11   2 building
12   3 wall
13   4 fence
14 255 guard rail
15 255 bridge
16 255 tunnel
17   5 pole
18 255 polegroup
19   6 traffic light
20   7 traffic sign
21   8 vegetation
22   9 terrain
23  10 sky
24  11 person
25  12 rider
26  13 car
27  14 truck
28  15 bus
29 255 caravan
30 255 trailer
31  16 train
32  17 motorcycle
33  18 bicycle
"""
"""id, trainId and name of each class; that of license plates, -1, is in no label map."""

_ROWS: Final = [(int(row[:2]), int(row[3:6]), row[7:]) for row in _CLASSES.splitlines()]

LABELS: Final[Mapping[int, str]] = {
    value: name for value, train_id, name in _ROWS if train_id != _IGNORED
}
"""Names of the classes that are evaluated, by id."""

IGNORED_IDS: Final = tuple(value for value, train_id, _ in _ROWS if train_id == _IGNORED)
"""Ids whose pixels of ground truth nobody is judged by."""

_NO_CLASS: Final = -1
"""What a train id stands for that no class has."""

_TRAIN_IDS: Final[Mapping[int, int | None]] = {
    _IGNORED: None,
    **{train_id: value for value, train_id, _ in _ROWS if train_id != _IGNORED},
}

MEANINGS: Final[Mapping[Encoding, Sequence[int | None]]] = {
    "cityscapes": [value if value in LABELS else None for value, _, _ in _ROWS],
    "cityscapes_train_ids": [
        _TRAIN_IDS.get(train_id, _NO_CLASS) for train_id in range(_IGNORED + 1)
    ],
}
"""The id that each value of a pixel stands for, None for no label."""

_ENDINGS: Final[Mapping[Encoding, str]] = {
    "cityscapes": "_labelIds.png",
    "cityscapes_train_ids": "_labelTrainIds.png",
}
_NO_LABEL_MAPS: Final = ("_color.png", "_instanceIds.png", "_instanceTrainIds.png")
_IMAGE: Final = re.compile(r"[^_]+_\d+_\d+(?![^\W_])")
_NAMES: Final = "<city>_<sequence>_<frame>, as frankfurt_000000_000294"


def read_cityscapes(path: str, role: Role, encoding: Encoding) -> LabelMaps:
    """The label maps of one side, named by the image.

    Args:
        path: The folder of the cities, as `gtFine/val`, or any folder of predictions.
        role: Which side it is.
        encoding: What the values of pixels are.

    Raises:
        DataError: There is no such folder, or no label map in it; a name is not Cityscapes', or
            there are two label maps of an image.
    """
    ending = _ENDINGS[encoding] if role == "ground_truth" else ".png"
    names = [one for one in files_under(path, ".png") if not one.endswith(_NO_LABEL_MAPS)]
    if role == "ground_truth":
        names = [one for one in names if one.endswith(ending)]
    if not names:
        raise _no_label_maps(path, ending)
    maps: dict[str, PngLabelMap] = {}
    problems: list[Problem] = []
    for name in names:
        file = os.path.join(path, name)
        image = _IMAGE.match(os.path.basename(name))
        if image is None or not is_text(name):
            problems.append(Problem(file, f"the name does not begin with {_NAMES}"))
            continue
        first = maps.setdefault(image[0], PngLabelMap(file))
        if first.path != file:
            problems.append(Problem(file, f"there is {first.path} too; one image, one label map"))
    if problems:
        raise DataError(problems, hint=f"Move what is no label map out of {path}.")
    categories = LABELS if role == "ground_truth" else None
    return LabelMaps(path, path, maps, meanings=MEANINGS[encoding], categories=categories)


def encoding_of_truth(names: Iterable[str]) -> Encoding | None:
    """What ground truth with files of these names is written in; None if it is not Cityscapes'.

    Where there are ids and train ids, it is ids, which cityscapesScripts evaluates.
    """
    names = [one for one in names if _IMAGE.match(os.path.basename(one))]
    found = (
        encoding
        for encoding, ending in _ENDINGS.items()
        if any(one.endswith((f"_gtFine{ending}", f"_gtCoarse{ending}")) for one in names)
    )
    return next(found, None)


def encoding_of_values(values: Iterable[int]) -> Encoding:
    """What predictions with these values of pixels are written in.

    Ids go up to 33, train ids to 18; and no model predicts the ids from 1 to 6, as of the own car.
    """
    found = set(values)
    train_ids = bool(found & set(range(1, 7))) or _IGNORED in found
    highest = max(found - {_IGNORED}, default=0)
    return "cityscapes_train_ids" if train_ids and highest in _TRAIN_IDS else "cityscapes"


def _no_label_maps(path: str, ending: str) -> DataError:
    others = [encoding for encoding, other in _ENDINGS.items() if files_under(path, other.lower())]
    hint = "Name the folder of the cities, as gtFine/val."
    if ending != ".png" and others:
        hint = f"There are files of `format: {others[0]}`."
    return DataError(Problem(path, f"there is no label map in it, <city>/…{ending}"), hint=hint)
