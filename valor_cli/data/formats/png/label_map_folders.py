"""List label maps in folders and pair ground truth with predictions by name."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from valor_cli.data.formats.folders import files_under
from valor_cli.data.formats.png.label_maps import LabelMaps, PngLabelMap
from valor_cli.data.values import is_text
from valor_cli.errors import LISTED, DataError, Problem, printable

_OTHERS = (".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".gif", ".webp", ".npy", ".npz")
_LOSSY = (".jpg", ".jpeg", ".webp")


def read_folder(path: str) -> LabelMaps:
    """The PNGs in a folder and its subfolders, by relative path without extension.

    Raises:
        DataError: There is no such folder, no PNG in it, two of one name, or a name is no text.
    """
    names = files_under(path, "")
    pngs = [name for name in names if _ending(name) == ".png"]
    maps = {name: PngLabelMap(os.path.join(path, name)) for name in pngs}
    others = [name for name in names if _ending(name) in _OTHERS]
    if not maps:
        raise _no_maps(path, others)
    named: dict[str, PngLabelMap] = {}
    problems = [
        Problem(os.path.join(path, name), "the name is no UTF-8 text; rename the file")
        for name in pngs
        if not is_text(name)
    ]
    for name, found in maps.items():
        first = named.setdefault(without_extension(name), found)
        if first is not found:
            problems.append(Problem(found.path, f"there is {first.path} too; one name, one sample"))
    if problems:
        raise DataError(problems[:LISTED], total=len(problems))
    return LabelMaps(path, path, named, others=others)


def without_extension(name: str) -> str:
    """A path as a sample name: with slashes, without extension."""
    return os.path.splitext(name)[0].replace(os.sep, "/")


def _ending(name: str) -> str:
    return os.path.splitext(name)[1].lower()


def _no_maps(path: str, others: Collection[str]) -> DataError:
    found = sorted({_ending(name) for name in others})
    there = f"; there are files of {', '.join(found)}" if found else ""
    hint = "Label maps are PNGs of one channel, in the folder or in folders in it."
    if any(ending in _LOSSY for ending in found):
        hint += " JPEG and WebP change values of pixels; make PNGs from the original labels."
    return DataError(Problem(path, f"there is no .png file in this folder{there}"), hint=hint)


class PairedNames(NamedTuple):
    """The names of ground truth and predictions that belong to the same sample.

    Attributes:
        pairs: Name of the ground truth to that of the prediction.
        alone: Ground truths without a prediction, sorted.
        strangers: Predictions without a ground truth, sorted.
        doubtful: Last part of a name to the names that share it, where parts decide.
    """

    pairs: Mapping[str, str]
    alone: list[str]
    strangers: list[str]
    doubtful: Mapping[str, list[str]]


def pair_names(truth: LabelMaps, found: LabelMaps) -> PairedNames:
    """Pair samples by image id if both sides have ids, otherwise by equal names.

    Where no two names are equal, those belong together whose last parts are equal and unique.
    """
    truths, predictions = truth.maps, found.maps
    doubtful: dict[str, list[str]] = {}
    if truth.images is not None and found.images is not None:
        by_image = {image: name for name, image in found.images.items()}
        pairs = {name: by_image[image] for name, image in truth.images.items() if image in by_image}
    else:
        pairs = {name: name for name in truths if name in predictions}
    if not pairs:
        pairs, doubtful = _by_last_parts(truths, predictions)
    taken = set(pairs.values())
    return PairedNames(
        pairs,
        sorted(name for name in truths if name not in pairs),
        sorted(name for name in predictions if name not in taken),
        doubtful,
    )


def _by_last_parts(
    truths: Collection[str], predictions: Collection[str]
) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Pairs of names whose last parts are equal, and the last parts that several names have."""
    true, found = _by_stem(truths), _by_stem(predictions)
    common = true.keys() & found.keys()
    doubtful = {
        stem: names
        for stem in sorted(common)
        for names in (true[stem], found[stem])
        if len(names) > 1
    }
    return {true[stem][0]: found[stem][0] for stem in common if stem not in doubtful}, doubtful


def _by_stem(names: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in sorted(names):
        found.setdefault(name.rpartition("/")[2], []).append(name)
    return found


def refuse_unpaired(
    meeting: PairedNames, truth: LabelMaps, found: LabelMaps, *, skip: bool
) -> None:
    """Raise an error for samples on one side only.

    Args:
        meeting: Of the two sides.
        truth, found: Ground truth and predictions.
        skip: Whether such samples may be left out; not all of them, though.

    Raises:
        DataError: There is no pair; names cannot tell which belong together; a file of one side
            has no partner.
    """
    if meeting.doubtful:
        raise DataError(
            [
                Problem(f"{truth.path}, {found.path}", f"'{stem}' names several: {_some(names)}")
                for stem, names in meeting.doubtful.items()
            ],
            hint=f"Give both sides the same sub-folders, or {_MANIFEST}",
        )
    if not meeting.pairs:
        message = (
            f"no label map has a prediction of its name in {found.path} (ground truth has "
            f"{_some(truth.maps)}; predictions have {_some(found.maps)})"
        )
        raise DataError(
            Problem(truth.path, message), hint=f"Give them the same names, or {_MANIFEST}"
        )
    if skip:
        return
    problems = [
        Problem(truth.maps[name].path, f"has no prediction in {found.path}")
        for name in meeting.alone
    ]
    problems += [
        Problem(found.maps[name].path, f"has no ground truth in {truth.path}")
        for name in meeting.strangers
    ]
    if problems:
        hint = "Add the missing files, or set `on_invalid: skip` under `data:` to leave these out."
        raise DataError(problems[:LISTED], total=len(problems), hint=hint)


_MANIFEST = (
    "list the pairs in a manifest (.jsonl or .csv with the columns ground_truth and prediction)."
)


def _some(names: Iterable[str]) -> str:
    listed = sorted(names)
    return ", ".join(map(printable, listed[:3])) + (", …" if len(listed) > 3 else "")
