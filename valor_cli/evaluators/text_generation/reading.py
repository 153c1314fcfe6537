"""Read all input files of a text run, and report the problems of all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from valor_cli.data.inputs.samples import read_samples, without
from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleReading
from valor_cli.data.shapes.samples.schema import LOGPROBS
from valor_cli.data.table import SKIP_HINT
from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.evaluators.input_files import error_of_inputs, invalid_row_warnings
from valor_cli.evaluators.selection import filtered_columns
from valor_cli.evaluators.text_generation.inputs import TextInputs
from valor_cli.metric import Selection
from valor_cli.results import InputFile

if TYPE_CHECKING:
    from valor_cli.kernels.patterns.conditions import ConditionError


def reading_of(inputs: TextInputs, selection: Selection) -> SampleReading:
    """How the files of a run are read."""
    logprobs = LOGPROBS in selection.needs
    return SampleReading(
        filtered_columns(selection), inputs.columns, inputs.on_invalid, logprobs, selection.texts
    )


def read_inputs(inputs: TextInputs, selection: Selection) -> dict[str, SampleFile]:
    """All samples of each input, by what the config calls its model.

    Raises:
        DataError: The problems of all files that cannot be used.
    """
    reading = reading_of(inputs, selection)
    errors: list[DataError] = []
    files: dict[str, SampleFile] = {}
    for name, path in inputs.files.items():
        try:
            file = read_samples(path, reading, inputs.format)
            if "condition" in selection.needs:
                file = _with_conditions(file, reading)
            files[name] = file
        except DataError as error:
            errors.append(error)
    if errors:
        raise error_of_inputs(errors)
    return files


def input_files_and_warnings(files: Sequence[SampleFile]) -> tuple[list[InputFile], list[str]]:
    """The files of all inputs, each once, and warnings."""
    warnings = [warning for file in files for warning in file.warnings]
    records = [one for file in files for one in file.files]
    return list(dict.fromkeys(records)), [*warnings, *invalid_row_warnings(records)]


def metadata_there(inputs: TextInputs) -> list[str]:
    """The metadata names of all files, sorted."""
    # Few runs look for slices: the others need none of its parsers.
    from valor_cli.data.inputs.sample_metadata import sample_metadata

    reading = SampleReading(columns=inputs.columns)
    paths = dict.fromkeys(inputs.files.values())
    found = (sample_metadata(path, reading, inputs.format) for path in paths)
    return sorted(set().union(*found))


def _with_conditions(file: SampleFile, reading: SampleReading) -> SampleFile:
    """The file without rows whose condition cannot be read.

    Raises:
        DataError: There are such, and they are not to be left out.
    """
    conditions = list(file.rows.text("condition"))
    wrong = malformed_conditions(conditions)
    if not wrong:
        return file
    faulty = [at for at, condition in enumerate(conditions) if condition in wrong]
    first = wrong[conditions[faulty[0]] or ""]
    problems = [
        Problem(
            f"{file.place(int(file.rows.file[at]), file.rows.line[at])}: condition",
            str(wrong[conditions[at] or ""]),
        )
        for at in faulty[:LISTED]
    ]
    if reading.invalid == "error":
        raise DataError(problems, total=len(faulty), hint=f"{first.excerpt()}\n{SKIP_HINT}")
    kept = np.setdiff1d(np.arange(len(conditions)), faulty).tolist()
    if not kept:
        raise DataError(problems[0], total=len(faulty))
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
