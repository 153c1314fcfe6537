"""Read a run from its result files."""

from __future__ import annotations

import codecs
import os

from msgspec.structs import replace

from valor_cli.errors import DataError, Problem
from valor_cli.reports.writer import EVIDENCE, FILES, OBJECTS, RESAMPLES, SAMPLES
from valor_cli.results import RunResult
from valor_cli.results.document import from_json

RESULTS = FILES["json"]

_NEXT = "name the folder of a run, or its results.json"


def read_run(path: str, *, samples: bool = True) -> RunResult:
    """Read a run from disk.

    Args:
        path: Its results.json, or the folder of it.
        samples: Whether to read samples.jsonl, resamples.jsonl, evidence.bin and objects.bin beside
            it, too, if present; without them two runs can be compared by their values only.

    Raises:
        DataError: A file is missing, unreadable, broken, or from another run.
    """
    if not path:
        raise DataError(Problem("RUN", "expected a path, found an empty text"), hint=_NEXT)
    file = os.path.join(path, RESULTS) if os.path.isdir(path) else path
    result = from_json(_content(file), file)
    if not samples:
        return result
    beside = os.path.dirname(file)
    of_samples, of_resamples = os.path.join(beside, SAMPLES), os.path.join(beside, RESAMPLES)
    if os.path.isfile(of_samples):
        from valor_cli.reports.files import sample_lines

        found, texts = sample_lines.from_jsonl(_content(of_samples), of_samples, result)
        result = replace(result, samples=found, texts=texts)
    if os.path.isfile(of_resamples):
        from valor_cli.reports.files import resamples_jsonl

        resamples = resamples_jsonl.from_jsonl(_content(of_resamples), of_resamples, result)
        result = replace(result, resamples=resamples)
    of_evidence = os.path.join(beside, EVIDENCE)
    if os.path.isfile(of_evidence):
        from valor_cli.reports.files import evidence_bin

        evidence = evidence_bin.from_bytes(_content(of_evidence), of_evidence, result)
        result = replace(result, evidence=evidence)
    of_objects = os.path.join(beside, OBJECTS)
    if os.path.isfile(of_objects):
        from valor_cli.reports.files import objects_bin

        objects = objects_bin.from_bytes(_content(of_objects), of_objects, result)
        result = replace(result, objects=objects)
    return result


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
