"""Labels of real models, and of models that say nothing of theirs."""

from __future__ import annotations

import pytest

from tests.evaluators.classifier.asking import GivenClassifier
from valor_cli.errors import ConfigError
from valor_cli.evaluators.classifier.labels import (
    biased_label,
    inference_labels,
    toxicity_labels,
)
from valor_cli.models.protocols import ModelIdentity

GENERIC = ("LABEL_0", "LABEL_1", "LABEL_2")


def model(*labels: str, name: str = "given", exclusive: bool = True) -> GivenClassifier:
    return GivenClassifier(labels, exclusive=exclusive, identity=ModelIdentity(name))


@pytest.mark.parametrize(
    ("labels", "positions"),
    [
        (
            ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate"),
            [0, 1, 2, 3, 4, 5],
        ),
        (
            # As unitary/unbiased-toxic-roberta has them.
            (
                *("toxicity", "severe_toxicity", "obscene", "identity_attack", "insult"),
                *("threat", "sexual_explicit", "male", "female"),
            ),
            [0, 1, 2, 5, 4, 3],
        ),
        (
            ("Identity-Attack", "INSULT", "threat ", "Obscene", "Severe Toxicity", "Toxic"),
            [5, 4, 3, 2, 1, 0],
        ),
    ],
)
def test_toxicity(labels: tuple[str, ...], positions: list[int]) -> None:
    found = toxicity_labels(model(*labels, exclusive=False))
    assert list(found.values()) == positions
    assert list(found) == [
        *("toxicity", "severe_toxicity", "obscene", "threat", "insult", "identity_attack")
    ]


def test_toxicity_of_other_models() -> None:
    with pytest.raises(ConfigError, match="no label for severe_toxicity") as caught:
        toxicity_labels(model("toxic", "neutral", exclusive=False, name="some/model"))
    assert "some/model: toxicity_detoxify: " in str(caught.value)
    assert "its labels are toxic, neutral" in str(caught.value)
    # Six labels without names may be in any order.
    with pytest.raises(ConfigError, match="id2label"):
        toxicity_labels(model(*(f"LABEL_{at}" for at in range(6)), exclusive=False))
    with pytest.raises(ConfigError, match=r"label_19, …\n"):
        toxicity_labels(model(*(f"label_{at}" for at in range(1000)), exclusive=False))
    six = ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")
    with pytest.raises(ConfigError, match="multi_label_classification"):
        toxicity_labels(model(*six))


@pytest.mark.parametrize(
    ("labels", "name", "at"),
    [
        (("Non-biased", "Biased"), None, 1),
        (("BIASED", "UNBIASED"), None, 0),
        (("neutral", "bias"), None, 1),
        (("0", "1"), None, 1),
        (("LABEL_0", "LABEL_1"), None, 1),
        (("LABEL_0", "LABEL_1"), "LABEL_0", 0),
        (("left", "center", "right"), "Right", 2),
        (("a", "A"), "A", 1),
        (("Non-biased", "Biased"), "non-biased", 0),
    ],
)
def test_biased(labels: tuple[str, ...], name: str | None, at: int) -> None:
    assert biased_label(model(*labels), name) == at


@pytest.mark.parametrize(
    ("labels", "name", "message"),
    [
        (("left", "right"), None, "biased_label:"),
        (("Non-biased", "Unbiased"), None, 'no label called "biased"'),
        (GENERIC, None, "its labels are LABEL_0, LABEL_1, LABEL_2"),
        (("LABEL_0",), None, "its labels are LABEL_0"),
        (("Non-biased", "Biased"), "Biassed", r"did you mean 'Biased'\?"),
    ],
)
def test_biased_of_other_models(labels: tuple[str, ...], name: str | None, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        biased_label(model(*labels), name)


@pytest.mark.parametrize(
    ("name", "labels", "both"),
    [
        ("any", ("contradiction", "neutral", "entailment"), (2, 0)),
        ("any", ("ENTAILMENT", "NEUTRAL", "CONTRADICTION"), (0, 2)),
        ("any", ("neutral", "Entailment ", "contradiction"), (1, 2)),
        ("tals/albert-xlarge-vitaminc-mnli", ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO"), (0, 1)),
        ("tals/albert-xlarge-vitaminc-mnli", GENERIC, (0, 1)),
        ("tals/albert-base-vitaminc", GENERIC, (0, 1)),
        ("roberta-large-mnli", GENERIC, (2, 0)),
        ("FacebookAI/roberta-large-mnli", GENERIC, (2, 0)),
        ("microsoft/deberta-base-mnli", GENERIC, (2, 0)),
        ("boychaboy/SNLI_roberta-base", GENERIC, (0, 2)),
        ("boychaboy/SNLI_roberta-large", GENERIC, (0, 2)),
        ("ynie/roberta-large-snli_mnli_fever_anli_R1_R2_R3-nli", GENERIC, (0, 2)),
        # A folder of that name.
        ("albert-xlarge-vitaminc-mnli", GENERIC, (0, 1)),
        # Names say more than the table.
        ("roberta-large-mnli", ("entailment", "neutral", "contradiction"), (0, 2)),
    ],
)
def test_inference(name: str, labels: tuple[str, ...], both: tuple[int, int]) -> None:
    assert inference_labels(model(*labels, name=name), "summac_zs") == both


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("any", GENERIC),
        ("my-roberta-large-mnli-2", GENERIC),
        ("roberta-large-mnli", GENERIC[:2]),
        ("roberta-large-mnli", ("a", "b", "c")),
        ("any", ("entailment", "not_entailment")),
    ],
)
def test_inference_of_other_models(name: str, labels: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match="no labels called entailment and contradiction"):
        inference_labels(model(*labels, name=name), "summac_zs")
