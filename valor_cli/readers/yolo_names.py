"""A folder of YOLO label files comes in; the names of its classes go out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final

from valor_cli.errors import DataError, Problem
from valor_cli.paths import is_url, own_folder
from valor_cli.readers.class_names import read_names
from valor_cli.readers.folders import is_file

NAMES_FILES: Final = ("classes.txt", "data.yaml")

_HINT = (
    "Give the names as `names:` under `data:` (a list), or put a "
    "classes.txt (a name a line) or a data.yaml with `names:` beside the label files."
)


def class_names(folder: str, given: Sequence[str] | Mapping[int, str]) -> dict[int, str]:
    """Names by class: those given, else of the nearest classes.txt or data.yaml.

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
                return _names_in(path)
        at = own_folder(at)
    raise DataError(Problem(folder, "the names of the classes are not known"), hint=_HINT)


def _names_in(path: str) -> dict[int, str]:
    try:
        return read_names(path, distinct=False)
    except DataError as error:
        hint = error.hint and _HINT
        raise DataError(error.problems, total=error.total, hint=hint) from None
