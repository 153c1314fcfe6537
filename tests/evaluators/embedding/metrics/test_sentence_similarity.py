"""Sentence similarity: mean and lowest over sentences, by hand and against loops."""

from __future__ import annotations

import pytest

from tests.oracles.measured_by_models import (
    each_outcome,
    findings_by,
    highest,
    outcomes_of,
    sentences,
)
from tests.oracles.text_models import ScriptedModels
from tests.oracles.text_problems import random_texts
from tests.oracles.text_samples import samples
from valor_cli.evaluators.embedding.metrics.sentence_similarity import SENTENCE_SIMILARITY

VECTORS = {
    "Ants.": [1.0, 0.0],
    "Bees.": [0.0, 1.0],
    "Cows.": [0.6, 0.8],
    "Dogs.": [-1.0, 0.0],
    "Elks.": [0.8, -0.6],
}


def test_by_hand() -> None:
    # Ants are nearest to cows, 0.6, and bees to cows, 0.8: 0.7 on average, 0.6 at worst.
    data = samples(["Ants. Bees."], references=[["Cows. Dogs."]])
    (found,) = each_outcome(SENTENCE_SIMILARITY, data, ScriptedModels(vectors=VECTORS))
    assert found.values == pytest.approx({"mean": 0.7, "min": 0.6}, abs=1e-9)
    assert found.details is None


def test_the_reference_with_the_highest_mean_counts_for_both() -> None:
    # By elks alone: 0.8 and -0.6; by cows: 0.6 and 0.8; sentences of both are not mixed.
    data = samples(["Ants. Bees."] * 2, references=[["Elks.", "", "Cows."], ["Elks. Cows."]])
    found = each_outcome(SENTENCE_SIMILARITY, data, ScriptedModels(vectors=VECTORS))
    assert found[0].values == pytest.approx({"mean": 0.7, "min": 0.6}, abs=1e-9)
    assert found[0].details == {"reference": 2}
    assert found[1].values == pytest.approx({"mean": 0.8, "min": 0.8}, abs=1e-9)


def test_what_the_response_leaves_out_does_not_count() -> None:
    data = samples(["Ants."], references=[["Ants. Dogs. Bees."]])
    (found,) = each_outcome(SENTENCE_SIMILARITY, data, ScriptedModels(vectors=VECTORS))
    assert found.values == {"mean": 1.0, "min": 1.0}


def test_against_loops() -> None:
    data, models = random_texts(22), ScriptedModels()
    found = each_outcome(SENTENCE_SIMILARITY, data, models)
    assert any(len(references) > 1 for references in data.references)
    for at, one in enumerate(found):
        response = sentences(data.response[at] or "")
        if not response or not data.references[at]:
            assert one.status == "missing_input"
            continue
        best, lowest = -2.0, -2.0
        for reference in data.references[at]:
            alike = [highest(models, each, sentences(reference)) for each in response]
            if sum(alike) / len(alike) > best:
                best, lowest = sum(alike) / len(alike), min(alike)
        assert one.values == pytest.approx({"mean": best, "min": lowest}, abs=1e-9)


def test_what_stands_beside_the_values() -> None:
    data, models = random_texts(1), ScriptedModels()
    beside = outcomes_of(SENTENCE_SIMILARITY, data, models).beside
    assert beside == {**models.embedder.beside, "splitter": "valor-2"}
    found = findings_by(SENTENCE_SIMILARITY, data, models)
    assert [value.output for value in found.values] == ["mean", "min"]
    assert all(value.at == beside for value in found.values)


def test_a_long_text_beside_an_odd_one() -> None:
    long = " ".join(f"This is sentence number {at} of the text." for at in range(100))
    odd = ["🙂", "ا", "\u202eabc", "한국어", "x" * 5000, "word " * 2000, "\0"]
    data = samples([long] * len(odd) + odd, references=[[one] for one in odd] + [[long]] * len(odd))
    found = each_outcome(SENTENCE_SIMILARITY, data, ScriptedModels())
    for one in found:
        assert one.status == "ok"
        assert -1 <= one.values["min"] <= one.values["mean"] <= 1  # type: ignore[operator]
