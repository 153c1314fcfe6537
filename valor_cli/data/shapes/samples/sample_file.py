"""`SampleFile`, the result of every reader of text samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from valor_cli.data.shapes.samples.columns import SampleColumns
from valor_cli.data.table import LINE, InvalidRows
from valor_cli.results import InputFile


class SampleReading(Struct, frozen=True):
    """Read options shared by all inputs of a run.

    Attributes:
        metadata: Names of columns to read beside the texts.
        columns: Standard name to the file's own, or a path into nested objects and lists
            ("vars.question", "choices[0].text").
        invalid: What to do with rows that cannot be used.
        logprobs: Whether `token_logprobs` are read: they are long, and few runs need them.
        texts: Those of `metadata` whose lists and objects are read too, as JSON.
    """

    metadata: Sequence[str] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    invalid: InvalidRows = "error"
    logprobs: bool = False
    texts: Sequence[str] = ()


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
    rows: SampleColumns
    numbers: Sequence[int]
    names: Sequence[str]
    metadata: frozenset[str]
    files: Sequence[InputFile]
    places: Sequence[str] = (LINE,)
    warnings: Sequence[str] = ()

    def without_texts(self) -> SampleFile:
        """The file without its rows."""
        return replace(self, rows=self.rows[:0].only(()), numbers=())

    def place(self, file: int, line: int) -> str:
        """The place of a row: "answers.jsonl:17"."""
        return self.files[file].path + self.places[file].format(row=line)
