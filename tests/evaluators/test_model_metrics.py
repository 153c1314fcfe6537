"""How models of a run come to measure samples, and what becomes of those that cannot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from tests.oracles.text_models import ScriptedModels, ScriptedSession
from tests.oracles.text_samples import samples
from valor_cli import catalogue
from valor_cli.evaluators.model_metrics import ModelTexts, gather, measured_evidence, model_wing
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.metric import Call, Metric, Output, Wing
from valor_cli.models.protocols import ModelIdentity, Unavailable
from valor_cli.models.requests import NoAnswer, Stopped
from valor_cli.results import Findings, MetricValue

DATA = samples(response=["one. two.", "", "key AKIAIOSFODNN7EXAMPLE"])


def length(texts: ModelTexts, *, fails: str = "") -> Outcomes:
    """How long the response is."""
    failures: dict[str, Exception] = {
        "absent": Unavailable("the model x is not on this machine; fetch it: hf download x"),
        "silent": NoAnswer("no answer"),
        "stopped": Stopped("interrupted"),
    }
    if fails:
        raise failures[fails]
    found = [
        Outcome({"value": float(len(text or ""))}, details={"text": text})
        for text in texts.data.response
    ]
    return Outcomes.of(found, ["value"], beside=ModelIdentity("tiny", "ab" * 32).beside)


LENGTH = Metric(
    "length", mean_of_samples, "none", measure=length, outputs=(Output(bounds=(0, None)),)
)


def call(**parameters: Any) -> Call:
    return Call(LENGTH, {"fails": "", **parameters})


def found(*calls: Call, session: Any = None) -> list[Findings]:
    wing = model_wing(LENGTH)
    plan = wing.plan(calls, [])
    gathered = gather({"m": DATA}, plan, session)
    evidence = measured_evidence(DATA, gathered["m"])
    return [mean_of_samples(evidence.of(one)) for one in calls]


def test_the_model_stands_beside_every_value() -> None:
    (one,) = found(call(), session=ScriptedSession())
    (value,) = one.values
    assert value.value == pytest.approx((9 + 0 + 24) / 3, abs=1e-12)
    assert value.at == {"model": "tiny", "model_sha256": "ab" * 32}


def test_secrets_are_masked_in_what_details_quote() -> None:
    (one,) = found(call(), session=ScriptedSession())
    assert one.samples is not None
    assert one.samples.details is not None
    assert "AKIAIOSFODNN7EXAMPLE" not in str(one.samples.details)


@pytest.mark.parametrize(
    ("fails", "status"),
    [("absent", "model_unavailable"), ("silent", "judge_error"), ("stopped", "skipped")],
)
def test_a_model_that_fails_fails_its_own_metric_alone(fails: str, status: str) -> None:
    failed, fine = found(call(fails=fails), call(), session=ScriptedSession())
    assert failed.statuses == {status: 3}
    assert failed.values[0].value is None
    assert fine.statuses == {"ok": 3}


def test_where_nobody_is_asked_all_are_skipped() -> None:
    (one,) = found(call())
    assert one.statuses == {"skipped": 3}


def test_vectors_come_in_groups_and_each_text_is_embedded_in_one_go() -> None:
    models = ScriptedModels(vectors={"a": (3, 4), "b": (0, 2), "zero": (0, 0)})
    texts = ModelTexts(DATA, models)
    groups: Sequence[Sequence[str]] = [["a", "b"], [], ["zero", "a"]]
    first, second, third = texts.unit_vectors(groups)
    np.testing.assert_allclose(first, [[0.6, 0.8], [0, 1]], atol=1e-15)
    assert second.shape == (0, 2)
    np.testing.assert_allclose(third, [[0, 0], [0.6, 0.8]], atol=1e-15)
    assert models.embedded == ["a", "b", "zero"]


def test_sentences_are_split_once() -> None:
    texts = ModelTexts(DATA, ScriptedModels())
    assert texts.sentences("One. Two.") == ((0, 4), (5, 9))
    assert texts.sentences("One. Two.") is texts.sentences("One. Two.")


def test_a_model_that_is_not_there_is_named_all_the_same() -> None:
    (one,) = found(replace(call(fails="absent"), model="x"), session=ScriptedSession())
    assert one.values[0].at == {"model": "x"}


ASKING = [
    (wing, metric)
    for wing in catalogue.task("text_generation").wings
    if wing.gather is not None
    for metric in wing.metrics
]


@pytest.mark.parametrize(("wing", "metric"), ASKING, ids=[one.name for _, one in ASKING])
def test_a_metric_whose_model_nobody_asks_has_no_value_and_a_reason(
    wing: Wing[Any, Any], metric: Metric[Any]
) -> None:
    # The same holds of one whose model is missing.
    asked = Call(metric, {one.name: one.default for one in metric.parameters})
    plan = wing.plan((asked,), [])
    assert wing.gather is not None
    evidence = wing.evidence(DATA, wing.gather({"m": DATA}, plan, None)["m"])
    two = np.ones((2, evidence.unit_count), np.int64)
    for some in (evidence, *evidence.resamples(two)):
        found = asked.findings(some)
        values = [found] if isinstance(found, MetricValue) else found.values
        assert values
        assert {one.value for one in values} == {None}
        assert all(one.undefined for one in values)
        assert all(one.replicas is None or np.isnan(one.replicas).all() for one in values)
