"""The worst images of each model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from valor_cli.reports.digests.errors.outcomes import ERRORS, OUTCOMES, counted, told
from valor_cli.reports.digests.formatting import clean, number, output_words, whole
from valor_cli.results import ExampleResult, RunResult, Scalar

KIND = "worst_image"

OTHERS = 3
"""Further values told of an image."""


class WorstImage(Struct, frozen=True):
    """An image among the worst of a model.

    Attributes:
        measure: What its value is, such as "F1".
        others: Its further values in words, where it has no objects to count.
        counts: How many of its objects have each outcome.
        errors: Its wrong objects in words.
    """

    name: str
    file: str
    measure: str
    value: str
    others: str
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
    primary: dict[str, str] = {}
    for row in result.metrics:
        primary.setdefault(row.metric, row.output)  # a metric's first output is its primary one
    for samples in result.samples:
        primary.setdefault(samples.metric, next(iter(samples.columns), "value"))
    others = _others(result, found.values())
    return tuple(
        tuple(_image(one, primary.get(one.metric, "value"), others) for one in examples)
        for examples in found.values()
    )


def _others(
    result: RunResult, found: Iterable[Sequence[ExampleResult]]
) -> dict[tuple[str, str, Scalar], str]:
    """Values of the images without objects, besides the primary one."""
    wanted = {
        (one.metric, one.model, one.sample_id)
        for examples in found
        for one in examples
        if not one.objects
    }
    told: dict[tuple[str, str, Scalar], str] = {}
    for samples in result.samples if wanted else ():
        further = [
            (name, column)
            for name, column in list(samples.columns.items())[1:]
            if not whole(column)
        ]
        for index, sample in enumerate(samples.sample_ids):
            key = (samples.metric, samples.model, sample)
            if key in wanted and key not in told:
                values = [
                    f"{output_words(name)} {number(column[index])}"
                    for name, column in further
                    if column[index] is not None
                ]
                told[key] = ", ".join(values[:OTHERS])
    return told


def _image(
    example: ExampleResult, output: str, others: Mapping[tuple[str, str, Scalar], str]
) -> WorstImage:
    file = example.picture.file if example.picture else None
    counts = counted(example)
    wrong = told(counts, [error.name for error in ERRORS])
    return WorstImage(
        clean(str(example.sample_id), 60),
        clean(file, 120) if file else "",
        output_words(output),
        number(example.value),
        others.get((example.metric, example.model, example.sample_id), ""),
        {name: counts[name] for name in OUTCOMES if name in counts},
        wrong,
        example,
    )
