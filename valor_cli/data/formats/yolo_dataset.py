"""Find the label files of YOLO, with their images and the names of the classes.

They are those of a folder, or of a split of a data set with a data.yaml. As Ultralytics has it,
`train`, `val` and `test` are each a folder of images, a list of folders, or a text file that lists
images, from the folder `path`; the labels of `…/images/a/17.jpg` are in `…/labels/a/17.txt`, or
beside the image where no folder is called `images`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import yaml
from msgspec import Struct

from valor_cli.data.formats.class_names import NAMES_FILES, class_names, yaml_names, yaml_root
from valor_cli.data.formats.folders import files_under, without_extension
from valor_cli.data.formats.images import ENDINGS, ImageFolder
from valor_cli.data.shapes.objects.object_file import Role, SplitName
from valor_cli.data.source.files import TextSource
from valor_cli.errors import LISTED, DataError, Problem, printable
from valor_cli.paths import is_url

SPLITS: Final[tuple[SplitName, ...]] = ("val", "test", "train")
"""The first one that a data set has is evaluated."""

_EXTENSIONS: Final = (".yaml", ".yml")
_HINT: Final = "Paths start from `path:`, or from the folder of this file."
_NULL: Final = "tag:yaml.org,2002:null"
_MOST_CLASSES: Final = 1_000_000


class LabelFile(NamedTuple):
    """A label file and its image.

    Attributes:
        image: The id of the image.
        name: Path of the label file in the folder; None for an image without one.
        path: Path of the label file.
        picture: Path of the image file; None where there is none.
        file_name: Path of the image file in its folder.
    """

    image: str
    name: str | None
    path: str
    picture: str | None
    file_name: str | None


class LabelFiles(NamedTuple):
    """The label files of an input.

    Attributes:
        files: One per image.
        names: Names of the classes.
        images: The folder of the image files; None where it is not known.
        warnings: Oddities that did not prevent use.
    """

    files: Sequence[LabelFile]
    names: Mapping[int, str]
    images: str | None
    warnings: Sequence[str]


class Split(Struct, frozen=True):
    """The images of one split.

    Attributes:
        place: Where the data set names it, for messages.
        folder: The folder that all of its images are in.
        images: Paths of image files, each once, by path in the folder without extension.
        warnings: Oddities that did not prevent use.
    """

    place: str
    folder: str
    images: Mapping[str, str]
    warnings: Sequence[str] = ()


def label_files(
    path: str,
    role: Role,
    names: Sequence[str] | Mapping[int, str],
    inherited: Mapping[int, str] | None,
    images: str | None,
    split: SplitName | None,
) -> LabelFiles:
    """Find the label files of an input; the arguments are those of `read_yolo`.

    Raises:
        DataError: There are none, or the names of the classes are not known.
    """
    file = dataset_file(path) if role == "ground_truth" else None
    if file is not None:
        return _dataset(file, names, split)
    return _folder(path, role, names, inherited, images)


def _folder(
    path: str,
    role: Role,
    names: Sequence[str] | Mapping[int, str],
    inherited: Mapping[int, str] | None,
    images: str | None,
) -> LabelFiles:
    """The label files under a folder, and the images beside those that have one."""
    if path.lower().endswith((".yaml", ".yml")):
        message = "predictions are a folder of label files; a data.yaml names the ground truth"
        raise DataError(Problem(path, message), hint="give the folder that --save-txt wrote")
    labels = path
    if images is None and not is_url(path):
        if all(os.path.isdir(os.path.join(path, one)) for one in ("labels", "images")):
            labels, images = os.path.join(path, "labels"), os.path.join(path, "images")
        else:
            images = images_beside(path)
    found = [one for one in files_under(labels, ".txt") if os.path.basename(one) not in NAMES_FILES]
    if not found:
        raise DataError(Problem(path, "there are no label files (.txt) in this folder"))
    named = class_names(labels, names, inherited)
    folder = None if images is None else ImageFolder(images)
    pictures = {} if folder is None else folder.by_stem

    def label_of(image: str, name: str | None, label: str) -> LabelFile:
        file = pictures.get(image)
        picture = None if file is None or images is None else os.path.join(images, file)
        return LabelFile(image, name, label, picture, file)

    files = [label_of(without_extension(one), one, os.path.join(labels, one)) for one in found]
    if folder is None or role == "predictions":
        return LabelFiles(files, named, images, ())
    labelled = {one.image for one in files}
    sub_folders = {os.path.dirname(image) for image in labelled}
    more = sorted(
        (image for image in pictures if image not in labelled), key=lambda one: os.path.split(one)
    )
    beside = [label_of(one, None, one) for one in more if os.path.dirname(one) in sub_folders]
    return LabelFiles([*files, *beside], named, images, _unlabelled(folder.folder, len(beside)))


def _dataset(
    file: str, names: Sequence[str] | Mapping[int, str], split: SplitName | None
) -> LabelFiles:
    """The label files of a split of a data set."""
    found = read_split(file, split)
    named = class_names(file, names, None) if names else dataset_names(file)
    files: list[LabelFile] = []
    for image, picture in sorted(found.images.items()):
        label = label_file(picture)
        name = f"{image}.txt" if os.path.isfile(label) else None
        relative = os.path.relpath(os.path.abspath(picture), found.folder)
        files.append(LabelFile(image, name, label, picture, relative))
    missing = sum(one.name is None for one in files)
    if missing == len(files):
        message = f"no image has a label file (the first would be {files[0].path})"
        hint = "Labels are in a folder `labels` beside the folder `images`, or beside the images."
        raise DataError(Problem(found.place, message), hint=hint)
    return LabelFiles(
        files, named, found.folder, [*found.warnings, *_unlabelled(found.place, missing)]
    )


def _unlabelled(place: str, count: int) -> list[str]:
    if not count:
        return []
    what = "image has no label file" if count == 1 else "images have no label file"
    return [f"{place}: {count:,} {what}: treated as images without objects"]


def dataset_file(path: str) -> str | None:
    """The data.yaml of a ground truth; None if it is a folder of label files.

    A folder has the splits of its data.yaml in it. One beside label files, as a copy of that of the
    data set, only names their classes.
    """
    if path.lower().endswith(_EXTENSIONS):
        return path
    if is_url(path) or not os.path.isdir(path):
        return None
    listed = sorted(name for name in os.listdir(path) if name.lower().endswith(_EXTENSIONS))
    own = [name for name in listed if name.lower() in ("data.yaml", "data.yml")] or listed
    if len(own) != 1:
        return None
    file = os.path.join(path, own[0])
    keys = _keys(file)
    inside = os.path.realpath(path)
    found = [
        os.path.realpath(one)
        for split in SPLITS
        for entry in _entries(keys.get(_key_of(split, keys)))
        if (one := _located(entry, keys, file)) is not None
    ]
    if any(os.path.commonpath([one, inside]) == inside for one in found):
        return file
    has_splits = any(_entries(keys.get(_key_of(split, keys))) for split in SPLITS)
    return file if has_splits and not files_under(path, ".txt") else None


def dataset_names(file: str) -> dict[int, str]:
    """The names of the classes by number.

    Raises:
        DataError: There are none, or they cannot be used.
    """
    keys = _keys(file)
    if "names" in keys or "nc" not in keys:
        return yaml_names(file)
    count = keys["nc"].value
    if not (isinstance(count, str) and count.isascii() and count.isdecimal()):
        raise DataError(Problem(f"{file}: nc", f"expected a number of classes, found {count!r}"))
    if not 0 < int(count[:9]) <= _MOST_CLASSES:
        raise DataError(Problem(f"{file}: nc", f"expected 1 to {_MOST_CLASSES:,} classes"))
    return {number: f"class_{number}" for number in range(int(count))}


def read_split(file: str, wanted: SplitName | None) -> Split:
    """The images of a split.

    Args:
        file: The data.yaml.
        wanted: Which split; None for the first of val, test and train that there is.

    Raises:
        DataError: The file cannot be read or describes poses, has no such split, or the split is
            not there, has no images, or lists some that are not there.
    """
    if is_url(file):
        message = "the data.yaml of a data set is read from this machine alone"
        hint = "name the folder of labels as `ground_truth:`, that of the images as `images:`"
        raise DataError(Problem(file, message), hint=hint)
    keys = _keys(file)
    if "kpt_shape" in keys:
        message = "the labels of poses are not read"
        hint = "give keypoints as COCO JSON"
        raise DataError(Problem(f"{file}: kpt_shape", message), hint=hint)
    there = [one for one in SPLITS if _entries(keys.get(_key_of(one, keys)))]
    split = wanted or next(iter(there), None)
    if split is None or split not in there:
        named = " and no ".join(f"`{one}:`" for one in ([split] if split else SPLITS))
        listed = f"; there is: {', '.join(there)}" if there else ""
        raise DataError(Problem(file, f"this data set has no {named}{listed}"), hint=_HINT)
    node = keys[_key_of(split, keys)]
    place = f"{file}:{node.start_mark.line + 1}: {_key_of(split, keys)}"
    images: list[str] = []
    folders: list[str] = []
    for entry in _entries(node):
        found = _located(entry, keys, file)
        if found is None:
            message = f"there is no folder or file '{printable(entry)}'"
            raise DataError(Problem(place, message), hint=_HINT)
        if os.path.isdir(found):
            images += [os.path.join(found, name) for name in files_under(found, ENDINGS)]
            folders.append(found)
        else:
            images += _listed_images(found)
    if not images:
        raise DataError(Problem(place, "there are no images in this split"), hint=_HINT)
    if not folders or len(folders) < len(_entries(node)):
        folders += [os.path.dirname(image) or "." for image in images]
    return _named(place, os.path.commonpath(map(os.path.abspath, folders)), images)


def label_file(image: str) -> str:
    """The label file of an image file."""
    head, mark, tail = (os.sep + image).rpartition(f"{os.sep}images{os.sep}")
    path = f"{head}{os.sep}labels{os.sep}{tail}" if mark else os.sep + image
    return f"{os.path.splitext(path)[0][1:]}.txt"


def images_beside(labels: str) -> str | None:
    """The folder of the images of a folder of labels, by its name; None if there is none."""
    if is_url(labels):
        return None
    path = os.path.join(os.path.abspath(labels), "")
    head, mark, tail = path.rpartition(f"{os.sep}labels{os.sep}")
    if not mark or not os.path.isdir(found := f"{head}{os.sep}images{os.sep}{tail}"):
        return None
    return os.path.normpath(found if os.path.isabs(labels) else os.path.relpath(found))


def _named(place: str, folder: str, images: Sequence[str]) -> Split:
    """A split, whose images are named by their path in the folder."""
    named: dict[str, str] = {}
    problems: list[Problem] = []
    for image in dict.fromkeys(images):
        name = without_extension(os.path.relpath(os.path.abspath(image), folder))
        first = named.setdefault(name, image)
        if first is not image:
            problems.append(Problem(image, f"there is {first} too; both have one label file"))
    if problems:
        raise DataError(problems[:LISTED], total=len(problems))
    more = len(images) - len(named)
    warnings = [f"{place}: {more:,} images are listed more than once: read once"] if more else []
    return Split(place, folder, named, warnings)


def _listed_images(file: str) -> list[str]:
    """The images that a text file lists, one a line, from its folder."""
    folder = os.path.dirname(file)
    images: list[str] = []
    problems: list[Problem] = []
    for line, text in enumerate(TextSource(file).whole().decode().split("\n"), 1):
        name = text.strip()
        if not name:
            continue
        path = os.path.normpath(os.path.join(folder, name))
        if "\0" in path or not os.path.isfile(path):
            problems.append(Problem(f"{file}:{line}", f"there is no image '{printable(name)}'"))
        images.append(path)
    if problems:
        hint = "The lines of this file are paths of images, from its folder."
        raise DataError(problems[:LISTED], total=len(problems), hint=hint)
    return images


def _keys(file: str) -> dict[str, Any]:
    """The nodes of a YAML mapping by key; nothing for another document."""
    root = yaml_root(TextSource(file).whole(), file)
    if not isinstance(root, yaml.MappingNode):
        return {}
    return {key.value: value for key, value in root.value if isinstance(key.value, str)}


def _key_of(split: SplitName, keys: Mapping[str, Any]) -> str:
    """How a data set calls a split: Ultralytics takes "validation", too."""
    return "validation" if split == "val" and "val" not in keys else split


def _entries(node: Any) -> list[str]:
    """The paths of a split."""
    if node is None:
        return []
    nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
    texts = [one.value for one in nodes if one.tag != _NULL and isinstance(one.value, str)]
    return [text for text in texts if text.strip()]


def _located(entry: str, keys: Mapping[str, Any], file: str) -> str | None:
    """Where a path of a split leads; None if nowhere.

    A `path:` of another machine is none. Exports of Roboflow name `../val/images`, from a folder
    that they do not have.
    """
    own = os.path.dirname(file)
    roots = [os.path.join(own, one) for one in _entries(keys.get("path"))] + [own]
    names = [entry, entry.removeprefix("../")]
    for root in roots:
        for name in names:
            path = os.path.normpath(os.path.join(root, os.path.expanduser(name)))
            if "\0" not in path and os.path.exists(path):
                return path
    return None
