"""SummaC-Conv on given probabilities and weights."""

from __future__ import annotations

import json
from math import exp
from pathlib import Path

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from tests.evaluators.classifier.asking import GivenClassifier, all_of, one_of
from tests.oracles.text_models import HashedClassifier, ScriptedModels
from tests.oracles.text_samples import samples
from valor_cli.evaluators.classifier.metrics.summac import SUMMAC_CONV, SUMMAC_ZS, Weights
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.kernels.text.sentences import split_sentences
from valor_cli.metric import Call
from valor_cli.results import Mark

LABELS = ("contradiction", "neutral", "entailment")
DATA = samples(["Rain fell. It was hot."], user_input=["It rained. It was cold."])


def written(folder: Path, *, bins: int = 23, slope: float = 1.0) -> str:
    """Bins weigh from 0 upwards; logits are 0 and slope · feature - 10."""
    weights = {
        "mlp.weight": [list(range(bins))],
        "mlp.bias": [0.5],
        "layer_final.weight": [[0.0, 0.0, 0.0], [slope / 2, slope / 4, slope / 4]],
        "layer_final.bias": [10.0, 0.0],
    }
    path = folder / "weights.json"
    path.write_text(json.dumps(weights))
    return str(path)


def given(*entailments: float) -> GivenClassifier:
    """In the order of the response's sentences, and for each of the document's."""
    pairs = [
        (premise, hypothesis)
        for hypothesis in ("Rain fell.", "It was hot.")
        for premise in ("It rained.", "It was cold.")
    ]
    return GivenClassifier(
        LABELS,
        pairs={pair: [[[1 - one, 0.0, one]]] for pair, one in zip(pairs, entailments, strict=True)},
    )


def sigmoid(value: float) -> float:
    return 1 / (1 + exp(-value))


def test_worked_by_hand(tmp_path: Path) -> None:
    # "Rain fell.": .92 lies in bin 10, .05 in bin 4: 14.5. "It was hot.": .37 lies in bin 7, 0 in
    # bin 0: 7.5. Mean 11; 11 - 10 = 1.
    weights = written(tmp_path)
    found = one_of(SUMMAC_CONV, DATA, given(0.92, 0.05, 0.37, 0.0), weights=weights)
    assert found.values == {"value": pytest.approx(sigmoid(1), abs=1e-9)}
    assert found.details is not None
    assert found.details["sentences"] == [
        {
            "value": pytest.approx(sigmoid(4.5), abs=1e-9),
            "start": 0,
            "end": 10,
            "document": {"field": "user_input", "start": 0, "end": 10},
        },
        {
            "value": pytest.approx(sigmoid(-2.5), abs=1e-9),
            "start": 11,
            "end": 22,
            "document": {"field": "user_input", "start": 0, "end": 10},
        },
    ]
    assert found.marks[0] == Mark("response", 11, 22, "least supported")


def test_fewer_sentences_of_the_response(tmp_path: Path) -> None:
    measured = all_of(
        SUMMAC_CONV,
        DATA,
        given(0.92, 0.05, 0.37, 0.0),
        weights=written(tmp_path),
        max_response_sentences=1,
    )
    assert measured.columns["value"][0] == pytest.approx(sigmoid(4.5), abs=1e-9)
    assert measured.details[0] is not None
    assert measured.details[0]["sentences_left_out"] == 1


def test_what_stands_beside_the_values(tmp_path: Path) -> None:
    found = all_of(SUMMAC_CONV, DATA, given(0, 0, 0, 0), weights=written(tmp_path, bins=50))
    sha256 = found.beside["weights_sha256"]
    assert isinstance(sha256, str)
    assert len(sha256) == 64
    assert {**found.beside, "weights_sha256": ""} == {
        "model": "given",
        "model_sha256": "4" * 64,
        "splitter": "valor-2",
        "weights": "weights.json",
        "weights_sha256": "",
        "bins": "even50",
    }


def test_summac_zs_and_conv_ask_once(tmp_path: Path) -> None:
    model = given(0.92, 0.05, 0.37, 0.0)
    models = ScriptedModels(classifiers={"summac_zs": model, "summac_conv": model})
    texts = ModelTexts(DATA, models)
    assert SUMMAC_ZS.measure is not None
    assert SUMMAC_CONV.measure is not None
    SUMMAC_ZS.measure(texts)
    SUMMAC_CONV.measure(texts, weights=written(tmp_path))
    assert len(model.calls) == 1


def test_against_a_slow_twin(tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    rows = [
        tuple(
            " ".join(f"Word {at} {random.integers(99)} end." for at in range(count))
            for count in (3, 12)
        )
        for _ in range(10)
    ]
    data = samples([one for one, _ in rows], user_input=[other for _, other in rows])
    weights = written(tmp_path, bins=50, slope=0.05)
    found = all_of(SUMMAC_CONV, data, HashedClassifier(LABELS), weights=weights)
    model = HashedClassifier(LABELS)
    edges = [*np.arange(0, 1, 1 / 50).tolist(), 1.0]
    for at, (response, document) in enumerate(rows):
        features = []
        for start, end in split_sentences(response):
            feature = 0.5
            for first, last in split_sentences(document):
                one = float(model._one(f"{document[first:last]}\0{response[start:end]}")[2])
                feature += sum(one >= edge for edge in edges[1:-1])
            features.append(feature)
        wanted = sigmoid(0.05 * sum(features) / len(features) - 10)
        assert found.columns["value"][at] == pytest.approx(wanted, abs=1e-12)


def test_weights_are_required() -> None:
    assert (lack := Call(SUMMAC_CONV, {"weights": None}).missing_config) is not None
    assert "names none" in lack.message
    assert "weights:" in lack.hint
    assert "summac_conv_vitc_sent_perc_e.bin" in lack.hint
    assert Call(SUMMAC_CONV, {"weights": "weights.json"}).missing_config is None


def test_weights_are_looked_at_with_the_config(tmp_path: Path) -> None:
    adapter: TypeAdapter[str] = TypeAdapter(Weights)
    path = written(tmp_path)
    found = adapter.validate_python("weights.json", context={"folder": str(tmp_path)})
    assert found == path
    with pytest.raises(ValidationError, match="is a pickle"):
        adapter.validate_python("weights.bin", context={"folder": str(tmp_path)})
    with pytest.raises(ValidationError, match="cannot be read"):
        adapter.validate_python("none.npz", context={"folder": str(tmp_path)})
