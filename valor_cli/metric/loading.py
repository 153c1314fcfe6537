"""What of the data to load, and what was loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple

from valor_cli.metric.evidence import D
from valor_cli.results import Illustration, InputFile, MetricExample, Scalar

METADATA = "metadata."
"""What keys of slices and filters that name a metadata column begin with."""


def written(value: Scalar) -> str:
    """A value as YAML writes it. Slices and filters compare what is written: "1" and 1 are one."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class Selection:
    """What of the data to evaluate, and under which names.

    Attributes:
        label_map: Label as in the files to label as evaluated; applied before anything else.
        keep: Column ("label", "metadata.weather") to the values kept.
        metadata: Names of the metadata columns that slices need.
        limit: Keep the first so many units; None for all.
        needs: What the metrics of the run need of the files (`Metric.needs`).
        wanted: What of `needs` the run can do without: only default metrics read it.
        optional: Names of further metadata columns, of which files may lack any.
        of_answers: Names of metadata that say something of a model's answer, not of the sample:
            one model's never hold for another's.
        every_metadata: Whether every metadata column that the files have is wanted too.
    """

    label_map: Mapping[str, str] = field(default_factory=dict)
    keep: Mapping[str, Sequence[Scalar]] = field(default_factory=dict)
    metadata: Sequence[str] = ()
    limit: int | None = None
    needs: frozenset[str] = frozenset()
    wanted: frozenset[str] = frozenset()
    optional: Sequence[str] = ()
    of_answers: Sequence[str] = ()
    every_metadata: bool = False


class Spent(NamedTuple):
    """What a model took: seconds a sample on average, and money for all; None if not known."""

    duration_s: float | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Loaded(Generic[D]):
    """What was read: a dataset per model, and what the reading has to report.

    `metadata` holds, by model, a value per unit for each name in `Selection.metadata`; `labels` are
    the labels that any file uses, in the order that results have; `known_labels` are those that a
    config may name beside them, though nothing that is evaluated has them; `settings` as in
    `RunResult`; `lacking` is what of `Selection.wanted` the files do not have.
    `groups` has, by model, the cluster of each unit that the files name; None: it stands alone.
    `perturbed` leads, by model, from perturbed copies of samples to their originals; `spent` is
    what each model took, where the files say so. `facts` is what a task's `Stream` joins by.
    """

    datasets: Mapping[str, D]
    metadata: Mapping[str, Mapping[str, Sequence[Scalar]]]
    labels: Sequence[str]
    sizes: Mapping[str, int]
    files: Sequence[InputFile]
    warnings: Sequence[str]
    missing_prediction_labels: Mapping[str, Sequence[str]]
    ignored_prediction_labels: Mapping[str, Sequence[str]]
    settings: Mapping[str, Scalar] = field(default_factory=dict)
    known_labels: Sequence[str] = ()
    lacking: frozenset[str] = frozenset()
    groups: Mapping[str, Sequence[Scalar]] = field(default_factory=dict)
    perturbed: Mapping[str, Mapping[Scalar, Scalar]] = field(default_factory=dict)
    spent: Mapping[str, Spent] = field(default_factory=dict)
    facts: Any = None


class Survey(NamedTuple):
    """What all pieces together say of a run, before any of it is joined.

    Attributes:
        ground: What every range needs to know: names of labels, what comes before each piece.
        ranges: Of units, ascending: what tells each from the others, and the pieces (positions)
            that have some of its units.
    """

    ground: Any
    ranges: Sequence[tuple[Any, Sequence[int]]]


@dataclass(frozen=True, slots=True)
class Stream(Generic[D]):
    """How a task reads its inputs piece by piece, and evaluates them range by range of units.

    What can be read at all can be loaded whole; `None` anywhere says that this is such a case.

    Attributes:
        cut: What `Task.load` takes, and the bytes that a piece should have, to pieces.
        read: A piece to what is told of it and its rows, by unit.
        survey: What `Task.load` takes, the pieces, and what was told of each.
        load: A ground, a range, and of each piece that has some of its units the position and the
            rows, to what `Task.load` gives of the units in that range.
        join: A ground, and what was loaded of all its ranges, in their order, to that of all.
        illustrate: The datasets of all ranges, and examples, to what is shown of each.
    """

    cut: Callable[[Any, Any, Selection, int], Sequence[Any] | None]
    read: Callable[[Any], tuple[Any, Any] | None]
    survey: Callable[[Any, Any, Selection, Sequence[Any], Sequence[Any]], Survey | None]
    load: Callable[[Any, Any, Sequence[tuple[int, Any]]], Loaded[D] | None]
    join: Callable[[Any, Sequence[Loaded[D]]], Loaded[D] | None]
    illustrate: Callable[[Sequence[D], Sequence[MetricExample]], Sequence[Illustration]]
