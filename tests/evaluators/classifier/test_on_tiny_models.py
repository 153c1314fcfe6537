"""The metrics on models in folders, against the same models asked in the plainest way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.oracles.text_samples import samples
from tests.oracles.tiny_classifiers import NLI, TOXIC, bert_classifier, t5_classifier
from valor_cli.evaluators.classifier.metrics.fairness_bias import FAIRNESS_BIAS
from valor_cli.evaluators.classifier.metrics.hallucination_hhem import HALLUCINATION_HHEM
from valor_cli.evaluators.classifier.metrics.summac import SUMMAC_ZS
from valor_cli.evaluators.classifier.metrics.toxicity_detoxify import TOXICITY_DETOXIFY
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.samples.outcomes import Outcomes
from valor_cli.metric import Metric
from valor_cli.models.requests import Stop
from valor_cli.models.settings import EmbedderSettings
from valor_cli.models.text.windows import Runtime
from valor_cli.models.text_models import TextModels

pytestmark = pytest.mark.models

RESPONSES = ("The cat sat on the mat. It was cold.", "A dog ran over the red house.", None, " ")
DOCUMENTS = ("The cat slept. The rain was cold.", "A big dog ran. It sat.", "Sun.", "Sun.")


def values(metric: Metric[Any], **parameters: Any) -> Outcomes:
    models = TextModels(
        EmbedderSettings(), None, Runtime("cpu", Stop(), lambda stage, done, total: None)
    )
    data = samples(
        RESPONSES,
        user_input=DOCUMENTS,
        retrieved_contexts=[one.split(". ") for one in DOCUMENTS],
    )
    assert metric.measure is not None
    found: Outcomes = metric.measure(ModelTexts(data, models), **parameters)
    return found


def logits(folder: Path, first: str, second: str | None = None) -> Any:
    """One text, or one pair, at a time: no padding, no batches."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder)
    with torch.no_grad():
        return model(**tokenizer(first, second, return_tensors="pt")).logits[0]


def test_toxicity_detoxify(tmp_path: Path) -> None:
    import torch

    folder = bert_classifier(tmp_path, TOXIC, problem_type="multi_label_classification")
    found = values(TOXICITY_DETOXIFY, model=str(folder))
    first = torch.stack(
        [logits(folder, one) for one in ("The cat sat on the mat.", "It was cold.")]
    )
    second = logits(folder, "A dog ran over the red house.")
    for column, name in enumerate(found.columns):
        wanted = [first.sigmoid().amax(0)[column], second.sigmoid()[column]]
        assert found.columns[name][:2] == pytest.approx([float(one) for one in wanted], abs=1e-6)
        assert np.isnan(found.columns[name][2:]).all()


def test_fairness_bias(tmp_path: Path) -> None:
    folder = bert_classifier(tmp_path, ("Non-biased", "Biased"))
    found = values(FAIRNESS_BIAS, model=str(folder))
    wanted = [float(logits(folder, one).softmax(-1)[1]) for one in RESPONSES[:2] if one]
    assert found.columns["value"][:2] == pytest.approx(wanted, abs=1e-6)


def test_summac_zs(tmp_path: Path) -> None:
    folder = bert_classifier(tmp_path, NLI)
    found = values(SUMMAC_ZS, model=str(folder))
    sentences = [
        (["The cat sat on the mat.", "It was cold."], ["The cat slept.", "The rain was cold."]),
        (["A dog ran over the red house."], ["A big dog ran.", "It sat."]),
    ]
    for at, (response, document) in enumerate(sentences):
        best = []
        for hypothesis in response:
            said = [logits(folder, premise, hypothesis).softmax(-1) for premise in document]
            best.append(max(float(one[2] - one[0]) for one in said))
        wanted = sum(best) / len(best)
        assert found.columns["value"][at] == pytest.approx(wanted, abs=1e-6)
    assert found.beside["model"] == tmp_path.name


def test_hallucination_hhem(tmp_path: Path) -> None:
    import torch
    from tokenizers import Tokenizer
    from transformers import T5ForTokenClassification

    folder = t5_classifier(tmp_path)
    found = values(HALLUCINATION_HHEM, model=str(folder))
    model = T5ForTokenClassification.from_pretrained(folder)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    for at in range(2):
        best = 0.0
        for context in DOCUMENTS[at].split(". "):
            prompt = (
                "<pad> Determine if the hypothesis is true given the premise?\n\n"
                f"Premise: {context}\n\nHypothesis: {RESPONSES[at]}"
            )
            ids = torch.tensor([tokenizer.encode(prompt).ids])
            with torch.no_grad():
                said = model(input_ids=ids).logits[0, 0].softmax(-1)
            best = max(best, float(said[1]))
        assert found.columns["value"][at] == pytest.approx(best, abs=1e-6)
