"""Read class names by index from text, JSON or YAML.

A text file has one name per line. JSON and YAML hold a list of names or a map from index to name;
YAML may have either under `names:`, as the data.yaml of a YOLO data set does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import yaml

from valor_cli.data.formats.folders import is_file
from valor_cli.data.formats.json.document import parse_json
from valor_cli.data.json_records import DuplicateKey, parsed, scalar_text
from valor_cli.data.shapes.objects.object_file import UnnamedClassesError
from valor_cli.data.source.files import TextSource
from valor_cli.data.source.inputs import extension_of
from valor_cli.data.values import describe, is_text
from valor_cli.errors import DataError, Problem, printable
from valor_cli.paths import is_url, own_folder

_INDEX: Final = re.compile("[0-9]{1,9}")
"""Of what a label map could hold."""

_NULL: Final = "tag:yaml.org,2002:null"

NAMES_FILES: Final = ("classes.txt", "data.yaml")

_HINT: Final = (
    "Give a name a line (.txt), or as .json or .yaml a list of names or a map from index to name."
)
_NO_NAMES: Final = (
    "Give the names as `names:` under `data:` (a list), or put a "
    "classes.txt (a name a line) or a data.yaml with `names:` beside the label files."
)

_Entry: TypeAlias = tuple[str, object, object]
"""Place of a class in a file; its position in a list, else the text of a key, or the value there;
its name as written, or the value there."""


def read_names(path: str, *, of_yolo: bool = False) -> dict[int, str]:
    """Read class names by index, in ascending order.

    Names are taken as written: `3`, `3.0`, `no` and `true` are such names too.

    Args:
        path: The file.
        of_yolo: Whether it is that of YOLO labels, where two classes may have one name.

    Raises:
        DataError: The file cannot be read, is not what its extension says, names no class, or has
            an index or a name twice.
    """
    read = {".json": _json_entries, ".yaml": _yaml_entries, ".yml": _yaml_entries}
    entries = read.get(extension_of(path), _line_entries)(TextSource(path).whole(), path)
    problems: list[Problem] = []
    names: dict[int, str] = {}
    first: dict[str, str] = {}
    for entry in entries:
        if isinstance(entry, Problem):
            problems.append(entry)
            continue
        place, key, name = entry
        number = int(str(key)) if _INDEX.fullmatch(str(key)) else None
        if number is None:
            message = f"expected an index of 0 or more, found {describe(key)}"
        elif number in names:
            message = f"duplicate index {number}"
        elif not isinstance(name, str) or not name.strip() or not is_text(name):
            blank = isinstance(name, str) and not name.strip()
            message = f"expected a name, found {'nothing' if blank else describe(name)}"
        elif name in first and not of_yolo:
            message = f"duplicate name {name!r}, first at {first[name]}"
        else:
            names[number], first[name] = name, place
            continue
        problems.append(Problem(place, message))
    if not names and not problems:
        problems.append(Problem(path, "there are no names"))
    if problems:
        raise DataError(problems, hint=_NO_NAMES if of_yolo else _HINT)
    return dict(sorted(names.items()))


def _line_entries(text: bytes, path: str) -> Iterator[_Entry]:
    """A name a line; blank lines at the end do not count."""
    lines = text.decode().rstrip().split("\n")
    for at, line in enumerate(lines if lines != [""] else []):
        yield f"{path}:{at + 1}", at, line.strip()


def _json_entries(text: bytes, path: str) -> Iterator[_Entry | Problem]:
    # For its messages; what it gives has lost how numbers are written, and equal keys.
    found = parse_json(text, path)
    try:
        found = parsed(text) if isinstance(found, list | dict) else found
    except RecursionError:
        # Each way to parse has a depth of its own that it reaches.
        yield _no_names(path, "lists or objects nested too deeply")
        return
    if isinstance(found, DuplicateKey):
        key = printable(found.key)
        yield Problem(f"{path}: {key}", f"duplicate index {key}")
    elif isinstance(found, list | dict):
        for index, value in found.items() if isinstance(found, dict) else enumerate(found):
            place = f"{path}: [{index}]" if isinstance(index, int) else f"{path}: {index}"
            name = scalar_text(value)
            yield place, index, value if name is None else name
    else:
        yield _no_names(path, describe(found))


def yaml_root(text: bytes, path: str) -> Any:
    """The root node of a YAML document; None if it is empty.

    Raises:
        DataError: It is not YAML.
    """
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = printable(" ".join(str(error).split()))
        raise DataError(Problem(path, f"not YAML: {reason}")) from None


def _yaml_entries(text: bytes, path: str) -> Iterator[_Entry | Problem]:
    root = yaml_root(text, path)
    if isinstance(root, yaml.MappingNode):
        under = [value for key, value in root.value if key.value == "names"]
        if len(under) > 1:
            line = under[1].start_mark.line + 1
            raise DataError(Problem(f"{path}:{line}: names", "duplicate key"))
        root = under[0] if under else root
    if isinstance(root, yaml.MappingNode):
        for key, value in root.value:
            yield f"{path}:{key.start_mark.line + 1}", yaml_value(key), yaml_value(value)
    elif isinstance(root, yaml.SequenceNode):
        for at, value in enumerate(root.value):
            yield f"{path}:{value.start_mark.line + 1}", at, yaml_value(value)
    else:
        yield _no_names(path, "nothing" if root is None else describe(root.value))


def yaml_value(node: Any) -> object:
    """A scalar as written, or None; what stands for a list or an object."""
    if isinstance(node, yaml.SequenceNode):
        return [None] if node.value else []
    if isinstance(node, yaml.MappingNode):
        return {}
    return None if node.tag == _NULL else node.value


def _no_names(path: str, found: str) -> Problem:
    message = f"expected a list of names or a map from index to name, found {found}"
    return Problem(path, message)


def class_names(
    folder: str, given: Sequence[str] | Mapping[int, str], inherited: Mapping[int, str] | None
) -> dict[int, str]:
    """Names by class: those given, else of the nearest classes.txt or data.yaml, else inherited.

    They are looked for in the folder, its parent and its grandparent.

    Raises:
        DataError: There are none, or the file that should hold them does not.
    """
    if given:
        return dict(given) if isinstance(given, Mapping) else dict(enumerate(given))
    at = folder.rstrip("/") if is_url(folder) else os.path.abspath(folder)
    for _ in range(3):
        for path in (os.path.join(at, name) for name in NAMES_FILES):
            if is_file(path):
                return read_names(path, of_yolo=True)
        at = own_folder(at)
    if inherited:
        return dict(inherited)
    problem = Problem(folder, "the names of the classes are not known")
    raise UnnamedClassesError(problem, hint=_NO_NAMES)
