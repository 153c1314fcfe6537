"""What becomes of every sample: of all judges, repeats and models, whatever they reply."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from tests.oracles.judges import ScriptedJudge, ScriptedPanel, call, judged
from tests.oracles.text_samples import samples
from valor_cli.errors import ConfigError, Problem
from valor_cli.evaluators.judge.evidence.evidence import gather
from valor_cli.evaluators.judge.metrics.faithfulness import FAITHFULNESS
from valor_cli.evaluators.judge.metrics.one_word_verdicts import CONTACT_INFORMATION
from valor_cli.evaluators.model_metrics import measured_evidence
from valor_cli.evaluators.samples.outcomes import Outcomes
from valor_cli.models.requests import NoAnswer, Stopped
from valor_cli.results import STATUSES

ABSENT, PRESENT = '{"verdict": "absent"}', '{"verdict": "present"}'
CALL = call(CONTACT_INFORMATION, {})


def status(outcomes: Outcomes) -> list[str]:
    return [STATUSES[code] for code in outcomes.status]


def test_every_sample_has_a_status_and_a_reason() -> None:
    found = judged(
        CONTACT_INFORMATION,
        samples(["a", "b", "c", "d", "e"]),
        [ABSENT, NoAnswer("judge: too long"), "Hm", "Hm", Stopped("interrupted"), PRESENT],
    )
    [outcomes] = found.outcomes
    assert status(outcomes) == ["ok", "judge_error", "parse_failure", "skipped", "ok"]
    assert list(outcomes.reasons)[1] == "judge: too long"
    assert list(outcomes.reasons)[3] == "interrupted"
    # A verdict that cannot be read is neither a pass nor a fail, but no sample to leave out: of
    # a, c and e one passes, one fails and one is unreadable.
    assert [found.output(name) for name in ("pass", "fail", "parse_failures")] == [
        pytest.approx(1 / 3)
    ] * 3


def test_a_metric_that_fails_leaves_the_others_of_the_sample_alone() -> None:
    data = samples(["a", "b"], retrieved_contexts=[["c"], None])
    found = judged(
        [(FAITHFULNESS, {}), (CONTACT_INFORMATION, {})],
        data,
        [NoAnswer("too long"), ABSENT, PRESENT],
    )
    faithful, contact = found.outcomes
    assert status(faithful) == ["judge_error", "missing_input"]
    assert status(contact) == ["ok", "ok"]
    assert [one.purpose.metric for one in found.requests] == [
        "faithfulness",
        "contact_information",
        "contact_information",
    ]


def test_an_error_of_the_judge_ends_the_run() -> None:
    wrong = ConfigError(Problem("judge", "wrong key"))
    with pytest.raises(ConfigError, match="wrong key"):
        judged(CONTACT_INFORMATION, samples(["a"]), [wrong])


def test_nobody_to_ask_skips_all() -> None:
    data = {"m": samples(["a", "b"]), "n": samples(["c"])}
    found = gather(data, (CALL, CALL), None)
    for model, count in (("m", 2), ("n", 1)):
        assert [status(one) for one in found[model].outcomes] == 2 * [count * ["skipped"]]


class StoppedPanel(ScriptedPanel):
    """A panel that does so many pieces of each juror's work."""

    done = 1

    def run(self, work: Sequence[tuple[int, Iterator[Callable[[], Awaitable[None]]]]]) -> None:
        few = [(count, (next(pieces) for _ in range(self.done))) for count, pieces in work]
        super().run(few)


def test_samples_that_nobody_got_to_are_skipped() -> None:
    panel = StoppedPanel([ScriptedJudge([ABSENT])])
    [outcomes] = gather({"m": samples(["a", "b"])}, (CALL,), panel)["m"].outcomes
    assert status(outcomes) == ["ok", "skipped"]
    assert list(outcomes.reasons)[1] == "the run stopped before it was asked"


def test_work_is_counted_and_goes_sample_by_sample() -> None:
    counted: list[int] = []

    class Counting(ScriptedPanel):
        def run(self, work: Any) -> None:
            counted.extend(count for count, _ in work)
            super().run(work)

    twice = ScriptedJudge([ABSENT] * 6, repeats=2)
    once = ScriptedJudge([PRESENT] * 3, name="other")
    data = {"m": samples(["a", "b"]), "n": samples(["c"])}
    found = gather(data, (CALL,), Counting([twice, once]))
    assert counted == [6, 3]
    assert [(one.purpose.model, one.purpose.sample_id, one.repeat) for one in twice.requests] == [
        *(("m", "s000", 0), ("m", "s000", 1)),
        *(("n", "s000", 0), ("n", "s000", 1)),
        *(("m", "s001", 0), ("m", "s001", 1)),
    ]
    [outcomes] = found["m"].outcomes
    assert outcomes.raters is not None
    # Compared is the pass rate, of which each rater has its own column.
    assert {name: list(values) for name, values in outcomes.raters.items()} == {
        ("scripted", 0): [1.0, 1.0],
        ("scripted", 1): [1.0, 1.0],
        ("other", 0): [0.0, 0.0],
    }


def test_models_are_asked_about_the_same_sample_one_after_the_other() -> None:
    judge = ScriptedJudge([ABSENT] * 5)
    # `n` has one of the samples of `m`, and one of its own.
    data = {"m": samples(["a", "b", "c"]), "n": samples(["b", "d"], sample_ids=["s001", "s9"])}
    gather(data, (CALL,), ScriptedPanel([judge]))
    assert [(one.purpose.model, one.purpose.sample_id) for one in judge.requests] == [
        *(("m", "s000"), ("m", "s001"), ("n", "s001"), ("n", "s9"), ("m", "s002")),
    ]


def test_a_rater_without_a_value_has_none_to_compare() -> None:
    judge = ScriptedJudge([ABSENT, NoAnswer("no"), PRESENT, PRESENT], repeats=2)
    [outcomes] = gather({"m": samples(["a", "b"])}, (CALL,), ScriptedPanel([judge]))["m"].outcomes
    assert outcomes.raters is not None
    assert np.array_equal(outcomes.raters["scripted", 1], [np.nan, 0.0], equal_nan=True)
    assert status(outcomes) == ["ok", "ok"]


def test_evidence_stands_beside_the_samples_it_is_of() -> None:
    data = samples(["a", "b"], sample_ids=["x", "y"])
    panel = ScriptedPanel([ScriptedJudge([ABSENT, PRESENT])])
    evidence = measured_evidence(data, gather({"m": data}, (CALL,), panel)["m"])
    assert list(evidence.sample_ids) == ["x", "y"]
    assert evidence.calls == (CALL,)


def test_a_metric_that_measures_nothing_cannot_be_asked_for() -> None:
    from msgspec.structs import replace

    empty = call(replace(CONTACT_INFORMATION, measure=None), {})
    with pytest.raises(ValueError, match="has no measure"):
        gather({"m": samples(["a"])}, (empty,), ScriptedPanel([ScriptedJudge([])]))


def test_each_sample_is_asked_about_by_itself() -> None:
    # What was found of one sample must not answer for another.
    found = judged(CONTACT_INFORMATION, samples(["same", "same"]), [ABSENT, PRESENT])
    assert found.values == [1.0, 0.0]
