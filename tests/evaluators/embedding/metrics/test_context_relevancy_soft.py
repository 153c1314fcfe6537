"""Soft context relevancy: recall and precision by hand and against loops."""

from __future__ import annotations

import pytest

from tests.oracles.measured_by_models import each_outcome, highest, sentences
from tests.oracles.text_models import ScriptedModels
from tests.oracles.text_problems import random_texts
from tests.oracles.text_samples import samples
from valor_cli.evaluators.embedding.metrics.context_relevancy_soft import CONTEXT_RELEVANCY_SOFT

VECTORS = {
    "Why? How?": [1.0, 0.0],
    "Ants.": [0.6, 0.8],
    "Bees.": [0.8, -0.6],
    "Cows.": [0.0, 1.0],
    "Dogs.": [-1.0, 0.0],
}


def test_by_hand() -> None:
    # Contexts: 0.6 by its ants, nothing, 0.8 by its bees, -1: the best is 0.8, on average
    # (0.6 + 0.8 - 1) / 3.
    data = samples(
        [None],
        user_input=["Why? How?"],
        retrieved_contexts=[["Cows. Ants.", "\n", "Bees. Dogs.", "Dogs."]],
    )
    (found,) = each_outcome(CONTEXT_RELEVANCY_SOFT, data, ScriptedModels(vectors=VECTORS))
    assert found.values == pytest.approx({"recall": 0.8, "precision": 0.4 / 3}, abs=1e-9)
    assert found.details == {"most_relevant": "retrieved_contexts[2]"}


def test_against_loops() -> None:
    data, models = random_texts(26), ScriptedModels()
    for at, one in enumerate(each_outcome(CONTEXT_RELEVANCY_SOFT, data, models)):
        question, contexts = data.user_input[at], data.retrieved_contexts[at]
        if question is None or not contexts:
            assert one.status == "missing_input"
            continue
        relevance = [highest(models, question, sentences(each)) for each in contexts]
        expected = {"recall": max(relevance), "precision": sum(relevance) / len(relevance)}
        assert one.values == pytest.approx(expected, abs=1e-9)


def test_what_is_missing() -> None:
    data = samples(
        [None] * 4,
        user_input=[None, " ", "Why? How?", "Why? How?"],
        retrieved_contexts=[["Ants."], ["Ants."], None, ["", " "]],
    )
    found = each_outcome(CONTEXT_RELEVANCY_SOFT, data, ScriptedModels(vectors=VECTORS))
    assert {one.status for one in found} == {"missing_input"}
    assert [one.reason for one in found] == [
        "no user_input",
        "the user_input is empty",
        "no retrieved contexts",
        "the retrieved contexts are empty",
    ]
