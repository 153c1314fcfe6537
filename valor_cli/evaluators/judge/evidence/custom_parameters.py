"""Parameter types of the custom judge.

The checks look at the parameters before them too, in the order of the metric's signature.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, ValidationInfo

from valor_cli.errors import did_you_mean
from valor_cli.evaluators.judge.evidence.custom_answers import Classified, numbers_of
from valor_cli.evaluators.judge.evidence.judged_examples import read_examples
from valor_cli.evaluators.parameters import readable_by
from valor_cli.models.judge.prompts import STANDARD, placeholders
from valor_cli.paths import LocalPath

UNNAMED = "custom"
"""What a judge without a name is called in the prompts of a run."""

CLASSES = ("true", "false")
"""What the judge says where the config names no classes; the first one passes."""

LONGEST = 60
"""Characters of a name, and of a class."""

WIDEST = 100
"""The furthest that the highest rating may lie above the lowest."""

ASKING = ("criteria", "steps", "outputs", "rubric_column")
"""Parameters that say what is judged in place of a prompt, and with which a reason is given."""

_LEVEL = re.compile("0|[1-9][0-9]{0,5}")


def _short(text: str) -> str:
    """A name, or a class, as it is."""
    if not text.strip() or text != text.strip() or not text.isprintable() or len(text) > LONGEST:
        raise ValueError(
            f"expected 1 to {LONGEST} characters on one line, without spaces around them"
        )
    return text


def _not_blank(text: str) -> str:
    """A text as it is."""
    if not text.strip():
        raise ValueError("is empty")
    return text


def _with_placeholders(words: str) -> str:
    """A prompt as it is."""
    if not placeholders(words):
        listed = ", ".join(f"{{{name}}}" for name in dict.fromkeys(STANDARD.values()))
        raise ValueError(
            f"shows the judge nothing of a sample; use one at least of {listed}, or a column"
        )
    return words


def _some(steps: tuple[str, ...]) -> tuple[str, ...]:
    """Steps as they are."""
    if not steps:
        raise ValueError("name one step at least")
    return steps


def _alone(outputs: dict[str, str], info: ValidationInfo) -> dict[str, str]:
    """Outputs as they are."""
    if not outputs:
        raise ValueError("name one output at least")
    if info.data.get("criteria") is not None or info.data.get("steps") is not None:
        raise ValueError("each output has its own words: leave `criteria` and `steps` out")
    if info.data.get("name", UNNAMED) != UNNAMED:
        raise ValueError("each output is a metric of its own name: leave `name` out")
    return outputs


def _without_outputs(value: str, info: ValidationInfo) -> str:
    """A column, or a file, as it is."""
    if info.data.get("outputs") is not None:
        raise ValueError("is for one verdict a sample: leave `outputs` out")
    if info.field_name == "examples" and info.data.get("rubric_column") is not None:
        raise ValueError("is for one question to all samples: leave `rubric_column` out")
    return value


def _of_numbers(probabilities: bool, info: ValidationInfo) -> bool:
    """A claim as it is."""
    data = info.data
    if probabilities and data.get("scale") is None and data.get("rubric") is None:
        raise ValueError("weighs the numbers of a `scale` or a `rubric`, and there is none")
    if probabilities and data.get("outputs") is not None:
        raise ValueError("is for one rating a call: leave `outputs` out")
    return probabilities


def _distinct(classes: Classified, info: ValidationInfo) -> Classified:
    """Classes as they are."""
    for one in classes:
        _short(one)
    if len(classes) < 2:
        raise ValueError("name two classes at least")
    if len({one.casefold() for one in classes}) < len(classes):
        raise ValueError("two classes are the same word; upper and lower case are one")
    asked = any(info.data.get(name) is not None for name in ("prompt", *ASKING))
    if classes != CLASSES and "prompt" in info.data and not asked:
        raise ValueError("classes of your own need a `prompt:` or `criteria:` that asks for them")
    if isinstance(classes, Mapping):
        numbers = classes.values()
        if not all(math.isfinite(one) and one >= 0 for one in numbers) or len({*numbers}) < 2:
            raise ValueError("the numbers of classes are 0 or more, and not all the same")
    return classes


def _among_classes(passing: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    """Classes that pass, as they are."""
    classes: Classified = info.data.get("classes", passing)
    if not passing:
        raise ValueError("name one class at least")
    if isinstance(classes, Mapping):
        raise ValueError("classes with numbers pass by `cut`")
    for one in passing:
        if one not in classes:
            near = did_you_mean(one, classes)
            raise ValueError(f"{one!r} is no class{near}; the classes are {', '.join(classes)}")
    return passing


def _checked_range(lowest: int, highest: int) -> None:
    if highest - lowest > WIDEST:
        raise ValueError(f"levels may lie {WIDEST} apart at most, not {highest - lowest}")


def _without_classes(info: ValidationInfo) -> None:
    if info.data.get("classes", CLASSES) != CLASSES or info.data.get("passing") is not None:
        raise ValueError("with it the judge says a number: leave `classes` and `passing` out")


def _scale(scale: tuple[int, int], info: ValidationInfo) -> tuple[int, int]:
    """A scale as it is."""
    lowest, highest = scale
    if lowest < 0 or highest <= lowest:
        raise ValueError("expected two whole numbers from 0, the lowest and the highest: [1, 5]")
    _checked_range(lowest, highest)
    _without_classes(info)
    return scale


def _levels(rubric: dict[str, str], info: ValidationInfo) -> dict[str, str]:
    """A rubric with its levels ascending."""
    for level, words in rubric.items():
        if not _LEVEL.fullmatch(level):
            raise ValueError(f"levels are whole numbers from 0, not {level!r}")
        if not words.strip():
            raise ValueError(f"level {level} has no words that say what it means")
    if len(rubric) < 2:
        raise ValueError("name two levels at least")
    ascending = dict(sorted(rubric.items(), key=lambda level: int(level[0])))
    lowest, *_, highest = map(int, ascending)
    _checked_range(lowest, highest)
    _without_classes(info)
    if info.data.get("scale") is not None:
        raise ValueError("a rubric says its scale: leave `scale` out")
    return ascending


def _within_numbers(cut: float, info: ValidationInfo) -> float:
    """A cut as it is."""
    if not {"classes", "scale", "rubric"} <= info.data.keys():
        return cut
    numbers = numbers_of(info.data["classes"], info.data["scale"], info.data["rubric"])
    if not numbers:
        raise ValueError("is for a scale or a rubric, and there is none; classes pass by `passing`")
    if not numbers[0] <= cut <= numbers[-1]:
        raise ValueError(f"the levels go from {numbers[0]:g} to {numbers[-1]:g}, never to {cut:g}")
    return cut


Name = Annotated[str, AfterValidator(_short)]
Text = Annotated[str, AfterValidator(_not_blank)]
Words = Annotated[str, AfterValidator(_with_placeholders)]
Steps = Annotated[tuple[Text, ...], AfterValidator(_some)]
Outputs = Annotated[dict[Name, Text], AfterValidator(_alone)]
Classes = Annotated[tuple[str, ...] | dict[str, float], AfterValidator(_distinct)]
Passing = Annotated[tuple[str, ...], AfterValidator(_among_classes)]
Scale = Annotated[tuple[int, int], AfterValidator(_scale)]
Rubric = Annotated[dict[str, str], AfterValidator(_levels)]
"""Levels, as results have keys: text that is a whole number."""
RubricColumn = Annotated[Name, AfterValidator(_without_outputs)]
ExamplesFile = Annotated[LocalPath, AfterValidator(_without_outputs), readable_by(read_examples)]
Probabilities = Annotated[bool, AfterValidator(_of_numbers)]
Cut = Annotated[float, AfterValidator(_within_numbers)]
