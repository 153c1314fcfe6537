"""Find the label files of YOLO, with their images and the names of the classes.

They are those of a folder, or of a split of a data set with a data.yaml. As Ultralytics has it,
`train`, `val` and `test` are each a folder of images, a list of folders, or a text file that lists
images, from the folder `path`; the labels of `…/images/a/17.jpg` are in `…/labels/a/17.txt`, or
beside the image where no folder is called `images`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import yaml

from valor_cli.data.formats.class_names import (
    NAMES_FILES,
    class_names,
    read_names,
    yaml_root,
    yaml_value,
)
from valor_cli.data.formats.folders import files_under, without_extension
from valor_cli.data.formats.images import ENDINGS, ImageFolder
from valor_cli.data.shapes.objects.object_file import Role, SplitName
from valor_cli.data.shapes.objects.reading import Reading
from valor_cli.data.source.files import TextSource
from valor_cli.errors import DataError, Problem, printable
from valor_cli.paths import is_url

SPLITS: Final[tuple[SplitName, ...]] = ("val", "test", "train")
"""The first one that a data set has is evaluated."""

_EXTENSIONS: Final = (".yaml", ".yml")
_HINT: Final = "Paths start from `path:`, or from the folder of this file."


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


def label_files(path: str, role: Role, how: Reading) -> LabelFiles:
    """Find the label files of an input; the arguments are those of `read_objects`.

    Raises:
        DataError: There are none, or the names of the classes are not known.
    """
    file = dataset_file(path) if role == "ground_truth" else None
    return _folder(path, role, how) if file is None else _dataset(file, how)


def _folder(path: str, role: Role, how: Reading) -> LabelFiles:
    """The label files under a folder, and the images beside those that have one."""
    if path.lower().endswith(_EXTENSIONS):
        message = "predictions are a folder of label files; a data.yaml names the ground truth"
        raise DataError(Problem(path, message), hint="give the folder that --save-txt wrote")
    labels, images = path, how.images
    if images is None and not is_url(path):
        both = [os.path.join(path, one) for one in ("labels", "images")]
        if all(map(os.path.isdir, both)):
            labels, images = both
        else:
            images = images_beside(path)
    found = [one for one in files_under(labels, ".txt") if os.path.basename(one) not in NAMES_FILES]
    if not found:
        raise DataError(Problem(path, "there are no label files (.txt) in this folder"))
    named = class_names(labels, how.names, how.class_names)
    pictures = {} if images is None else ImageFolder(images).by_stem
    names: list[tuple[str, str | None]] = [(without_extension(one), one) for one in found]
    beside: list[str] = []
    if role == "ground_truth":
        labelled = {image for image, _ in names}
        sub_folders = {os.path.dirname(image) for image in labelled}
        beside = [one for one in pictures if os.path.dirname(one) in sub_folders]
        beside = sorted((one for one in beside if one not in labelled), key=os.path.split)
    files = []
    for image, name in [*names, *((one, None) for one in beside)]:
        file = pictures.get(image)
        picture = None if file is None or images is None else os.path.join(images, file)
        files.append(LabelFile(image, name, os.path.join(labels, name or image), picture, file))
    return LabelFiles(files, named, images, _unlabelled(images or "", len(beside)))


def _dataset(file: str, how: Reading) -> LabelFiles:
    """The label files of a split of a data set."""
    if is_url(file):
        message = "the data.yaml of a data set is read from this machine alone"
        hint = "name the folder of labels as `ground_truth:`, that of the images as `images:`"
        raise DataError(Problem(file, message), hint=hint)
    data = _DataYaml(file)
    if "kpt_shape" in data.keys:
        problem = Problem(f"{file}: kpt_shape", "the labels of poses are not read")
        raise DataError(problem, hint="give keypoints as COCO JSON")
    split = how.split or next(iter(data.splits), None)
    if split is None or split not in data.splits:
        named = " and no ".join(f"`{one}:`" for one in ([split] if split else SPLITS))
        listed = f"; there is: {', '.join(data.splits)}" if data.splits else ""
        raise DataError(Problem(file, f"this data set has no {named}{listed}"), hint=_HINT)
    place = f"{file}:{data.keys[split].start_mark.line + 1}: {split}"
    images, folder = _images_of(data, data.splits[split], place)
    files: dict[str, LabelFile] = {}
    problems: list[Problem] = []
    for picture in dict.fromkeys(images):
        relative = os.path.relpath(os.path.abspath(picture), folder)
        image, label = without_extension(relative), label_file(picture)
        name = f"{image}.txt" if os.path.isfile(label) else None
        one = LabelFile(image, name, label, picture, relative)
        if (first := files.setdefault(image, one)) is not one:
            message = f"there is {first.picture} too; both have one label file"
            problems.append(Problem(picture, message))
    if problems:
        raise DataError(problems)
    missing = sum(one.name is None for one in files.values())
    if missing == len(files):
        message = f"no image has a label file (the first would be {label_file(images[0])})"
        hint = "Labels are in a folder `labels` beside the folder `images`, or beside the images."
        raise DataError(Problem(place, message), hint=hint)
    if not how.names and "names" not in data.keys:
        raise DataError(Problem(file, "this data set has no `names:` of classes"))
    more = len(images) - len(files)
    twice = [f"{place}: {more:,} images are listed more than once: read once"] * (more > 0)
    return LabelFiles(
        [files[image] for image in sorted(files)],
        class_names(file, how.names, None) if how.names else read_names(file, of_yolo=True),
        folder,
        [*twice, *_unlabelled(place, missing)],
    )


def _images_of(data: _DataYaml, entries: Sequence[str], place: str) -> tuple[list[str], str]:
    """The image files of a split, and the folder that has all of them."""
    images: list[str] = []
    folders: list[str] = []
    for entry in entries:
        found = data.located(entry)
        if found is None:
            message = f"there is no folder or file '{printable(entry)}'"
            raise DataError(Problem(place, message), hint=_HINT)
        if os.path.isdir(found):
            images += [os.path.join(found, name) for name in files_under(found, ENDINGS)]
            folders.append(found)
        else:
            listed = _listed_images(found)
            images += listed
            folders += map(os.path.dirname, listed)
    if not images:
        raise DataError(Problem(place, "there are no images in this split"), hint=_HINT)
    return images, os.path.commonpath(map(os.path.abspath, folders))


def _unlabelled(place: str, count: int) -> list[str]:
    what = "image has no label file" if count == 1 else "images have no label file"
    return [f"{place}: {count:,} {what}: treated as images without objects"] * (count > 0)


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
    data = _DataYaml(os.path.join(path, own[0]))
    inside = os.path.realpath(path)
    found = [
        os.path.realpath(one)
        for entries in data.splits.values()
        for entry in entries
        if (one := data.located(entry)) is not None
    ]
    leads_in = any(os.path.commonpath([one, inside]) == inside for one in found)
    return data.file if leads_in or (data.splits and not files_under(path, ".txt")) else None


def _beside(path: str, folder: str, other: str) -> str | None:
    """A path in another folder beside its last folder of a name; None if it is in none."""
    head, mark, tail = f"{os.sep}{path}".rpartition(f"{os.sep}{folder}{os.sep}")
    return f"{head}{os.sep}{other}{os.sep}{tail}"[1:] if mark else None


def label_file(image: str) -> str:
    """The label file of an image file."""
    return f"{os.path.splitext(_beside(image, 'images', 'labels') or image)[0]}.txt"


def images_beside(labels: str) -> str | None:
    """The folder of the images of a folder of labels, by its name; None if there is none."""
    found = _beside(os.path.join(os.path.abspath(labels), ""), "labels", "images")
    if is_url(labels) or found is None or not os.path.isdir(found):
        return None
    return os.path.normpath(found if os.path.isabs(labels) else os.path.relpath(found))


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
        raise DataError(problems, hint=hint)
    return images


class _DataYaml:
    """The data.yaml of a data set.

    Attributes:
        file: Its path.
        keys: The YAML node of each key.
        splits: The paths of the splits that it names.
    """

    def __init__(self, file: str) -> None:
        root = yaml_root(TextSource(file).whole(), file)
        nodes = root.value if isinstance(root, yaml.MappingNode) else ()
        self.file = file
        self.keys = {key.value: value for key, value in nodes if isinstance(key.value, str)}
        if "validation" in self.keys:
            # Ultralytics takes this name, too.
            self.keys.setdefault("val", self.keys["validation"])
        self.splits = {name: found for name in SPLITS if (found := self._texts(name))}

    def located(self, entry: str) -> str | None:
        """Where a path of a split leads; None if nowhere.

        A `path:` of another machine is none. Exports of Roboflow name `../val/images`, from a
        folder that they do not have.
        """
        own = os.path.dirname(self.file)
        for root in (*(os.path.join(own, one) for one in self._texts("path")), own):
            for name in (entry, entry.removeprefix("../")):
                path = os.path.normpath(os.path.join(root, os.path.expanduser(name)))
                if "\0" not in path and (os.path.isdir(path) or os.path.isfile(path)):
                    return path
        return None

    def _texts(self, key: str) -> list[str]:
        """The text of a key, or the texts of its list."""
        node = self.keys.get(key)
        nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
        texts = [yaml_value(one) for one in nodes if one is not None]
        return [text for text in texts if isinstance(text, str) and text.strip()]
