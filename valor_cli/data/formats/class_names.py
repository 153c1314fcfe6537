"""Read class names by index from text, JSON or YAML.

A text file has one name per line. JSON and YAML hold a list of names or a map from index to name;
YAML may have either under `names:`, as the data.yaml of a YOLO data set does.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, NoReturn

import yaml

from valor_cli.data.formats.folders import is_file
from valor_cli.data.formats.json.document import parse_json
from valor_cli.data.json_records import DuplicateKey, parsed, scalar_text
from valor_cli.data.shapes.objects.object_file import UnnamedClassesError
from valor_cli.data.source.files import TextSource
from valor_cli.data.source.inputs import extension_of
from valor_cli.data.values import describe, is_text
from valor_cli.errors import LISTED, DataError, Problem, printable
from valor_cli.paths import is_url, own_folder

_MOST_DIGITS: Final = 9
_HINT: Final = (
    "Give a name a line (.txt), or as .json or .yaml a list of names or a map from index to name."
)

NAMES_FILES: Final = ("classes.txt", "data.yaml")

_NO_NAMES = (
    "Give the names as `names:` under `data:` (a list), or put a "
    "classes.txt (a name a line) or a data.yaml with `names:` beside the label files."
)


class _Entry(NamedTuple):
    """The name of one class in a file.

    Attributes:
        place: Its position in the file.
        key: The position in a list, else the text of a key, or the value there.
        name: Text as written, or the value there.
    """

    place: str
    key: object
    name: object


def read_names(path: str, *, distinct: bool = True) -> dict[int, str]:
    """Read class names by index, in ascending order.

    Names are taken as written: `3`, `3.0`, `no` and `true` are such names too.

    Args:
        path: The file.
        distinct: Whether no two classes may have one name.

    Raises:
        DataError: The file cannot be read, is not what its extension says, names no class, or has
            an index or a name twice.
    """
    extension = extension_of(path)
    text = TextSource(path).whole()
    if extension == ".json":
        entries = _json_entries(text, path)
    elif extension in (".yaml", ".yml"):
        entries = _yaml_entries(text, path)
    else:
        entries = _line_entries(text, path)
    return _checked(list(entries), path, distinct=distinct)


def _line_entries(text: bytes, path: str) -> Iterator[_Entry]:
    """A name a line; blank lines at the end do not count."""
    lines = text.decode().rstrip().split("\n")
    for at, line in enumerate(lines if lines != [""] else []):
        yield _Entry(f"{path}:{at + 1}", at, line.strip())


def _json_entries(text: bytes, path: str) -> Iterator[_Entry]:
    # For its messages; what it gives has lost how numbers are written, and equal keys.
    plain = parse_json(text, path)
    if not isinstance(plain, list | dict):
        _refuse(path, describe(plain))
    try:
        found = parsed(text)
    except RecursionError:
        # Each way to parse has a depth of its own that it reaches.
        _refuse(path, "lists or objects nested too deeply")
    if isinstance(found, DuplicateKey):
        key = printable(found.key)
        problem = Problem(f"{path}: {key}", f"duplicate index {key}")
        raise DataError(problem, hint=_HINT)
    for index, value in found.items() if isinstance(found, dict) else enumerate(found):
        place = f"{path}: [{index}]" if isinstance(index, int) else f"{path}: {index}"
        text_of_value = scalar_text(value)
        yield _Entry(place, index, value if text_of_value is None else text_of_value)


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


def _yaml_entries(text: bytes, path: str) -> Iterator[_Entry]:
    root = yaml_root(text, path)
    if isinstance(root, yaml.MappingNode):
        under = [value for key, value in root.value if key.value == "names"]
        if len(under) > 1:
            line = under[1].start_mark.line + 1
            raise DataError(Problem(f"{path}:{line}: names", "duplicate key"))
        root = under[0] if under else root
    if isinstance(root, yaml.MappingNode):
        for key, value in root.value:
            place = f"{path}:{key.start_mark.line + 1}"
            yield _Entry(place, _yaml_value(key), _yaml_value(value))
    elif isinstance(root, yaml.SequenceNode):
        for at, value in enumerate(root.value):
            yield _Entry(f"{path}:{value.start_mark.line + 1}", at, _yaml_value(value))
    else:
        _refuse(path, "nothing" if root is None else describe(root.value))


def _yaml_value(node: Any) -> object:
    if isinstance(node, yaml.SequenceNode):
        return [None] if node.value else []
    if isinstance(node, yaml.MappingNode):
        return {}
    return None if node.tag == "tag:yaml.org,2002:null" else node.value


def _refuse(path: str, found: str) -> NoReturn:
    message = f"expected a list of names or a map from index to name, found {found}"
    raise DataError(Problem(path, message), hint=_HINT)


def _checked(entries: list[_Entry], path: str, *, distinct: bool) -> dict[int, str]:
    """Names by index.

    Raises:
        DataError: There are none, an index or a name cannot be one, an index is duplicate, or a
            name does that may not.
    """
    problems: list[Problem] = []
    names: dict[int, str] = {}
    first: dict[str, str] = {}
    for place, key, name in entries:
        number = key if isinstance(key, int) else _index(key)
        if number is None:
            message = f"expected an index of 0 or more, found {describe(key)}"
        elif number in names:
            message = f"duplicate index {number}"
        elif not isinstance(name, str) or not name.strip() or not is_text(name):
            message = f"expected a name, found {_shown(name)}"
        elif distinct and name in first:
            message = f"duplicate name {name!r}, first at {first[name]}"
        else:
            names[number], first[name] = name, place
            continue
        problems.append(Problem(place, message))
    if problems:
        raise DataError(problems[:LISTED], total=len(problems), hint=_HINT)
    if not names:
        raise DataError(Problem(path, "there are no names"), hint=_HINT)
    return dict(sorted(names.items()))


def _index(key: object) -> int | None:
    """The whole number that a key is, if it is one that a label map could hold."""
    if not isinstance(key, str) or not (key.isascii() and key.isdecimal()):
        return None
    return int(key) if len(key) <= _MOST_DIGITS else None


def _shown(name: object) -> str:
    return "nothing" if isinstance(name, str) and not name.strip() else describe(name)


def class_names(
    folder: str, given: Sequence[str] | Mapping[int, str], inherited: Mapping[int, str] | None
) -> dict[int, str]:
    """Names by class: those given, else of the nearest classes.txt or data.yaml, else inherited.

    They are looked for in the folder, its parent and its grandparent. Two classes may have one
    name.

    Raises:
        DataError: There are none, or the file that should hold them does not.
    """
    if given:
        return dict(given) if isinstance(given, Mapping) else dict(enumerate(given))
    at = folder.rstrip("/") if is_url(folder) else os.path.abspath(folder)
    for _ in range(3):
        for name in NAMES_FILES:
            path = os.path.join(at, name)
            if is_file(path):
                return yaml_names(path)
        at = own_folder(at)
    if inherited:
        return dict(inherited)
    problem = Problem(folder, "the names of the classes are not known")
    raise UnnamedClassesError(problem, hint=_NO_NAMES)


def yaml_names(path: str) -> dict[int, str]:
    """Names by class of a classes.txt or data.yaml.

    Raises:
        DataError: It has none, or they cannot be used.
    """
    try:
        return read_names(path, distinct=False)
    except DataError as error:
        hint = error.hint and _NO_NAMES
        raise DataError(error.problems, total=error.total, hint=hint) from None
