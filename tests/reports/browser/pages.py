"""Pages with what no shipped config has: comparisons, searches, many models, judges."""

from __future__ import annotations

from collections.abc import Callable

from tests.oracles.compared import detection_compared, image_change, texts_compared
from tests.reports.catalogue import names, pairs, whole_texts
from tests.reports.found_runs import unsure
from tests.reports.judge_runs import judge_run
from tests.reports.rendered import page
from tests.reports.task_runs import classified
from tests.reports.text_runs import MODELS, text_run

PAGES: dict[str, Callable[[], str]] = {
    "made_texts": lambda: page(whole_texts()),
    "made_two_models": lambda: page(unsure(text_run(MODELS[:2], comparisons=pairs(MODELS[:2])))),
    "made_many_models": lambda: page(text_run(names(6), comparisons=pairs(names(6)))),
    "made_judges": lambda: page(judge_run()),
    "made_classes": lambda: page(classified(keys=("color", "shape"))),
    "made_comparison": lambda: page(texts_compared()),
    "made_comparison_of_images": lambda: page(
        detection_compared(changed=[image_change(at) for at in range(30)])
    ),
}
"""By name, what makes each."""
