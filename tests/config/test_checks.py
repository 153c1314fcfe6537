"""No message shows a value of the environment."""

from __future__ import annotations

import pytest

from tests.config.vocabulary import START, problems

SECRET = "hunter2-hunter2"


@pytest.mark.parametrize(
    "lines",
    [
        "interval:\n  level: ${SECRET}\n",
        'interval: {method: "${SECRET}"}\n',
        'metrics: ["${SECRET}"]\n',
        'gates: [{metric: "${SECRET}", min: 1}]\n',
        'gates: [{metric: ap, output: "${SECRET}", min: 1}]\n',
        'gates: [{metric: ap, slice: "${SECRET}", min: 1}]\n',
        'gates: [{metric: ap, slice: "${SECRET}=1", min: 1}]\n',
        'slices: ["${SECRET}"]\n',
        'slices: ["metadata.${SECRET}", "metadata.${SECRET}"]\n',
        'slices: [{area: ["${SECRET}"]}]\n',
        'slices: [{metadata.a: ["${SECRET}", "${SECRET}"]}]\n',
        'report: {formats: ["${SECRET}"]}\n',
        'report: "${SECRET}"\n',
        'label_map: "${SECRET}"\n',
        'filter: "${SECRET}"\n',
    ],
)
def test_values_of_the_environment_are_never_shown(
    lines: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", SECRET)
    (message,) = problems(START + lines)
    assert "hunter2" not in message


@pytest.mark.parametrize("task", ["boxes", "boxed"])
def test_a_task_of_the_environment_is_never_shown(
    task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TASK", task)
    text = "task: ${TASK}\ndata: {a: 1}\nmetrics: [b]\nslices: [c]\n"
    assert not any(f"{task} has" in line or f"'{task}'" in line for line in problems(text))


def test_a_models_own_message_does_not_repeat_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET", SECRET)
    text = 'task: boxes\ndata: {ground_truth: "${SECRET}/", predictions: x}\n'
    assert problems(text) == [
        (
            "run.yaml:2:22: data.ground_truth: what '${SECRET}/' expands to cannot be used "
            "(its value is not shown)"
        )
    ]
