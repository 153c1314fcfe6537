"""Semantic groundedness: the sentence that is furthest from what was retrieved."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.oracles.measured_by_models import each_outcome, highest, sentences
from tests.oracles.text_models import ScriptedModels
from tests.oracles.text_problems import random_texts
from tests.oracles.text_samples import samples
from valor_cli.evaluators.embedding.metrics.groundedness_semantic import GROUNDEDNESS_SEMANTIC
from valor_cli.results import Mark

VECTORS = {
    "Ants.": [1.0, 0.0],
    "Bees.": [0.0, 1.0],
    "Cows.": [0.6, 0.8],
    "Dogs.": [-1.0, 0.0],
    "Elks.": [0.8, 0.6],
}


def test_by_hand() -> None:
    # Ants: elks 0.8, cows 0.6. Bees: cows 0.8, elks 0.6. Dogs: dogs are not there; cows -0.6,
    # elks -0.8. The worst sentence is "Dogs.", nearest to the cows of the third context.
    data = samples(["Ants.  Dogs. Bees."], retrieved_contexts=[["Elks.", " ", "Elks. Cows."]])
    (found,) = each_outcome(GROUNDEDNESS_SEMANTIC, data, ScriptedModels(vectors=VECTORS))
    assert found.values["value"] == pytest.approx(-0.6, abs=1e-9)
    assert found.marks == (Mark("response", 7, 12, "least grounded"),)
    assert found.details == {
        "worst_sentence": {
            "text": "Dogs.",
            "start": 7,
            "end": 12,
            "similarity": found.values["value"],
            "nearest": {
                "field": "retrieved_contexts[2]",
                "start": 6,
                "end": 11,
                "similarity": found.values["value"],
            },
        }
    }


def test_a_response_that_was_retrieved_is_grounded() -> None:
    data = samples(["Ants. Bees."], retrieved_contexts=[["Dogs. Bees.", "Ants."]])
    (found,) = each_outcome(GROUNDEDNESS_SEMANTIC, data, ScriptedModels(vectors=VECTORS))
    assert found.values == {"value": 1.0}


def test_against_loops() -> None:
    data, models = random_texts(23), ScriptedModels()
    for at, one in enumerate(each_outcome(GROUNDEDNESS_SEMANTIC, data, models)):
        response = sentences(data.response[at] or "")
        contexts = [each for text in data.retrieved_contexts[at] or () for each in sentences(text)]
        if not response or not contexts:
            assert one.status == "missing_input"
            continue
        lowest = 2.0
        for sentence in response:
            lowest = min(lowest, highest(models, sentence, contexts))
        assert one.values["value"] == pytest.approx(lowest, abs=1e-9)
        assert one.details is not None
        worst, text = one.details["worst_sentence"], data.response[at] or ""
        assert highest(models, text[worst["start"] : worst["end"]], contexts) == pytest.approx(
            lowest, abs=1e-9
        )


def test_the_order_of_contexts_does_not_matter() -> None:
    data, models = random_texts(24), ScriptedModels()
    turned = replace(
        data,
        retrieved_contexts=tuple(
            None if one is None else tuple(reversed(one)) for one in data.retrieved_contexts
        ),
    )
    for one, other in zip(
        each_outcome(GROUNDEDNESS_SEMANTIC, data, models),
        each_outcome(GROUNDEDNESS_SEMANTIC, turned, models),
        strict=True,
    ):
        assert one.values == pytest.approx(other.values, abs=1e-12)
        assert one.marks == other.marks


def test_what_is_missing() -> None:
    data = samples(
        [None, "", "Ants.", "Ants.", "Ants."],
        retrieved_contexts=[["Ants."], ["Ants."], None, [], [" ", ""]],
    )
    found = each_outcome(GROUNDEDNESS_SEMANTIC, data, ScriptedModels(vectors=VECTORS))
    assert {one.status for one in found} == {"missing_input"}
    assert [one.reason for one in found] == [
        "no response",
        "the response is empty",
        "no retrieved contexts",
        "the retrieved contexts are empty",
        "the retrieved contexts are empty",
    ]
