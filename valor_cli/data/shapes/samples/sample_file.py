"""`SampleFile`, the result of every reader of text samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct, field

from valor_cli.data.table import LINE, InvalidRows
from valor_cli.results import InputFile, Scalar


class SampleReading(Struct, frozen=True):
    """Read options shared by all inputs of a run.

    Attributes:
        metadata: Names of columns to read beside the texts.
        columns: Standard name to the file's own, or a path into nested objects and lists
            ("vars.question", "choices[0].text").
        invalid: What to do with rows that cannot be used.
        logprobs: Whether `token_logprobs` are read: they are long, and few runs need them.
        packed: Whether rows are kept as columns (`SampleColumns`).
    """

    metadata: Sequence[str] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    invalid: InvalidRows = "error"
    logprobs: bool = False
    packed: bool = False


class SampleRow(NamedTuple):
    """A sample with a model's response.

    The fields up to `history` are the standard columns, in the order that all readers have
    them; None, or an empty tuple, where the row does not say. `line` is the position of the row in
    its file, `file` that of the file in its input.
    """

    sample_id: str | None = None
    model: str | None = None
    user_input: str | None = None
    response: str | None = None
    references: tuple[str, ...] = ()
    retrieved_contexts: tuple[str, ...] | None = None
    condition: str | None = None
    categories: tuple[str, ...] = ()
    group: str | None = None
    perturbed_from: str | None = None
    duration_s: float | None = None
    cost_usd: float | None = None
    artifacts: str | None = None
    token_logprobs: tuple[float | None, ...] | None = None
    history: str | None = None
    metadata: tuple[Scalar, ...] = ()
    line: int = 0
    file: int = 0

    def has(self, name: str) -> bool:
        """Whether the row has a value under a standard name; an empty text is a value."""
        value: Any = getattr(self, name)
        return value is not None and (value != () or name == "retrieved_contexts")


class SampleFile(Struct, frozen=True):
    """The samples of one input: a file, or all files of a pattern.

    Attributes:
        path: The input, as the user wrote it.
        rows: In the order of the files. One that says no `sample_id` is called by its number when
            all of an input is read.
        numbers: Which row of the input each is, from 1, those counted that were left out.
        names: What the columns are called, in the order in which they are first seen.
        metadata: The names in `SampleReading.metadata` that some row has.
        files: The files that were read.
        places: How rows are named in each: `LINE`, or ": results[{row}]".
        warnings: Messages about unusual input that was still used.
    """

    path: str
    rows: Sequence[SampleRow]
    numbers: Sequence[int]
    names: Sequence[str]
    metadata: frozenset[str]
    files: Sequence[InputFile]
    places: Sequence[str] = (LINE,)
    warnings: Sequence[str] = ()

    def place(self, row: SampleRow) -> str:
        """The place of a row: "answers.jsonl:17"."""
        return self.files[row.file].path + self.places[row.file].format(row=row.line)
