"""Read a run from its result files."""

from __future__ import annotations

import codecs
import os
from collections.abc import Collection

from msgspec.structs import replace

from valor_cli.errors import DataError, Problem
from valor_cli.reports.writer import DATA, EVIDENCE, FILES, RESAMPLES, SAMPLES, SLICES
from valor_cli.results import RunResult
from valor_cli.results.document import from_json

RESULTS = FILES["json"]

_NEXT = "name the folder of a run, or its results.json"


def read_run(path: str, *, beside: Collection[str] = DATA) -> RunResult:
    """Read a run from disk.

    Args:
        path: Its results.json, or the folder of it.
        beside: Files beside it that are read, too, if present. Without those of samples, resamples
            and evidence two runs can be compared by their values only.

    Raises:
        DataError: A file is missing, unreadable, broken, or from another run.
    """
    if not path:
        raise DataError(Problem("RUN", "expected a path, found an empty text"), hint=_NEXT)
    file = os.path.join(path, RESULTS) if os.path.isdir(path) else path
    result = from_json(_content(file), file)
    for name in DATA:
        at = os.path.join(os.path.dirname(file), name)
        if name in beside and os.path.isfile(at):
            result = _with_file(result, name, at)
    return result


def _with_file(result: RunResult, name: str, path: str) -> RunResult:
    """The run with what a file beside its results.json holds."""
    content = _content(path)
    if name == SAMPLES:
        from valor_cli.reports.files import sample_lines

        samples, texts = sample_lines.from_jsonl(content, path, result)
        return replace(result, samples=samples, texts=texts)
    if name == RESAMPLES:
        from valor_cli.reports.files import resamples_jsonl

        return replace(result, resamples=resamples_jsonl.from_jsonl(content, path, result))
    if name == EVIDENCE:
        from valor_cli.reports.files import evidence_bin

        return replace(result, evidence=evidence_bin.from_bytes(content, path, result))
    if name == SLICES:
        from valor_cli.reports.files import slices_bin

        return replace(result, slices=slices_bin.from_bytes(content, path, result))
    from valor_cli.reports.files import objects_bin

    return replace(result, objects=objects_bin.from_bytes(content, path, result))


def _content(path: str) -> bytes:
    """The bytes of a file without a byte order mark.

    Raises:
        DataError: It cannot be read.
    """
    try:
        with open(path, "rb") as file:
            return file.read().removeprefix(codecs.BOM_UTF8)
    except FileNotFoundError:
        message = "no such file"
        if not path.endswith(RESULTS):
            raise DataError(Problem(path, message), hint=_NEXT) from None
        message = "no such file; `valor evaluate` writes it with `--format json`"
    except (OSError, ValueError) as error:
        # A name with a NUL character is a ValueError.
        message = f"cannot be read: {getattr(error, 'strerror', None) or error}"
    raise DataError(Problem(path, message), hint=_NEXT)
