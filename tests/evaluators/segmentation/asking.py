"""What tests of metrics of label maps share."""

from __future__ import annotations

from typing import Any

from valor_cli.data.shapes.label_maps import SegmentationDataset
from valor_cli.evaluators.segmentation import SEMANTIC_SEGMENTATION
from valor_cli.evaluators.segmentation.evidence.confusions import Confusions, plan_counting
from valor_cli.evaluators.segmentation.evidence.shards import count_confusions
from valor_cli.metric import Call
from valor_cli.results import Findings, MetricValue

METRICS = {metric.name: metric for metric in SEMANTIC_SEGMENTATION.metrics}


def asked(name: str, **parameters: Any) -> Call:
    """A call with every parameter, as a config would make it."""
    metric = METRICS[name]
    return Call(metric, {one.name: one.default for one in metric.parameters} | parameters)


def findings(confusions: Confusions, call: Call) -> Findings:
    """What a metric says, always as findings."""
    found = call.metric.compute(confusions, **call.parameters)
    return Findings([found]) if isinstance(found, MetricValue) else found


def ask(dataset: SegmentationDataset, name: str, **parameters: Any) -> Findings:
    """What a metric says of a dataset."""
    call = asked(name, **parameters)
    return findings(count_confusions(dataset, plan_counting([call], [])), call)


def numbers(found: Findings, output: str = "value") -> dict[str | None, float | None]:
    """The values of one output by label; None is all labels together."""
    return {value.label: value.value for value in found.values if value.output == output}


def reasons(found: Findings) -> dict[str | None, str | None]:
    """Why there is no value, or a stand-in, by label."""
    return {value.label: value.undefined for value in found.values}
