"""What a run said as lines of text that name its rows, and what differs between two such."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

RESULTS = "results.json"
NAMES = ("kind", "gate", "rule", "model", "models", "other", "baseline", "output", "label", "slice")
"""What tells the rows of one metric with the same parameters apart."""

SHOWN = ("value", "other_value", "difference", "p", "verdict", "status", "samples", "coverage")
"""What a line shows beside its hash, in this order; an interval too."""

SHORT = 90
"""Characters of a heading that are shown of a row that differs."""

HEADING = "## "
ONLY_LINE = "-"
"""The name of a row that is alone under its heading."""


@dataclass(frozen=True)
class Record:
    """What a run said.

    Attributes:
        code: Its exit code.
        said: What it printed.
        parts: What it wrote, by name of the file.
        hash: Of all of it, byte by byte.
    """

    code: int
    said: str
    parts: Mapping[str, bytes]
    hash: str

    @property
    def rows(self) -> dict[tuple[str, str], str]:
        """By heading (section, metric, parameters) and name, what a row shows and its hash."""
        rows = {("run", "exit code"): str(self.code)}
        lines = enumerate(self.said.split("\n"), 1)
        rows |= {("run", f"message {at}"): line for at, line in lines if line}
        for name, text in self.parts.items():
            found = _results(json.loads(text)) if name == RESULTS else _lines(name, text)
            rows |= _grouped(found)
        return rows


def recorded(
    code: int, files: Mapping[str, bytes], said: str, *, digits: int | None = None, ids: bool = True
) -> Record:
    """What is kept of a run.

    Args:
        code: Its exit code.
        files: What it wrote, by name.
        said: What it printed.
        digits: To how many significant ones numbers are rounded; None: they are kept as written.
        ids: Whether the ids of shown objects are part of it.
    """
    parts = {name: _less_run(text) if name == RESULTS else text for name, text in files.items()}
    if digits is not None:
        parts = {name: _rounded(text, digits) for name, text in parts.items()}
    if not ids:
        parts[RESULTS] = _without_ids(parts[RESULTS])
    whole = json.dumps([code, said, *((name, text.decode()) for name, text in parts.items())])
    return Record(code, said, parts, _hash(whole, 16))


def _less_run(content: bytes) -> bytes:
    """results.json as it is written, less `run`."""
    text = content.decode()
    start = text.index('"run":')
    begin = start + len('"run":') + 1
    _, end = json.JSONDecoder().raw_decode(text, begin)
    return (text[:start] + text[end:].lstrip(",\n ")).encode()


def _rounded(content: bytes, digits: int) -> bytes:
    def number(text: str) -> float:
        return float(f"{float(text):.{digits}g}")

    values = [json.loads(line, parse_float=number) for line in _documents(content.decode())]
    return "\n".join(json.dumps(value) for value in values).encode()


def _without_ids(content: bytes) -> bytes:
    def plain(found: dict[str, Any]) -> dict[str, Any]:
        return {key: one for key, one in found.items() if key != "id" or "role" not in found}

    return json.dumps(json.loads(content, object_hook=plain)).encode()


def _documents(text: str) -> list[str]:
    return [text] if text.startswith("{\n") else text.rstrip("\n").split("\n")


def _results(document: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Heading, name and content of all that results.json says."""
    for section, content in document.items():
        if isinstance(content, Mapping):
            yield from ((section, str(name), one) for name, one in content.items())
        elif isinstance(content, list) and content and isinstance(content[0], Mapping):
            for row in content:
                yield _heading(section, row), _name(row), row
        elif section == "warnings":
            yield from ((section, str(at), one) for at, one in enumerate(content, 1))
        elif content != []:
            yield section, ONLY_LINE, content


def _lines(file: str, text: bytes) -> Iterator[tuple[str, str, Any]]:
    """The same of a file of lines: samples by metric and model, and so are resamples."""
    for line in filter(None, text.decode().split("\n")):
        row = json.loads(line)
        if "metrics" not in row:
            yield _heading(file, row), _name({"model": row["model"]}), row
            continue
        for metric, own in row["metrics"].items():
            yield f"{file} {metric}", _name(row), own
        yield file, _name(row), {key: one for key, one in row.items() if key != "metrics"}


