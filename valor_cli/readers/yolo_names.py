"""A folder of YOLO label files comes in; the names of its classes go out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final

import yaml

from valor_cli.errors import DataError, Problem, printable
from valor_cli.readers.checks import describe
from valor_cli.readers.files import TextSource

NAMES_FILES: Final = ("classes.txt", "data.yaml")

_HINT = (
    "Give the names as `names:` under `data:` (a list), or put a "
    "classes.txt (a name a line) or a data.yaml with `names:` beside the label files."
)


def class_names(folder: str, given: Sequence[str] | Mapping[int, str]) -> dict[int, str]:
    """Names by class: those given, else of the nearest classes.txt or data.yaml.

    They are looked for in the folder, its parent and its grandparent.

    Raises:
        DataError: There are none, or the file that should hold them does not.
    """
    if given:
        return _by_number(given)
    at = os.path.abspath(folder)
    for _ in range(3):
        for name in NAMES_FILES:
            path = os.path.join(at, name)
            if os.path.isfile(path):
                return _text_names(path) if name.endswith(".txt") else _yaml_names(path)
        at = os.path.dirname(at)
    raise DataError(Problem(folder, "the names of the classes are not known"), hint=_HINT)


def _by_number(names: Sequence[str] | Mapping[int, str]) -> dict[int, str]:
    return dict(names) if isinstance(names, Mapping) else dict(enumerate(names))


def _text_names(path: str) -> dict[int, str]:
    """A name a line; blank lines at the end do not count."""
    lines = TextSource(path).whole().decode().split("\n")
    names = [line.strip() for line in lines]
    while names and not names[-1]:
        names.pop()
    blank = [
        Problem(f"{path}:{line}", "expected a name")
        for line, name in enumerate(names, 1)
        if not name
    ]
    if blank or not names:
        raise DataError(blank or Problem(path, "there are no names"), hint=_HINT)
    return _by_number(names)


def _yaml_names(path: str) -> dict[int, str]:
    text = TextSource(path).whole()
    try:
        document = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = printable(" ".join(str(error).split()))
        raise DataError(Problem(path, f"not YAML: {reason}")) from None
    _check_keys(text, path)
    names = document.get("names") if isinstance(document, dict) else None
    if isinstance(names, list):
        names = dict(enumerate(names))
    if not isinstance(names, dict) or not names:
        message = "expected `names:` with a list of names or a map from class to name"
        raise DataError(Problem(path, message), hint=_HINT)
    problems = [
        Problem(
            f"{path}: names.{key}",
            f"expected a class of 0 or more and a name, found {_shown(name)}",
        )
        for key, name in names.items()
        if type(key) is not int or key < 0 or not isinstance(name, str | int | float)
    ]
    if problems:
        raise DataError(problems, hint=_HINT)
    return {key: str(name) for key, name in names.items()}


def _check_keys(text: bytes, path: str) -> None:
    """Refuse a key that stands twice, of which YAML would take the last.

    Raises:
        DataError: `names:` or a class in it stands twice.
    """
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    places, problems = [("", root)], []
    while places:
        place, node = places.pop()
        seen: set[str] = set()
        for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
            at = f"{place}{key.value}"
            if key.value in seen and (place or key.value == "names"):
                line = key.start_mark.line + 1
                problems.append(Problem(f"{path}:{line}: {at}", "this key stands twice"))
            seen.add(key.value)
            if not place and key.value == "names":
                places.append(("names.", value))
    if problems:
        raise DataError(problems)


def _shown(name: object) -> str:
    return describe(name) if isinstance(name, str | int | float | list | dict | None) else str(name)
