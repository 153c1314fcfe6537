"""Write samples.jsonl, one line per model and sample."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import islice, repeat
from math import isfinite
from typing import Any, Final, TypeAlias

from valor_cli.reports.digests.naming import Names
from valor_cli.results import Parameters, RunResult, SamplesResult, Scalar, Status, TextsResult
from valor_cli.results.document import dumps, finite

_AT_ONCE: Final = 1 << 10
"""Lines of a block."""


def jsonl_blocks(result: RunResult) -> Iterator[bytes]:
    """The file in blocks of lines, since it may be larger than its data.

    Models are in the order of the run, samples in the order of their first metric. A metric used
    twice has two names, with the parameters in which they differ. Beside its values, a
    sample has the `group` that it belongs to and its `texts`, where it has any.

    Raises:
        ValueError: A number is NaN or infinite, which JSON does not have.
    """
    for one in result.samples:
        _refuse_nan(one)
    names = Names((one.metric, one.parameters) for one in result.samples)
    texts = {one.model: one for one in result.texts}
    for model in result.models:
        own = [one for one in result.samples if one.model == model]
        called = named(names, ((one.metric, one.parameters) for one in own))
        columns = dict(zip(called, own, strict=True))
        lines = _rows(model, columns, texts.get(model))
        while block := b"".join(islice(lines, _AT_ONCE)):
            yield block


def named(names: Names, measures: Iterable[tuple[str, Parameters]]) -> list[str]:
    """Unique names of one model's measures in the file."""
    called: dict[str, None] = {}
    for metric, parameters in measures:
        detail = names.detail(metric, parameters)
        called[_unlike(f"{metric} ({detail})" if detail else metric, called)] = None
    return list(called)


def _rows(
    model: str, columns: Mapping[str, SamplesResult], texts: TextsResult | None
) -> Iterator[bytes]:
    """The lines of a model, one at a time: all records at once would be ten times the file."""
    ids, where = sample_order(list(columns.values()))
    beside = _beside(ids, columns.values(), texts)
    records = {name: _records(one) for name, one in columns.items()}
    if all(lines is where[0] for lines in where):
        found = zip(*records.values(), strict=True)
        each: Iterable[dict[str, Any]] = (dict(zip(columns, one, strict=True)) for one in found)
    else:
        by_line: list[dict[str, Any]] = [{} for _ in ids]
        for (name, own), lines in zip(records.items(), where, strict=True):
            for line, record in zip(lines, own, strict=True):
                by_line[line][name] = record
        each = by_line
    for sample_id, more, metrics in zip(ids, beside, each, strict=True):
        yield dumps({"sample_id": sample_id, "model": model, **more, "metrics": metrics}) + b"\n"


def _beside(
    ids: Sequence[Scalar], columns: Iterable[SamplesResult], texts: TextsResult | None
) -> Iterator[Mapping[str, Any]]:
    """What each line has besides values."""
    grouped = [one for one in columns if one.groups is not None]
    if texts is None and not grouped:
        return iter(({},) * len(ids))
    groups: Iterable[Scalar] = repeat(None, len(ids))
    if grouped:
        lines = {(type(name), name): line for line, name in enumerate(ids)}
        found: list[Scalar] = [None] * len(ids)
        for one in grouped:
            for name, group in zip(one.sample_ids, one.groups or (), strict=True):
                if group is not None:
                    found[lines[type(name), name]] = group
        groups = found
    return (
        {
            **({} if group is None else {"group": group}),
            **({"texts": told} if told else {}),
        }
        for group, told in zip(groups, _told(ids, texts), strict=True)
    )


def _told(ids: Sequence[Scalar], texts: TextsResult | None) -> Iterator[Mapping[str, str]]:
    """The texts of each line, made as they are needed: they are most of the file."""
    if texts is None:
        return iter(({},) * len(ids))
    said = zip(*texts.columns.values(), strict=True) if texts.columns else iter(((),) * len(ids))
    fields = tuple(texts.columns)
    told: Iterator[Mapping[str, str]] = (
        {field: text for field, text in zip(fields, own, strict=True) if text is not None}
        for own in said
    )
    if same_samples(ids, texts.sample_ids):
        return told
    by_sample = {(type(name), name): one for name, one in zip(texts.sample_ids, told, strict=True)}
    return (by_sample.get((type(name), name), {}) for name in ids)


def _records(one: SamplesResult) -> Iterator[dict[str, Any]]:
    """Records of each sample under one metric.

    Every record of a metric has the same keys, so that tables of them have the same columns:
    details where it gives any, what judges were asked and replied where it asks them.
    """
    primary, *others = one.columns
    rest: Any = zip(*(one.columns[name] for name in others), strict=True)
    fields: dict[str, Iterable[Any]] = {
        "status": _statuses(one),
        "value": one.columns[primary],
        "outputs": map(dict, map(zip, repeat(others), rest if others else repeat(()))),
        "reason": one.undefined,
    }
    if one.details is not None:
        fields["details"] = (details or {} for details in _finite(one))
    if one.asked is not None:
        fields["calls"] = (asked.calls for asked in one.asked)
        fields["cached"] = (asked.cached for asked in one.asked)
        fields["replies"] = (asked.replies for asked in one.asked)
        if any(asked.prompts for asked in one.asked):
            fields["prompts"] = (asked.prompts for asked in one.asked)
    # Ten thousand samples have many of these: they are made without a step of Python for each.
    return map(dict, map(zip, repeat(tuple(fields)), zip(*fields.values(), strict=False)))


def _statuses(one: SamplesResult) -> Sequence[Status]:
    """The status of each sample, from the metric or its primary values."""
    if one.statuses is not None:
        return one.statuses
    primary = next(iter(one.columns.values()))
    return ["not_applicable" if value is None else "ok" for value in primary]


def _unlike(name: str, taken: Container[str]) -> str:
    """The name, numbered if long parameters were cut to the same words."""
    count = 2
    found = name
    while found in taken:
        found = f"{name} {count}"
        count += 1
    return found


def _refuse_nan(one: SamplesResult) -> None:
    for name, column in one.columns.items():
        if not all(map(isfinite, filter(None, column))):
            raise ValueError(f"samples of {one.model}, {one.metric} {name}: NaN or infinity")


def _finite(one: SamplesResult) -> Iterator[Mapping[str, Any] | None]:
    """The details of each sample.

    Raises:
        ValueError: A number in them is NaN or infinite.
    """
    for sample_id, details in zip(one.sample_ids, one.details or (), strict=True):
        if details and not finite(details.values()):
            place = f"samples of {one.model}, {one.metric} details of {sample_id!r:.60}"
            raise ValueError(f"{place}: NaN or infinity")
        yield details


Key: TypeAlias = tuple[type, Scalar]
"""A sample's id; Python takes 1 and true for one key."""


def sample_order(columns: Sequence[SamplesResult]) -> tuple[list[Scalar], list[Sequence[int]]]:
    """All sample ids in order of first appearance, and for each metric the lines of its samples.

    Metrics that have the same samples in the same order share their lines.
    """
    places: dict[Key, int] = {}
    where: list[Sequence[int]] = []
    for at, one in enumerate(columns):
        if at and same_samples(one.sample_ids, columns[at - 1].sample_ids):
            where.append(where[-1])
            continue
        keys = ((type(name), name) for name in one.sample_ids)
        where.append([places.setdefault(key, len(places)) for key in keys])
    return [name for _, name in places], where


def same_samples(one: Sequence[Scalar], other: Sequence[Scalar]) -> bool:
    """Whether the ids are equal, in the same order."""
    return one is other or (one == other and [*map(type, one)] == [*map(type, other)])
