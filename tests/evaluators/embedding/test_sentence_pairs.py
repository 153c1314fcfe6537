"""What is compared with what: sentences of each text, what is blank, and what a sample lacks."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracles.text_models import ScriptedModels
from tests.oracles.text_samples import samples
from valor_cli.evaluators.embedding import sentence_pairs
from valor_cli.evaluators.embedding.sentence_pairs import (
    Compared,
    Pair,
    Passage,
    compared,
    nearest_of_each,
    paired,
)
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.kernels.vectors.cosines import units

DATA = samples(
    ["One thing. Another thing.", "\n", None, "Said.", "Said."],
    user_input=["Two questions? In one text?", "Q?", None, " ", "Q?"],
    references=[["", "Right. Very right."], ["A."], ["A."], [" "], []],
    retrieved_contexts=[[" ", "Passage one."], ["A."], [], None, ["", "\t"]],
)


def texts() -> ModelTexts:
    return ModelTexts(DATA, ScriptedModels())


def reasons(found: list[Pair | Outcome]) -> list[str | None]:
    return [one.reason if isinstance(one, Outcome) else None for one in found]


def test_texts_are_split_into_sentences_and_blank_ones_left_out() -> None:
    first = paired(texts(), "response", "references")[0]
    assert first == Pair(
        Passage("response", 0, "One thing. Another thing.", ((0, 10), (11, 25))),
        (Passage("references[1]", 1, "Right. Very right.", ((0, 6), (7, 18))),),
    )


def test_questions_are_one_text() -> None:
    first = paired(texts(), "user_input", "retrieved_contexts")[0]
    assert first == Pair(
        Passage("user_input", 0, "Two questions? In one text?", ((0, 27),)),
        (Passage("retrieved_contexts[1]", 1, "Passage one.", ((0, 12),)),),
    )


def test_what_is_missing_is_said() -> None:
    found = paired(texts(), "response", "references")
    assert all(isinstance(one, Pair) or one.status == "missing_input" for one in found)
    assert reasons(found) == [
        None,
        "the response is empty",
        "no response",
        "the references are empty",
        "no reference",
    ]
    assert reasons(paired(texts(), "user_input", "retrieved_contexts")) == [
        None,
        None,
        "no user_input",
        "the user_input is empty",
        "the retrieved contexts are empty",
    ]
    assert reasons(paired(texts(), "response", "retrieved_contexts"))[3:] == [
        "no retrieved contexts",
        "the retrieved contexts are empty",
    ]


def test_the_nearest_sentence_of_each_text() -> None:
    vectors = {
        "Ants.": [1.0, 0.0],
        "Bees.": [0.0, 2.0],
        "Cows.": [3.0, 4.0],
        "Dogs.": [0.0, -1.0],
        "Elks.": [-4.0, 3.0],
    }
    data = samples(["Ants. Bees."], references=[["Cows. Dogs.", "Elks."]])
    models = ScriptedModels(vectors=vectors)
    asked = ModelTexts(data, models)
    (found,) = compared(asked, paired(asked, "response", "references"))
    assert isinstance(found, Compared)
    # Ants with cows 0.6, with dogs 0, with elks -0.8; bees with cows 0.8, with dogs -1, with elks
    # 0.6.
    assert found.nearest == pytest.approx(np.array([[0.6, -0.8], [0.8, 0.6]]), abs=1e-12)
    assert [found.nearest_span(0, 0), found.nearest_span(1, 1)] == [(0, 5), (0, 5)]
    assert models.embedded == ["Ants.", "Bees.", "Cows.", "Dogs.", "Elks."]


def test_what_is_beside_nothing_is_not_embedded() -> None:
    models = ScriptedModels(vectors={"A.": [1.0]})
    asked = ModelTexts(samples(["A."]), models)
    lacking = Outcome(status="missing_input", reason="no reference")
    alone = Pair(Passage("response", 0, "A.", ((0, 2),)), ())
    found = list(compared(asked, [alone, lacking]))
    assert found[1] is lacking
    assert isinstance(found[0], Compared)
    assert found[0].nearest.shape == (1, 0)
    assert models.embedded == []


def test_a_text_that_several_samples_share_is_split_once(monkeypatch: pytest.MonkeyPatch) -> None:
    split: list[str] = []

    def once(text: str) -> list[tuple[int, int]]:
        split.append(text)
        return [(0, len(text))]

    monkeypatch.setattr("valor_cli.evaluators.model_metrics.split_sentences", once)
    asked = ModelTexts(samples(["A.", "A."], references=[["B."], ["B."]]), ScriptedModels())
    paired(asked, "response", "references")
    paired(asked, "response", "references")
    assert sorted(split) == ["A.", "B."]


def test_a_vector_of_zeros_is_like_nothing_and_no_cosine_of_zero() -> None:
    data = samples(
        ["Known.", "Odd.", "Known.", "Known. Odd."],
        references=[["Known too.", "Odd."], ["Known too."], ["Odd."], ["Known too."]],
    )
    vectors = {"Known.": (1, 0), "Known too.": (3, 4), "Odd.": (0, 0)}
    odd = ModelTexts(data, ScriptedModels(vectors=vectors))
    first, *others = compared(odd, paired(odd, "response", "references"))
    # One of several references that says nothing takes nothing away.
    assert isinstance(first, Compared)
    assert first.nearest.tolist() == [[pytest.approx(0.6), 0.0]]
    assert [(one.status, one.reason) for one in others if isinstance(one, Outcome)] == [
        ("not_applicable", f"the embedder has no vector of a sentence of {field}: it is all zeros")
        for field in ("response", "references", "response")
    ]


@pytest.mark.parametrize("at_once", [4_000_000, 20, 1])
def test_the_nearest_of_each_against_loops(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentence_pairs, "AT_ONCE", at_once)
    rng = np.random.default_rng(at_once)
    ones, others = units(rng.normal(size=(7, 5))), units(rng.normal(size=(9, 5)))
    starts = np.array([0, 1, 5, 6])
    found = nearest_of_each(ones, others, starts)
    parts = [others[0:1], others[1:5], others[5:6], others[6:]]
    expected = [[max(float(one @ other) for other in part) for part in parts] for one in ones]
    assert found == pytest.approx(np.array(expected), abs=1e-12)


def test_the_nearest_of_each_by_hand() -> None:
    # (1, 0) with (0.6, 0.8) is 0.6, with (0, 1) is 0, with (-1, 0) is -1; zeros are like nothing.
    ones = np.array([[1.0, 0.0], [0.0, 0.0]])
    others = np.array([[0.6, 0.8], [0.0, 1.0], [-1.0, 0.0]])
    found = nearest_of_each(ones, others, np.array([0, 2]))
    assert found.tolist() == [[0.6, -1.0], [0.0, 0.0]]
