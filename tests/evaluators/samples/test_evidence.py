"""Outcomes of samples, pooled: means, rates, sums, resamples, shards, what is told of the worst."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.oracles.text_samples import samples
from valor_cli.evaluators.samples import evidence as of_samples
from valor_cli.evaluators.samples.evidence import (
    SampleEvidence,
    measure_samples,
    sample_wing,
)
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes, Texts, missing
from valor_cli.evaluators.samples.sampled import Sampled, mean_of_samples, rate_of_samples
from valor_cli.evaluators.verdicts import OUTPUTS, RATES, unreadable, verdict
from valor_cli.metric import Call, Metric, Output
from valor_cli.results import Findings, Mark

LENGTHS = (Output("characters", "lower", (0, None), "count"), Output("spaces", None, (0, None)))


def lengths(texts: Texts, *, least: int = 0) -> Outcomes:
    """How long responses are."""
    found = []
    for response in texts.data.response:
        if response is None:
            found.append(missing("no response"))
        elif len(response) < least:
            found.append(Outcome(status="not_applicable", reason="too short"))
        else:
            spaces = response.count(" ")
            mark = Mark("response", 0, 1, "first")
            found.append(
                Outcome(
                    {"characters": len(response), "spaces": spaces or None},
                    details={"spaces": spaces},
                    marks=(mark,),
                )
            )
    counts = {"characters": np.array([len(one or "") for one in texts.data.response])}
    return Outcomes.of(found, ("characters", "spaces"), counts)


LENGTH = Metric(
    name="length",
    measure=lengths,
    compute=mean_of_samples,
    reference="len",
    outputs=LENGTHS,
    needs=("response",),
)


def agreements(texts: Texts) -> Outcomes:
    """Whether responses say yes."""
    found = [
        unreadable("mumbling")
        if response == "?"
        else missing("no response")
        if response is None
        else verdict(
            response == "yes", contexts_passed=None if context is None else "yes" in context
        )
        for response, context in zip(
            texts.data.response, texts.data.retrieved_contexts, strict=True
        )
    ]
    return Outcomes.of(found, OUTPUTS)


AGREEMENT = Metric(
    name="agreement",
    measure=agreements,
    compute=rate_of_samples,
    reference="none",
    outputs=RATES,
    needs=("response",),
)


def evidence(response: list[str | None], *calls: Call, **more: Any) -> SampleEvidence:
    return measure_samples(samples(response, **more), calls)


def findings(sampled: Sampled) -> Findings:
    found = sampled.call.findings(_Of(sampled))
    assert isinstance(found, Findings)
    return found


class _Of:
    """Evidence that has one call alone."""

    def __init__(self, sampled: Sampled) -> None:
        self.sampled = sampled

    def of(self, call: Call) -> Sampled:
        return self.sampled


MEASURED = Call(LENGTH, {"least": 2})


def test_means_run_over_samples_that_have_a_value() -> None:
    found = findings(evidence(["ab c", "abcd ef", "x", None, "abc"], MEASURED).of(MEASURED))
    # (4 + 7 + 3) / 3 characters; spaces: one each of the two that have any.
    assert [(row.output, row.value, row.n) for row in found.values] == [
        ("characters", 14 / 3, 3),
        ("spaces", 1.0, 2),
    ]
    assert found.statuses == {"ok": 3, "missing_input": 1, "not_applicable": 1}
    assert sum(found.statuses.values()) == 5
    assert found.samples is not None
    assert found.samples.statuses == ["ok", "ok", "not_applicable", "missing_input", "ok"]
    assert found.samples.columns == {
        "characters": [4.0, 7.0, None, None, 3.0],
        "spaces": [1.0, 1.0, None, None, None],
    }
    assert found.samples.details is not None
    assert found.samples.details[:3] == ({"spaces": 1}, {"spaces": 1}, None)


def test_without_a_value_the_reason_is_told_the_most_frequent_first() -> None:
    found = findings(evidence(["x", None, None], MEASURED).of(MEASURED))
    assert found.values[0].value is None
    assert found.values[0].undefined == "no sample has one: 2 × no response; 1 × too short"
    none = findings(evidence([], MEASURED).of(MEASURED))
    assert none.values[0].undefined == "no samples"


def test_the_worst_samples_come_first_equal_ones_by_their_ids() -> None:
    given = evidence(["abc", "a" * 9, "ab", "", "abc"], Call(LENGTH, {"least": 0}))
    found = findings(given.of(Call(LENGTH, {"least": 0})))
    # The best value, no characters, is no example.
    assert [(one.kind, one.sample_id, one.value) for one in found.examples] == [
        ("worst_sample", "s001", 9.0),
        ("worst_sample", "s000", 3.0),
        ("worst_sample", "s004", 3.0),
        ("worst_sample", "s002", 2.0),
    ]
    assert found.examples[0].marks == (Mark("response", 0, 1, "first"),)


def test_what_cannot_be_read_is_shown_behind_the_worst_with_a_value_or_without() -> None:
    def measured(texts: Texts) -> Outcomes:
        values = {"good": 1.0, "bad": 0.25}
        found = [
            Outcome({"value": values[one]})
            if one in values
            else Outcome(status="parse_failure", reason="unreadable")
            for one in map(str, texts.data.response)
        ]
        return Outcomes.of(found, ("value",))

    metric = Metric(name="m", measure=measured, compute=mean_of_samples, reference="none")
    call = Call(metric, {})
    found = findings(evidence(["?", "bad", "good", "!"], call).of(call))
    assert [(one.kind, one.sample_id, one.value) for one in found.examples] == [
        ("worst_sample", "s001", 0.25),
        ("unreadable", "s000", None),
        ("unreadable", "s003", None),
    ]


def test_rates_are_fractions_of_the_samples_with_input() -> None:
    call = Call(AGREEMENT, {})
    given = evidence(
        ["yes", "no", "?", None, "yes"],
        call,
        retrieved_contexts=[["yes"], ["no"], None, ["no"], None],
    )
    found = findings(given.of(call))
    # Four have a response: 2 pass, 1 fails, 1 is unreadable. Of the contexts judged 1 fails.
    assert {row.output: row.value for row in found.values} == {
        "pass": 0.5,
        "fail": 0.25,
        "retrieval_failures": 0.25,
        "generation_failures": 0.25,
        "parse_failures": 0.25,
    }
    assert {row.n for row in found.values} == {4}
    assert [(one.kind, one.sample_id, one.value) for one in found.examples] == [
        ("worst_sample", "s001", 0.0),
        ("unreadable", "s002", None),
    ]


def test_contexts_that_nobody_judges_have_no_rate() -> None:
    call = Call(AGREEMENT, {})
    rows = {row.output: row for row in findings(evidence(["yes"], call).of(call)).values}
    assert rows["retrieval_failures"].value is None
    assert rows["retrieval_failures"].undefined
    assert rows["pass"].value == 1.0


def test_resamples_weigh_samples_and_tell_nothing_of_single_ones() -> None:
    given = evidence(["ab", "abcd", None], MEASURED)
    weights = np.array([[1, 1, 1], [0, 3, 0], [2, 1, 5]])
    (again,) = given.resamples(weights)
    found = findings(again.of(MEASURED))
    characters, spaces = found.values
    assert characters.replicas is not None
    assert characters.replicas.tolist() == [3.0, 4.0, 8 / 3]
    assert (characters.value, characters.n) == (3.0, 2)
    assert spaces.replicas is not None
    assert np.isnan(spaces.replicas).all()
    assert (spaces.value, spaces.n) == (None, 0)
    assert found.samples is None
    assert not found.examples
    assert not found.statuses


def test_many_samples_are_resampled_some_replicas_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = evidence(["ab", "abcd", None], MEASURED)
    weights = np.array([[1, 1, 1], [0, 3, 0], [2, 1, 5]])
    monkeypatch.setattr(of_samples, "_WEIGHTS_AT_ONCE", 6)
    found = [one.of(MEASURED).means("characters")[0] for one in given.resamples(weights)]
    assert [one.value for one in found] == [3.0, 8 / 3]
    assert found[0].replicas is not None
    assert found[0].replicas.tolist() == [3.0, 4.0]
    assert found[1].replicas is None


def test_sums_are_exact_in_each_replica() -> None:
    tenths = np.array([0.1, 1e16, 1.0])
    (again,) = evidence(["ab", "x", "abcd"], MEASURED).resamples(
        np.array([[1, 1, 1], [10, 0, 0], [1, 2, 0]])
    )
    sums = again.of(MEASURED).sums(tenths, tenths > 1)
    # 1e16 + 1.1 lies between 1e16 and 1e16 + 2, which is the nearest float.
    assert sums.tolist() == [[1e16 + 2, 1.0, 2e16], [1.0, 0.0, 2.0]]


def test_a_part_keeps_its_samples() -> None:
    whole = evidence(["ab", "abcd", "abcdef"], MEASURED)
    part = whole.select(np.array([True, False, True]))
    assert part.unit_count == 2
    assert findings(part.of(MEASURED)).values[0].value == 4.0


def test_two_calls_of_one_metric_keep_apart() -> None:
    other = Call(LENGTH, {"least": 4})
    given = evidence(["ab", "abcd"], MEASURED, other)
    assert findings(given.of(MEASURED)).values[0].value == 3.0
    assert findings(given.of(other)).values[0].value == 4.0


def test_the_signature_of_the_measure_is_the_metrics() -> None:
    assert LENGTH.description == "How long responses are."
    assert [(one.name, one.kind, one.default) for one in LENGTH.parameters] == [("least", int, 0)]


def test_a_wing_of_samples() -> None:
    wing = sample_wing(LENGTH, AGREEMENT)
    assert [metric.name for metric in wing.metrics] == ["length", "agreement"]
    assert wing.built_from == "shards"
