"""The numbers of docs/statistics.md are those of today's program on the sample data."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from tests.docs.pages import ROOT, text_of
from valor_cli import catalogue, pipeline
from valor_cli.config import load_config
from valor_cli.results import ComparisonResult, CoverageResult, MetricResult, RunResult
from valor_cli.statistics.corrections import holm
from valor_cli.statistics.paired import mcnemar
from valor_cli.statistics.proportions import wilson_interval

PAGE = text_of("docs/statistics.md")
WORDS = " ".join(PAGE.split())


def evaluated(name: str, *overrides: str) -> RunResult:
    config = load_config(ROOT / "configs" / f"{name}.yaml", catalogue, overrides)
    return pipeline.evaluate(pipeline.make_plan(config), command="")


@pytest.fixture(scope="module")
def detection() -> RunResult:
    return evaluated("object_detection", "slices=auto")


@pytest.fixture(scope="module")
def classification() -> RunResult:
    return evaluated("classification")


@pytest.fixture(scope="module")
def text() -> RunResult:
    return evaluated("text_generation")


def value(
    run: RunResult, model: str, metric: str, output: str = "value", label: str | None = None
) -> MetricResult:
    (found,) = (
        row
        for row in run.metrics
        if (row.model, row.metric, row.output, row.label, row.slice)
        == (model, metric, output, label, None)
    )
    return found


def held(run: RunResult, model: str, other: str, metric: str, output: str) -> ComparisonResult:
    (found,) = (
        row
        for row in run.comparisons
        if (row.model, row.other, row.metric, row.output) == (model, other, metric, output)
    )
    return found


def covered(run: RunResult, model: str, metric: str) -> CoverageResult:
    (found,) = (
        row for row in run.coverage if (row.model, row.metric, row.slice) == (model, metric, None)
    )
    return found


def between(row: MetricResult | ComparisonResult, *, sign: bool = False) -> str:
    assert row.interval is not None
    return " … ".join(f"{one:+.3f}" if sign else f"{one:.3f}" for one in row.interval)


def line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"


@pytest.mark.slow
def test_the_values_and_their_intervals(
    detection: RunResult, classification: RunResult, text: RunResult
) -> None:
    wanted = (
        ("`mean_average_precision`", value(detection, "large", "mean_average_precision"), "images"),
        ("`recall` of person", value(detection, "large", "recall", label="person"), "images"),
        ("`accuracy`", value(classification, "random_forest", "accuracy"), "samples"),
        ("`recall` of 8", value(classification, "random_forest", "recall", label="8"), "samples"),
        ("`text_matching` pass", value(text, "gpt4", "text_matching", "pass"), "samples"),
    )
    for name, row, units in wanted:
        n = detection.data["images"] if units == "images" else row.n
        cells = (name, row.model, f"{row.value:.3f}", between(row), f"{n} {units}")
        assert line(*cells, f"`{row.method}`") in PAGE
    assert detection.intervals is not None
    assert f"resamples: {detection.intervals.resamples}" in PAGE
    assert (detection.data["images"], classification.data["samples"]) == (100, 300)
    assert text.data["samples"] == 24


@pytest.mark.slow
def test_what_is_said_of_wilson(classification: RunResult, text: RunResult) -> None:
    accuracy = value(classification, "random_forest", "accuracy")
    assert accuracy.value == 292 / 300
    assert wilson_interval(292, 300, 0.95) == accuracy.interval
    assert "the 95% interval of 292 of 300 right is 0.948 to 0.986" in WORDS
    perfect = value(text, "gpt4", "language_consistency", "pass")
    assert (perfect.value, perfect.n) == (1, 24)
    assert perfect.interval is not None
    assert f"Wilson's interval is {perfect.interval[0]:.3f} … 1." in WORDS


@pytest.mark.slow
def test_what_is_said_of_seeds(detection: RunResult) -> None:
    only = ("metrics=[mean_average_precision]", "gates=[]", "slices=[]")
    again = evaluated("object_detection", *only, "interval.seed=1")
    first = between(value(detection, "large", "mean_average_precision"))
    second = between(value(again, "large", "mean_average_precision"))
    assert f"with `seed: 1` the {first} above becomes {second}" in WORDS


@pytest.mark.slow
def test_what_is_marked(classification: RunResult) -> None:
    assert value(classification, "random_forest", "recall", label="8").caution == "small_n"
    assert value(classification, "random_forest", "accuracy").caution is None


@pytest.mark.slow
def test_the_paired_difference(detection: RunResult) -> None:
    for model in ("small", "large"):
        row = value(detection, model, "image_scores", "precision")
        assert line(model, f"{row.value:.3f}", between(row)) in PAGE
    row = held(detection, "large", "small", "image_scores", "precision")
    assert line("large minus small", f"{row.difference:+.3f}", between(row, sign=True)) in PAGE
    told = f"on {row.wins} images large is better, on {row.losses} worse, on {row.ties} equal"
    assert told in WORDS
    assert f"(p = {row.p:.3f})" in WORDS
    assert (row.p or 1) < 0.05


@pytest.mark.slow
def test_the_verdicts(detection: RunResult, classification: RunResult, text: RunResult) -> None:
    wanted = (
        ("`coco` AP", held(detection, "large", "small", "coco", "AP")),
        ("`coco` APsmall", held(detection, "large", "small", "coco", "APsmall")),
        ("`text_matching` pass", held(text, "gpt4", "chatgpt", "text_matching", "pass")),
        (
            "`sample_scores` correct",
            held(classification, "naive_bayes", "random_forest", "sample_scores", "correct"),
        ),
    )
    for name, row in wanted:
        p = row.p if row.p_adjusted is None else row.p_adjusted
        cells = (name, f"{row.model}, {row.other}", f"{row.difference:+.3f}")
        assert line(*cells, between(row, sign=True), f"{p:.3f}", row.verdict) in PAGE
    passes = wanted[2][1]
    assert (round((passes.value or 0) * 24), round((passes.other_value or 0) * 24)) == (19, 15)
    assert (passes.wins, passes.losses) == (6, 2)
    assert f"p = {passes.p:.3f}, {passes.p_adjusted:.3f} once corrected" in WORDS
    assert "29 of 100 tries" in WORDS


@pytest.mark.slow
def test_the_reasons(text: RunResult) -> None:
    row = held(text, "gpt4", "chatgpt", "text_matching", "pass")
    assert f"`{row.reason}`" in WORDS
    assert (round(mcnemar(6, 0), 2), round(mcnemar(5, 0), 2)) == (0.03, 0.06)
    assert "2 / 2⁶ = 0.03; five have 0.06" in WORDS


@pytest.mark.slow
def test_what_is_said_of_many_values(detection: RunResult) -> None:
    assert f"at least one is {1 - 0.95**20:.0%}" in WORDS
    row = held(detection, "large", "small", "coco", "AP")
    whole = [one for one in detection.comparisons if one.label is None]
    headline = [one for one in whole if one.p_adjusted is not None]
    told = f"p = {row.p:.3f} before and, among {len(headline)} values, {row.p_adjusted:.3f} after"
    assert told in WORDS
    # The smallest p of 500 resamples, among 26 and among 25.
    assert (holm([1 / 501] * 26)[0] or 0) > 0.05 > (holm([1 / 501] * 25)[0] or 0)
    assert "500 of them and 26 headline values can never reach 0.05" in WORDS


def test_what_is_said_of_the_search(detection: RunResult) -> None:
    assert {one.searched for one in detection.searches} == {0}
    assert {one.columns for one in detection.searches} == {("metadata.orientation",)}
    assert "0 parts were searched" in WORDS


@pytest.mark.slow
def test_what_is_said_of_coverage(text: RunResult) -> None:
    row, passes = (
        covered(text, "fid", "language_consistency"),
        value(text, "fid", "language_consistency", "pass"),
    )
    assert (row.coverage, passes.value, passes.n) == (1, 1, 2)
    assert row.statuses == {"ok": 2, "not_applicable": 22}
    assert passes.interval is not None
    assert f"of the other 2, is {passes.interval[0]:.3f} … 1." in WORDS


@pytest.mark.parametrize("n", [30, 100, 300, 1_000, 10_000])
def test_the_table_of_rates(n: int) -> None:
    found = [wilson_interval(round(rate * n), n, 0.95) for rate in (0.5, 0.9, 0.99)]
    cells = [f"{one[0]:.3f} … {one[1]:.3f}" for one in found if one is not None]
    assert line(f"{n:,}", *cells) in PAGE


DIFFERENCES = (0.10, 0.05, 0.02, 0.01)
DIFFERING = (0.10, 0.20, 0.30)


def needed(difference: float, differing: float) -> int:
    """Connor, Sample size for testing differences in proportions for the paired-sample design,
    1987, with power 0.8 at 0.05."""
    root = 1.959964 * sqrt(differing) + 0.841621 * sqrt(differing - difference**2)
    return round(root**2 / difference**2)


@pytest.mark.parametrize("difference", DIFFERENCES)
def test_the_table_of_differences(difference: float) -> None:
    counts = [
        f"{needed(difference, share):,}" if share > difference else "–" for share in DIFFERING
    ]
    assert line(f"{difference:.2f}", *counts) in PAGE


@pytest.mark.parametrize(("difference", "differing"), [(0.10, 0.20), (0.05, 0.20), (0.02, 0.10)])
def test_so_many_samples_find_the_difference_four_times_in_five(
    difference: float, differing: float
) -> None:
    """The exact test is a little more cautious than the formula."""
    random = np.random.default_rng(0)
    wins, losses = (differing + difference) / 2, (differing - difference) / 2
    n = needed(difference, differing)
    drawn = random.multinomial(n, [wins, losses, 1 - differing], 2_000).tolist()
    found = sum(mcnemar(won, lost) < 0.05 for won, lost, _ in drawn) / len(drawn)
    assert 0.74 < found < 0.84
