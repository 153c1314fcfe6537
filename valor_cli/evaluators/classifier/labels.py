"""Find the labels of a model that a metric needs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from valor_cli.errors import ConfigError, Problem, did_you_mean
from valor_cli.models.protocols import Classifier

SET_NAMES = "set `id2label` in the model's config.json to the names of its labels"

_LISTED = 20
_GENERIC = re.compile(r"label_\d+")

TOXICITY: Mapping[str, tuple[str, ...]] = {
    "toxicity": ("toxicity", "toxic"),
    "severe_toxicity": ("severe_toxicity", "severe_toxic"),
    "obscene": ("obscene",),
    "threat": ("threat",),
    "insult": ("insult",),
    "identity_attack": ("identity_attack", "identity_hate"),
}
"""By output of toxicity_detoxify, the names that its models have for it."""

_BIASED = ("biased", "bias", "1")

_ENTAILMENT = ("entailment", "entail", "entails", "entailed", "supports", "supported")
_CONTRADICTION = ("contradiction", "contradict", "contradicts", "refutes", "refuted")

_UNNAMED: tuple[tuple[str, int, int], ...] = (
    (r"roberta-large-mnli", 2, 0),
    (r"deberta-base-mnli", 2, 0),
    (r"snli_roberta-(base|large)", 0, 2),
    (r"roberta-large-snli_mnli_fever_anli_r1_r2_r3-nli", 0, 2),
    (r"albert-(base|large|xlarge)-vitaminc(-mnli)?", 0, 1),
)
"""Models whose labels may have no names, after SummaC's own table: entailment, contradiction."""


class Inference(NamedTuple):
    """Positions of the labels of an NLI model."""

    entailment: int
    contradiction: int


def toxicity_labels(classifier: Classifier) -> dict[str, int]:
    """Position of the label for each output of toxicity_detoxify.

    Raises:
        ConfigError: The model is missing one, or its labels exclude each other.
    """
    found = {name: _position(classifier.labels, names) for name, names in TOXICITY.items()}
    if lacking := [name for name, at in found.items() if at is None]:
        raise _unfit(classifier, "toxicity_detoxify", f"no label for {', '.join(lacking)}")
    if classifier.exclusive:
        message = "toxicity_detoxify: the model finds one label at a time, a text may have several"
        problem = Problem(classifier.identity.name, message)
        hint = 'set "problem_type": "multi_label_classification" in the model\'s config.json'
        raise ConfigError(problem, hint=hint)
    return {name: at for name, at in found.items() if at is not None}


def biased_label(classifier: Classifier, name: str | None) -> int:
    """Position of the label "biased".

    Args:
        classifier: The model.
        name: What the config calls it; None: it is called so, or is LABEL_1 of two without names.

    Raises:
        ConfigError: There is no such label.
    """
    labels = classifier.labels
    if name is not None:
        at = labels.index(name) if name in labels else _position(labels, (_folded(name),))
        if at is None:
            near = did_you_mean(name, labels)
            raise _unfit(classifier, "fairness_bias", f"no label {name!r}{near}", hint="")
        return at
    at = _position(labels, _BIASED)
    if at is None and len(labels) == 2:
        at = _position(labels, ("label_1",))
    if at is None:
        hint = "name the label that says so: `biased_label:`"
        raise _unfit(classifier, "fairness_bias", 'no label called "biased"', hint=hint)
    return at


def inference_labels(classifier: Classifier, metric: str) -> Inference:
    """Positions of entailment and contradiction, by name or as the model defines them.

    Raises:
        ConfigError: It cannot be told.
    """
    labels = classifier.labels
    entailment, contradiction = _position(labels, _ENTAILMENT), _position(labels, _CONTRADICTION)
    if entailment is not None and contradiction is not None:
        return Inference(entailment, contradiction)
    if len(labels) == 3 and all(_GENERIC.fullmatch(_folded(label)) for label in labels):
        own = classifier.identity.name.rpartition("/")[2].lower()
        for model, entails, contradicts in _UNNAMED:
            if re.fullmatch(model, own):
                return Inference(entails, contradicts)
    raise _unfit(classifier, metric, "no labels called entailment and contradiction")


def _position(labels: Sequence[str], names: Sequence[str]) -> int | None:
    """Where the first label is that has one of the names, whatever its case and hyphens."""
    return next((at for at, label in enumerate(labels) if _folded(label) in names), None)


def _folded(label: str) -> str:
    return label.strip().casefold().replace("-", "_").replace(" ", "_")


def _unfit(classifier: Classifier, metric: str, what: str, *, hint: str = SET_NAMES) -> ConfigError:
    labels = classifier.labels
    listed = ", ".join(labels[:_LISTED]) + (", …" if len(labels) > _LISTED else "")
    message = f"{metric}: the model has {what}; its labels are {listed}"
    return ConfigError(Problem(classifier.identity.name, message), hint=hint)
