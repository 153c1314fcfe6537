"""BERTScore: tokens matched by hand, a slow twin, bert-score itself, and what has no value."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from math import log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.oracles.measured_by_models import each_outcome, findings_by, outcomes_of
from tests.oracles.text_models import HashedTokens, ScriptedModels
from tests.oracles.text_problems import random_texts
from tests.oracles.text_samples import samples
from valor_cli.errors import DataError
from valor_cli.evaluators.embedding.metrics.bertscore import BERTSCORE, baselines_in
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.metric import Call, MissingConfig
from valor_cli.models.protocols import ModelIdentity, TokenStates

PLACES = {
    "[CLS]": (0.0, 0.0, 2.0),
    "[SEP]": (0.0, 0.0, -3.0),
    "cat": (1.0, 0.0, 0.0),
    "puss": (3.0, 4.0, 0.0),
    "dog": (0.0, 2.0, 0.0),
    "up": (0.0, 0.6, 0.8),
    "rat": (-1.0, 0.0, 0.0),
    "ox": (-0.6, -0.8, 0.0),
}


@dataclass
class Placed:
    """A token encoder of words with a vector each, of which it sees so many."""

    longest: int = 6
    layer: int = 4
    identity: ModelIdentity = field(default=ModelIdentity("placed", "9" * 64))
    encoded: list[str] = field(default_factory=list)

    def words(self, text: str) -> list[str]:
        return ["[CLS]", *text.split()[: self.longest - 2], "[SEP]"]

    def states(self, texts: Sequence[str]) -> Iterator[TokenStates]:
        for text in texts:
            self.encoded.append(text)
            words = self.words(text)
            ids = np.array([list(PLACES).index(word) for word in words], np.int64)
            states = np.array([PLACES[word] for word in words], np.float32).reshape(-1, 3)
            yield TokenStates(ids, ids < 2, states)

    def cut(self, texts: Sequence[str]) -> int:
        return sum(len(text.split()) > self.longest - 2 for text in texts)


def of(response: str | None, *references: str, **parameters: Any) -> Outcome:
    (found,) = each_outcome(
        BERTSCORE,
        samples([response], references=[references]),
        ScriptedModels(tokens=Placed()),
        **parameters,
    )
    return found


def f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall)


def test_by_hand() -> None:
    # Cat is nearest to puss, 0.6; rat to none of the words (-0.6, 0), but at a right angle to
    # [CLS]: 0. Precision 0.3. Puss is nearest to cat, 0.6; dog to cat, and to [CLS], 0: recall 0.3.
    found = of("cat rat", "puss dog")
    assert found.values == pytest.approx({"f1": 0.3, "precision": 0.3, "recall": 0.3}, abs=1e-7)
    # Up is at 0.8 to [CLS], at 0.6 to dog; cat at 0. Dog is at 0.6 to up.
    found = of("up cat", "dog")
    expected = {"f1": f1(0.4, 0.6), "precision": 0.4, "recall": 0.6}
    assert found.values == pytest.approx(expected, abs=1e-7)
    assert of("dog cat", "dog cat").values == {"f1": 1.0, "precision": 1.0, "recall": 1.0}


def test_several_references() -> None:
    # Of "cat puss" against "cat": precision (1 + 0.6) / 2, recall 1. Against "cat dog puss": 1 and
    # (1 + 0.8 + 1) / 3. The best precision and the best recall are of different references.
    found = of("cat puss", "cat", " ", "cat dog puss")
    recall = (1 + 0.8 + 1) / 3
    expected = {"f1": max(f1(0.8, 1), f1(1, recall)), "precision": 1.0, "recall": 1.0}
    assert found.values == pytest.approx(expected, abs=1e-7)
    assert found.details == {"reference": 2}
    assert of("cat", "cat", "dog").details is None


def test_idf_by_hand() -> None:
    # Four references, and a blank one: cat stands in three, dog in two, puss in one, up in none.
    data = samples(
        ["cat puss up", "cat", None, "dog"],
        references=[["cat dog"], ["cat cat", "dog puss"], ["cat"], [" "]],
    )
    found = each_outcome(BERTSCORE, data, ScriptedModels(tokens=Placed()), idf=True)
    cat, dog, puss, up = log(5 / 4), log(5 / 3), log(5 / 2), log(5 / 1)
    # Cat 1; puss 0.8 with dog; up 0.8 with [CLS].
    precision = (cat + 0.8 * puss + 0.8 * up) / (cat + puss + up)
    recall = (cat + 0.8 * dog) / (cat + dog)
    expected = {"f1": f1(precision, recall), "precision": precision, "recall": recall}
    assert found[0].values == pytest.approx(expected, abs=1e-7)
    assert found[1].values["f1"] == pytest.approx(1.0, abs=1e-7)


def test_tokens_that_stand_in_every_reference_count_for_nothing() -> None:
    found = of("cat dog", "cat", idf=True)
    assert (found.values, found.status) == ({}, "not_applicable")
    assert found.reason == "no token of the response, or of the reference, counts"


def test_rescaled(tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    path.write_text("LAYER,P,R,F\n3,0.1,0.1,0.1\n4,0.2,-0.5,0.5\n")
    found = of("up cat", "dog", rescale_with_baseline=True, baseline=str(path))
    expected = {
        "precision": (0.4 - 0.2) / 0.8,
        "recall": (0.6 + 0.5) / 1.5,
        "f1": (f1(0.4, 0.6) - 0.5) / 0.5,
    }
    assert found.values == pytest.approx(expected, abs=1e-7)
    path.write_text("LAYER,P,R,F\n3,0.1,0.1,0.1\n")
    with pytest.raises(DataError, match="has no layer 4"):
        of("cat", "cat", rescale_with_baseline=True, baseline=str(path))


def test_rescaling_needs_its_file(tmp_path: Path) -> None:
    def lack(*, rescaled: bool, baseline: str | None) -> MissingConfig | None:
        named = {"rescale_with_baseline": rescaled, "baseline": baseline}
        return Call(BERTSCORE, named).missing_config

    assert lack(rescaled=False, baseline=None) is None
    assert lack(rescaled=True, baseline="b.csv") is None
    nothing, unused = lack(rescaled=True, baseline=None), lack(rescaled=False, baseline="b.csv")
    assert nothing is not None
    assert "needs a file of baselines" in nothing.message
    assert "LAYER,P,R,F" in nothing.hint
    assert unused is not None
    assert "rescale_with_baseline: true" in unused.hint


def test_signs() -> None:
    # Only words are there to be matched: without special tokens nothing is above 0.
    class Bare(Placed):
        def words(self, text: str) -> list[str]:
            return text.split()

    def bare(response: str, reference: str) -> Outcome:
        data = samples([response], references=[[reference]])
        return each_outcome(BERTSCORE, data, ScriptedModels(tokens=Bare()))[0]

    # cat - ox: -0.6 either way; its harmonic mean is -0.6.
    assert bare("cat", "ox").values == pytest.approx(
        {"f1": -0.6, "precision": -0.6, "recall": -0.6}, abs=1e-7
    )
    # cat - puss 0.6, cat - ox -0.6, cat - rat -1: precision 0.6, recall -1/3.
    assert bare("cat", "puss ox rat").values == pytest.approx(
        {"f1": 0.0, "precision": 0.6, "recall": -1 / 3}, abs=1e-7
    )


def test_a_text_without_tokens() -> None:
    class Deaf(Placed):
        def words(self, text: str) -> list[str]:
            return [word for word in text.split() if word in PLACES]

    models = ScriptedModels(tokens=Deaf())
    data = samples(["wug", "cat"], references=[["cat"], ["wug"]])
    found = each_outcome(BERTSCORE, data, models)
    assert {one.status for one in found} == {"not_applicable"}


def test_texts_that_are_cut() -> None:
    # Four words are seen: the fifth would make a difference.
    data = samples(["cat cat cat cat dog", "cat"] * 2, references=[["cat"], ["cat"]] * 2)
    found = findings_by(BERTSCORE, data, ScriptedModels(tokens=Placed()))
    assert [one.value for one in found.values] == pytest.approx([1.0] * 3, abs=1e-7)
    (warning,) = found.warnings
    assert warning == (
        "2 of 4 samples have texts that are longer than placed sees: only their beginnings are "
        "compared"
    )
    assert found.samples is not None
    assert found.samples.undefined == (
        "longer than the 6 tokens that are seen", None,
        "longer than the 6 tokens that are seen", None,
    )  # fmt: skip
    # As long as can be is not too long.
    full = findings_by(
        BERTSCORE,
        samples(["cat cat cat dog"], references=[["cat"]]),
        ScriptedModels(tokens=Placed()),
    )
    assert not full.warnings


def test_each_text_is_encoded_once_and_held_no_longer_than_needed() -> None:
    encoder = Placed()
    responses = ["cat", "dog", "cat", "up", "cat dog"]
    references = [["puss", "dog"], ["rat"], ["puss"], ["rat", "ox"], ["puss"]]
    found = each_outcome(
        BERTSCORE,
        samples(responses, references=references),
        ScriptedModels(tokens=encoder),
    )
    # Those with one first reference follow each other.
    assert encoder.encoded == ["cat", "puss", "dog", "cat dog", "rat", "up", "ox"]
    for response, own, one in zip(responses, references, found, strict=True):
        assert one == of(response, *own)


def test_what_stands_beside_values() -> None:
    data = samples(["cat"], references=[["cat"]])
    beside = outcomes_of(BERTSCORE, data, ScriptedModels(tokens=Placed())).beside
    assert beside == {"model": "placed", "model_sha256": "9" * 64, "layer": 4}


def test_which_models_are_asked() -> None:
    metric = pickle.loads(pickle.dumps(BERTSCORE))  # noqa: S301 - made just now
    assert Call(metric, {"model": None}).asks == ("embedder",)
    assert Call(metric, {"model": "roberta-large"}).asks == ()


def rates(encoder: HashedTokens, one: str, other: str) -> tuple[float, float, float]:
    """The definition, token by token."""
    sides = []
    for text in (one, other):
        (states,) = encoder.states([text])
        rows = [[x / sqrt(sum(y * y for y in row)) for x in row] for row in states.states.tolist()]
        sides.append((rows, states.special.tolist()))
    means = []
    for (rows, special), (others, _) in (sides, sides[::-1]):
        best = [
            max(sum(a * b for a, b in zip(row, match, strict=True)) for match in others)
            for row, apart in zip(rows, special, strict=True)
            if not apart
        ]
        means.append(sum(best) / len(best))
    mean = f1(*means) if means[0] * means[1] > 0 else 0.0
    return mean, means[0], means[1]


def test_against_a_slow_twin() -> None:
    data = random_texts(31)
    found = each_outcome(BERTSCORE, data, ScriptedModels())
    scored = 0
    for response, references, one in zip(data.response, data.references, found, strict=True):
        if not response or not references:
            assert one.status == "missing_input"
            continue
        scored += 1
        every = [rates(HashedTokens(), response, reference) for reference in references]
        best = dict(
            zip(("f1", "precision", "recall"), map(max, zip(*every, strict=True)), strict=True)
        )
        assert one.values == pytest.approx(best, abs=1e-9)
    assert scored > 10


@pytest.mark.models
@pytest.mark.filterwarnings("ignore")  # of what bert-score imports
@pytest.mark.parametrize("idf", [False, True])
def test_against_bert_score(idf: bool) -> None:
    import torch

    # One pair at a time: where it pads texts, best cosines below 0 become 0.
    greedy_cos_idf = import_module("bert_score.utils").greedy_cos_idf
    words = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"]
    rng = np.random.default_rng(5)
    rows = [[" ".join(rng.choice(words, rng.integers(1, 9))) for _ in range(2)] for _ in range(40)]
    data = samples([one for one, _ in rows], references=[[two] for _, two in rows])
    encoder = HashedTokens()
    found = each_outcome(BERTSCORE, data, ScriptedModels(tokens=encoder), idf=idf)
    of_text = {text: next(iter(encoder.states([text]))) for row in rows for text in row}
    documents = [set(of_text[two].ids.tolist()) for _, two in rows]

    def side(text: str) -> list[Any]:
        states = of_text[text]
        standing = [sum(one in own for own in documents) for one in states.ids.tolist()]
        rarity = [log((len(rows) + 1) / (count + 1)) for count in standing]
        weights = rarity if idf else (1.0 - states.special).tolist()
        mask = torch.ones(1, len(weights), dtype=torch.bool)
        return [torch.tensor(states.states[None]).float(), mask, torch.tensor([weights])]

    compared = 0
    for (one, two), ours in zip(rows, found, strict=True):
        numbers = (float(number) for number in greedy_cos_idf(*side(two), *side(one)))
        theirs = dict(zip(("precision", "recall", "f1"), numbers, strict=True))
        if theirs["precision"] * theirs["recall"] > 0:
            compared += 1
            assert ours.values == pytest.approx(theirs, abs=1e-5)
    assert compared > 35


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "bert.tsv"
    path.write_text("LAYER,P,R,F\n0,0.32,0.33,0.31\n1,0.5,0.25,0.125\n\n")
    found = baselines_in(str(path))
    assert found.of_layer(1) == (0.5, 0.25, 0.125)
    with pytest.raises(DataError, match=r"bert\.tsv: has no layer 2: it has 0 to 1"):
        found.of_layer(2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"x\.tsv:1: expected LAYER,P,R,F, found nothing"),
        ("a\tb\n", r"x\.tsv:1: expected LAYER,P,R,F, found a"),
        ("LAYER,P,R,F\n", r"x\.tsv: has no layers"),
        ("LAYER,P,R,F\n0,0.1,0.2\n", r"x\.tsv:2: expected a layer and three numbers"),
        ("LAYER,P,R,F\n0,0.1,0.2,0.3,0.4\n", r"x\.tsv:2: expected"),
        ("LAYER,P,R,F\none,0.1,0.2,0.3\n", r"x\.tsv:2: expected .* found one,0\.1,0\.2,0\.3"),
        ("LAYER,P,R,F\n0,0.1,nan,0.3\n", r"x\.tsv:2: expected"),
        ("LAYER,P,R,F\n0,0.1,1,0.3\n", r"x\.tsv:2: expected"),
        ("LAYER,P,R,F\n0,-inf,0.2,0.3\n", r"x\.tsv:2: expected"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.tsv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        baselines_in(str(path))


def test_no_file_and_no_text(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.tsv: cannot be read: No such file"):
        baselines_in(str(tmp_path / "none.tsv"))
    path = tmp_path / "x.tsv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match=r"x\.tsv: is no CSV"):
        baselines_in(str(path))
