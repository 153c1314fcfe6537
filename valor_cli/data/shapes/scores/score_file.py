"""What every reader of classification data is asked for and hands out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.table import InvalidRows, Table
from valor_cli.kernels.ranking.scores import Scores, SparseScores
from valor_cli.results import InputFile, Scalar

Side: TypeAlias = Literal["ground_truth", "predictions", "samples"]
"""What a file holds: true labels, predictions, or both."""


class ScoreReading(Struct, frozen=True):
    """Read options shared by all inputs of a run.

    Attributes:
        metadata: Names of columns to read beside the labels, of ground truth and of samples.
        classes: Names of the columns that are classes, or of the scores in a list of bare numbers;
            empty to find them out.
        columns: Standard name ("sample_id", "label", "prediction", "score", "label_key") to the
            file's own.
        invalid: What to do with rows that cannot be used.
        probabilities: Whether scores must be from 0 to 1, but for rounding.
        several: Whether a sample has a set of true labels, and labels may be lists.
        separator: What stands between the labels of a text; empty: texts that are lists of JSON.
    """

    metadata: Sequence[str] = ()
    classes: Sequence[str] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    invalid: InvalidRows = "error"
    probabilities: bool = False
    several: bool = False
    separator: str = ""


class ScoreFile(Struct, frozen=True):
    """One or both sides of a classification run, from one input.

    A row is a sample and a label key; no two rows share both.

    Attributes:
        path: The input, as the user wrote it.
        samples: (n,) rows in the order of the file. Columns: `sample_id`, UTF-8 as `S` or as
            objects that hold bytes; `key`, the position in `keys`; and `truth`, the code of the
            true label, if the file says true labels. Its place is `LINE`.
        truths: (n,) rows that list all true labels, where samples have sets of them; `truth` is
            not there then.
        keys: Names of the label keys; (None,) where there are none.
        labels: Names, by code; a wide file has its classes first, in their order.
        scores: (n,) rows over label codes, with distinct labels in each and finite scores; None for
            ground truth alone.
        classes: The classes in an order that means something (wide columns, `classes:`); empty
            where the file names labels as they come.
        metadata: Values by name, one a row.
        files: The files that were read.
        warnings: Messages about unusual input that was still used.
    """

    path: str
    samples: Table
    keys: tuple[str | None, ...]
    labels: tuple[str, ...]
    scores: Scores | None
    classes: tuple[str, ...]
    metadata: Mapping[str, Sequence[Scalar]]
    files: Sequence[InputFile]
    warnings: Sequence[str] = ()
    truths: SparseScores | None = None

    def pick(self, at: NDArray[np.int64]) -> ScoreFile:
        """Rows by position, in that order."""
        return self._some(
            self.samples.pick(at),
            None if self.scores is None else self.scores.take(at),
            None if self.truths is None else self.truths.take(at),
            at.tolist(),
        )

    def between(self, low: int, high: int) -> ScoreFile:
        """The rows from one position to below another, as they lie in memory."""
        return self._some(
            self.samples.between(low, high),
            None if self.scores is None else self.scores.between(low, high),
            None if self.truths is None else self.truths.between(low, high),
            range(low, high),
        )

    def _some(
        self,
        samples: Table,
        scores: Scores | None,
        truths: SparseScores | None,
        at: Iterable[int],
    ) -> ScoreFile:
        metadata = {name: [values[one] for one in at] for name, values in self.metadata.items()}
        return replace(self, samples=samples, scores=scores, truths=truths, metadata=metadata)

    @property
    def true_labels(self) -> NDArray[Any]:
        """Codes of the labels that are true of samples; none of predictions alone."""
        if self.truths is not None:
            return self.truths.label
        return self.samples.columns.get("truth", np.zeros(0, np.int64))
