"""Run a check on the files of an artifacts folder."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator
from os.path import splitext
from typing import Any, Literal, NamedTuple, TypeAlias

from valor_cli.data.column_names import csv_reader
from valor_cli.evaluators.bounded_keywords import TooManyStepsError
from valor_cli.evaluators.schema_documents import Errors, SchemaFile, errors_under
from valor_cli.evaluators.structure.artifact_files import (
    ArtifactFile,
    Artifacts,
    TooMuchError,
    UnusableFileError,
    is_pattern,
)
from valor_cli.evaluators.structure.checks import (
    Check,
    Exists,
    Layout,
    Matches,
    MinPages,
    MinSize,
    NotEmpty,
    Parses,
    ValidJson,
)
from valor_cli.evaluators.structure.pdf_pages import is_pdf, page_count
from valor_cli.kernels.patterns.regex import Patience, PatternError, PatternTimeout, parse_pattern
from valor_cli.kernels.replies.json_texts import (
    DEEPEST,
    BeyondLimitsError,
    NotJsonError,
    parse_json,
)

Format: TypeAlias = Literal["json", "jsonl", "yaml", "csv"]

FORMATS: dict[str, Format] = {
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".csv": "csv",
    ".tsv": "csv",
}
"""What a file is, by the end of its name."""


class CheckResult(NamedTuple):
    """The result of a check for one file.

    Attributes:
        name: What was checked.
        path: Of which file, or which path or pattern no file has.
        passed: None: that cannot be told.
        reason: Why not, in words.
    """

    name: str
    path: str
    passed: bool | None
    reason: str | None = None


class _NotPassedError(Exception):
    """A file does not pass a check; the message says why."""


def results_of(check: Check, artifacts: Artifacts, patience: Patience) -> Iterator[CheckResult]:
    """Results of a check for each file that it names, or each path that must exist.

    A pattern that no file has asks nothing; a path that no file has does not pass.
    """
    if isinstance(check, Exists | Layout):
        for path in check.paths if isinstance(check, Layout) else (check.path,):
            there = bool(artifacts.matching(path))
            yield CheckResult(check.check, path, there, None if there else "no such file")
        return
    files = artifacts.matching(check.path)
    if not files and not is_pattern(check.path):
        yield CheckResult(check.check, check.path, False, "no such file")
    examine = _examiner(check, artifacts, patience)
    for file in files:
        if not isinstance(check, Parses) or _format(check, file):
            yield _result(check.check, file, examine)


def _result(name: str, file: ArtifactFile, examine: Callable[[ArtifactFile], None]) -> CheckResult:
    passed, reason = True, None
    try:
        examine(file)
    except (_NotPassedError, UnusableFileError, NotJsonError) as why:
        passed, reason = False, why.message if isinstance(why, NotJsonError) else str(why)
    except (
        TooMuchError,
        BeyondLimitsError,
        TooManyStepsError,
        PatternTimeout,
        PatternError,
    ) as why:
        return CheckResult(name, file.path, None, str(why))
    return CheckResult(name, file.path, passed, reason)


def _examiner(
    check: Check, artifacts: Artifacts, patience: Patience
) -> Callable[[ArtifactFile], None]:
    """What looks at one file for a check."""
    if isinstance(check, MinSize):
        return lambda file: _check_size(file, check.bytes)
    if isinstance(check, NotEmpty):
        return lambda file: _check_content(artifacts, file)
    if isinstance(check, MinPages):
        return lambda file: _check_pages(artifacts.read(file), check.pages)
    if isinstance(check, Parses):
        return lambda file: _PARSERS[_format(check, file) or "json"](_text(artifacts, file))
    if isinstance(check, ValidJson):
        document = check.document
        schema = document.document if isinstance(document, SchemaFile) else document
        errors = errors_under(schema, check_formats=False)  # type: ignore[arg-type]
        return lambda file: _check_schema(_text(artifacts, file), errors)
    if isinstance(check, Matches):
        return lambda file: _check_pattern(_text(artifacts, file), check, patience)
    raise ValueError(f"{check.check} does not look into files")


def _format(check: Parses, file: ArtifactFile) -> Format | None:
    return check.format or FORMATS.get(splitext(file.path)[1].lower())


def _check_size(file: ArtifactFile, least: int) -> None:
    if file.size < least:
        raise _NotPassedError(f"{file.size:,} bytes, fewer than {least:,}")


def _check_content(artifacts: Artifacts, file: ArtifactFile) -> None:
    if not file.size:
        raise _NotPassedError("empty")
    # No one fills files of that size with white space.
    if file.size <= 1 << 20 and not artifacts.read(file).strip(b"\xef\xbb\xbf \t\r\n\0"):
        raise _NotPassedError("nothing but white space")


def _check_pages(data: bytes, least: int) -> None:
    if not is_pdf(data):
        raise _NotPassedError("not a PDF")
    pages = page_count(data)
    if pages is None:
        raise TooMuchError("its pages cannot be counted: no page tree that can be followed")
    if pages < least:
        raise _NotPassedError(f"{pages:,} pages, fewer than {least:,}")


def _check_schema(text: str, errors: Errors) -> None:
    try:
        error = next(errors(parse_json(text).value, len(text)), None)
    except (RecursionError, ArithmeticError):
        raise BeyondLimitsError("the schema cannot be applied to it") from None
    if error is not None:
        raise _NotPassedError(f"{error.json_path}: does not keep to '{error.validator}'")


def _check_pattern(text: str, check: Matches, patience: Patience) -> None:
    try:
        found = patience.search(parse_pattern(check.pattern), text) is not None
    except PatternTimeout as why:
        raise PatternTimeout(f"the pattern {why}") from None
    if found != (check.expected == "found"):
        raise _NotPassedError("the pattern is found" if found else "the pattern is not found")


def _text(artifacts: Artifacts, file: ArtifactFile) -> str:
    data = artifacts.read(file)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _NotPassedError(f"not UTF-8: byte {error.start:,}") from None


def _parse_json(text: str) -> None:
    parse_json(text)


def _parse_jsonl(text: str) -> None:
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise _NotPassedError("the text is empty")
    for number, line in lines:
        try:
            parse_json(line)
        except NotJsonError as error:
            message = error.message.replace("line 1, ", "")
            raise _NotPassedError(f"line {number:,}: {message}") from None


def _parse_yaml(text: str) -> None:
    """Read the events of all documents: nothing is built, so that no alias multiplies anything."""
    import yaml

    anchors: set[str] = set()
    depth = 0
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.DocumentStartEvent):
                anchors.clear()
            elif isinstance(event, yaml.AliasEvent):
                if event.anchor not in anchors:
                    raise _NotPassedError(f"undefined alias{_at(event.start_mark)}")
            elif isinstance(event, yaml.NodeEvent) and event.anchor:
                anchors.add(event.anchor)
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            # The work of libyaml grows as the square of the depth.
            if depth > DEEPEST:
                raise BeyondLimitsError(
                    f"it is nested deeper than the {DEEPEST} levels that are read"
                )
    except yaml.YAMLError as error:
        what = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
        raise _NotPassedError(f"{what}{_at(getattr(error, 'problem_mark', None))}") from None


def _at(mark: Any) -> str:
    return f" at line {mark.line + 1:,}, column {mark.column + 1:,}" if mark else ""


def _parse_csv(text: str) -> None:
    """Rows of as many fields as the header; blank lines aside."""
    header = text.partition("\n")[0]
    counted = Counter({mark: header.count(mark) for mark in ",;\t|"})
    rows = csv_reader(io.StringIO(text, newline=""), counted.most_common(1)[0][0])
    width = None
    try:
        for row in rows:
            if row and width is None:
                width = len(row)
            elif row and len(row) != width:
                raise _NotPassedError(
                    f"line {rows.line_num:,}: {len(row):,} fields, and the header has {width:,}"
                )
    except csv.Error as error:
        raise _NotPassedError(f"line {rows.line_num:,}: {error}") from None
    if width is None:
        raise _NotPassedError("the text is empty")


_PARSERS: dict[Format, Callable[[str], None]] = {
    "json": _parse_json,
    "jsonl": _parse_jsonl,
    "yaml": _parse_yaml,
    "csv": _parse_csv,
}
