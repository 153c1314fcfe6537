"""What a docstring says of a metric, section by section."""

from __future__ import annotations

import pytest

from valor_cli.metric import Metric
from valor_cli.results import MetricValue


def share(evidence: object, *, least: float = 0.5) -> MetricValue:
    """Right ones among
    all.

    First of the paragraphs
    that explain.

    Second: Example: is not a heading, nor is
    Formula: here.

    Formula:
        right / all
          right: those at
          `least`

        all: the rest

    Pitfalls:
        It says nothing
        of size.

        Nor of time.

    Example:
        8 of 10: 8 / 10
        = 0.8.

    Args:
        evidence: What is read.
        least: From where on.

    Returns:
        The share.

    Raises:
        ValueError: Never.
    """
    return MetricValue(least)


def judged(samples: object) -> object:
    """Whether it holds.

    Returns:
        What was found of each.
    """
    return samples


def nothing_said(evidence: object) -> MetricValue:
    return MetricValue(None, "nothing")


SHARE = Metric(name="share", compute=share, reference="none")


def test_every_section_by_itself() -> None:
    assert SHARE.description == "Right ones among all."
    assert SHARE.explanation == (
        "First of the paragraphs that explain.",
        "Second: Example: is not a heading, nor is Formula: here.",
    )
    assert SHARE.pitfalls == "It says nothing of size. Nor of time."
    assert SHARE.example == "8 of 10: 8 / 10 = 0.8."


def test_a_formula_keeps_its_lines_and_what_is_indented_in_it() -> None:
    assert SHARE.formula == "right / all\n  right: those at\n  `least`\n\nall: the rest"


@pytest.mark.parametrize("section", ["formula", "pitfalls", "example"])
def test_what_is_not_said_is_empty(section: str) -> None:
    by_sample = Metric(name="judged", compute=share, measure=judged, reference="none")
    assert by_sample.description == "Whether it holds."
    assert by_sample.explanation == ()
    assert getattr(by_sample, section) == ""
    silent = Metric(name="silent", compute=nothing_said, reference="none")
    assert (silent.description, silent.explanation) == ("", ())
    assert getattr(silent, section) == ""
