"""Read all input files of a text run, and report the problems of all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from valor_cli.data.column_names import listed, quoted
from valor_cli.data.inputs.samples import read_samples, without
from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleReading, SampleRow
from valor_cli.data.shapes.samples.schema import LOGPROBS
from valor_cli.data.table import SKIP_HINT
from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.evaluators.selection import filtered_columns
from valor_cli.evaluators.text_generation.inputs import TextInputs
from valor_cli.metric import Selection
from valor_cli.results import InputFile

if TYPE_CHECKING:
    from valor_cli.kernels.patterns.conditions import ConditionError


class ModelRows(Struct, frozen=True):
    """The rows of one model.

    Attributes:
        file: The file they are in.
        rows: In the order of the file; every one has a sample id, and no two the same.
        filled: Ids of samples that the model does not have, and another has.
    """

    file: SampleFile
    rows: Sequence[SampleRow]
    filled: frozenset[str] = field(default=frozenset())


class TextsRead(Struct, frozen=True):
    """All files of a run.

    Attributes:
        models: In the order of the config, or of first appearance in a file.
        files: Every file once.
        warnings: Oddities that did not prevent use.
    """

    models: dict[str, ModelRows]
    files: Sequence[InputFile]
    warnings: Sequence[str]


def read_inputs(inputs: TextInputs, selection: Selection) -> TextsRead:
    """The samples of every model.

    Raises:
        DataError: The problems of all files that cannot be used.
    """
    reading = SampleReading(
        filtered_columns(selection),
        inputs.columns,
        inputs.on_invalid,
        logprobs=LOGPROBS in selection.needs,
    )
    errors: list[DataError] = []
    files: dict[str, SampleFile] = {}
    for name, path in inputs.models.items():
        try:
            file = read_samples(path, reading, inputs.format)
            if "condition" in selection.needs:
                file = _with_conditions(file, reading)
            files[name] = file
        except DataError as error:
            errors.append(error)
    if errors:
        raise _together(errors)
    several = not isinstance(inputs.samples, str)
    models: dict[str, ModelRows] = {}
    for name, file in files.items():
        models |= _one_model(file, name) if several else _models(file, name)
    return TextsRead(models, *input_files_and_warnings(list(files.values())))


def input_files_and_warnings(files: Sequence[SampleFile]) -> tuple[list[InputFile], list[str]]:
    """The files of all inputs, each once, and warnings."""
    warnings = [warning for file in files for warning in file.warnings]
    records = [one for file in files for one in file.files]
    warnings += [
        f"{one.path}: left out as invalid: {one.skipped:,} of {one.rows:,} rows"
        for one in records
        if one.skipped
    ]
    return list(dict.fromkeys(records)), warnings


def metadata_there(inputs: TextInputs) -> list[str]:
    """The metadata names of all files, sorted."""
    # Few runs look for slices: the others need none of its parsers.
    from valor_cli.data.inputs.sample_metadata import sample_metadata

    reading = SampleReading(columns=inputs.columns)
    paths = dict.fromkeys(inputs.models.values())
    found = (sample_metadata(path, reading, inputs.format) for path in paths)
    return sorted(set().union(*found))


def _models(file: SampleFile, name: str) -> dict[str, ModelRows]:
    """The models of a lone input: those that its rows name, else one."""
    rows: dict[str, list[SampleRow]] = {}
    for row in file.rows:
        rows.setdefault(name if row.model is None else row.model, []).append(row)
    return {model: ModelRows(file, own) for model, own in rows.items()}


def _one_model(file: SampleFile, name: str) -> dict[str, ModelRows]:
    """The model of one of several inputs.

    Raises:
        DataError: Its rows are of several models.
    """
    there = _models(file, name)
    if len(there) > 1:
        message = f"holds samples of several models ({listed(list(there))}), for {quoted(name)}"
        raise DataError(
            Problem(file.path, message),
            hint="Name such a file alone, as `samples: path`: its `model` column tells them apart.",
        )
    return {name: ModelRows(file, file.rows)}


def _with_conditions(file: SampleFile, reading: SampleReading) -> SampleFile:
    """The file without rows whose condition cannot be read.

    Raises:
        DataError: There are such, and they are not to be left out.
    """
    wrong = malformed_conditions(row.condition for row in file.rows)
    if not wrong:
        return file
    faulty = [row for row in file.rows if row.condition in wrong]
    if reading.invalid == "error":
        raise DataError(
            [_malformed(file, row, wrong[row.condition or ""]) for row in faulty[:LISTED]],
            total=len(faulty),
            hint=f"{wrong[faulty[0].condition or ''].excerpt()}\n{SKIP_HINT}",
        )
    kept = [at for at, row in enumerate(file.rows) if row.condition not in wrong]
    if not kept:
        problem = _malformed(file, faulty[0], wrong[faulty[0].condition or ""])
        raise DataError(problem, total=len(faulty))
    return without(file, kept)


def malformed_conditions(conditions: Iterable[str | None]) -> dict[str, ConditionError]:
    """Conditions that cannot be parsed, and why."""
    # Only runs that look at conditions need their parser.
    from valor_cli.kernels.patterns.conditions import ConditionError, parse_condition

    wrong: dict[str, ConditionError] = {}
    for condition in dict.fromkeys(conditions):
        try:
            if condition is not None:
                parse_condition(condition)
        except ConditionError as error:
            wrong[condition or ""] = error
    return wrong


def _malformed(file: SampleFile, row: SampleRow, error: object) -> Problem:
    return Problem(f"{file.place(row)}: condition", str(error))


def _together(errors: Sequence[DataError]) -> DataError:
    return DataError(
        [problem for error in errors for problem in error.problems],
        total=sum(error.total for error in errors),
        hint="\n".join(dict.fromkeys(error.hint for error in errors if error.hint)),
    )
