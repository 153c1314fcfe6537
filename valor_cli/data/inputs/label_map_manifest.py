"""Read label maps listed in a JSONL or CSV manifest.

A row is a sample: `ground_truth` and `prediction` (paths relative to the manifest's folder) and,
optionally, `sample_id` and metadata. Without an id, a sample is named after its ground truth file.
"""

from __future__ import annotations

import csv
import os
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from typing import Any, Final, NamedTuple, get_args

from valor_cli.data.column_names import csv_reader
from valor_cli.data.formats.coco.metadata import metadata_of
from valor_cli.data.formats.png.label_map_folders import without_extension
from valor_cli.data.formats.png.label_maps import LabelMaps, PngLabelMap
from valor_cli.data.inputs.label_map_formats import Column
from valor_cli.data.json_records import DuplicateKey, Number, parsed
from valor_cli.data.shapes.objects.object_file import Role
from valor_cli.data.source.files import TextSource
from valor_cli.data.source.inputs import extension_of
from valor_cli.data.values import LineProblems, describe, is_text, stop_on
from valor_cli.errors import DataError, Problem, did_you_mean, printable
from valor_cli.paths import bare, beside, from_folder, is_url, own_folder
from valor_cli.results import InputFile

COLUMNS: Final[tuple[Column, ...]] = get_args(Column)
_JSON: Final = (".jsonl", ".ndjson")
_DELIMITERS: Final = ",;\t"
_LISTED: Final = 30


class _Row(NamedTuple):
    """A row of a manifest: its line, and what it says by column."""

    line: int
    record: dict[str, Any]


def read_manifest(
    path: str,
    role: Role,
    *,
    metadata: Sequence[str] = (),
    columns: Mapping[Column, str] | None = None,
) -> LabelMaps:
    """Read the label maps of one side.

    Args:
        path: The manifest, plain, gzip or zstd.
        role: Which side; a row without a prediction is a sample without one.
        metadata: Names of columns to read for every sample, of ground truth alone.
        columns: Standard name ("ground_truth", "prediction", "sample_id") to the file's own.

    Raises:
        DataError: The file cannot be read, is not a manifest, has no such column, or a row names no
            file or a sample that an earlier row named.
    """
    source = TextSource(path)
    text = source.whole().decode()
    names = {name: (columns or {}).get(name, name) for name in COLUMNS}
    problems = LineProblems(path)
    if extension_of(path) in _JSON:
        rows = list(_json_rows(text, problems))
    else:
        rows = list(_csv_rows(text, path, problems, tuple(names.values())))
    stop_on([problems])
    wanted = names["ground_truth" if role == "ground_truth" else "prediction"]
    mapped = [names["sample_id"]] if "sample_id" in (columns or {}) else []
    _check_columns(rows, [wanted, *mapped], path)
    maps, samples = _maps(rows, names, wanted, role, path, problems)
    stop_on([problems])
    listed = [row.record for row in rows]
    lines = [row.line for row in rows]
    found = metadata_of(listed, metadata, path, lines) if role == "ground_truth" else {}
    return LabelMaps(
        path,
        _folder(path, maps.values()),
        maps,
        (InputFile(path, source.sha256, len(rows)),),
        {name: dict(zip(samples, values, strict=True)) for name, values in found.items()},
    )


def _folder(path: str, maps: Iterable[PngLabelMap]) -> str:
    """The folder of all label maps of a manifest."""
    paths = [one.path for one in maps]
    if is_url(path):
        scheme, rests = path.partition("://")[0], [one.partition("://")[2] for one in paths]
        return f"{scheme}://{posixpath.commonpath({os.path.dirname(one) for one in rests})}"
    try:
        whole = os.path.commonpath({os.path.dirname(os.path.abspath(one)) for one in paths})
        return whole if all(map(os.path.isabs, paths)) else os.path.relpath(whole)
    except ValueError:
        # Windows has several drives, and no path from one to another.
        return os.path.dirname(path) or "."


def _json_rows(text: str, problems: LineProblems) -> Iterator[_Row]:
    for line, content in enumerate(text.split("\n"), 1):
        if not content.strip():
            continue
        try:
            found = parsed(content.encode())
            record = _plain(found)
        except (ValueError, RecursionError) as error:
            reason = getattr(error, "msg", "nested too deeply")
            problems.add(line, "", f"not JSON ({reason}); each line is one JSON object")
            continue
        if not isinstance(record, dict):
            problems.add(line, "", f"expected an object, found {describe(record)}")
        elif twice := [
            one.key for one in (found, found.get("metadata")) if type(one) is DuplicateKey
        ]:
            problems.add(line, printable(twice[0]), "duplicate key in this object")
        else:
            yield _Row(line, record)


