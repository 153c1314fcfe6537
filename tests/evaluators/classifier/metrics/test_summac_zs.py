"""SummaC-ZS on given probabilities, and against loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.evaluators.classifier.asking import GivenClassifier, all_of, each_of, one_of
from tests.oracles.text_models import HashedClassifier, ScriptedModels
from tests.oracles.text_samples import samples
from valor_cli.errors import ConfigError
from valor_cli.evaluators.classifier.metrics.summac import SUMMAC_ZS
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.samples.sampled import Sampled
from valor_cli.kernels.text.sentences import split_sentences
from valor_cli.metric import Call
from valor_cli.results import Mark

LABELS = ("contradiction", "neutral", "entailment")


def one(entailment: float, contradiction: float) -> list[list[list[float]]]:
    """Of one window of each."""
    return [[[contradiction, 1 - entailment - contradiction, entailment]]]


def two_by_two() -> GivenClassifier:
    return GivenClassifier(
        LABELS,
        pairs={
            ("It rained.", "Rain fell."): one(0.8, 0.1),
            ("It was cold.", "Rain fell."): one(0.3, 0.5),
            ("It rained.", "It was hot."): one(0.2, 0.4),
            ("It was cold.", "It was hot."): one(0.4, 0.55),
        },
    )


WEATHER = samples(["Rain fell. It was hot."], user_input=["It rained. It was cold."])


def test_paired_by_hand() -> None:
    # "Rain fell.": max(.8 - .1, .3 - .5) = .7; "It was hot.": max(.2 - .4, .4 - .55) = -.15.
    found = one_of(SUMMAC_ZS, WEATHER, two_by_two())
    assert found.values == {"value": pytest.approx((0.7 - 0.15) / 2, abs=1e-9)}
    assert found.details == {
        "sentences": [
            {
                "value": pytest.approx(0.7, abs=1e-9),
                "start": 0,
                "end": 10,
                "document": {"field": "user_input", "start": 0, "end": 10},
            },
            {
                "value": pytest.approx(-0.15, abs=1e-9),
                "start": 11,
                "end": 22,
                "document": {"field": "user_input", "start": 11, "end": 23},
            },
        ]
    }
    assert found.marks == (
        Mark("response", 11, 22, "least supported"),
        Mark("user_input", 11, 23, "nearest to it"),
    )


def test_separate_by_hand() -> None:
    # "Rain fell.": .8 - .5 = .3; "It was hot.": .4 - .55 = -.15.
    found = one_of(SUMMAC_ZS, WEATHER, two_by_two(), contrast="separate")
    assert found.values == {"value": pytest.approx((0.3 - 0.15) / 2, abs=1e-9)}


def test_labels_in_another_order() -> None:
    turned = GivenClassifier(
        ("ENTAILMENT", "CONTRADICTION", "NEUTRAL"),
        pairs={
            pair: [[[row[2], row[0], row[1]] for row in rows] for rows in found]
            for pair, found in two_by_two().pairs.items()
        },
    )
    same, other = (one_of(SUMMAC_ZS, WEATHER, model) for model in (two_by_two(), turned))
    assert same == other


def test_windows_by_hand() -> None:
    # Rows are windows of the response, columns of the document. Of each column the worst row: with
    # the first sentence min(.75 - 0, .5 - .125) = .375 and min(.5 - .25, .625 - .25) = .25, with
    # the second min(0 - .5, 1 - 0) = -.5. The largest is .375.
    first = [
        [[0.0, 0.25, 0.75], [0.25, 0.25, 0.5]],
        [[0.125, 0.375, 0.5], [0.25, 0.125, 0.625]],
    ]
    second = [[[0.5, 0.5, 0.0]], [[0.0, 0.0, 1.0]]]
    model = GivenClassifier(
        LABELS,
        pairs={("It rained.", "Rain fell."): first, ("It was cold.", "Rain fell."): second},
    )
    data = samples(["Rain fell."], user_input=["It rained. It was cold."])
    assert one_of(SUMMAC_ZS, data, model).values == {"value": 0.375}
    # Separately: entailment max(.5, .5, 0), contradiction max(.125, .25, .5).
    assert one_of(SUMMAC_ZS, data, model, contrast="separate").values == {"value": 0.0}


def test_contexts_as_the_document() -> None:
    data = samples(
        ["Rain fell. It was hot."], retrieved_contexts=[["It rained.", " ", "It was cold."]]
    )
    found = one_of(SUMMAC_ZS, data, two_by_two(), source="retrieved_contexts")
    assert found.values == {"value": pytest.approx(0.275, abs=1e-9)}
    assert found.marks[1] == Mark("retrieved_contexts[2]", 0, 12, "nearest to it")
    found = Call(SUMMAC_ZS, {"source": "retrieved_contexts"}).needs
    assert found == ("response", "retrieved_contexts")


def test_equal_pairs_are_asked_once_in_one_call() -> None:
    model = two_by_two()
    data = samples(["Rain fell. It was hot. Rain fell."] * 2, user_input=WEATHER.user_input * 2)
    each_of(SUMMAC_ZS, data, model)
    assert len(model.calls) == 1
    assert len(model.calls[0]) == 4


def test_metrics_with_equal_settings_share_what_was_asked() -> None:
    model = two_by_two()
    texts = ModelTexts(WEATHER, ScriptedModels(classifiers={"summac_zs": model}))
    assert SUMMAC_ZS.measure is not None
    SUMMAC_ZS.measure(texts)
    SUMMAC_ZS.measure(texts, contrast="separate")
    assert len(model.calls) == 1
    SUMMAC_ZS.measure(texts, min_sentence_length=11)
    assert len(model.calls) == 2


def test_short_sentences_may_be_left_out() -> None:
    found = one_of(SUMMAC_ZS, WEATHER, two_by_two(), min_sentence_length=11)
    assert found.values == {"value": pytest.approx(-0.15, abs=1e-9)}
    found = one_of(SUMMAC_ZS, WEATHER, two_by_two(), min_sentence_length=12)
    assert (found.status, found.reason) == (
        "not_applicable",
        "no sentence of the response has 12 characters",
    )


def test_sentences_that_are_left_out_are_told() -> None:
    model = two_by_two()
    measured = all_of(SUMMAC_ZS, WEATHER, model, max_document_sentences=1)
    assert measured.columns["value"][0] == pytest.approx((0.7 - 0.2) / 2, abs=1e-9)
    assert measured.details[0] is not None
    assert measured.details[0]["sentences_left_out"] == 1
    call = Call(SUMMAC_ZS, {})
    sampled = Sampled(call, WEATHER.sample_ids, measured, np.ones((1, 1)))
    (warning,) = SUMMAC_ZS.compute(sampled).warnings  # type: ignore[union-attr]
    assert warning.startswith("summac_zs: 1 sentences of 1 samples were not looked at")
    again = Sampled(call, WEATHER.sample_ids, measured, np.array([[2.0]]))
    assert not SUMMAC_ZS.compute(again).warnings  # type: ignore[union-attr]


def test_lacking_input() -> None:
    data = samples(
        [None, " ", "R.", "R."],
        user_input=["D.", "D.", None, "\n"],
        retrieved_contexts=[None, None, [], ["", " "]],
    )
    found = each_of(SUMMAC_ZS, data, GivenClassifier(LABELS))
    assert [each.status for each in found] == ["missing_input"] * 4
    assert [each.reason for each in found] == [
        *("no response", "the response is empty", "no user_input", "the user_input is empty"),
    ]
    found = each_of(SUMMAC_ZS, data, GivenClassifier(LABELS), source="retrieved_contexts")
    assert [each.reason for each in found][2:] == [
        *("the retrieved contexts are empty", "the retrieved contexts are empty"),
    ]


def drawn(random: np.random.Generator, sentences: int, longest: int) -> str:
    return " ".join(
        "Word " + " ".join(map(str, random.integers(0, 9, random.integers(1, longest)))) + " end."
        for _ in range(sentences)
    )


@pytest.mark.parametrize("contrast", ["paired", "separate"])
def test_against_a_slow_twin(contrast: str) -> None:
    random = np.random.default_rng(6)
    rows = [(drawn(random, 3, 60), drawn(random, 5, 60)) for _ in range(10)]
    data = samples([one for one, _ in rows], user_input=[other for _, other in rows])
    found = all_of(SUMMAC_ZS, data, HashedClassifier(LABELS), contrast=contrast)
    model = HashedClassifier(LABELS)
    for at, (response, document) in enumerate(rows):
        values = []
        for start, end in split_sentences(response):
            entails, contradicts, differences = [], [], []
            for first, last in split_sentences(document):
                for window in model._parts(document[first:last]):
                    found_of = [
                        model._one(f"{window}\0{part}")
                        for part in model._parts(response[start:end])
                    ]
                    entails.append(min(float(each[2]) for each in found_of))
                    contradicts.append(max(float(each[0]) for each in found_of))
                    differences.append(min(float(each[2] - each[0]) for each in found_of))
            paired = contrast == "paired"
            values.append(max(differences) if paired else max(entails) - max(contradicts))
        assert found.columns["value"][at] == pytest.approx(sum(values) / len(values), abs=1e-12)


def test_probabilities_a_little_beyond_one() -> None:
    model: Any = GivenClassifier(LABELS, pairs={("D.", "R."): [[[-1e-8, 0.0, 1 + 1e-7]]]})
    assert one_of(SUMMAC_ZS, samples(["R."], user_input=["D."]), model).values == {"value": 1.0}


def test_a_model_of_something_else() -> None:
    with pytest.raises(ConfigError, match="summac_zs: the model has no labels"):
        all_of(SUMMAC_ZS, WEATHER, GivenClassifier(("positive", "negative")))
