"""Questions drift: centroids by hand, against loops, what has no value, and what is told."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest

from tests.oracles.measured_by_models import findings_by
from tests.oracles.text_models import ScriptedModels, ScriptedSession
from tests.oracles.text_samples import samples
from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators.embedding.metrics.questions_drift import QUESTIONS_DRIFT
from valor_cli.evaluators.model_metrics import gather, measured_evidence
from valor_cli.evaluators.samples.evidence import SampleEvidence
from valor_cli.metric import Call
from valor_cli.results import Findings

VECTORS = {"sum": [1.0, 0.0], "sums": [2.0, 0.0], "king": [0.0, 1.0], "anti": [-1.0, 0.0]}


def asked(*questions: str | None) -> TextDataset:
    return samples([None] * len(questions), user_input=questions)


def of(data: TextDataset, **parameters: Any) -> Findings:
    parameters = {"min_test_cases": 2, **parameters}
    return findings_by(QUESTIONS_DRIFT, data, ScriptedModels(vectors=VECTORS), **parameters)


def values(found: Findings) -> dict[str, float | None]:
    return {one.output: one.value for one in found.values}


def test_by_hand() -> None:
    # First two: (1, 0), and (2, 0) of length 1 the same. Later: (0, 1) and (1, 0), whose mean is
    # (0.5, 0.5): 45 degrees. The blank one is no question.
    found = of(asked("sum", " ", "sums", "king", "sum"))
    drift = 1 - 1 / sqrt(2)
    value, p = found.values
    assert value.value == pytest.approx(drift, abs=1e-9)
    assert (value.n, p.n) == (4, 4)
    # The one king is in either group of two, always: chance drifts as far every time.
    assert p.value == 1.0
    assert value.at == {"model": "scripted-vectors", "model_sha256": "0" * 64}


def test_what_is_told_of_single_questions() -> None:
    found = of(asked("sum", None, "sums", "king", " ", "anti"))
    own = found.samples
    assert own is not None
    # From (1, 0): itself, itself, at a right angle, opposite.
    assert own.columns["value"] == [0.0, None, 0.0, 1.0, None, 2.0]
    assert own.details is not None
    assert [one and one["group"] for one in own.details] == [
        "first", None, "first", "later", None, "later",
    ]  # fmt: skip
    assert own.undefined[1] == "no user_input"
    assert own.undefined[4] == "the user_input is empty"
    assert found.statuses == {"ok": 4, "missing_input": 2}
    assert [one.sample_id for one in found.examples] == ["s005", "s003"]


@pytest.mark.parametrize(("ratio", "first"), [(0.1, 1), (0.29, 2), (0.3, 3), (0.7, 7), (0.9, 9)])
def test_where_the_data_is_split(ratio: float, first: int) -> None:
    questions = ["sum"] * first + ["king"] * (10 - first)
    assert values(of(asked(*questions), split_ratio=ratio))["value"] == pytest.approx(1, abs=1e-9)


def test_a_hundredth_is_not_lost_in_binary() -> None:
    # 100 * 0.29 is 28.999999999999996.
    questions = ["sum"] * 29 + ["king"] * 71
    assert values(of(asked(*questions), split_ratio=0.29))["value"] == pytest.approx(1, abs=1e-9)


def test_against_loops() -> None:
    questions = [f"question {at}" for at in range(31)]
    models = ScriptedModels()
    found = findings_by(QUESTIONS_DRIFT, asked(*questions), models, permutations=50, seed=3)
    rows = [list(map(float, row)) for row in models.embed(questions)]
    rows = [[x / sqrt(sum(y * y for y in row)) for x in row] for row in rows]

    def drift(first: list[list[float]], later: list[list[float]]) -> float:
        one, other = ([*map(sum, zip(*part, strict=True))] for part in (first, later))
        dot = sum(a * b for a, b in zip(one, other, strict=True))
        lengths = [sqrt(sum(x * x for x in row)) for row in (one, other)]
        return float(1 - dot / lengths[0] / lengths[1])

    mine = drift(rows[:15], rows[15:])
    rng, more = np.random.default_rng(3), 0
    for _ in range(50):
        order = rng.permutation(31).tolist()
        drawn = [rows[at] for at in order]
        more += drift(drawn[:15], drawn[15:]) >= mine
    assert values(found) == pytest.approx({"value": mine, "p_value": (1 + more) / 51}, abs=1e-9)


def test_a_change_of_subject_is_no_chance() -> None:
    found = of(asked(*["sum"] * 10, *["king"] * 10))
    assert values(found)["value"] == pytest.approx(1, abs=1e-9)
    p = values(found)["p_value"]
    assert p is not None
    assert p < 0.01
    (insight,) = found.insights
    assert insight.kind == "questions_drift"
    assert insight.value == pytest.approx(1, abs=1e-9)
    assert insight.message == (
        f"questions drift 1.000: extreme (0.5 and more), p = {p:.3g}; past 0.1: find out who asks "
        "what now, and whether the data and the model still fit"
    )


def test_insights_of_little_drift_and_of_chance() -> None:
    (insight,) = of(asked(*["sum"] * 10)).insights
    assert insight.message == (
        "questions drift 0.000: negligible (0 to 0.05), p = 1; within 0.1: keep watching"
    )
    (insight,) = of(asked("sum", "sum", "king", "sum")).insights
    assert insight.message == (
        "questions drift 0.293: moderate (0.15 to 0.3), p = 1; past 0.1, and chance does as much: "
        "evaluate more questions"
    )


def test_the_threshold_of_the_config_is_told() -> None:
    models = ScriptedModels(vectors=VECTORS)
    data = asked("sum", "sum", "king", "sum")
    found = findings_by(QUESTIONS_DRIFT, data, models, threshold=0.4, min_test_cases=2)
    assert found.insights[0].message.endswith("within 0.4: keep watching")


@pytest.mark.parametrize(
    ("questions", "parameters", "reason"),
    [
        (["sum"] * 9, {"min_test_cases": 10}, "9 questions are fewer than min_test_cases, 10"),
        (["sum"] * 4, {"split_ratio": 0.1}, "0.1 of 4 questions are none"),
        (
            ["sum", "anti", "sum", "sum"],
            {},
            "the vectors of a group are zeros, or cancel each other out",
        ),
    ],
)
def test_without_value(questions: list[str], parameters: dict[str, Any], reason: str) -> None:
    found = of(asked(*questions), **parameters)
    assert values(found) == {"value": None, "p_value": None}
    assert {one.undefined for one in found.values} == {reason}
    assert found.statuses == {"not_applicable": len(questions)}
    assert not found.insights
    assert not found.examples
    assert found.samples is not None
    assert set(found.samples.undefined) == {reason}


def test_vectors_of_zeros() -> None:
    models = ScriptedModels(vectors={"x": [0.0, 0.0]})
    found = findings_by(QUESTIONS_DRIFT, asked(*["x"] * 12), models)
    assert found.values[0].undefined == "the vectors of a group are zeros, or cancel each other out"


def test_no_questions() -> None:
    models = ScriptedModels()
    found = findings_by(QUESTIONS_DRIFT, asked(None, "", "\n"), models)
    assert not models.embedded
    assert found.statuses == {"missing_input": 3}
    assert found.values[0].undefined == (
        "no sample has one: 2 × the user_input is empty; 1 × no user_input"
    )


def evidence_of(data: TextDataset, **parameters: Any) -> tuple[Call, SampleEvidence]:
    defaults = {one.name: one.default for one in QUESTIONS_DRIFT.parameters}
    call = Call(QUESTIONS_DRIFT, {**defaults, **parameters})
    session = ScriptedSession(ScriptedModels(vectors=VECTORS))
    return call, measured_evidence(data, gather({"m": data}, (call,), session)["m"])


def test_a_slice_is_split_anew() -> None:
    # Of the first, third, fifth … the first half are kings, and the others sums.
    data = asked(*["king", "sum"] * 5, *["sum", "king"] * 5)
    call, evidence = evidence_of(data)
    assert values(call.findings(evidence))["value"] == pytest.approx(0, abs=1e-9)  # type: ignore[arg-type]
    cut = call.findings(evidence.select(np.arange(20) % 2 == 0))
    assert isinstance(cut, Findings)
    assert values(cut)["value"] == pytest.approx(1, abs=1e-9)
    assert cut.values[0].n == 10


def test_the_same_twice() -> None:
    data = asked(*(f"q{at}" for at in range(40)))
    one = findings_by(QUESTIONS_DRIFT, data, ScriptedModels())
    assert one == findings_by(QUESTIONS_DRIFT, data, ScriptedModels())
    other = findings_by(QUESTIONS_DRIFT, data, ScriptedModels(), seed=1)
    assert values(one)["value"] == values(other)["value"]
    assert values(one)["p_value"] != values(other)["p_value"]