def _heading(section: str, row: Mapping[str, Any]) -> str:
    parameters = row.get("parameters")
    said = json.dumps(parameters, ensure_ascii=False) if parameters else ""
    return " ".join(filter(None, (section, row.get("metric"), said)))


def _name(row: Mapping[str, Any]) -> str:
    """What tells a row from others under its heading."""
    found = []
    for key in NAMES:
        value = row.get(key)
        if value is None or value is False or (key, value) == ("output", "value"):
            continue
        if key == "label" and row.get("slice") is not None:
            # The labels of a slice share a line: they are most of the rows.
            continue
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        plain = key in ("model", "output", "kind")
        found.append(text if plain else f"{key}={text}")
    return json.dumps(" ".join(found), ensure_ascii=False)[1:-1] or ONLY_LINE


def _grouped(found: Iterator[tuple[str, str, Any]]) -> dict[tuple[str, str], str]:
    """A line for each name; rows of one name share it."""
    groups: dict[tuple[str, str], list[Any]] = {}
    for heading, name, content in found:
        groups.setdefault((heading, name), []).append(content)
    return {key: _line(rows) for key, rows in groups.items()}


def _line(rows: list[Any]) -> str:
    shown = f"{len(rows)} rows" if len(rows) > 1 else _shown(rows[0])
    return f"{shown} #{_hash(json.dumps(rows, ensure_ascii=False), 6)}".lstrip()


def _shown(row: Any) -> str:
    if not isinstance(row, Mapping):
        return _short(json.dumps(row, ensure_ascii=False))
    if "message" in row:
        return _short(row["message"])
    if "points" in row:
        return f"{len(next(iter(row['points'].values()), ()))} points"
    parts = [_short(_number(row[key])) for key in SHOWN if row.get(key) is not None]
    if row.get("interval") is not None:
        low, high = row["interval"]
        parts.append(f"[{low:.4g}, {high:.4g}]")
    if "undefined" in row and row["value"] is None:
        parts.append("null")
    return " ".join(parts)


def _number(value: Any) -> str:
    return repr(value) if isinstance(value, (int, float)) else str(value)


def _short(text: str) -> str:
    line = json.dumps(text, ensure_ascii=False)[1:-1].replace('\\"', '"')
    return line if len(line) <= 160 else line[:159] + "…"


def _hash(text: str, length: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def written(record: Record) -> str:
    """The rows of a record as text."""
    parts: dict[str, list[str]] = {}
    for (heading, name), shown in record.rows.items():
        parts.setdefault(heading, [HEADING + heading]).append(f"{name}\t{shown}")
    return "".join(line + "\n" for lines in parts.values() for line in lines)


def rows_in(text: str) -> dict[tuple[str, str], str]:
    """The rows that `written` wrote."""
    rows: dict[tuple[str, str], str] = {}
    heading = ""
    for line in text.split("\n"):
        if line.startswith(HEADING):
            heading = line.removeprefix(HEADING)
        elif line:
            name, _, shown = line.partition("\t")
            rows[heading, name] = shown
    return rows


def differences(
    expected: Mapping[tuple[str, str], str], rows: Mapping[tuple[str, str], str]
) -> list[str]:
    """A line for each row that is changed, added or removed."""
    found = []
    for key in {**expected, **rows}:
        before, now = expected.get(key), rows.get(key)
        if before == now:
            continue
        place = f"{key[0][:SHORT]}{'…' * (len(key[0]) > SHORT)} · {key[1]}"
        if before is None or now is None:
            found.append(f"{'added' if before is None else 'removed'}: {place}: {now or before}")
        elif before.rpartition(" #")[0] == now.rpartition(" #")[0]:
            found.append(f"changed: {place}: {now.rpartition(' #')[0]}, in what is not shown")
        else:
            found.append(f"changed: {place}: {before} -> {now}")
    return found
