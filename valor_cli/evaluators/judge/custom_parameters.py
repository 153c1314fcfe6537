"""What a config may say about a judge with a prompt of the user's own; what is wrong with it out.

The checks look at the parameters before them too, in the order of the metric's signature.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, ValidationInfo

from valor_cli.errors import did_you_mean
from valor_cli.models.delimiters import braced
from valor_cli.models.prompts import STANDARD, placeholders

CLASSES = ("true", "false")
"""What the judge says where the config names no classes; the first one passes."""

LONGEST = 60
"""Characters of a name, and of a class."""

WIDEST = 100
"""The furthest that the highest level of a rubric may lie above the lowest."""

_LEVEL = re.compile("0|[1-9][0-9]{0,5}")


def _short(text: str) -> str:
    """A name, or a class, as it is."""
    if not text.strip() or text != text.strip() or not text.isprintable() or len(text) > LONGEST:
        raise ValueError(
            f"expected 1 to {LONGEST} characters on one line, without spaces around them"
        )
    return text


def _with_placeholders(words: str) -> str:
    """A prompt as it is."""
    listed = ", ".join(f"{{{name}}}" for name in dict.fromkeys(STANDARD.values()))
    for name in braced(words):
        if name not in STANDARD:
            near = did_you_mean(name, STANDARD)
            raise ValueError(
                f"{{{name}}} is no placeholder{near}; there are {listed}; "
                f"text in braces takes two of them: {{{{{name}}}}}"
            )
    if not placeholders(words):
        raise ValueError(f"shows the judge nothing of a sample; use one at least of {listed}")
    return words


def _distinct(classes: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    """Classes as they are."""
    if len(classes) < 2:
        raise ValueError("name two classes at least")
    if len({one.casefold() for one in classes}) < len(classes):
        raise ValueError("two classes are the same word; upper and lower case are one")
    if classes != CLASSES and "prompt" in info.data and info.data["prompt"] is None:
        raise ValueError("classes of your own need a `prompt:` that asks for them")
    return classes


def _among_classes(passing: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    """Classes that pass, as they are."""
    classes: Sequence[str] = info.data.get("classes", passing)
    if not passing:
        raise ValueError("name one class at least")
    for one in passing:
        if one not in classes:
            near = did_you_mean(one, classes)
            raise ValueError(f"{one!r} is no class{near}; the classes are {', '.join(classes)}")
    return passing


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
    if highest - lowest > WIDEST:
        raise ValueError(f"levels may lie {WIDEST} apart at most, not {highest - lowest}")
    if info.data.get("classes", CLASSES) != CLASSES or info.data.get("passing") is not None:
        raise ValueError("with a rubric the judge says a number: leave `classes` and `passing` out")
    return ascending


def _within_rubric(cut: float, info: ValidationInfo) -> float:
    """A cut as it is."""
    if "rubric" not in info.data:
        return cut
    rubric = info.data["rubric"]
    if rubric is None:
        raise ValueError("is for a rubric, and there is none; classes pass by `passing`")
    lowest, *_, highest = map(int, rubric)
    if not lowest <= cut <= highest:
        raise ValueError(f"the levels go from {lowest} to {highest}, never to {cut:g}")
    return cut


Name = Annotated[str, AfterValidator(_short)]
Words = Annotated[str, AfterValidator(_with_placeholders)]
Classes = Annotated[tuple[Name, ...], AfterValidator(_distinct)]
Passing = Annotated[tuple[str, ...], AfterValidator(_among_classes)]
Rubric = Annotated[dict[str, str], AfterValidator(_levels)]
"""Levels, as results have keys: text that is a whole number."""
RubricCut = Annotated[float, AfterValidator(_within_rubric)]
