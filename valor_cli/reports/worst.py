"""A run's examples in; each model's worst images out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from valor_cli.reports.formatting import number, plain
from valor_cli.reports.outcomes import ERRORS, OUTCOMES, counted, told
from valor_cli.results import ExampleResult, RunResult

KIND = "worst_image"


@dataclass(frozen=True, slots=True)
class WorstImage:
    """An image among the worst of a model: `f1` its value, `errors` its objects in words."""

    name: str
    file: str
    f1: str
    counts: Mapping[str, int]
    errors: str
    example: ExampleResult


def worst_images(result: RunResult, most: int) -> tuple[tuple[WorstImage, ...], ...]:
    """By model, in the order that the run has them."""
    found: dict[str, list[ExampleResult]] = {model: [] for model in result.models}
    for example in result.examples:
        if example.kind == KIND and example.slice is None and example.model in found:
            seen = found[example.model]
            # A metric asked at two settings may name an image twice.
            if len(seen) < most and all(one.sample_id != example.sample_id for one in seen):
                seen.append(example)
    return tuple(tuple(map(_image, examples)) for examples in found.values())


def _image(example: ExampleResult) -> WorstImage:
    file = example.picture.file if example.picture else None
    counts = counted(example)
    wrong = told(counts, [error.name for error in ERRORS])
    return WorstImage(
        plain(str(example.sample_id), 60),
        plain(file, 120) if file else "",
        number(example.value),
        {name: counts[name] for name in OUTCOMES if name in counts},
        wrong,
        example,
    )
