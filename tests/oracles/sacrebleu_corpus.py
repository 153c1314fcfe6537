"""The published cases of sacrebleu, and what it and we say of rows, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
from msgspec.structs import replace

from tests.oracles.text_rows import Rows, lines
from tests.oracles.text_samples import found, measured, of_rows, outcome, sampled, samples
from valor_cli.metric import Metric
from valor_cli.results import MetricValue


def cases(metric: str) -> list[dict[str, Any]]:
    """The published cases of a metric of sacrebleu: "BLEU", "chrF2" or "TER"."""
    return [row for row in lines("sacrebleu-golden/cases.jsonl") if row["metric"] == metric]


def check_case(metric: Metric[Any], case: Mapping[str, Any]) -> None:
    """Our value is the published one."""
    data = samples(case["predictions"], references=case["references"])
    expected, within = case["expected_percent"], case["tolerance"]
    (value, *_) = found(metric, data, **case["settings"]).values
    assert value.value is not None
    assert abs(value.value * 100 - expected) <= within
    if case["level"] == "sentence":
        own = outcome(measured(metric, data, **case["settings"]), 0).values["value"]
        assert own is not None
        assert abs(own * 100 - expected) <= within


def streams(references: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """References as sacrebleu takes them: the first of all samples, the second of all …"""
    # Where a sample has no further one sacrebleu takes None, which its types do not say.
    return list(zip_longest(*references))


def told(metric: Any, rows: Rows) -> tuple[float, str]:
    """The value of sacrebleu as a fraction, and its signature."""
    score = metric.corpus_score([row[0] for row in rows], streams([row[1] for row in rows]))
    return score.score / 100, str(metric.get_signature())


def ours(metric: Metric[Any], rows: Rows, **parameters: Any) -> tuple[float | None, str]:
    """The same of ours."""
    (value, *_) = found(metric, of_rows(rows), **parameters).values
    return value.value, str(value.at["signature"])


def resampled(
    metric: Metric[Any], rows: Rows, weights: Sequence[int], **parameters: Any
) -> MetricValue:
    """Our value of the rows, each as often as its weight says."""
    again = replace(
        sampled(metric, of_rows(rows), **parameters), weights=np.array([weights], np.float64)
    )
    (value, *_) = metric.compute(again).values  # type: ignore[union-attr]
    return value
