"""How far judges say the same, in words."""

from __future__ import annotations

from typing import Any

from tests.reports.conftest import HOSTILE
from tests.reports.judge_runs import agreement, judge_run
from valor_cli.reports.digests.judge_agreement import AgreementLine, agreement_lines, prompt_lines
from valor_cli.results import PromptUsed


def _line(**rest: Any) -> AgreementLine:
    (line,) = agreement_lines(judge_run(agreements=[agreement("faithfulness", "small", **rest)]))
    return line


def test_judges() -> None:
    line = _line()
    assert (line.metric, line.model) == ("faithfulness", "small")
    assert line.sentence == (
        "judges a, b, c agree on 92% of 222 samples (Fleiss' kappa 0.610); widest apart: s3, s9"
    )
    assert line.widest == "s3, s9 and 15 more"
    assert line.means == "a 0.812, b 0.790, c –"
    assert (line.samples, line.share, line.spread) == ("222", "92%", "0.077")


def test_repeats_of_one() -> None:
    line = _line(
        kind="repeats",
        judge="openai/gpt-4o-mini",
        raters=("1", "2"),
        values=(0.5, 0.25),
        n=1,
        agreement=0.0,
        coefficient=None,
        disagreements=(),
        disagreeing=0,
    )
    assert line.sentence == "2 repeats of openai/gpt-4o-mini agree on 0% of 1 sample"
    assert (line.means, line.widest) == ("0.500, 0.250", "")


def test_an_agreement_is_never_told_higher_than_it_is() -> None:
    assert _line(agreement=0.9999).share == "99%"
    assert _line(agreement=1.0).share == "100%"


def test_none_in_common() -> None:
    line = _line(n=0, agreement=None, coefficient=None, spread=None, disagreements=())
    assert line.sentence == "judges a, b, c have no sample in common"
    assert (line.share, line.coefficient, line.spread) == ("–", "", "–")


def test_a_metric_asked_twice_is_told_apart() -> None:
    rows = [
        agreement("faithfulness", "small", parameters={"batch_size": size, "judge_retries": None})
        for size in (5, 1)
    ]
    lines = agreement_lines(judge_run(agreements=rows))
    assert [line.metric for line in lines] == [
        "faithfulness (batch_size=5)",
        "faithfulness (batch_size=1)",
    ]


def test_many_judges_and_samples_are_counted() -> None:
    names = tuple(f"j{at}" for at in range(12))
    line = _line(raters=names, values=(0.5,) * 12, disagreements=range(40), disagreeing=60)
    assert line.raters == "judges j0, j1, j2, j3, j4, j5, j6, j7 and 4 more"
    assert line.means.count("0.500") == 8
    assert line.widest == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 50 more"
    assert line.sentence.endswith("widest apart: 0, 1, 2")


def test_prompts() -> None:
    lines = prompt_lines(judge_run())
    assert [(one.name, one.version, one.sha256, one.source) for one in lines] == [
        ("claims", "1", "0123456789ab", "valor"),
        ("faithfulness_verdicts", "2", "fedcba987654", "valor"),
        ("house_style", "1", "aaaabbbbcccc", "the config"),
    ]


def test_words_are_cleaned() -> None:
    for word in HOSTILE:
        line = _line(raters=(word, "b", "c"), disagreements=(word,), statistic=word)
        (prompt,) = prompt_lines(judge_run(prompts=(PromptUsed(word, 1, word),)))
        for text in (line.sentence, line.widest, line.means, prompt.name, prompt.sha256):
            assert text.isprintable()
            assert "\u202e" not in text
            assert len(text) < 300
