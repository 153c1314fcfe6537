"""Sentence relevancy of answers: the sentence that is nearest to the question."""

from __future__ import annotations

import pytest

from tests.oracles.measured_by_models import each_outcome, highest, sentences
from tests.oracles.text_models import ScriptedModels
from tests.oracles.text_problems import random_texts
from tests.oracles.text_samples import samples
from valor_cli.evaluators.embedding.metrics.answer_relevancy_sentence import (
    ANSWER_RELEVANCY_SENTENCE,
)
from valor_cli.results import Mark


def test_by_hand() -> None:
    # (3, 4) with (1, 0) is 3/5, with (-4, 3) is 0; the question is one text of two sentences.
    vectors = {"Why? And how?": [3.0, 4.0], "Ants.": [1.0, 0.0], "Bees.": [-4.0, 3.0]}
    data = samples(["Bees. Ants."], user_input=["Why? And how?"])
    (found,) = each_outcome(ANSWER_RELEVANCY_SENTENCE, data, ScriptedModels(vectors=vectors))
    assert found.values["value"] == pytest.approx(0.6, abs=1e-9)
    assert found.marks == (Mark("response", 6, 11, "most relevant"),)


def test_against_loops() -> None:
    data, models = random_texts(25), ScriptedModels()
    for at, one in enumerate(each_outcome(ANSWER_RELEVANCY_SENTENCE, data, models)):
        question, response = data.user_input[at], sentences(data.response[at] or "")
        if question is None or not response:
            assert one.status == "missing_input"
            continue
        assert one.values["value"] == pytest.approx(highest(models, question, response), abs=1e-9)


def test_what_is_missing() -> None:
    data = samples([None, " ", "Ants.", "Ants."], user_input=["Why?", "Why?", None, "\n"])
    found = each_outcome(ANSWER_RELEVANCY_SENTENCE, data, ScriptedModels())
    assert {one.status for one in found} == {"missing_input"}
    assert [one.reason for one in found] == [
        "no response",
        "the response is empty",
        "no user_input",
        "the user_input is empty",
    ]
