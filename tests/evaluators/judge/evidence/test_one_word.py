"""Judges of one word: what becomes of every kind of reply, whichever metric asked for it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.oracles.judges import REFUSED, judged
from tests.oracles.reply_kinds import not_saying, saying
from tests.oracles.text_samples import samples
from valor_cli.evaluators.judge.metrics.contact_information import CONTACT_INFORMATION
from valor_cli.evaluators.judge.metrics.language_mismatch import LANGUAGE_MISMATCH
from valor_cli.evaluators.judge.metrics.sexism import SEXISM
from valor_cli.evaluators.judge.metrics.summarization_judge import SUMMARIZATION_JUDGE
from valor_cli.metric import Metric
from valor_cli.models.requests import NoAnswer, Reply, Stopped
from valor_cli.results import STATUSES, Verdict

METRICS = (
    (CONTACT_INFORMATION, "absent", "present"),
    (LANGUAGE_MISMATCH, "same", "different"),
    (SEXISM, "false", "true"),
    (SUMMARIZATION_JUDGE, "good", "bad"),
)
NAMED = [pytest.param(*one, id=one[0].name) for one in METRICS]
SAID = [
    pytest.param(metric, reply, passes, id=f"{metric.name}: {word}, {kind}")
    for metric, good, bad in METRICS
    for word, other, passes in ((good, bad, 1.0), (bad, good, 0.0))
    for kind, reply in saying(word, other).items()
]
UNSAID = [
    pytest.param(metric, reply, id=f"{metric.name}: {kind}")
    for metric, good, bad in METRICS
    for kind, reply in not_saying(good, bad).items()
]
ONE = samples(["Ada mends it."], user_input=["Who mends it?"])


@pytest.mark.parametrize(("metric", "reply", "passes"), SAID)
def test_every_kind_of_reply_that_says_a_word(
    metric: Metric[Any], reply: str, passes: float
) -> None:
    assert judged(metric, ONE, [reply], judge_retries=0).values == [passes]


@pytest.mark.parametrize(("metric", "reply"), UNSAID)
def test_every_kind_of_reply_that_says_none(metric: Metric[Any], reply: str | Reply) -> None:
    found = judged(metric, ONE, [reply], judge_retries=0)
    assert STATUSES[found.outcomes[0].status[0]] == "parse_failure"
    assert found.outcomes[0].reasons[0]
    assert [found.output(name) for name in ("pass", "fail", "parse_failures")] == [None, None, 1.0]


@pytest.mark.parametrize(("metric", "good", "bad"), NAMED)
def test_rates_by_hand(metric: Metric[Any], good: str, bad: str) -> None:
    # Five of six samples have the input: two pass, two fail, one cannot be read, asked twice.
    data = samples(["a", "b", "c", None, "d", "e"], user_input=["?"] * 6)
    found = judged(metric, data, [good, bad, "Hm.", "", good, bad])
    assert found.unused == 0
    assert {row.output: row.value for row in found.findings[0].values} == {
        "pass": 0.4,
        "fail": 0.4,
        "retrieval_failures": None,
        "generation_failures": 0.4,
        "parse_failures": 0.2,
    }
    assert found.findings[0].statuses == {"ok": 4, "parse_failure": 1, "missing_input": 1}
    asked = [one.purpose.sample_id for one in found.requests]
    assert asked == ["s000", "s001", "s002", "s002", "s004", "s005"]


@pytest.mark.parametrize(("metric", "good", "bad"), NAMED)
def test_what_is_told_of_a_sample(metric: Metric[Any], good: str, bad: str) -> None:
    said = "It  is about\nAda. " + "x" * 400
    found = judged(metric, ONE, [f'{{"reason": "{said}", "verdict": "{bad}"}}']).outcomes[0]
    reason = found.reasons[0] or ""
    assert reason.startswith("It is about Ada. xxx")
    assert reason.endswith("x…")
    assert len(reason) == 300
    assert found.details[0] == {"word": bad}
    assert found.verdicts[0] == (Verdict("", bad, False, said),)


@pytest.mark.parametrize(("metric", "good", "bad"), NAMED)
def test_a_bare_word_is_its_own_reason(metric: Metric[Any], good: str, bad: str) -> None:
    found = judged(metric, ONE, [f"{good.title()}."]).outcomes[0]
    assert found.reasons == (f'the judge said "{good}"',)
    assert found.verdicts[0] == (Verdict("", good, True, ""),)


@pytest.mark.parametrize(("metric", "good", "bad"), NAMED)
def test_a_reply_that_does_not_fit_is_asked_for_again(
    metric: Metric[Any], good: str, bad: str
) -> None:
    found = judged(metric, ONE, ["Hm.", REFUSED, good], judge_retries=2)
    assert found.values == [1.0]
    asked = found.outcomes[0].asked[0]
    assert (asked.calls, tuple(asked.replies)) == (3, ("Hm.", "", good))
    first, second, third = (one.messages for one in found.requests)
    assert second[: len(first)] == first
    assert second[len(first)] == ("assistant", "Hm.")
    assert "cannot be used" in second[-1].content
    assert "refused" in third[-1].content


@pytest.mark.parametrize(("own", "configured", "calls"), [(0, 5, 1), (2, 0, 3), (None, 1, 2)])
@pytest.mark.parametrize(("metric", "good", "bad"), NAMED)
def test_its_own_retries_go_before_the_config(
    metric: Metric[Any], good: str, bad: str, own: int | None, configured: int, calls: int
) -> None:
    call = (metric, {"judge_retries": own})
    found = judged([call], ONE, ["?"] * calls, judge_retries=configured)
    assert found.unused == 0
    assert found.output("parse_failures") == 1.0


@pytest.mark.parametrize(("metric", "good", "bad"), NAMED)
def test_a_judge_that_fails_gives_no_verdict(metric: Metric[Any], good: str, bad: str) -> None:
    data = samples(["a", "b", "c"], user_input=["?"] * 3)
    found = judged(metric, data, [NoAnswer("HTTP 500 six times"), Stopped("interrupted"), good])
    assert found.findings[0].statuses == {"ok": 1, "judge_error": 1, "skipped": 1}
    assert found.outcomes[0].reasons[:2] == ("HTTP 500 six times", "interrupted")
    assert found.output("pass") == 1.0


@pytest.mark.parametrize(("metric", "good", "bad"), NAMED)
def test_an_empty_response_is_asked_about(metric: Metric[Any], good: str, bad: str) -> None:
    assert judged(metric, samples([""], user_input=[""]), [bad]).values == [0.0]
