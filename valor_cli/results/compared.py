"""Records of a comparison of two runs, with the samples that changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec.structs import force_setattr

from valor_cli.results.comparisons import ComparisonResult
from valor_cli.results.findings import Number, Parameters, Scalar
from valor_cli.results.illustrations import ExampleObject, Picture, ShownText
from valor_cli.results.record import Record
from valor_cli.results.run import SCHEMA_VERSION, RunInfo


class SampleChange(Record, frozen=True):
    """What one metric says of a sample in both runs; `change` is signed by the metric's
    direction.
    """

    metric: str
    output: str
    parameters: Parameters
    value: Number
    other_value: Number
    change: Literal["better", "worse"]


class ChangedSample(Record, frozen=True):
    """A sample on which two models differ, with both answers.

    Attributes:
        changes: By metric, largest change first.
        shared: Texts that are the same on both sides: the question, the reference.
        texts, other_texts: Texts that differ: the answers.
        picture, objects, other_objects: Of an image; empty if a run does not show it.
    """

    sample_id: Scalar
    model: str
    other: str
    changes: Sequence[SampleChange]
    shared: Sequence[ShownText] = ()
    texts: Sequence[ShownText] = ()
    other_texts: Sequence[ShownText] = ()
    picture: Picture | None = None
    objects: Sequence[ExampleObject] = ()
    other_objects: Sequence[ExampleObject] = ()


class ChangeCount(Record, frozen=True):
    """Number of samples on which two models differ under one metric."""

    metric: str
    output: str
    parameters: Parameters
    model: str
    other: str
    better: int
    worse: int
    equal: int


class ComparedRun(Record, frozen=True):
    """One side of a comparison: the path of its results, its models, its record."""

    path: str
    models: Sequence[str]
    run: RunInfo


class ComparedRuns(Record, frozen=True, kw_only=True):
    """A comparison of two runs, as reports read it.

    Attributes:
        worse: Whether a value that decides the verdict is worse.
        first: The baseline run: `other` of every row.
        second: The candidate run: `model` of every row.
        primary: (metric, output) of the headline values, as in `RunResult`.
        pairs: (model of the second, model of the first) that were compared.
        level: Confidence level of the intervals; a p below 1 - level is significant.
        comparisons: Rows of all pairs, headline values first.
        changes: Number of changed samples by metric and pair.
        changed: The samples that changed most, up to a limit.
        only_first, only_second: Values that only one of the runs has, in words.
        warnings: Why the comparison may be misleading.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    worse: bool = False
    task: str
    first: ComparedRun
    second: ComparedRun
    primary: Sequence[tuple[str, str]]
    pairs: Sequence[tuple[str, str]]
    level: Number
    comparisons: Sequence[ComparisonResult]
    changes: Sequence[ChangeCount]
    changed: Sequence[ChangedSample]
    only_first: Sequence[str]
    only_second: Sequence[str]
    warnings: Sequence[str]

    def __post_init__(self) -> None:
        force_setattr(self, "worse", any(row.verdict == "worse" for row in self.deciding))

    @property
    def headline(self) -> Sequence[ComparisonResult]:
        """The headline values of all data."""
        whole = (row for row in self.comparisons if row.label is None and row.slice is None)
        return [row for row in whole if (row.metric, row.output) in self.primary]

    @property
    def deciding(self) -> Sequence[ComparisonResult]:
        """The comparisons that the verdict rests on: headline values or, without any, all
        values.
        """
        return self.headline or [row for row in self.comparisons if row.label is None]

    @property
    def untested(self) -> Sequence[ComparisonResult]:
        """Deciding values that changed, or are in one run only, and were not tested."""
        return [row for row in self.deciding if row.p is None and row.value != row.other_value]
