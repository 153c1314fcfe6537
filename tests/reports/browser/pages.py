"""Pages with what no shipped config has: comparisons, searches, many models, a large run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from msgspec.structs import replace
from valor_cli.reports.render.html.compared import compared_html
from valor_cli.reports.render.html.report import to_html

from tests.oracles.compared import detection_compared, image_change, texts_compared
from tests.reports.found_runs import compared, searched, unsure
from tests.reports.judge_runs import judge_run
from tests.reports.task_runs import classified
from tests.reports.text_runs import METRICS, MODELS, parameters, text_run
from valor_cli.results import ComparisonResult


def pairs(models: Sequence[str], **rest: bool) -> tuple[ComparisonResult, ...]:
    """Every later model against every earlier one, by all headline values of a run of texts."""
    return tuple(
        compared(later, earlier, 0.02 * at - 0.11, metric=metric, output=outputs[0],
                 parameters=parameters(metric), **rest)
        for earlier, later in combinations(models, 2)
        for at, (metric, outputs, _) in enumerate(METRICS)
    )  # fmt: skip


def against_itself(models: Sequence[str]) -> tuple[ComparisonResult, ...]:
    """Each model against that of a baseline, which has another name."""
    return tuple(
        compared(model, f"{model}-monday", 0.04 * at - 0.1, metric=metric, output=outputs[0],
                 parameters=parameters(metric), baseline=True)
        for model in models
        for at, (metric, outputs, _) in enumerate(METRICS)
    )  # fmt: skip


def _texts() -> str:
    found = (searched("small", "metadata.topic=toll & metadata.length=long"), searched("large"))
    rows = (*pairs(MODELS), *against_itself(MODELS))
    return to_html(unsure(text_run(comparisons=rows, searches=found)))


def _many() -> str:
    models = tuple(f"model-{at}" for at in range(6))
    return to_html(text_run(models, comparisons=pairs(models)))


def _images_compared() -> str:
    """More images than are shown at once, some shown by one run alone."""
    images = [image_change(at) for at in range(30)]
    images[1:3] = [replace(images[1], other_objects=()), replace(images[2], objects=())]
    return compared_html(detection_compared(changed=images))


PAGES: dict[str, Callable[[], str]] = {
    "made_texts": _texts,
    "made_two_models": lambda: to_html(unsure(text_run(MODELS[:2], comparisons=pairs(MODELS[:2])))),
    "made_many_models": _many,
    "made_judges": lambda: to_html(judge_run()),
    "made_classes": lambda: to_html(classified(keys=("color", "shape"))),
    "made_comparison": lambda: compared_html(texts_compared()),
    "made_comparison_of_images": _images_compared,
}
"""By name, what makes each."""
