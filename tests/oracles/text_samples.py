"""Lists of texts in; samples of a text data set out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators.samples.evidence import measure_samples
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes, Texts
from valor_cli.evaluators.samples.sampled import Sampled
from valor_cli.metric import Call, Metric
from valor_cli.results import STATUSES, Findings


def samples(
    response: Sequence[str | None],
    *,
    user_input: Sequence[str | None] | None = None,
    references: Sequence[Sequence[str]] | None = None,
    retrieved_contexts: Sequence[Sequence[str] | None] | None = None,
    condition: Sequence[str | None] | None = None,
    categories: Sequence[Sequence[str]] | None = None,
    artifacts: Sequence[str | None] | None = None,
    token_logprobs: Sequence[Sequence[float | None] | None] | None = None,
    sample_ids: Sequence[str] | None = None,
    label_map: Mapping[str, str] | None = None,
) -> TextDataset:
    """A data set with what is given; all else is not there."""
    n = len(response)
    none = (None,) * n
    return TextDataset(
        number=np.arange(n),
        sample_ids=tuple(sample_ids or (f"s{at:03}" for at in range(n))),
        user_input=tuple(user_input or none),
        response=tuple(response),
        references=tuple(map(tuple, references or ((),) * n)),
        retrieved_contexts=tuple(
            None if one is None else tuple(one) for one in retrieved_contexts or none
        ),
        condition=tuple(condition or none),
        categories=tuple(map(tuple, categories or ((),) * n)),
        group=none,
        perturbed_from=none,
        artifacts=tuple(artifacts or none),
        token_logprobs=tuple(
            None if one is None else np.array(one, np.float64) for one in token_logprobs or none
        ),
        history=none,
        label_map=label_map or {},
    )


def of_rows(rows: Sequence[tuple[str, Sequence[str]]]) -> TextDataset:
    """A data set of responses, each with its references."""
    return samples([row[0] for row in rows], references=[row[1] for row in rows])


def measured(metric: Metric[Any], data: TextDataset, **parameters: Any) -> Outcomes:
    """What a metric finds of each sample, its other parameters at their defaults."""
    outcomes = _call(metric, parameters).metric.measure
    assert outcomes is not None
    found: Outcomes = outcomes(Texts(data), **_call(metric, parameters).parameters)
    return found


def outcome(found: Outcomes, at: int) -> Outcome:
    """That of one sample; undefined outputs are left out."""
    values = {name: float(column[at]) for name, column in found.columns.items()}
    return Outcome(
        {name: value for name, value in values.items() if not np.isnan(value)},
        STATUSES[found.status[at]],
        found.reasons[at],
        found.details[at],
        found.marks[at],
    )


def found(metric: Metric[Any], data: TextDataset, **parameters: Any) -> Findings:
    """What a metric reports of a data set."""
    call = _call(metric, parameters)
    answer = call.findings(measure_samples(data, (call,)))
    assert isinstance(answer, Findings)
    return answer


def values(metric: Metric[Any], data: TextDataset, **parameters: Any) -> dict[str, float | None]:
    """By output, the values of all samples together; those of labels left out."""
    rows = found(metric, data, **parameters).values
    return {row.output: row.value for row in rows if row.label is None}


def sampled(metric: Metric[Any], data: TextDataset, **parameters: Any) -> Sampled:
    """What the `compute` of a metric gets to read."""
    call = _call(metric, parameters)
    return measure_samples(data, (call,)).of(call)


def _call(metric: Metric[Any], parameters: Mapping[str, Any]) -> Call:
    defaults = {one.name: one.default for one in metric.parameters}
    assert set(parameters) <= set(defaults), f"{metric.name} has {', '.join(defaults)}"
    return Call(metric, {**defaults, **parameters})
