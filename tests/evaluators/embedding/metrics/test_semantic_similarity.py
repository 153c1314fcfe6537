"""Semantic similarity: cosines of whole texts, and what a cross-encoder says, by hand."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from tests.oracles.measured_by_models import cosine, each_outcome, findings_by, outcomes_of
from tests.oracles.text_models import HashedClassifier, ScriptedModels
from tests.oracles.text_problems import random_texts
from tests.oracles.text_samples import samples
from valor_cli import catalogue
from valor_cli.errors import ConfigError
from valor_cli.evaluators.embedding.metrics.semantic_similarity import (
    CROSS_ENCODER,
    SEMANTIC_SIMILARITY,
)
from valor_cli.metric import Call
from valor_cli.models.protocols import Pair


class _Rater(HashedClassifier):
    """Rates pairs as told; by window of the hypothesis, then of the premise."""

    def __init__(self, rates: dict[Pair, list[list[float]]]) -> None:
        super().__init__(("LABEL_0",), False)
        self.rates = rates

    def of_pairs(self, pairs: object) -> list[np.ndarray]:
        self.asked += list(pairs)  # type: ignore[call-overload]
        return [np.array(self.rates[one])[:, :, None] for one in pairs]  # type: ignore[attr-defined]


def test_by_hand() -> None:
    # (1, 2, 2) and (2, 1, 2): 8 / (3 * 3); (1, 2, 2) and (0, -3, 4): 2 / (3 * 5).
    vectors = {"a": [1.0, 2.0, 2.0], "b": [2.0, 1.0, 2.0], "c": [0.0, -3.0, 4.0], "z": [0.0] * 3}
    data = samples(["a", "a", "a", "a"], references=[["b"], ["c"], ["c", " ", "b"], ["z"]])
    found = each_outcome(SEMANTIC_SIMILARITY, data, ScriptedModels(vectors=vectors))
    assert [one.values["value"] for one in found[:3]] == pytest.approx(
        [8 / 9, 2 / 15, 8 / 9], abs=1e-9
    )
    assert [one.details for one in found] == [None, None, {"reference": 2}, None]
    # A vector of zeros has no direction, so no cosine.
    assert (found[3].status, found[3].values) == ("not_applicable", {})


def test_texts_are_compared_whole_and_as_they_are() -> None:
    models = ScriptedModels(vectors={" Two. Of them.\n": [1.0, 0.0], "One.": [-1.0, 0.0]})
    data = samples([" Two. Of them.\n"], references=[["One."]])
    (found,) = each_outcome(SEMANTIC_SIMILARITY, data, models)
    assert found.values == {"value": -1.0}
    assert outcomes_of(SEMANTIC_SIMILARITY, data, models).beside == models.embedder.beside


def test_against_loops() -> None:
    data, models = random_texts(21), ScriptedModels()
    found = each_outcome(SEMANTIC_SIMILARITY, data, models)
    for at, one in enumerate(found):
        response, references = data.response[at], data.references[at]
        if not (response or "").strip() or not references:
            assert one.status == "missing_input"
            continue
        best = max(cosine(models, response or "", other) for other in references)
        assert one.values["value"] == pytest.approx(best, abs=1e-9)


def test_what_is_missing() -> None:
    data = samples([None, " ", "a", "a"], references=[["b"], ["b"], [], ["", "\n"]])
    found = each_outcome(SEMANTIC_SIMILARITY, data, ScriptedModels())
    assert {one.status for one in found} == {"missing_input"}
    assert [one.reason for one in found] == [
        "no response",
        "the response is empty",
        "no reference",
        "the references are empty",
    ]


def test_a_cross_encoder_rates_pairs() -> None:
    # Of windows: the first part of the response is best at 0.9, the second at 0.6, which counts.
    rates = {
        Pair("r1", "a"): [[0.25]],
        Pair("r2", "a"): [[0.75]],
        Pair("r1", "b"): [[0.1, 0.9], [0.6, 0.5]],
    }
    rater = _Rater(rates)
    models = ScriptedModels(classifiers={"semantic_similarity": rater})
    data = samples(["a", "b", "a", None], references=[["r1", " ", "r2"], ["r1"], ["r1"], ["r1"]])
    found = each_outcome(SEMANTIC_SIMILARITY, data, models, method="cross_encoder")
    assert [one.values.get("value") for one in found] == [0.75, 0.6, 0.25, None]
    assert [one.details for one in found] == [{"reference": 2}, None, None, None]
    assert found[3].reason == "no response"
    assert rater.asked == [Pair("r1", "a"), Pair("r2", "a"), Pair("r1", "b")]
    assert models.embedded == []
    beside = outcomes_of(SEMANTIC_SIMILARITY, data, models, method="cross_encoder").beside
    assert beside == rater.identity.beside


def test_which_cross_encoder_is_asked() -> None:
    asked: list[tuple[str, str]] = []

    class Models(ScriptedModels):
        def classifier(self, model: str, metric: str) -> HashedClassifier:
            asked.append((model, metric))
            return HashedClassifier(("LABEL_0",), False)

    data = samples(["a"], references=[["b"]])
    each_outcome(SEMANTIC_SIMILARITY, data, Models(), method="cross_encoder")
    each_outcome(SEMANTIC_SIMILARITY, data, Models(), method="cross_encoder", model="own/one")
    assert asked == [
        (CROSS_ENCODER, "semantic_similarity"),
        ("own/one", "semantic_similarity"),
    ]


def test_a_model_of_several_labels_rates_nothing() -> None:
    rater = HashedClassifier(("contradiction", "neutral", "entailment"))
    models = ScriptedModels(classifiers={"semantic_similarity": rater})
    data = samples(["a"], references=[["b"]])
    with pytest.raises(ConfigError, match="one label is needed, and hashed-labels has 3") as error:
        findings_by(SEMANTIC_SIMILARITY, data, models, method="cross_encoder")
    assert CROSS_ENCODER in error.value.hint


def test_which_kind_of_model_it_asks_depends_on_the_method() -> None:
    metric = pickle.loads(pickle.dumps(SEMANTIC_SIMILARITY))  # noqa: S301 - made just now
    assert Call(metric, {"method": "embedding", "model": None}).asks == ("embedder",)
    assert Call(metric, {"method": "cross_encoder", "model": None}).asks == ("classifier",)


def test_a_folder_is_found_from_the_config(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    model = catalogue.parameters("text_generation", "semantic_similarity")

    def read(**given: str) -> object:
        return model.model_validate_json(json.dumps(given), context={"folder": tmp_path})

    assert getattr(read(model="own"), "model") == str(tmp_path / "own")  # noqa: B009
    assert getattr(read(model="some/id"), "model") == "some/id"  # noqa: B009
    with pytest.raises(ValidationError, match="there is no file or folder"):
        read(model="./nowhere")
    with pytest.raises(ValidationError):
        read(method="other")
