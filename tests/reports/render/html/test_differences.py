"""Comparisons of models as the HTML report shows them."""

from __future__ import annotations

import re

from msgspec.structs import replace
from valor_cli.reports.render.html.differences import ACROSS, differences
from valor_cli.reports.render.html.report import to_html
from valor_cli.reports.render.html.worst_slices import search_texts

from tests.reports.browser.pages import against_itself, pairs
from tests.reports.found_runs import compared, searched, unsure
from tests.reports.text_runs import METRICS, MODELS, parameters, text_run
from valor_cli.reports.digests.naming import frozen
from valor_cli.results import RunResult


def _section(run: RunResult, name: str) -> str:
    return to_html(run).split(f'<section aria-labelledby="{name}">')[1].split("</section>")[0]


def _cells(row: str) -> list[str]:
    found = re.findall(r"<t[dh].*?</t[dh]>", row)
    return [
        re.sub(
            r"\s+", " ", re.sub("<[^>]+>", " ", cell.replace("<wbr>", "").replace("&nbsp;", " "))
        ).strip()
        for cell in found
    ]


def _rows(section: str) -> list[list[str]]:
    return [_cells(row) for row in re.findall(r"<tr>.*?</tr>", section, re.DOTALL)]


def test_two_models_side_by_side_with_what_can_be_told() -> None:
    rows = _rows(_section(text_run(MODELS[:2], comparisons=pairs(MODELS[:2])), "results"))
    assert rows[0][3] == "Difference medium against small"
    # bleu_1: 0.02 * 0 - 0.11, with the interval and the p of found_runs
    assert rows[1][3] == "−0.110 [−0.130, −0.080] ✗ worse · p 0.012"
    assert rows[2][3] == "−0.090 [−0.110, −0.060] ~ cannot tell · p 0.012"


def test_whoever_is_judged_the_second_model_stands_first() -> None:
    turned = compared("small", "medium", 0.11, metric="bleu_1", parameters=parameters("bleu_1"))
    run = text_run(MODELS[:2], comparisons=[turned])
    (one,) = differences(run).of_two.values()
    assert (one.row.model, one.row.other, one.outcome) == ("medium", "small", "worse")
    assert (one.difference, one.interval) == ("−0.110", "[−0.140, −0.090]")
    assert (one.row.wins, one.row.losses) == (30, 50)
    straight = differences(text_run(MODELS[:2], comparisons=pairs(MODELS[:2])))
    assert set(straight.of_two) == {
        (metric, outputs[0], frozen(parameters(metric))) for metric, outputs, _ in METRICS
    }


def test_three_models_have_a_table_of_pairs() -> None:
    rows = _rows(_section(text_run(comparisons=pairs(MODELS)), "comparisons"))
    assert rows[0] == [
        "Value", "medium against small", "large against small", "large against medium",
    ]  # fmt: skip
    assert len(rows) == 1 + len(METRICS)
    assert rows[1][1] == "−0.110 ✗ worse [−0.130, −0.080] p 0.012"


def test_many_pairs_become_rows() -> None:
    models = [f"m{at}" for at in range(5)]
    rows = _rows(_section(text_run(models, comparisons=pairs(models)), "comparisons"))
    assert len(rows) == 1 + 10 > ACROSS
    assert (rows[0][0], rows[1][0], len(rows[1])) == ("Models", "m1 against m0", 1 + len(METRICS))


def test_against_a_baseline() -> None:
    run = text_run(("small",), comparisons=against_itself(("small",)))
    rows = _rows(_section(run, "baseline"))
    assert rows[1] == [
        "bleu_1 ↑", "small against small-monday", "0.471", "0.371", "−0.100 [−0.120, −0.070]",
        "0.012", "✗ worse",
    ]  # fmt: skip
    assert differences(run).pairs is None
    assert not differences(run).of_two
    labels = [replace(row, label="cat") for row in run.comparisons]
    assert differences(replace(run, comparisons=labels)).baseline is None


def test_a_run_of_one_model_has_none() -> None:
    text = to_html(text_run(("small",)))
    assert 'id="comparisons"' not in text
    assert 'id="baseline"' not in text


def test_searches_in_words() -> None:
    run = text_run(searches=[searched("small", "metadata.topic=toll"), searched("large")])
    first, second = search_texts(run, "sample")
    assert first.where == (
        "small, coco AP: 14 parts of the data (by metadata.camera; 30 samples or more) were held "
        "against the rest; 1 is worse beyond chance:"
    )
    assert first.found == (
        ("metadata.topic=toll", "0.310 against 0.520 of the rest, n 41, adjusted p 0.001"),
    )
    assert second.where.endswith("; none is worse beyond chance.")
    assert "metadata.<wbr>topic" not in to_html(run)
    assert "topic=<wbr>toll" in _section(run, "slices")


def test_few_samples_are_marked_and_intervals_told_once() -> None:
    run = unsure(text_run(("small",)))
    text = _section(run, "results")
    assert text.count('<span class="few"') == 1
    assert "° rests on fewer than 30 samples." in text
    rows = [replace(row, interval=(0.1, 0.9), method="wilson") for row in run.metrics]
    told = "95% intervals by Wilson's method"
    assert re.sub("&#39;", "'", to_html(replace(run, metrics=rows))).count(told) == 1
    rows[0] = replace(rows[0], method="bootstrap")
    told = "by the bootstrap over samples (200 resamples, seed 3), of proportions by Wilson's"
    assert told in re.sub("&#39;", "'", to_html(replace(run, metrics=rows)))
