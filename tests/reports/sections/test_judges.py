"""What judges took, how far they say the same as each other and as people, what they were asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import StringIO
from typing import Any

import pytest
from msgspec.structs import asdict, replace
from rich.console import Console

from tests.reports.conftest import HOSTILE
from tests.reports.judge_runs import JUDGES, agreement, judge_run, usage
from tests.reports.rendered import texts
from tests.reports.task_runs import filled
from valor_cli.reports.digests.digest import digest
from valor_cli.reports.document import Items, Section, Table
from valor_cli.reports.render.terminal import in_full
from valor_cli.reports.sections import judges
from valor_cli.reports.sections.calibration import calibrated, calibration_json
from valor_cli.results import CalibrationResult, PromptUsed, RunResult, UsageResult, totals
from valor_cli.results.calibration import Calibrated

A, B = "a", "b"
KNOWN = usage(
    *("faithfulness", "small", A),
    calls=1_200,
    cached=200,
    failed=0,
    tokens_in=9_000,
    tokens_out=1_000,
    cost_usd=0.0123,
    saved_usd=0.5,
)
UNKNOWN = replace(
    KNOWN, model="large", cached=0, failed=7, tokens_in=None, cost_usd=None, saved_usd=None
)
WHO, MEANS, WIDEST, SAMPLES, AGREE, COEFFICIENT, SPREAD = range(2, 9)
"""Columns of the table of agreement."""


def _section(run: RunResult) -> Section:
    found = judges.judges(digest(run))
    assert found
    return found


def _table(run: RunResult, caption: str) -> Table:
    blocks = [one for one in _section(run).blocks if isinstance(one, Table)]
    return next(one for one in blocks if one.caption == caption)


def _usage(*rows: UsageResult) -> Table:
    return _table(judge_run(usage=rows), "Usage")


def _agreement(**rest: Any) -> tuple[list[str], str]:
    """A row of the table, and the sentence."""
    run = judge_run(agreements=[agreement("faithfulness", "small", **rest)])
    (row,) = texts(_table(run, "Agreement"))
    (items,) = (one for one in _section(run).blocks if isinstance(one, Items))
    return row, items.items[0].text.removeprefix("faithfulness, small: ")


def test_sums_worked_by_hand() -> None:
    whole = totals([KNOWN, KNOWN])
    assert (whole.calls, whole.cached, whole.failed) == (2_400, 400, 0)
    assert (whole.tokens_in, whole.tokens_out) == (18_000, 2_000)
    assert (whole.cost_usd, whole.saved_usd) == (0.0246, 1.0)
    part = totals([KNOWN, UNKNOWN])
    assert (part.calls, part.tokens_in, part.tokens_out) == (2_400, None, 2_000)
    assert part.cost_usd is part.saved_usd is None
    # the sum does not depend on the order
    tenths = [replace(KNOWN, cost_usd=cost) for cost in (0.1, 0.2, 0.3, 1e16, -1e16)]
    assert totals(tenths).cost_usd == totals(tenths[::-1]).cost_usd


def test_usage_by_judge_metric_and_model() -> None:
    table = _usage(KNOWN, UNKNOWN)
    lines = [" ".join(cell or "-" for cell in row) for row in texts(table)]
    assert [" | ".join(one.name for one in table.columns), *lines] == [
        "judge | metric | model | calls | cached | failed | tokens in | tokens out | cost | saved",
        "a faithfulness small 1,200 200 – 9,000 1,000 $0.0123 $0.50",
        "a faithfulness large 1,200 – 7 unknown 1,000 unknown –",
        "total - - 2,400 200 7 ≥ 9,000 2,000 ≥ $0.0123 ≥ $0.50",
    ]
    assert len(_usage(KNOWN).rows) == 1  # which needs no total


@pytest.mark.parametrize(
    ("most", "lines", "keys", "left_out"),
    [
        (24, 24, ["judge", "metric", "model"], 0),
        (23, 12, ["judge", "metric"], 0),
        (11, 3, ["judge"], 0),
        (2, 2, ["judge"], 1),
    ],
)
def test_many_lines_become_fewer_and_the_total_has_all(
    monkeypatch: pytest.MonkeyPatch, most: int, lines: int, keys: list[str], left_out: int
) -> None:
    monkeypatch.setattr(judges, "USAGE", most)
    run = judge_run(judges=JUDGES)  # 3 judges, 4 metrics, 2 models
    table = _table(run, "Usage")
    named = [one.name for one in table.columns if one.kind == "text"]
    assert (len(table.rows), named, table.left_out) == (lines + 1, keys, left_out)
    total = table.rows[-1][len(keys)].text
    assert total == f"{sum(row.calls for row in run.run.usage):,}"


def test_metrics_of_a_judge_alone_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judges, "USAGE", 3)
    table = _table(judge_run(), "Usage")
    assert ([one.name for one in table.columns][:2], table.left_out) == (["judge", "metric"], 1)


def test_judges_stand_together_in_the_order_of_their_first_line() -> None:
    rows = [replace(KNOWN, judge=judge, metric=metric) for metric in "xy" for judge in (B, A)]
    assert [row[0] for row in texts(_usage(*rows))] == [B, B, A, A, "total"]
    assert _section(judge_run(usage=rows)).told.startswith("2 judges · 4,800 calls, 800 cached")


AGREED = "on 92% of 222 samples (Fleiss' kappa 0.610); widest apart"
REPEATS: dict[str, Any] = {
    "kind": "repeats",
    "judge": "gpt-4o",
    "raters": ("1", "2"),
    "values": (0.5, 0.25),
    "n": 1,
    "agreement": 0.0,
    "coefficient": None,
    "disagreements": (),
}
NONE: dict[str, Any] = {
    "n": 0,
    "agreement": None,
    "coefficient": None,
    "spread": None,
    "disagreements": (),
}
MANY: dict[str, Any] = {
    "raters": tuple(f"j{at}" for at in range(12)),
    "values": (0.5,) * 12,
    "disagreements": range(40),
    "disagreeing": 60,
}


@pytest.mark.parametrize(
    ("rest", "cells", "sentence"),
    [
        (
            {},
            {
                WHO: "judges a, b, c",
                MEANS: "a 0.812, b 0.790, c –",
                WIDEST: "s3, s9",
                SAMPLES: "222",
                AGREE: "92%",
                COEFFICIENT: "Fleiss' kappa 0.610",
                SPREAD: "0.077",
            },
            f"judges a, b, c agree {AGREED}: s3, s9",
        ),
        (
            REPEATS,
            {MEANS: "0.500, 0.250", WIDEST: ""},
            "2 repeats of gpt-4o agree on 0% of 1 sample",
        ),
        (
            NONE,
            {AGREE: "–", COEFFICIENT: "", SPREAD: "–"},
            "judges a, b, c have no sample in common",
        ),
        (
            MANY,
            {
                WHO: "judges j0, j1, j2, j3, j4, j5, j6, j7 and 4 more",
                MEANS: ", ".join(f"j{at} 0.500" for at in range(8)),
            },
            f"judges j0, j1, j2, j3, j4, j5, j6, j7 and 4 more agree {AGREED}: 0, 1, 2",
        ),
    ],
    ids=["judges", "repeats", "none in common", "many"],
)
def test_how_far_judges_agree(rest: dict[str, Any], cells: dict[int, str], sentence: str) -> None:
    row, told = _agreement(**rest)
    assert {at: row[at] for at in cells} == cells
    assert told == sentence


@pytest.mark.parametrize(("part", "told"), [(0.9999, "99%"), (1.0, "100%")])
def test_an_agreement_is_never_told_higher_than_it_is(part: float, told: str) -> None:
    assert _agreement(agreement=part)[0][AGREE] == told


def test_a_metric_asked_twice_is_told_apart() -> None:
    rows = [
        agreement("faithfulness", "small", parameters={"batch_size": size, "judge_retries": None})
        for size in (5, 1)
    ]
    names = [row[0] for row in texts(_table(judge_run(agreements=rows), "Agreement"))]
    assert names == ["faithfulness (batch_size=5)", "faithfulness (batch_size=1)"]


def test_prompts() -> None:
    assert texts(_table(judge_run(), "Prompts")) == [
        ["claims", "1", "0123456789ab", "valor"],
        ["faithfulness_verdicts", "2", "fedcba987654", "valor"],
        ["house_style", "1", "aaaabbbbcccc", "the config"],
    ]


def test_words_are_cleaned() -> None:
    for word in HOSTILE:
        row, sentence = _agreement(raters=(word, "b", "c"), disagreements=(word,), statistic=word)
        prompts = _table(judge_run(prompts=(PromptUsed(word, 1, word),)), "Prompts")
        used = _usage(replace(KNOWN, judge=word, metric=word, model=word))
        for text in (*row, sentence, *texts(prompts)[0], *texts(used)[0]):
            assert text.isprintable() or not text
            assert "\u202e" not in text
            assert len(text) < 300


# Calibrations, as a terminal and programs are shown them


def calibration(**changes: Any) -> CalibrationResult:
    """20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no of 50; kappa 0.4."""
    given: dict[str, Any] = {
        "metric": "sexism",
        "model": "m",
        "column": "human_sexism",
        "scale": "verdicts",
        "labels": ("fail", "pass"),
        "matrix": [[15, 10], [5, 20]],
        "n": 50,
        "unjudged": 0,
        "agreement": 0.7,
        "kappa": 0.4,
        "kappa_interval": (0.15, 0.62),
        "human_mean": 0.5,
        "judge_mean": 0.6,
        "disagreements": [f"s{at}" for at in range(15)],
    }
    return filled(CalibrationResult, **{**given, **changes})


def of_one_column(*rows: CalibrationResult, used: Sequence[UsageResult] = ()) -> Calibrated:
    return Calibrated(rows, (), (), (), used, (), None)


def shown(*rows: CalibrationResult) -> str:
    out = StringIO()
    Console(file=out, width=140).print(in_full(calibrated(of_one_column(*rows))))
    return out.getvalue()


def test_a_calibration_is_a_row_and_a_block() -> None:
    text = shown(calibration())
    head, row = (" ".join(line.split()) for line in text.splitlines()[:2])
    assert head == "metric model n agreement kappa weighted kappa Spearman"
    assert row == "sexism m 50 0.700 0.400 [0.150, 0.620] – –"
    for part in (
        "sexism against human_sexism",
        "0.400 [0.150, 0.620], fair",
        "human 0.500, judge 0.600",
        "s0, s1, s2, s3, s4 … 15 in all",
    ):
        assert part in text
    assert "self-agreement" not in text
    cells = [line.split() for line in text.splitlines()]
    assert ["fail", "15", "10"] in cells
    assert ["pass", "5", "20"] in cells


def test_judges_have_a_column_where_there_are_several() -> None:
    text = shown(calibration(model=None), calibration(model=None, judge="x"))
    rows = text.splitlines()
    assert "judge" in rows[0]
    assert rows[1].split()[1:3] == ["all", "all"]  # models, judges
    assert rows[2].split()[2] == "x"
    assert text.count("against human_sexism") == 1


NOTHING = {"n": 0, "unjudged": 4, "agreement": None, "kappa": None, "kappa_interval": None}
CLASSES = {"scale": "classes", "human_mean": None, "judge_mean": None, "self_agreement": 0.75}


@pytest.mark.parametrize(
    ("changes", "told", "untold"),
    [
        *(
            ({"kappa": kappa, "kappa_interval": None}, words, "?")
            for kappa, words in (
                (1.0, "1.000, almost perfect"),
                (0.8, "0.800, substantial"),
                (0.2, "0.200, slight or none"),
                (-0.5, "−0.500, slight or none"),
                (None, "– (all are in one category)"),
            )
        ),
        ({"metric": "custom_judge", "parameters": {"name": "tone"}}, "tone against", "custom"),
        ({"unjudged": 3}, "50 that both judged, 3 more without a verdict", "?"),
        (NOTHING, "0 that both judged, 4 more", "Cohen's kappa"),
        (NOTHING, "0 that both judged, 4 more", "human ↓"),
        (CLASSES, "0.750 of the pairs of its repeats agree", "people –"),
        # A wide matrix is left out.
        ({"labels": tuple("abcdefghijkl"), "matrix": [[0] * 12] * 12}, "sexism", "human ↓"),
        (dict.fromkeys(("model", "judge", "column"), "\x1b[2Jevil\n"), "evil", "\x1b"),
        ({"disagreements": ["\x1b[2Jevil\n"], "labels": ("\x1b[2J", "b")}, "evil", "\x1b"),
    ],
)
def test_a_calibration_in_words(changes: dict[str, Any], told: str, untold: str) -> None:
    text = shown(calibration(**changes))
    assert told in text
    assert untold not in text


def test_one_metric_in_two_ways_is_told_apart() -> None:
    sizes = ({"batch_size": size, "empty": None} for size in (1, 5))
    text = shown(*(calibration(parameters=one) for one in sizes))
    assert "sexism batch_size=1 against" in text
    assert "sexism batch_size=5 against" in text


def test_json_has_every_field_by_its_name() -> None:
    used = UsageResult("sexism", "m", "x", 50, 0, 0, 1, 2, None, None)
    found = json.loads(calibration_json(of_one_column(calibration(), used=[used]), whole=False))
    assert list(found) == ["calibrations", "usage"]
    (row,) = found["calibrations"]
    assert list(row) == list(CalibrationResult.__struct_fields__)
    assert row == json.loads(json.dumps(asdict(calibration())))
    assert found["usage"] == [asdict(used)]
