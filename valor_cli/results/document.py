"""results.json and compared.json: records written as JSON, and read back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, Final

import orjson
from msgspec import Struct, ValidationError, convert
from msgspec.structs import asdict, astuple, force_setattr

from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.results.compared import ComparedRuns
from valor_cli.results.disagreements import disagreements
from valor_cli.results.history import History
from valor_cli.results.run import SCHEMA_VERSION, Document, RunResult

_OPTIONS: Final = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_PASSTHROUGH_DATETIME
_NEXT: Final = "evaluate again, or read it with the valor that wrote it"
_RUN_LINES: Final = frozenset(
    {
        *("primary", "prompts", "usage", "thresholds", "metrics", "comparisons", "searches"),
        *("coverage", "agreements", "curves", "tables", "examples", "problems", "insights"),
        *("gates", "warnings"),
    }
)
"""Keys of results.json whose items have a line each."""
_COMPARED_LINES: Final = frozenset(
    {"comparisons", "changes", "changed", "only_first", "only_second", "warnings"}
)
_COMPARED_INFO: Final = (
    *("valor_version", "started_at", "duration_s", "command", "config", "config_sha256"),
    *("inputs", "packages", "models_used", "usage", "stopped", "stopped_by"),
)
"""Keys of a run's record that compared.json has, in its order."""
_HISTORY_LINES: Final = frozenset({"runs", "rows", "regressions", "warnings"})
_NO_FLOATS: Final = frozenset({str, int, bool, type(None)})
_FLOATS: Final = frozenset({float, type(None)})
_PLAIN: Final = _NO_FLOATS | _FLOATS
_KINDS: Final[dict[type, str]] = {
    str: "str",
    int: "int",
    float: "float",
    bool: "bool",
    type(None): "null",
    list: "array",
    dict: "object",
}
"""JSON types by msgspec's names for them."""


def to_json(result: RunResult) -> bytes:
    """The bytes of results.json: a key per line, and a row per line where there are rows.

    Raises:
        ValueError: A number is NaN or infinite, which JSON does not have; it says where.
    """
    document = {name: getattr(result, name) for name in Document.__struct_fields__}
    return _lines(document | {"run": asdict(result.run)}, _RUN_LINES)


def compared_json(compared: ComparedRuns) -> bytes:
    """The bytes of compared.json, in the same layout.

    Raises:
        ValueError: A number is NaN or infinite, which JSON does not have; it says where.
    """
    document = asdict(compared)
    for side in ("first", "second"):
        of_side = asdict(document[side])
        info = {name: getattr(of_side["run"], name) for name in _COMPARED_INFO}
        document[side] = of_side | {"run": info}
    return _lines(document, _COMPARED_LINES)


def history_json(history: History) -> bytes:
    """The bytes of history.json, in the same layout.

    Raises:
        ValueError: A number is NaN or infinite, which JSON does not have; it says where.
    """
    return _lines(asdict(history), _HISTORY_LINES)


def from_json(content: bytes, path: str | Path) -> RunResult:
    """The run that `to_json` wrote.

    Args:
        content: The file's bytes.
        path: The file they were read from, for messages.

    Raises:
        DataError: Not JSON, another schema version, or a row that does not fit.
    """
    loaded = _loads(content, path)
    try:
        document = convert(loaded, Document)
    except ValidationError as error:
        place, message = _misfit(str(error), loaded)
        raise DataError(Problem(f"{path}: {place}", message), hint=_NEXT) from None
    problems = [Problem(f"{path}: {place}", message) for place, message in disagreements(document)]
    if problems:
        raise DataError(problems[:LISTED], total=len(problems), hint=_NEXT)
    return RunResult(**asdict(_frozen(document)))


def dumps(value: Any) -> bytes:
    """A value as JSON, records and numpy arrays included."""
    try:
        return orjson.dumps(value, default=_default, option=_OPTIONS)
    except TypeError as error:
        # File names that are not UTF-8 carry lone surrogates, which JSON cannot hold.
        if "surrogates" not in str(error):
            raise
        import json

        text = json.dumps(value, ensure_ascii=False, default=_default)
        return orjson.dumps(orjson.loads(text.encode("utf-8", "replace")))


def finite(values: Iterable[object]) -> bool:
    """Whether all numbers are finite, also in lists, mappings and records."""
    return all(_spoiled(value) is None for value in values)


