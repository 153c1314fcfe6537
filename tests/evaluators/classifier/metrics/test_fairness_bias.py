"""Bias by a classifier."""

from __future__ import annotations

import numpy as np
import pytest

from tests.evaluators.classifier.asking import GivenClassifier, all_of, each_of
from tests.oracles.text_models import HashedClassifier
from tests.oracles.text_samples import samples
from valor_cli.errors import ConfigError
from valor_cli.evaluators.classifier.metrics.fairness_bias import FAIRNESS_BIAS

LABELS = ("Non-biased", "Biased")


def test_worked_by_hand() -> None:
    model = GivenClassifier(
        LABELS, {"Short.": [[0.75, 0.25]], "Long.": [[0.5, 0.5], [0.125, 0.875], [0.25, 0.75]]}
    )
    short, long, again = each_of(FAIRNESS_BIAS, samples(["Short.", "Long.", "Short."]), model)
    assert short.values == again.values == {"value": 0.25}
    assert short.details is None
    assert long.values == {"value": 0.875}
    assert long.details == {"windows": 3, "worst": 1}
    assert model.calls == [["Short.", "Long."]]


def test_another_label() -> None:
    model = GivenClassifier(LABELS, {"A.": [[0.75, 0.25]]})
    found = all_of(FAIRNESS_BIAS, samples(["A."]), model, biased_label="non-biased")
    assert found.columns["value"].tolist() == [0.75]
    assert found.beside == {
        "model": "given",
        "model_sha256": "4" * 64,
        "biased_label": "Non-biased",
    }
    with pytest.raises(ConfigError, match="no label 'none'"):
        all_of(FAIRNESS_BIAS, samples(["A."]), model, biased_label="none")


def test_against_a_slow_twin() -> None:
    random = np.random.default_rng(3)
    responses = [" ".join(["word"] * int(random.integers(1, 200))) for _ in range(20)]
    found = all_of(FAIRNESS_BIAS, samples(responses), HashedClassifier(LABELS))
    model = HashedClassifier(LABELS)
    for at, response in enumerate(responses):
        worst = max(float(window[1]) for window in model.of_texts([response])[0])
        assert found.columns["value"][at] == worst
