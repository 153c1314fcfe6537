"""Read objects from folders of YOLO label files.

A label file is named after its image and has one line per object, in units of the image's width
and height: `class cx cy width height`, or `class x y x y …` for a polygon (a rotated box is the
polygon of its four corners), followed by a score in predictions. An empty file is an image without
objects.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from valor_cli.data.formats.class_names import NAMES_FILES, class_names
from valor_cli.data.formats.folders import (
    digest_of,
    files_under,
    is_folder,
    names_in,
    no_metadata,
    text_of,
)
from valor_cli.data.formats.png.images import image_size
from valor_cli.data.formats.yolo.lines import LabelReader
from valor_cli.data.shapes.objects.known_images import KnownImages, find_images
from valor_cli.data.shapes.objects.object_file import ObjectFile, Piece, Role, text_column
from valor_cli.data.shapes.objects.rows import (
    Frame,
    ImageRows,
    Named,
    checked_ids,
    joined_pieces,
    object_file,
)
from valor_cli.data.table import SKIP_HINT, InvalidRows
from valor_cli.data.values import LineProblems, stop_on
from valor_cli.errors import DataError, Problem
from valor_cli.results import InputFile

_SIZES_HINT = (
    "YOLO labels are in units of the image: name the folder of the image files as `images:` "
    "under `data:`."
)
_OF_TRUTH = "\nOr give a ground truth that says the sizes of its images."

EXTENSIONS: Final = frozenset(
    {".bmp", ".dng", ".gif", ".jpeg", ".jpg", ".jp2", ".mpo", ".png", ".pfm", ".tif", ".tiff"}
    | {".webp"}
)
"""What counts as an image, in lower case."""


class ImageFolder:
    """The images of a folder and of its sub-folders, which label files lie under likewise.

    Attributes:
        path: The folder, as the user wrote it.
    """

    __slots__ = ("_listed", "path")

    def __init__(self, path: str) -> None:
        if not is_folder(path):
            raise DataError(Problem(path, "there is no such folder of images"))
        self.path = path
        self._listed: dict[str, dict[str, str]] = {}

    def names(self, sub_folder: str) -> dict[str, str]:
        """File names by stem in a sub-folder; the first of equal stems."""
        if sub_folder not in self._listed:
            folder = os.path.join(self.path, sub_folder)
            listed: dict[str, str] = {}
            for name in names_in(folder):
                stem, extension = os.path.splitext(name)
                if extension.lower() in EXTENSIONS:
                    listed.setdefault(stem, name)
            self._listed[sub_folder] = listed
        return self._listed[sub_folder]

    def file_of(self, image: str) -> str | None:
        """Path in the folder of the image of a label file ("train/17"); None if there is none."""
        sub_folder, stem = os.path.split(image)
        name = self.names(sub_folder).get(stem)
        return None if name is None else os.path.join(sub_folder, name)

    def size(self, file: str) -> tuple[int, int]:
        """Height and width of one of the images.

        Raises:
            DataError: It cannot be read.
        """
        return image_size(os.path.join(self.path, file))


def read_yolo(
    path: str,
    role: Role,
    *,
    metadata: Sequence[str] = (),
    invalid: InvalidRows = "error",
    names: Sequence[str] | Mapping[int, str] = (),
    images: str | None = None,
    known: KnownImages | None = None,
) -> ObjectFile:
    """Objects of a folder of label files; image ids are file names without extension.

    Category ids are the classes. Files in sub-folders count, under their path in the folder. In
    ground truth, images beside those with label files are images without objects, as in
    Ultralytics' tools.

    Args:
        path: The folder.
        role: Which side it is.
        metadata: Must be empty for ground truth: there is none in this format.
        invalid: "skip" leaves out lines that cannot be used and counts them.
        names: Of the classes; empty to look for them beside the folder.
        images: The folder of the image files, which their sizes are read of.
        known: The images of the ground truth, whose sizes go before those of the files.

    Raises:
        DataError: The folder cannot be read or has no label files; names or sizes are not known;
            a line is wrong.
    """
    no_metadata(path, role, metadata)
    files = [one for one in files_under(path, ".txt") if os.path.basename(one) not in NAMES_FILES]
    if not files:
        raise DataError(Problem(path, "there are no label files (.txt) in this folder"))
    named = class_names(path, names)
    problems, faults = LineProblems(path), LineProblems(path)
    codes = {number: code for code, number in enumerate(named)}
    reader = LabelReader(role, codes, problems)
    rows = ImageRows()
    folder = None if images is None else ImageFolder(images)
    digests: dict[str, str] = {}
    pieces: list[Piece] = []
    stems = [os.path.splitext(file)[0].replace(os.sep, "/") for file in files]
    sizes = _known_sizes(stems, known)
    for file, image, size in zip(files, stems, sizes, strict=True):
        problems.path = faults.path = os.path.join(path, file)
        text, digests[file] = text_of(problems.path)
        frame = _add_image(rows, image, size, folder, faults, needed=bool(text.strip()))
        pieces.append(reader.read(text, len(rows.ids) - 1, frame))
    warnings = _add_unlabelled(rows, folder, files) if folder and role == "ground_truth" else []
    found = joined_pieces(pieces, role)
    if role == "ground_truth":
        found = checked_ids(found, problems)
    stop_on([faults], _SIZES_HINT + (_OF_TRUTH if role == "predictions" else ""))
    if invalid == "error":
        stop_on([problems], SKIP_HINT)
    skipped = reader.found - len(found.shapes)
    return object_file(
        path,
        found,
        images=rows.table(path, "image {row}"),
        image_ids=text_column(rows.ids),
        labels=Named(list(named), list(named.values()), by_use=False),
        files=[InputFile(path, digest_of(digests), reader.found, skipped)],
        skipped=skipped,
        image_names="file",
        part_of=[os.path.join(path, file) for file in files],
        warnings=warnings,
    )


def _known_sizes(stems: Sequence[str], known: KnownImages | None) -> list[Frame | None]:
    """Height and width of each image as the ground truth says; None where it does not."""
    if known is None:
        return [None] * len(stems)
    at = find_images(stems, known, from_files=True).at
    size = np.where(at[:, None] >= 0, known.size[at], 0)
    return [(height, width) if height else None for height, width in size.tolist()]


def _add_image(
    rows: ImageRows,
    image: str,
    frame: Frame | None,
    folder: ImageFolder | None,
    faults: LineProblems,
    *,
    needed: bool,
) -> Frame | None:
    """Add an image; its height and width, or None where they are not known.

    That is a fault where they are needed. `frame` is what is known already.
    """
    file = None if folder is None else folder.file_of(image)
    if frame is None and folder is not None and file is not None:
        try:
            frame = folder.size(file)
        except DataError as error:
            found = error.problems[0]
            faults.add(0, "", f"the size of its image is not known ({found})")
    elif frame is None and needed:
        where = "" if folder is None else f": there is no image '{image}.*' in {folder.path}"
        faults.add(0, "", f"the size of its image is not known{where}")
    rows.ids.append(image)
    rows.height.append(0 if frame is None else frame[0])
    rows.width.append(0 if frame is None else frame[1])
    rows.file_name.append(file)
    return frame


def _add_unlabelled(rows: ImageRows, folder: ImageFolder, files: Sequence[str]) -> list[str]:
    """Add the images that have no label file; the warning that says so."""
    labelled, before = set(rows.ids), len(rows.ids)
    for sub_folder in sorted({os.path.dirname(file) for file in files}):
        for stem, name in folder.names(sub_folder).items():
            image = os.path.join(sub_folder, stem).replace(os.sep, "/")
            if image in labelled:
                continue
            file = os.path.join(sub_folder, name)
            height, width = folder.size(file)
            rows.ids.append(image)
            rows.height.append(height)
            rows.width.append(width)
            rows.file_name.append(file)
    more = len(rows.ids) - before
    if not more:
        return []
    what = "image has no label file" if more == 1 else "images have no label file"
    return [f"{folder.path}: {more:,} {what}: treated as images without objects"]
