"""Perplexity and GPTScore of tiny models against the losses that transformers itself finds."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.evaluators.likelihood.asked import each, findings, values
from tests.oracles import tiny_models
from tests.oracles.text_samples import samples
from valor_cli.evaluators.likelihood.metrics.gptscore import (
    GPTSCORE_DIALOGUE,
    GPTSCORE_SUMMARIZATION,
    GPTSCORE_SUMMARIZATION_REFERENCE,
)
from valor_cli.evaluators.likelihood.metrics.perplexity import PERPLEXITY
from valor_cli.models.requests import Stop
from valor_cli.models.settings import LanguageModelSettings
from valor_cli.models.text.windows import Runtime

pytestmark = pytest.mark.models

LENGTH = 512
IGNORED = -100
"""What transformers leaves out of a loss."""


class Tiny:
    """A model in a folder, as the metrics have it and as transformers itself does."""

    def __init__(self, folder: Path, kind: str) -> None:
        import transformers

        made: Any = {
            "causal": lambda: tiny_models.gpt2(folder, n_positions=LENGTH),
            "encoder_decoder": lambda: tiny_models.t5(folder),
        }[kind]
        made()
        template = "$A" if kind == "causal" else "$A </s>"
        tiny_models.tokenizer_files(folder, template=template, length=LENGTH)
        self.causal = kind == "causal"
        head = "AutoModelForCausalLM" if self.causal else "AutoModelForSeq2SeqLM"
        self.model = getattr(transformers, head).from_pretrained(folder).eval()
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self.folder = folder

    def language_model(self) -> Any:
        """As the metrics have it."""
        from valor_cli.models.language_models.transformers_language_model import (
            TransformersLanguageModel,
        )

        settings = LanguageModelSettings(model=str(self.folder), batch_size=3)
        return TransformersLanguageModel(settings, Runtime("cpu", Stop(), lambda *_: None))

    def loss(self, prompt: str, target: str) -> float:
        """What transformers says of a target after a prompt."""
        import torch

        with torch.no_grad():
            if not self.causal:
                read = self.tokenizer(prompt, return_tensors="pt").input_ids
                labels = self.tokenizer(text_target=target, return_tensors="pt").input_ids
                return float(self.model(read, labels=labels).loss)
            ids = self.tokenizer(prompt + target, return_tensors="pt").input_ids
            labels = ids.clone()
            labels[0, : self.tokens(prompt) if prompt else 0] = IGNORED
            return float(self.model(ids, labels=labels).loss)

    def tokens(self, text: str) -> int:
        return len(self.tokenizer(text).input_ids)


@pytest.fixture(scope="module", params=["causal", "encoder_decoder"])
def tiny(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    return Tiny(tmp_path_factory.mktemp(request.param), request.param)


RESPONSES = ["It is the Danube.", "A violin has four strings {and} a bow. 🎻", "Yes, ok"]


def test_perplexity(tmp_path: Path) -> None:
    tiny = Tiny(tmp_path, "causal")
    model = tiny.language_model()
    found = each(PERPLEXITY, samples(RESPONSES), model)
    losses = [tiny.loss("", text) for text in RESPONSES]
    assert [one.values["value"] for one in found] == pytest.approx(np.exp(losses), rel=1e-5)
    lengths = [tiny.tokens(text) - 1 for text in RESPONSES]
    assert [one.values["tokens"] for one in found] == lengths
    assert values(findings(PERPLEXITY, samples(RESPONSES), model))["corpus"] == pytest.approx(
        math.exp(np.average(losses, weights=lengths)), rel=1e-5
    )


def test_gptscore_of_references(tiny: Tiny) -> None:
    references = ["The Danube.", "The Danube, a river {in} Europe."]
    data = samples(RESPONSES, references=[references] * len(RESPONSES))
    found = each(GPTSCORE_SUMMARIZATION_REFERENCE, data, tiny.language_model())
    for response, one in zip(RESPONSES, found, strict=True):
        losses = np.array(
            [
                [
                    tiny.loss(f"{COHERENT} {text} In other words,", f" {target}")
                    for text, target in ((reference, response), (response, reference))
                ]
                for reference in references
            ]
        )
        best = int(losses.mean(axis=1).argmin())
        assert one.values["coherence"] == pytest.approx(losses[best].mean(), rel=1e-5)
        assert one.details is not None
        assert one.details["reference"]["coherence"] == best
        assert one.details["directions"]["coherence"] == pytest.approx(losses[best], rel=1e-5)


COHERENT = "Rewrite the following text into a coherent text."


def test_gptscore_of_what_was_asked(tiny: Tiny) -> None:
    data = samples(["The Danube."], user_input=["Which river flows through Vienna?"])
    (one,) = each(GPTSCORE_SUMMARIZATION, data, tiny.language_model())
    instruction = "Generate a coherent summary for the following text:"
    source = f"{instruction} Which river flows through Vienna?\n\nTl;dr\n"
    assert one.values["coherence"] == pytest.approx(tiny.loss(source, "The Danube."), rel=1e-5)
    (one,) = each(GPTSCORE_DIALOGUE, data, tiny.language_model())
    talk = (
        "Answer the question based on the conversation between a human and AI.\n"
        "Question: Are the responses of AI fluently written? (a) Yes. (b) No.\n"
        "Conversation: \nhuman: Which river flows through Vienna?\nAI: The Danube.\nAnswer:"
    )
    assert one.values["fluency"] == pytest.approx(tiny.loss(talk, " Yes"), rel=1e-5)