def _plain(value: Any) -> Any:
    """A JSON value whose numbers are Python's own."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value.plain if isinstance(value, Number) else value


def _csv_rows(text: str, path: str, problems: LineProblems, known: Sequence[str]) -> Iterator[_Row]:
    delimiter = max(_DELIMITERS, key=lambda one: _delimiter_rank(text, one, known))
    lines = csv_reader(StringIO(text, newline=""), delimiter)
    first = 0
    try:
        names = [name.strip() for name in next(lines, [])]
        for name in sorted({name for name in names if name and names.count(name) > 1}):
            problems.add(1, "", f"duplicate column '{name}'")
        first = lines.line_num
        for fields in lines:
            line, first = first + 1, lines.line_num
            if not any(fields):
                continue
            if len(fields) != len(names):
                message = f"expected {len(names)} fields as in the first line, found {len(fields)}"
                problems.add(line, "", message)
                continue
            cells = zip(names, (cell.strip() or None for cell in fields), strict=True)
            yield _Row(line, dict(cells))
    except csv.Error as error:
        problems.add(first + 1, "", f"not CSV ({error})")


def _delimiter_rank(text: str, delimiter: str, known: Sequence[str]) -> tuple[int, int]:
    """How many columns that are looked for a delimiter gives, and how many at all."""
    names = [name.strip(' "\r') for name in text.partition("\n")[0].split(delimiter)]
    return sum(name in known for name in names), len(names)


def _check_columns(rows: Sequence[_Row], wanted: Sequence[str], path: str) -> None:
    there = dict.fromkeys(name for row in rows for name in row.record)
    if not rows:
        raise DataError(Problem(path, "there is no row in this manifest"))
    names = ", ".join(printable(name[:40]) for name in list(there)[:_LISTED])
    problems = [
        Problem(path, f"the column '{one}' is missing{did_you_mean(one, there)}; there is: {names}")
        for one in wanted
        if one not in there
    ]
    if problems:
        hint = "Map other names under `data: columns:`, as {ground_truth: mask}."
        raise DataError(problems, hint=hint)


def _maps(
    rows: Sequence[_Row],
    names: Mapping[Column, str],
    wanted: str,
    role: Role,
    path: str,
    problems: LineProblems,
) -> tuple[dict[str, PngLabelMap], list[str]]:
    """The maps by sample, and the sample of each row."""
    folder = own_folder(path)
    maps: dict[str, PngLabelMap] = {}
    samples: list[str] = []
    lines: dict[str, int] = {}
    for line, record in rows:
        name = _path(record.get(wanted), wanted, folder, line, problems)
        if name is None and (role == "ground_truth" or record.get(wanted) is not None):
            if record.get(wanted) is None:
                problems.add(line, wanted, "expected the path of a PNG, found nothing")
            continue
        sample = _sample(record, names, folder, line, problems)
        if sample is None:
            continue
        if sample in lines:
            message = f"duplicate sample '{sample}', first on line {lines[sample]}"
            problems.add(line, names["sample_id"], message)
            continue
        lines[sample] = line
        samples.append(sample)
        if name is not None:
            maps[sample] = PngLabelMap(_file(folder, name))
    if not maps and not problems.total:
        problems.add(0, wanted, "no row names a file in this column")
    return maps, samples


def _path(value: object, column: str, folder: str, line: int, problems: LineProblems) -> str | None:
    """The path of a PNG; None, noted where something else stands there."""
    if value is None:
        return None
    if not isinstance(value, str) or not value or not is_text(value) or "\0" in value:
        problems.add(line, column, f"expected the path of a PNG, found {describe(value)}")
        return None
    if is_url(folder) or is_url(value):
        try:
            beside(folder, value)
        except ValueError as error:
            problems.add(line, column, str(error))
            return None
    return value


def _sample(
    record: Mapping[str, Any],
    names: Mapping[Column, str],
    folder: str,
    line: int,
    problems: LineProblems,
) -> str | None:
    """The id that a row gives, else the name of its first file."""
    given = record.get(names["sample_id"])
    if given is not None:
        if type(given) is int or (isinstance(given, str) and given and is_text(given)):
            return str(given)
        message = f"expected text or a whole number, found {describe(given)}"
        problems.add(line, names["sample_id"], message)
        return None
    for column in (names["ground_truth"], names["prediction"]):
        value = record.get(column)
        if isinstance(value, str) and value:
            return without_extension(_name(value, folder))
    message = "expected an id or the path of a ground truth, found neither"
    problems.add(line, names["sample_id"], message)
    return None


def _file(folder: str, name: str) -> str:
    """The path of a file that a manifest names, from the current folder."""
    if is_url(folder):
        return beside(folder, name)
    joined = os.path.join(folder, name)
    if name.startswith("~") or os.path.normpath(joined) != joined:
        return from_folder(folder, name)
    # Most names are tidy; looking for links on their way would take ten times as long.
    return joined


def _name(value: str, folder: str) -> str:
    """The path of a file from the folder of its manifest."""
    if is_url(folder):
        try:
            return bare(beside(folder, value)).removeprefix(f"{bare(folder)}/")
        except ValueError:
            return value
    path = _file(folder, value)
    if path != os.path.normpath(path):
        # Without the link in it, the name would be that of another file.
        return value
    home = os.path.expanduser(value)
    return os.path.relpath(home, folder or ".") if os.path.isabs(home) else os.path.normpath(value)
