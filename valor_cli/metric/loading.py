"""What of the data to load, and what was loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple

from msgspec import Struct, field

from valor_cli.metric.evidence import D
from valor_cli.results import Illustration, InputFile, MetricExample, Scalar

METADATA = "metadata."
"""What keys of slices and filters that name a metadata column begin with."""


def written(value: Scalar) -> str:
    """A value as written in YAML. Slices and filters compare these: "1" and 1 are equal."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


class Selection(Struct, frozen=True):
    """Which data to evaluate, and how labels are mapped.

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
        texts: Those of `metadata` that metrics read as texts, lists and objects as JSON.
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
    texts: Sequence[str] = ()
    every_metadata: bool = False


class OneSided(NamedTuple):
    """Labels on one side only: `missing` in predictions, `ignored` without ground truth."""

    missing: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


class ModelUsage(NamedTuple):
    """Usage of a model: mean seconds per sample, and total cost; None if unknown."""

    duration_s: float | None = None
    cost_usd: float | None = None


class Loaded(Struct, Generic[D], frozen=True):
    """What was read: a dataset per model, and what the reading has to report.

    Of one range of units, `Stream.load` gives the datasets and what is known of each unit;
    `Stream.join` adds what only all ranges together tell.

    Attributes:
        datasets: By model; so are `metadata`, `groups`, `perturbed`, `spent` and `one_sided`.
        labels: Those that any file uses, in the order that results have.
        metadata: A value per unit for each name in `Selection.metadata`.
        groups: The cluster of each unit that the files name; None: it stands alone.
        perturbed: From perturbed copies of samples to their originals.
        spent: What each model took, where the files say so.
        one_sided: The labels that only one side has.
        known_labels: Those that a config may name, though nothing that is evaluated has them.
        sizes: How much there is of what, as `RunResult.data`.
        files: What was read.
        warnings: What is odd about it.
        settings: As `RunResult.settings`.
        missing_columns: What of `Selection.wanted` the files do not have.
        unfit: What of it their values do not allow, and why; "" where that is no news.
        facts: What `Stream.join` joins by.
    """

    datasets: Mapping[str, D]
    labels: Sequence[str] = ()
    metadata: Mapping[str, Mapping[str, Sequence[Scalar]]] = field(default_factory=dict)
    groups: Mapping[str, Sequence[Scalar]] = field(default_factory=dict)
    perturbed: Mapping[str, Mapping[Scalar, Scalar]] = field(default_factory=dict)
    spent: Mapping[str, ModelUsage] = field(default_factory=dict)
    one_sided: Mapping[str, OneSided] = field(default_factory=dict)
    known_labels: Sequence[str] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    files: Sequence[InputFile] = ()
    warnings: Sequence[str] = ()
    settings: Mapping[str, Scalar] = field(default_factory=dict)
    missing_columns: frozenset[str] = frozenset()
    unfit: Mapping[str, str] = field(default_factory=dict)
    facts: Any = None


class Survey(NamedTuple):
    """What all pieces together say about a run before they are joined.

    Attributes:
        ground: What every range needs to know: names of labels, what comes before each piece.
        ranges: Of units, ascending: what tells each from the others, and the pieces (positions)
            that have some of its units.
        unfit: As `Loaded.unfit`.
    """

    ground: Any
    ranges: Sequence[tuple[Any, Sequence[int]]]
    unfit: Mapping[str, str] = {}


class Stream(Struct, Generic[D], frozen=True):
    """How a task reads its inputs in pieces and evaluates ranges of units.

    What can be read at all can be loaded whole; any of these raises `UnsplittableError` where
    it must be.

    Attributes:
        cut: What `Task.load` takes, and the bytes that a piece should have, to pieces.
        read: A piece to what is told of it and its rows, by unit.
        survey: What `Task.load` takes, the pieces, and what was told of each.
        load: A ground, a range, and of each piece that has some of its units the position and the
            rows, to what `Task.load` gives of the units in that range.
        join: A ground, and what was loaded of all its ranges, in their order, to that of all.
        illustrate: The datasets of all ranges, and examples, to what is shown of each.
    """

    cut: Callable[[Any, Any, Selection, int], Sequence[Any]]
    read: Callable[[Any], tuple[Any, Any]]
    survey: Callable[[Any, Any, Selection, Sequence[Any], Sequence[Any]], Survey]
    load: Callable[[Any, Any, Sequence[tuple[int, Any]]], Loaded[D]]
    join: Callable[[Any, Sequence[Loaded[D]]], Loaded[D]]
    illustrate: Callable[[Sequence[D], Sequence[MetricExample]], Sequence[Illustration]]
