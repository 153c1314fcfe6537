"""Consistency of responses with contexts."""

from __future__ import annotations

import numpy as np

from tests.evaluators.classifier.asking import GivenClassifier, all_of, one_of
from tests.oracles.text_models import HashedClassifier
from tests.oracles.text_samples import samples
from valor_cli.evaluators.classifier.metrics.hallucination_hhem import HALLUCINATION_HHEM

LABELS = ("inconsistent", "consistent")


def windows(*rows: tuple[float, ...]) -> list[list[list[float]]]:
    """Of each window of the response, how consistent it is with each of the context."""
    return [[[1 - one, one] for one in row] for row in rows]


def test_the_best_context_counts() -> None:
    model = GivenClassifier(
        LABELS,
        pairs={
            ("One.", "It is."): windows((0.25,)),
            ("Two.", "It is."): windows((0.75,)),
            ("Three.", "It is."): windows((0.5,)),
        },
    )
    data = samples(["It is."], retrieved_contexts=[["One.", " ", "Two.", "Three.", "Two."]])
    found = one_of(HALLUCINATION_HHEM, data, model)
    assert found.values == {"value": 0.75}
    assert found.details == {"contexts": [0.25, None, 0.75, 0.5, 0.75], "best": 2}
    assert model.calls == [[("One.", "It is."), ("Two.", "It is."), ("Three.", "It is.")]]


def test_windows() -> None:
    # Of the first context: its windows bear the worst of the response's two windows out with .25
    # and .5; of the second with .125. The best of these is .5.
    model = GivenClassifier(
        LABELS,
        pairs={
            ("One.", "It is."): windows((0.25, 0.75), (1.0, 0.5)),
            ("Two.", "It is."): windows((0.125,), (1.0,)),
        },
    )
    data = samples(["It is."], retrieved_contexts=[["One.", "Two."]])
    found = one_of(HALLUCINATION_HHEM, data, model)
    assert found.values == {"value": 0.5}
    assert found.details == {"contexts": [0.5, 0.125], "best": 0}


def test_joined_contexts() -> None:
    model = GivenClassifier(LABELS, pairs={("One.\n\nTwo.", "It is."): windows((0.5, 0.625))})
    data = samples(["It is."], retrieved_contexts=[["One.", "", "Two."]])
    found = one_of(HALLUCINATION_HHEM, data, model, aggregate="joined")
    assert found.values == {"value": 0.625}
    assert found.details is None


def test_equal_pairs_are_asked_once_in_one_call() -> None:
    model = GivenClassifier(LABELS, pairs={("C.", "R."): windows((0.5,))})
    data = samples(["R.", "R.", None], retrieved_contexts=[["C."], ["C.", "C."], ["C."]])
    found = all_of(HALLUCINATION_HHEM, data, model)
    assert model.calls == [[("C.", "R.")]]
    assert found.beside == {"model": "given", "model_sha256": "4" * 64}


def test_against_a_slow_twin() -> None:
    random = np.random.default_rng(4)

    def drawn() -> str:
        return " ".join(map(str, random.integers(0, 50, random.integers(1, 100))))

    responses = [drawn() for _ in range(20)]
    contexts = [[drawn() for _ in range(random.integers(1, 5))] for _ in responses]
    data = samples(responses, retrieved_contexts=contexts)
    found = all_of(HALLUCINATION_HHEM, data, HashedClassifier(LABELS))
    model = HashedClassifier(LABELS)
    for at, (response, own) in enumerate(zip(responses, contexts, strict=True)):
        best = 0.0
        for context in own:
            for window in model._parts(context):
                worst = 1.0
                for part in model._parts(response):
                    worst = min(worst, float(model._one(f"{window}\0{part}")[1]))
                best = max(best, worst)
        assert found.columns["value"][at] == best