def _lines(document: Mapping[str, Any], by_line: frozenset[str]) -> bytes:
    # orjson would write null for NaN, which says "undefined" and gives no reason.
    spoiled = _spoiled(document)
    if spoiled is not None:
        raise ValueError(f"{spoiled}: NaN or infinity")
    lines = [_line(name, value, by_line) for name, value in document.items()]
    return b"{\n  " + b",\n  ".join(lines) + b"\n}\n"


def _line(name: str, value: Any, by_line: frozenset[str], margin: bytes = b"\n  ") -> bytes:
    deeper = margin + b"  "
    between = b"," + deeper
    text = dumps(name) + b": "
    if name == "run":
        parts = [_line(key, part, by_line, deeper) for key, part in value.items()]
        return text + b"{" + deeper + between.join(parts) + margin + b"}"
    if name in by_line and value:
        return text + b"[" + deeper + between.join(map(dumps, value)) + margin + b"]"
    return text + dumps(value)


def _default(value: object) -> object:
    if isinstance(value, Struct):
        return asdict(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _spoiled(value: object) -> str | None:
    """The place of the first NaN or infinite number in a value; None if there is none."""
    # Exact types first: to ask for a mapping takes longer than all else.
    kind = type(value)
    if kind in _NO_FLOATS:
        return None
    if isinstance(value, float):
        return None if isfinite(value) else ""
    if isinstance(value, list | tuple):
        kinds = set(map(type, value))
        if kinds <= _NO_FLOATS or (kinds <= _FLOATS and all(map(isfinite, filter(None, value)))):
            return None
        return _spoiled_of(enumerate(value))
    if isinstance(value, Struct):
        return _spoiled_of(zip(value.__struct_fields__, astuple(value), strict=True))
    if isinstance(value, Mapping):
        return _spoiled_of(value.items())
    return None


def _spoiled_of(parts: Iterable[tuple[object, object]]) -> str | None:
    for name, part in parts:
        if type(part) not in _NO_FLOATS:
            place = _spoiled(part)
            if place is not None:
                return f"{name}.{place}".rstrip(".")
    return None


def _frozen(value: Any) -> Any:
    """A value with tuples for lists, as a run has them that was not read from a file."""
    if isinstance(value, Struct):
        for name in value.__struct_fields__:
            part = getattr(value, name)
            if isinstance(part, list | dict | Struct):
                force_setattr(value, name, _frozen(part))
        return value
    if isinstance(value, dict):
        return {name: _frozen(part) for name, part in value.items()}
    if isinstance(value, list):
        kinds = set(map(type, value))
        return tuple(value) if kinds <= _PLAIN else tuple(map(_frozen, value))
    return value


def _loads(content: bytes, path: str | Path) -> dict[str, Any]:
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        place = f"{path}:{error.lineno}:{error.colno}"
        raise DataError(Problem(place, f"not JSON: {error.msg}"), hint=_NEXT) from None
    if not isinstance(document, dict) or "schema_version" not in document:
        message = "not a results.json of valor: it has no schema_version"
        raise DataError(Problem(str(path), message), hint="name a results.json, or its folder")
    version = document["schema_version"]
    if version != SCHEMA_VERSION or isinstance(version, bool):
        message = f"schema version {version!r:.40}; this valor reads {SCHEMA_VERSION}"
        raise DataError(Problem(f"{path}: schema_version", message), hint=_NEXT)
    return document


def _misfit(message: str, document: object) -> tuple[str, str]:
    """The place and the problem in msgspec's message on an invalid document."""
    said, _, where = message.partition(" - at `$")
    key = re.fullmatch(r"Object (missing required|contains unknown) field `(.*)`", said)
    if key:
        said = "missing" if key[1] == "missing required" else "no such key in this schema version"
    got = re.search(r", got `(\w+)`$", said)
    steps = re.findall(r"\[(\d+|\.\.\.)\]|\.(\w+)", where)
    names = [index or name for index, name in steps]
    place = _named(document, names, None if got is None else got[1]) or names
    said = said[0].lower() + said[1:].replace("`", "")
    return ".".join([*place, key[2]] if key else place), said


def _named(value: Any, steps: Sequence[str], kind: str | None) -> list[str] | None:
    """The path to a value of that kind; msgspec writes "..." for the key of a mapping."""
    if not steps:
        return [] if kind is None or _KINDS[type(value)] == kind else None
    first, rest = steps[0], steps[1:]
    if isinstance(value, list):
        found = _named(value[int(first)], rest, kind) if int(first) < len(value) else None
        return None if found is None else [first, *found]
    if not isinstance(value, dict):
        return None
    for name in value if first == "..." else [first]:
        found = None if name not in value else _named(value[name], rest, kind)
        if found is not None:
            return [name, *found]
    return None
