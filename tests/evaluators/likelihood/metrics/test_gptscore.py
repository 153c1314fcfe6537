"""GPTScore: by hand, every direction, reference and aspect, and what is asked of the model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from tests.evaluators.likelihood.asked import ToldModel, each, findings
from tests.oracles.text_samples import samples
from valor_cli.evaluators.likelihood.metrics.gptscore import (
    GPTSCORE_DIALOGUE,
    GPTSCORE_SUMMARIZATION,
    GPTSCORE_SUMMARIZATION_REFERENCE,
    GPTSCORE_TRANSLATION,
)
from valor_cli.metric import Metric
from valor_cli.models.protocols import Passage

ALL = (
    GPTSCORE_SUMMARIZATION_REFERENCE,
    GPTSCORE_SUMMARIZATION,
    GPTSCORE_TRANSLATION,
    GPTSCORE_DIALOGUE,
)


def by_length(passage: Passage) -> Sequence[float]:
    """-0.1 a character of the prompt for the first word of the target, and -0.3 for the others."""
    words = passage.target.split()
    return [-len(passage.prompt) / 10, *[-0.3] * (len(words) - 1)]


def test_both_directions_by_hand() -> None:
    data = samples(["p q"], references=[["r s t u"]])
    (found,) = each(GPTSCORE_TRANSLATION, data, ToldModel(by_length))
    fluency = "Rewrite the following text to make it more grammatical and well-written:"
    assert len(fluency) == 72
    # "… well-written: r s t u In other words," is 72 + 1 + 7 + 16 long, with p q after it;
    # with p q in it 72 + 1 + 3 + 16, with r s t u after it.
    forth = (9.6 + 0.3) / 2
    back = (9.2 + 3 * 0.3) / 4
    assert found.values["fluency"] == pytest.approx((forth + back) / 2, abs=1e-9)
    assert found.details is not None
    assert found.details["directions"]["fluency"] == pytest.approx([forth, back], abs=1e-9)
    assert "reference" not in found.details
    assert list(found.values) == ["accuracy", "fluency", "multidimensional_quality_metrics"]


def test_of_several_references_the_lowest_counts_for_each_aspect() -> None:
    def said(passage: Passage) -> Sequence[float]:
        between = {passage.prompt.split()[-4], passage.target.strip()}
        asked = "fluency" if "grammatical" in passage.prompt else "other"
        # The first has the single best direction, and yet not the best mean.
        nats = {
            ("one", "other"): 3.0 if passage.target.strip() == "one" else 0.5,
            ("two", "other"): 1.0,
            ("one", "fluency"): 0.25,
            ("two", "fluency"): 4.0,
        }
        return [-nats["one" if "one" in between else "two", asked]]

    data = samples(["x"], references=[[" ", "one", "two"]])
    (found,) = each(GPTSCORE_TRANSLATION, data, ToldModel(said))
    assert found.values == {
        "accuracy": 1.0,
        "fluency": 0.25,
        "multidimensional_quality_metrics": 1.0,
    }
    assert found.details is not None
    # Positions are those of the references of the sample.
    assert found.details["reference"] == {
        "accuracy": 2,
        "fluency": 1,
        "multidimensional_quality_metrics": 2,
    }


def test_a_summary_is_scored_after_its_source() -> None:
    model = ToldModel(lambda passage: [-1.0, -2.0])
    (found,) = each(GPTSCORE_SUMMARIZATION, samples(["s"], user_input=["long"]), model)
    assert set(found.values.values()) == {1.5}
    assert len(found.values) == 7
    assert found.details is None
    (asked,) = model.asked
    assert {one.target for one in asked} == {"s"}


def test_a_dialogue_is_scored_by_the_yes_after_it() -> None:
    model = ToldModel(lambda passage: [-0.5])
    (found,) = each(GPTSCORE_DIALOGUE, samples(["Hi!"], user_input=["Hello?"]), model)
    assert found.values == dict.fromkeys(
        (
            "interest", "engagement", "understandability", "relevance", "specific", "correctness",
            "semantically_appropriate", "fluency",
        ),
        0.5,
    )  # fmt: skip
    (asked,) = model.asked
    assert {one.target for one in asked} == {" Yes"}


def test_all_is_asked_in_one_call_and_each_passage_once() -> None:
    data = samples(["a", "a", "b"], references=[["x"], ["x", "x"], ["a"]])
    model = ToldModel(by_length)
    each(GPTSCORE_SUMMARIZATION_REFERENCE, data, model, stride=7)
    (asked,) = model.asked
    assert len(asked) == len(set(asked))
    # Six aspects, and the pairs a-x and b-a, both ways.
    assert len(asked) == 6 * 2 * 2
    assert model.strides == [7]


@pytest.mark.parametrize("none", [[], [-math.inf], [math.nan]])
def test_a_target_without_a_probability_has_no_value(none: list[float]) -> None:
    data = samples(["a"], references=[["x", "y"]])
    model = ToldModel(lambda passage: none if "x" in passage.target else [-1.0])
    (found,) = each(GPTSCORE_TRANSLATION, data, model)
    # The other reference has both directions.
    assert found.values["accuracy"] == 1.0
    assert found.details is not None
    assert found.details["reference"]["accuracy"] == 1
    (found,) = each(GPTSCORE_TRANSLATION, data, ToldModel(lambda passage: none))
    assert found.status == "not_applicable"
    assert found.reason == "the model finds no token in the target, or no probability for one"


@pytest.mark.parametrize("metric", ALL)
def test_outputs_are_the_aspects_in_nats_and_the_model_stands_beside_them(
    metric: Metric[Any],
) -> None:
    data = samples(["a b"], user_input=["q"], references=[["r"]])
    found = findings(metric, data, ToldModel(by_length))
    assert [one.output for one in found.values] == [one.name for one in metric.outputs]
    for one in metric.outputs:
        assert (one.better, one.bounds, one.unit) == ("lower", (0, None), "nats")
    for value in found.values:
        assert value.at == {
            "model": "told",
            "model_sha256": "4" * 64,
            "templates": "gptscore-1",
        }
    assert metric.threshold is None
