"""Match the image ids or names of an input to the images of the ground truth.

Ids of one type are compared as they are. Otherwise they are names, and one matching scheme is used
for the whole input, since mixing two could assign an image to another image's name: the first
scheme under which every name matches a distinct image.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.shapes.objects.object_file import ImageNames, ObjectFile
from valor_cli.data.table import Table
from valor_cli.kernels.columns.grouping import positions_of

Ints: TypeAlias = NDArray[np.int64]


def frames_of(images: Table) -> Ints:
    """(images, 2) height and width; 0 where either is unknown."""
    size = np.zeros((len(images), 2), np.int64)
    for at, side in enumerate(("height", "width")):
        size[:, at] = images.columns.get(side, 0)
    size[(size == 0).any(axis=1)] = 0
    return size


def file_names_of(images: Table) -> list[str | None]:
    """The file name of each image; None where unknown."""
    names: list[str | None] = images.columns.get("file_name", np.full(len(images), None)).tolist()
    return names


class KnownImages(Struct, frozen=True):
    """The images of a ground truth.

    Attributes:
        path: The ground truth, as the user wrote it.
        ids: (images,) int64, or strings.
        files: The file name of each; its id where that is text and no file is named.
        size: (images, 2) height and width; 0 where unknown.
        typed: Whether ids have types, as those of COCO and JSONL.
    """

    path: str
    ids: NDArray[Any]
    files: Sequence[str | None]
    size: Ints
    typed: bool

    @classmethod
    def of(cls, images: Table, names: ImageNames) -> KnownImages:
        """The images of a table."""
        ids, files = images["id"], file_names_of(images)
        if ids.dtype.kind != "i":
            pairs = zip(ids.tolist(), files, strict=True)
            files = [one if file is None else file for one, file in pairs]
        return cls(images.path, ids, files, frames_of(images), names == "typed")

    def called(self, at: int) -> str:
        """An image for a message."""
        return repr(self.ids.tolist()[at] if self.files[at] is None else self.files[at])


class Joined(NamedTuple):
    """Positions of an input's images in the ground truth; -1 for unknown ones.

    Attributes:
        objects: (n,) of each object.
        images: (m,) of each image that the input lists.
        why: Names that were not found although images go by them, and what to say of these.
    """

    objects: Ints
    images: Ints
    why: Mapping[str, str]

    def problem(self, name: object, truth: str) -> str:
        """The problem for a name that matches no image."""
        return self.why.get(str(name), f"no image {name!r} in {truth}")


def _ids(file: ObjectFile) -> tuple[NDArray[Any], NDArray[Any]]:
    """The image of each object, and the images that a file lists."""
    ids = file.objects["image_id"]
    return ids, ids[:0] if file.images is None else file.images["id"]


def own_images(truth: ObjectFile, known: KnownImages) -> Joined:
    """Match the ground truth to itself, by ids."""
    ids, listed = _ids(truth)
    return Joined(_positions(ids, known.ids), _positions(listed, known.ids), {})


def join_images(file: ObjectFile, known: KnownImages) -> Joined:
    """Match the images of predictions to the ground truth."""
    ids, listed = _ids(file)
    alike = (ids.dtype.kind == "i") == (known.ids.dtype.kind == "i")
    if file.image_names == "typed" and known.typed and alike:
        return own_images(file, known)
    number: dict[Any, int] = {}
    which = [number.setdefault(one, len(number)) for one in (*listed.tolist(), *ids.tolist())]
    found = find_images(list(map(str, number)), known, from_files=file.image_names == "file")
    at = found.at[np.array(which, np.int64)]
    return Joined(at[len(listed) :], at[: len(listed)], found.why)


def _positions(values: NDArray[Any], keys: NDArray[Any]) -> Ints:
    if keys.dtype.kind != "i":
        values, keys = values.astype(str), keys.astype(str)
    order = np.argsort(keys)
    at: Ints = np.append(order, -1)[positions_of(values, keys[order])]
    return at


class MatchedImages(NamedTuple):
    """The image of each name.

    Attributes:
        at: (names,) position of the image; -1 where there is none.
        why: As in `Joined`.
    """

    at: Ints
    why: Mapping[str, str]


def find_images(names: Sequence[str], known: KnownImages, *, from_files: bool) -> MatchedImages:
    """Match distinct names under one scheme.

    That is the first under which every name finds one image and no two find the same one; if
    there is none, the first of those under which most are found.

    Args:
        names: What the input calls its images.
        known: The images there are.
        from_files: Whether the names are those of files, which go before ids.
    """
    best, most = MatchedImages(np.full(len(names), -1), {}), (-1, -1)
    for scheme in _OF_FILES if from_files else _OF_TEXT:
        found = scheme.find(names, known)
        count = int((found.at >= 0).sum())
        if count == len(names):
            return found
        if (count, len(found.why)) > most:
            best, most = found, (count, len(found.why))
    return best


def sizes_of(files: Sequence[str], known: KnownImages | None) -> list[tuple[int, int] | None]:
    """Height and width of the images of files; 0 where unknown, None for a file of no image."""
    if known is None:
        return [None] * len(files)
    at = find_images(files, known, from_files=True).at.tolist()
    size = known.size.tolist()
    return [None if row < 0 else (size[row][0], size[row][1]) for row in at]


Form: TypeAlias = Callable[[str], str]


class _Scheme(NamedTuple):
    """A way to compare names with images.

    Attributes:
        of_image: What an image is called, from the name of its file; None for its id.
        of_name: What a name is compared as: first one for all, then the other for the rest.
    """

    of_image: Form | None
    of_name: Sequence[Form]

    def find(self, names: Sequence[str], known: KnownImages) -> MatchedImages:
        """The image that each name alone finds, and finds alone."""
        claims = self._claims(known)
        at = np.full(len(names), -1)
        why: dict[str, str] = {}
        open_rows, taken = list(range(len(names))), set[int]()
        for form in self.of_name:
            finders: dict[int, list[int]] = {}
            left = []
            for row in open_rows:
                images = claims.get(form(names[row]), ())
                if len(images) > 1:
                    why[names[row]] = _contested(form(names[row]), images, known)
                elif images and images[0] not in taken:
                    finders.setdefault(images[0], []).append(row)
                else:
                    left.append(row)
            for image, rows in finders.items():
                if len(rows) == 1:
                    at[rows[0]] = image
                else:
                    why |= {names[row]: _shared(names, rows, known.called(image)) for row in rows}
            taken |= finders.keys()
            open_rows = left
        return MatchedImages(at, why)

    def _claims(self, known: KnownImages) -> dict[str, list[int]]:
        """The images of each name."""
        claims: dict[str, list[int]] = {}
        form = self.of_image or str
        for at, name in enumerate(known.ids.tolist() if self.of_image is None else known.files):
            if name is not None:
                claims.setdefault(form(name), []).append(at)
        return claims


def _contested(name: str, images: Sequence[int], known: KnownImages) -> str:
    count = "two" if len(images) == 2 else f"{len(images):,}"
    some = " and ".join(known.called(image) for image in images[:2])
    more = " …" if len(images) > 2 else ""
    return f"{count} images are named {name!r} in {known.path}: {some}{more}"


def _shared(names: Sequence[str], rows: Sequence[int], image: str) -> str:
    some = " and ".join(repr(names[row]) for row in rows[:2])
    return f"{some}{' …' if len(rows) > 2 else ''} would all be the image {image}"


def _stem(name: str) -> str:
    return os.path.splitext(name)[0]


def _base(name: str) -> str:
    """A name without folders, whatever the system that wrote it."""
    return name.replace("\\", "/").rpartition("/")[2]


def _base_stem(name: str) -> str:
    return _stem(_base(name))


_ID: Final = _Scheme(None, [str])
_FILE: Final = (
    _Scheme(str, [str]),
    _Scheme(_stem, [str, _stem]),
    _Scheme(_base, [_base]),
    _Scheme(_base_stem, [_base, _base_stem]),
)
_OF_TEXT: Final = (_ID, *_FILE)
_OF_FILES: Final = (*_FILE, _ID)
