"""Models that measure texts, without weights: whatever they find is a function of the text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.models.embedders.reduction import Cloud, dimensions_of
from valor_cli.models.protocols import (
    Architecture,
    Classifier,
    ModelIdentity,
    Pair,
    Passage,
    TokenEncoder,
    TokenStates,
)

Floats = NDArray[np.float64]


def drawn(text: str) -> np.random.Generator:
    """Random numbers that are the text's own."""
    return np.random.default_rng(
        int(hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8], 16)
    )


@dataclass
class HashedTokens:
    """A token encoder whose tokens are words; a word has one vector wherever it stands."""

    best: bool = False
    layer: int = 1
    longest: int = 512
    identity: ModelIdentity = field(default=ModelIdentity("hashed-tokens", "1" * 64))

    def states(self, texts: Sequence[str]) -> Iterator[TokenStates]:
        for text in texts:
            words = ["[CLS]", *text.split(), "[SEP]"]
            ids = np.array([int(drawn(word).integers(5, 30_000)) for word in words])
            special = np.array([True, *[False] * (len(words) - 2), True])
            states = np.stack([drawn(word).normal(size=4) for word in words])
            yield TokenStates(ids, special, np.ones_like(states) if self.best else states)

    def cut(self, texts: Sequence[str]) -> int:
        return 0


@dataclass
class HashedLanguageModel:
    """A language model whose tokens are words."""

    best: bool = False
    context: int = 128
    cut: int = 0
    architecture: Architecture = "causal"
    identity: ModelIdentity = field(default=ModelIdentity("hashed-words", "2" * 64))
    asked: list[Passage] = field(default_factory=list)

    def log_probabilities(
        self, passages: Sequence[Passage], *, stride: int | None = None
    ) -> list[Floats]:
        self.asked += passages
        return [self._of(passage) for passage in passages]

    def _of(self, passage: Passage) -> Floats:
        words = passage.target.split()
        if not passage.prompt and self.architecture == "causal":
            words = words[1:]
        if self.best:
            return np.zeros(len(words))
        return np.array([-drawn(passage.prompt + word).exponential(3.0) for word in words])


@dataclass
class HashedClassifier:
    """A classifier of some labels; a text over the window has several windows."""

    labels: tuple[str, ...]
    exclusive: bool = True
    best: Mapping[str, float] | None = None
    window: int = 40
    identity: ModelIdentity = field(default=ModelIdentity("hashed-labels", "3" * 64))
    asked: list[str | Pair] = field(default_factory=list)

    def of_texts(self, texts: Sequence[str]) -> list[Floats]:
        self.asked += texts
        return [np.stack([self._one(part) for part in self._parts(text)]) for text in texts]

    def of_pairs(self, pairs: Sequence[Pair]) -> list[Floats]:
        self.asked += pairs
        return [
            np.stack(
                [
                    [self._one(f"{premise}\0{part}") for premise in self._parts(pair.premise)]
                    for part in self._parts(pair.hypothesis)
                ]
            )
            for pair in pairs
        ]

    def _parts(self, text: str) -> list[str]:
        words = text.split() or [""]
        return [" ".join(words[at : at + self.window]) for at in range(0, len(words), self.window)]

    def _one(self, text: str) -> Floats:
        if self.best is not None:
            return np.array([self.best.get(label, 0.0) for label in self.labels])
        found = drawn(text).random(len(self.labels))
        return found / found.sum() if self.exclusive else found


@dataclass
class FirstCoordinates:
    """A reduction to the first coordinates of each vector."""

    name: str = "first coordinates"

    def points(self, clouds: Iterable[Cloud], total: int) -> Iterator[Cloud]:
        for trained, others in clouds:
            kept = dimensions_of(len(trained))
            yield Cloud(trained[:, :kept], others[:, :kept])


@dataclass
class ScriptedModels:
    """The models of a run; vectors from a table, or else drawn by the text.

    `best` finds everything as good as can be.
    """

    best: bool = False
    vectors: Mapping[str, Sequence[float]] = field(default_factory=dict)
    language: HashedLanguageModel | None = None
    classifiers: Mapping[str, Classifier] = field(default_factory=dict)
    tokens: TokenEncoder | None = None
    embedder: ModelIdentity = field(default=ModelIdentity("scripted-vectors", "0" * 64))
    embedded: list[str] = field(default_factory=list)

    def halting(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def embed(self, texts: Sequence[str]) -> Floats:
        self.embedded += texts
        if self.best:
            return np.ones((len(texts), 3))
        if self.vectors:
            return np.array([self.vectors[text] for text in texts], np.float64).reshape(
                len(texts), -1
            )
        return np.array([drawn(text).normal(size=6) for text in texts]).reshape(len(texts), 6)

    def token_encoder(self, model: str | None, layer: int | None) -> TokenEncoder:
        return self.tokens or HashedTokens(self.best)

    def language_model(self) -> HashedLanguageModel:
        return self.language or HashedLanguageModel(self.best)

    def classifier(self, model: str, metric: str) -> Classifier:
        if metric in self.classifiers:
            return self.classifiers[metric]
        labels, exclusive, best = LABELS[metric]
        return HashedClassifier(labels, exclusive, best if self.best else None)

    consistency = classifier

    def reduction(self, metric: str) -> Any:
        return FirstCoordinates()


LABELS: Mapping[str, tuple[tuple[str, ...], bool, Mapping[str, float]]] = {
    "toxicity_detoxify": (
        ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate"),
        False,
        {},
    ),
    "fairness_bias": (("Non-biased", "Biased"), True, {"Non-biased": 1.0}),
    "hallucination_hhem": (("inconsistent", "consistent"), True, {"consistent": 1.0}),
    "summac_zs": (("contradiction", "neutral", "entailment"), True, {"entailment": 1.0}),
    "summac_conv": (("contradiction", "neutral", "entailment"), True, {"entailment": 1.0}),
    "semantic_similarity": (("LABEL_0",), False, {"LABEL_0": 1.0}),
}
"""By metric: the labels of a model for it, whether one holds alone, and the best finding."""


@dataclass
class ScriptedSession:
    """A session of them."""

    models: ScriptedModels = field(default_factory=ScriptedModels)
