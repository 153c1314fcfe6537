"""Ratings weighted by token probabilities, worked by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from tests.oracles.judges import judged
from tests.oracles.text_samples import samples
from valor_cli import catalogue
from valor_cli.evaluators.judge.evidence.score_probabilities import weighted
from valor_cli.evaluators.judge.metrics.custom_judge import CUSTOM_JUDGE
from valor_cli.models.requests import Reply

MODEL = catalogue.parameters("text_generation", "custom_judge")


@pytest.mark.parametrize(
    ("rating", "scores", "value", "weights"),
    [
        # (0.6 · 4 + 0.2 · 5) / 0.8
        ("4", {"4": 0.6, "5": 0.2}, 4.25, {"4": 0.75, "5": 0.25}),
        ("3", {"3": 1.0}, 3.0, {"3": 1.0}),
        # 10 stands behind 9 however texts are sorted.
        ("10", {"10": 0.5, "9": 0.5}, 9.5, {"9": 0.5, "10": 0.5}),
    ],
)
def test_the_expected_rating(
    rating: str, scores: Mapping[str, float], value: float, weights: Mapping[str, float]
) -> None:
    found, details = weighted(rating, scores)
    assert found == pytest.approx(value, abs=1e-12)
    assert details["probabilities"] == pytest.approx(weights, abs=1e-12)
    assert list(details["probabilities"]) == list(weights)


@pytest.mark.parametrize(
    ("scores", "why"),
    [
        (None, "the endpoint gave no probabilities of tokens"),
        ({}, "the score is not one token of the reply"),
        ({"3": 0.9, "4": 0.1}, "the score is not one token of the reply"),
        ({"4": 0.0}, "the probabilities of the scale's tokens are 0"),
    ],
)
def test_without_probabilities_the_number_stands(
    scores: Mapping[str, float] | None, why: str
) -> None:
    assert weighted("4", scores) == (4.0, {"not_weighted": why})


def test_a_judge_that_weighs_its_ratings() -> None:
    # 4.25 and 2, of which the second is not weighted: 6.25 / 2; 3 and above passes.
    said = '{"reason": "5 of 5", "rating": 4}'
    replies = [Reply(said, scores={"4": 0.6, "5": 0.2}), Reply('{"reason": "", "rating": 2}')]
    parameters: dict[str, Any] = {"steps": ("Read.",), "scale": (1, 5), "probabilities": True}
    data = samples(["a", "b"], user_input=["?"] * 2)
    found = judged([(CUSTOM_JUDGE, parameters)], data, replies)
    assert found.output("rating") == pytest.approx(3.125, abs=1e-12)
    assert found.values == [1.0, 0.0]
    assert found.requests[0].scores == ("1", "2", "3", "4", "5")
    told = "1 of 2 ratings are not weighted: 1 × the endpoint gave no probabilities of tokens"
    assert found.findings[0].warnings == (f"custom_judge: {told}",)
    plain = judged([(CUSTOM_JUDGE, {**parameters, "probabilities": False})], data, replies)
    assert plain.findings[0].warnings == ()
    assert plain.requests[0].key != found.requests[0].key
    assert plain.output("rating") == 3.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ('{"probabilities": true}', "there is none"),
        ('{"outputs": {"a": "b"}, "scale": [1, 5], "probabilities": true}', "leave `outputs` out"),
    ],
)
def test_what_a_config_may_not_say(given: str, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        MODEL.model_validate_json(given)
