"""Toxicity by a classifier, sentence by sentence."""

from __future__ import annotations

import numpy as np
import pytest

from tests.evaluators.classifier.asking import GivenClassifier, all_of, each_of, one_of
from tests.oracles.text_models import HashedClassifier
from tests.oracles.text_samples import samples
from valor_cli.errors import ConfigError
from valor_cli.evaluators.classifier.metrics.toxicity_detoxify import TOXICITY_DETOXIFY
from valor_cli.kernels.text.sentences import split_sentences
from valor_cli.results import Mark

LABELS = ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")
NAMES = ("toxicity", "severe_toxicity", "obscene", "threat", "insult", "identity_attack")


def test_worked_by_hand() -> None:
    model = GivenClassifier(
        LABELS,
        {
            "You are kind.": [[0.1, 0.0, 0.2, 0.05, 0.01, 0.3]],
            # Two windows: of each label the larger one.
            "You are a fool.": [[0.4, 0.1, 0.1, 0.1, 0.9, 0.0], [0.7, 0.0, 0.0, 0.2, 0.3, 0.1]],
        },
        exclusive=False,
    )
    data = samples(["You are kind. You are a fool."])
    found = one_of(TOXICITY_DETOXIFY, data, model)
    # toxicity max(.1, .4, .7), severe max(0, .1, 0), obscene max(.2, .1, 0), threat
    # max(.05, .1, .2), insult max(.01, .9, .3), identity max(.3, 0, .1): of the first sentence.
    assert found.values == pytest.approx(
        dict(zip(NAMES, (0.7, 0.1, 0.2, 0.2, 0.9, 0.3), strict=True)), abs=1e-12
    )
    assert found.status == "ok"
    assert found.reason == "most toxic is sentence 2 of 2"
    assert found.marks == (Mark("response", 14, 29, "most toxic"),)
    assert found.details == {
        "sentences": 2,
        "worst": dict(zip(NAMES, (1, 1, 0, 1, 1, 0), strict=True)),
        "sentence": "You are a fool.",
    }


def test_each_sentence_is_asked_once_in_one_call() -> None:
    rows = {text: [[0.5] * 6] for text in ("It rained.", "It was hot.", "It was cold.")}
    model = GivenClassifier(LABELS, rows, exclusive=False)
    responses = [
        "It rained. It was hot.",
        None,
        "It was hot. It rained. It was hot.",
        "It was cold.",
    ]
    each_of(TOXICITY_DETOXIFY, samples(responses), model)
    assert model.calls == [["It rained.", "It was hot.", "It was cold."]]


def test_what_stands_beside_the_values() -> None:
    model = GivenClassifier(LABELS, {"A.": [[0.5] * 6]}, exclusive=False)
    found = all_of(TOXICITY_DETOXIFY, samples(["A."]), model)
    assert found.beside == {"model": "given", "model_sha256": "4" * 64, "splitter": "valor-2"}


def test_against_a_slow_twin() -> None:
    random = np.random.default_rng(2)
    words = ["one", "two", "three", "four", "five", "six"]
    responses = [
        " ".join(
            " ".join(random.choice(words, random.integers(1, 90))).capitalize() + "."
            for _ in range(random.integers(1, 6))
        )
        for _ in range(30)
    ]
    found = all_of(TOXICITY_DETOXIFY, samples(responses), HashedClassifier(LABELS, False))
    model = HashedClassifier(LABELS, False)
    for at, response in enumerate(responses):
        for column, name in enumerate(NAMES):
            worst = 0.0
            for start, end in split_sentences(response):
                for window in model.of_texts([response[start:end]])[0]:
                    worst = max(worst, float(window[column]))
            assert found.columns[name][at] == worst


def test_what_is_left_of_a_secret_is_hidden_as_well() -> None:
    # A sentence longer than is quoted is cut in the midst of a key.
    text = "word " * 58 + "AKIAIOSFODNN7EXAMPLE and more words to come"
    found = one_of(TOXICITY_DETOXIFY, samples([text]))
    assert found.details is not None
    assert "•" * 9 in found.details["sentence"]
    assert "AKIA" not in found.details["sentence"]


def test_a_model_of_something_else() -> None:
    with pytest.raises(ConfigError, match="no label for"):
        all_of(TOXICITY_DETOXIFY, samples(["A."]), GivenClassifier(("positive", "negative")))
