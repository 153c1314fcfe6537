"""What a wing is: metrics that share one kind of evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, Literal

from msgspec import Struct, field

from valor_cli.metric.definition import Call, Metric
from valor_cli.metric.evidence import D, E
from valor_cli.metric.evidence_counts import EvidenceCounts
from valor_cli.metric.loading import OneSided
from valor_cli.results import MetricSamples, ObjectsResult, Scalar


def in_one_part(evidence: E) -> Sequence[tuple[Mapping[str, Scalar], E]]:
    """Evidence evaluated as one part."""
    return (({}, evidence),)


class Wing(Struct, Generic[D, E], frozen=True):
    """Metrics that share one kind of evidence, and how that evidence is made.

    Attributes:
        plan: What the evidence must hold to serve these calls and slices.
        evidence: A shard of a dataset, and the plan, to evidence.
        merge: The evidence of several shards together; associative, order-free in its result.
        slices: For each slice key that the evidence itself can cut by (box area), its values
            and the cut.
        parts: What is evaluated independently (label keys): each part of some evidence, with what
            it adds to the parameters of its rows. As many parts for every subset of the units.
        one_sided: The labels that only one side has; None where `Loaded` knows them.
        built_from: Of what evidence is built and merged: "shards", one for each process; "ranges",
            only where inputs are read in ranges, since handing shards to processes takes longer
            than to build the evidence; "whole", where the evidence of a unit rests on others.
        complete: The evidence of all data, with what rests on the values that metrics of other
            wings have of the same units: by name, their calls and values.
        counted: What own metrics read of the evidence, for each of its replicas; its keyword-only
            arguments are parameters of theirs. None: they read none of it.
        gather: Asks models about all datasets, before there is evidence: the datasets by model,
            the plan, and whom to ask (None: nobody, every sample is skipped), to the plan that
            `evidence` takes for each model.
        stored: The classes of the evidence and of what it consists of, where it is kept beside a
            run, for another run to be compared with it.
        condense: The evidence of a shard, to what these calls need of it without its units: of
            bounded size, and merged as evidence is.
        objects: Every object of a model with its outcome: the model, its dataset (in the parts that
            it was read in), the evidence and the calls, to these, or None if there are too many to
            keep; None where objects are not matched.
    """

    metrics: tuple[Metric[E], ...]
    plan: Callable[[Sequence[Call], Sequence[str]], Any]
    evidence: Callable[[D, Any], E]
    merge: Callable[[Sequence[E]], E]
    slices: Mapping[str, tuple[Sequence[str], Callable[[E, str], E]]] = field(default_factory=dict)
    parts: Callable[[E], Sequence[tuple[Mapping[str, Scalar], E]]] = in_one_part
    one_sided: Callable[[E], OneSided] | None = None
    built_from: Literal["shards", "ranges", "whole"] = "shards"
    complete: Callable[[E, Mapping[str, tuple[Call, MetricSamples | None]]], E] | None = None
    counted: Callable[..., Iterator[EvidenceCounts]] | None = None
    gather: Callable[[Mapping[str, D], Any, Any], Mapping[str, Any]] | None = None
    condense: Callable[[E, Sequence[Call]], Any] | None = None
    stored: tuple[type[Any], ...] = ()
    objects: Callable[[str, Sequence[D], E, Sequence[Call]], ObjectsResult | None] | None = None
