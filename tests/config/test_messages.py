"""Each problem of a config, in plain words."""

from __future__ import annotations

import pytest

from tests.config.reading import cases
from tests.config.vocabulary import START, problems

PROBLEMS = r"""
metrics:
    3:9: metrics: expected a list, found nothing
metrics: coco
    3:10: metrics: expected a list, found the text 'coco'
metrics: []
    3:10: metrics: names no metric; leave the key out for the task's default set
metrics: [5]
    3:11: metrics.0: expected a metric's name, or a mapping of one name to its parameters,
    found the number 5
metrics:
| - ap:
|   zero: 0
    4:4: metrics.0: expected a metric's name, or a mapping of one name to its parameters,
    found the keys 'ap', 'zero'; indent the parameters below the name
metrics: [{}]
    3:11: metrics.0: expected a metric's name, or a mapping of one name to its parameters,
    found the keys none
metrics: [{ap: 5}]
    3:16: metrics.0: expected a mapping of parameters, found the number 5
metrics: [ap, average_precision]
    3:15: metrics.1: the same metric with the same parameters as metrics.0
label_map: [a]
    3:12: label_map: expected a mapping, found a list
label_map: {a: no, b: null}
    3:23: label_map.b: expected text, found nothing
filter: {lable: x}
    3:10: filter.lable: unknown key (did you mean 'label'?); a filter has label, image_id,
    sample_id, metadata.NAME
filter: {label: []}
    3:17: filter.label: expected at least one value, found an empty list
filter: {label: }
    3:17: filter.label: expected a single value, found nothing
filter: {metadata.a: [[1]]}
    3:23: filter.metadata.a.0: expected a single value, found a list
slices: [{area: [tiny]}]
    3:18: slices.0.area.0: expected one of all, small, large, found 'tiny'
slices: [aera]
    3:10: slices.0: unknown slice key 'aera' (did you mean 'area'?); boxes has area,
    metadata.NAME; auto looks for the worst
slices: [{area: small}]
    3:17: slices.0.area: expected a list of values, found the text 'small'
slices: [{area: []}]
    3:17: slices.0.area: expected at least one value, found an empty list
slices: atuo
    3:9: slices: expected a list, or auto, found the text 'atuo'
slices: {auto: }
    3:9: slices: expected a list, or auto, found a mapping
slices: [aut]
    3:10: slices.0: unknown slice key 'aut' (did you mean 'auto'?); boxes has area,
    metadata.NAME; auto looks for the worst
slices: [{auto: {min_sise: 3}}]
    3:18: slices.0.auto.min_sise: unknown key (did you mean 'min_size'?); auto has columns,
    min_size, most, depth, level
slices: [{auto: {depth: 3}}]
    3:25: slices.0.auto.depth: expected a number of at most 2, found 3
slices: [{auto: {min_size: 1}}]
    3:28: slices.0.auto.min_size: expected a number of at least 2, found 1
slices: [{auto: {columns: [metadata.a, metadata.a]}}]
    3:27: slices.0.auto.columns: duplicate metadata.a
slices: [{auto: {columns: []}}]
    3:27: slices.0.auto.columns: expected at least 1 item, found 0
slices: [{auto: [a]}]
    3:17: slices.0.auto: expected a mapping, found a list
slices: [auto, {auto: }]
    3:16: slices.1: duplicate slice 'auto'
slices: [area, area]
    3:16: slices.1: duplicate slice 'area'
slices: [{area: [all, all]}]
    3:23: slices.0.area.1: duplicate value 'all'
slices: [{metadata.a: [{}]}]
    3:24: slices.0.metadata.a.0: expected a single value, found a mapping
slices: [[]]
    3:10: slices.0: expected a key, or a mapping of one key to a list of values, found a list
gates: [{metric: app, min: 1}]
    3:18: gates.0.metric: unknown metric 'app' (did you mean 'ap'?); boxes has coco,
    average_precision
gates: [{metric: ap, output: recal, min: 1}]
    3:30: gates.0.output: unknown output 'recal' (did you mean 'recall'?); ap has value,
    recall
gates: [{metric: ap, min: 1, slice: rain}]
    3:37: gates.0.slice: expected text such as metadata.camera=front, found 'rain'
gates: [{metric: ap, min: 1, slice: area=tiny}]
    3:37: gates.0.slice: expected one of all, small, large, found 'tiny'
gates: [{metric: ap, min: 1, slice: aera=all}]
    3:37: gates.0.slice: unknown slice key 'aera' (did you mean 'area'?); boxes has area,
    metadata.NAME
metrics: [{coco: {a: 1}}]
    3:19: metrics.0.a: unknown parameter; coco has none
metrics: [{ap: {max_detections: true}}]
    3:33: metrics.0.max_detections: expected a whole number, found true
metrics: [{ap: {max_detections: 1.0}}]
    3:33: metrics.0.max_detections: expected a whole number, found the number 1.0
metrics: [{ap: {iou_thresholds: []}}]
    3:33: metrics.0.iou_thresholds: expected at least 1 item, found 0
metrics: [{ap: {iou_thresholds: 0.5}}]
    3:33: metrics.0.iou_thresholds: expected a list, found the number 0.5
metrics: [{ap: {zero: 2}}]
    3:23: metrics.0.zero: expected skip or a number of at most 1, found 2
metrics: [{ap: {iou_thresholds: [x]}}]
    3:34: metrics.0.iou_thresholds.0: expected a number, found the text 'x'
interval: {method: bca}
    3:20: interval.method: expected bootstrap, found 'bca'
interval: {level: 1}
    3:19: interval.level: expected a number below 1, found 1
interval: {resamples: 100001}
    3:23: interval.resamples: expected a number of at most 100000, found 100001
interval: {seed: -1}
    3:18: interval.seed: expected a number of at least 0, found -1
interval: {group: patient}
    3:19: interval.group: expected a column, as metadata.name, found 'patient'
interval: {level: '0.5'}
    3:19: interval.level: expected a number, found the text '0.5'
interval: {level: true}
    3:19: interval.level: expected a number, found true
report: {formats: [pdf]}
    3:20: report.formats.0: expected one of json, markdown, html, junit, csv, found 'pdf'
report: {formats: []}
    3:19: report.formats: expected at least 1 item, found 0
report: {formats: [html, html]}
    3:19: report.formats: duplicate html
report: {out: ''}
    3:15: report.out: expected a folder, found empty text
report: {out: "a\0b"}
    3:15: report.out: text must not contain the character U+0000
gates: [{min: 1}]
    3:9: gates.0: min, max, max_drop and not_worse need a metric
gates: [{metric: ap, mni: 1, max: 1}]
    3:22: gates.0.mni: unknown key (did you mean 'min'?); a gate has metric, output, label,
    model, slice, parameters, min, max, max_drop, not_worse, coverage
gates: [{metric: ap, min: 2, max: 1}]
    3:9: gates.0: min is above max, so no value can pass
gates: [{metric: ap, max_drop: -1}]
    3:32: gates.0.max_drop: expected a number of at least 0, found -1
gates: [{metric: ap, min: 1, parameters: {a: [1]}}]
    3:46: gates.0.parameters.a: expected a single value, found a list
"""


@pytest.mark.parametrize(("lines", "message"), cases(PROBLEMS))
def test_each_problem_in_plain_words(lines: str, message: str) -> None:
    assert problems(f"{START}{lines}\n") == [f"run.yaml:{message}"]


def test_long_and_odd_values_are_cut_and_escaped() -> None:
    (message,) = problems(f'{START}interval: {{level: "{"y" * 500}", seed: 1}}\n')
    assert message.endswith(f"expected a number, found the text '{'y' * 59}…'")
    (message,) = problems(f'{START}interval: {{level: "a\\e[31m\\n"}}\n')
    assert message.endswith("expected a number, found the text 'a\\x1b[31m\\n'")
    (message,) = problems(f"{START}interval: {{seed: -{'9' * 500}}}\n")
    assert message.endswith(f"expected a whole number of 64 bits, found -{'9' * 58}…")
