"""Check that the typed columns of labels and scores can be what their names say."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from valor_cli.data.batch import ColumnType, Kind, RowFile
from valor_cli.data.json_records import first_of
from valor_cli.data.schema import Path
from valor_cli.data.shapes.scores.schema import ITEM_LABELS, ITEM_SCORES
from valor_cli.errors import DataError, Problem

_NUMBERS: Final[Collection[Kind]] = ("whole", "decimal", "float", "none")
_NAMES: Final[Collection[Kind]] = ("text", "whole", "decimal", "truth", "none")
"""What may be the name of a class. No numbers with a point: 17 and 17.0 would be two."""

_WANTED: Final[Mapping[str, tuple[Collection[Kind], str]]] = {
    "metadata": ((*_NAMES, "float", "date"), "texts, numbers, true and false, or dates"),
    "label": (_NAMES, "texts or whole numbers"),
    "score": (_NUMBERS, "numbers"),
    "indicator": ((*_NUMBERS, "truth"), "0 and 1, or of true and false"),
    "id": ([kind for kind in _NAMES if kind != "truth"], "texts or whole numbers"),
}
_CAST: Final = (
    "Cast the column where the file is written, or name another under `data: columns:`. Ids and "
    "labels are texts or whole numbers; what is a class can be said under `data: classes:`."
)
_FORMS: Final = (
    "a list of structs of a label and a score, a map or a struct of scores by label, or a list of "
    "scores beside `classes:`"
)
_NAMELESS: Final = (
    "a list of numbers needs the names of its classes, in their order: `classes:` under `data:`"
)


def type_at(file: RowFile, path: Path) -> ColumnType | None:
    """The type of a column, or of a field of it; None where there is none."""
    name, *inner = path
    kind = file.types.get(str(name))
    for key in inner:
        kind = kind.field(str(key)) if kind is not None and kind.kind == "struct" else None
    return kind


def lists_predictions(file: RowFile, ways: Sequence[Path]) -> bool:
    """Whether a column lists the labels of each row with their scores."""
    kind = type_at(file, ways[0]) if ways else None
    return kind is not None and kind.kind in ("list", "map", "struct")


def check_types(
    file: RowFile, use: Mapping[Path, str], *, named: bool, several: bool = False
) -> None:
    """Check the types of columns.

    Args:
        file: The file.
        use: What each column is: "metadata", "label", "score", "indicator", "id", or "lists" of
            predictions.
        named: Whether the config names the classes.
        several: Whether labels may be lists.

    Raises:
        DataError: One is of another type than it needs.
    """
    problems, lists = [], list[DataError]()
    for path, what in use.items():
        kind = type_at(file, path)
        place = f"{file.path}: {path[-1]}"
        if kind is None:
            continue
        if what == "lists":
            if not (several and _lists(kind, ["text"])):
                lists += [fault for fault in [_list_fault(kind, place, named=named)] if fault]
            continue
        kinds, words = _WANTED[what]
        listing = several and what == "label" and _lists(kind, kinds)
        if kind.kind not in kinds and not listing:
            message = f"expected a column of {words}, found one of {kind.shown}"
            problems.append(Problem(place, message))
    if problems:
        raise DataError(problems, hint=_CAST)
    for fault in lists:
        raise fault


def _list_fault(kind: ColumnType, place: str, *, named: bool) -> DataError | None:
    """What is wrong with the type of a column that lists predictions."""
    held = [one.kind for _, one in kind.fields]
    bare = False
    if kind.kind == "struct":
        fits = _distinct(kind) and all(one in _NUMBERS for one in held)
    elif kind.kind == "map":
        fits = held[0] in _NAMES and held[1] in _NUMBERS
    elif held[0] == "struct":
        item = kind.fields[0][1]
        inside = {name: one.kind for name, one in item.fields}
        label, score = (first_of(names, inside) for names in (ITEM_LABELS, ITEM_SCORES))
        fits = inside.get(label or "") in _NAMES and inside.get(score or "") in _NUMBERS
        fits = fits and _distinct(item)
    else:
        bare, fits = True, held[0] in _NUMBERS
    if not fits:
        return DataError(Problem(place, f"expected {_FORMS}; found {kind.shown}"), hint=_CAST)
    return DataError(Problem(place, _NAMELESS)) if bare and not named else None


def _lists(kind: ColumnType, kinds: Collection[Kind]) -> bool:
    """Whether a type is a list of values of some kinds."""
    return kind.kind == "list" and kind.fields[0][1].kind in kinds


def _distinct(kind: ColumnType) -> bool:
    """Whether no two fields of a struct have one name."""
    return len({name for name, _ in kind.fields}) == len(kind.fields)
