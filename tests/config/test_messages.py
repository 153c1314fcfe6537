"""What pydantic finds, in plain words."""

from __future__ import annotations

import pytest

from tests.config.vocabulary import START, problems


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            "metrics: [{coco: {a: 1}}]",
            "3:19: metrics.0.a: unknown parameter; coco has none",
        ),
        (
            "metrics: [{ap: {max_detections: true}}]",
            "3:33: metrics.0.max_detections: expected a whole number, found true",
        ),
        (
            "metrics: [{ap: {max_detections: 1.0}}]",
            "3:33: metrics.0.max_detections: expected a whole number, found the number 1.0",
        ),
        (
            "metrics: [{ap: {iou_thresholds: []}}]",
            "3:33: metrics.0.iou_thresholds: expected at least 1 item, found 0",
        ),
        (
            "metrics: [{ap: {iou_thresholds: 0.5}}]",
            "3:33: metrics.0.iou_thresholds: expected a list, found the number 0.5",
        ),
        (
            "metrics: [{ap: {zero: 2}}]",
            "3:23: metrics.0.zero: expected skip or a number of at most 1, found 2",
        ),
        (
            "metrics: [{ap: {iou_thresholds: [x]}}]",
            "3:34: metrics.0.iou_thresholds.0: expected a number, found the text 'x'",
        ),
        ("interval: {method: bca}", "3:20: interval.method: expected bootstrap, found 'bca'"),
        (
            "interval: {level: 1}",
            "3:19: interval.level: expected a number below 1, found 1",
        ),
        (
            "interval: {resamples: 100001}",
            "3:23: interval.resamples: expected a number of at most 100000, found 100001",
        ),
        ("interval: {seed: -1}", "3:18: interval.seed: expected a number of at least 0, found -1"),
        (
            "interval: {group: patient}",
            "3:19: interval.group: expected a column, as metadata.name, found 'patient'",
        ),
        (
            "interval: {level: '0.5'}",
            "3:19: interval.level: expected a number, found the text '0.5'",
        ),
        ("interval: {level: true}", "3:19: interval.level: expected a number, found true"),
        (
            "report: {formats: [pdf]}",
            "3:20: report.formats.0: expected one of json, markdown, html, junit, csv, found 'pdf'",
        ),
        ("report: {formats: []}", "3:19: report.formats: expected at least 1 item, found 0"),
        ("report: {formats: [html, html]}", "3:19: report.formats: duplicate html"),
        ("report: {out: ''}", "3:15: report.out: expected a folder, found empty text"),
        ('report: {out: "a\\0b"}', "3:15: report.out: text must not contain the character U+0000"),
        ("gates: [{min: 1}]", "3:9: gates.0: min, max, max_drop and not_worse need a metric"),
        (
            "gates: [{metric: ap, mni: 1, max: 1}]",
            (
                "3:22: gates.0.mni: unknown key (did you mean 'min'?); a gate has metric, output, "
                "label, model, slice, parameters, min, max, max_drop, not_worse, coverage"
            ),
        ),
        (
            "gates: [{metric: ap, min: 2, max: 1}]",
            "3:9: gates.0: min is above max, so no value can pass",
        ),
        (
            "gates: [{metric: ap, max_drop: -1}]",
            "3:32: gates.0.max_drop: expected a number of at least 0, found -1",
        ),
        (
            "gates: [{metric: ap, min: 1, parameters: {a: [1]}}]",
            "3:46: gates.0.parameters.a: expected a single value, found a list",
        ),
    ],
)
def test_each_problem_in_plain_words(lines: str, message: str) -> None:
    assert problems(f"{START}{lines}\n") == [f"run.yaml:{message}"]


def test_long_and_odd_values_are_cut_and_escaped() -> None:
    (message,) = problems(f'{START}interval: {{level: "{"y" * 500}", seed: 1}}\n')
    assert message.endswith(f"expected a number, found the text '{'y' * 59}…'")
    (message,) = problems(f'{START}interval: {{level: "a\\e[31m\\n"}}\n')
    assert message.endswith("expected a number, found the text 'a\\x1b[31m\\n'")
    (message,) = problems(f"{START}interval: {{seed: -{'9' * 500}}}\n")
    assert message.endswith(f"expected a whole number of 64 bits, found -{'9' * 58}…")
