"""Step alignment: edits by hand, both similarities by their definitions, what has no value."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.measured_by_models import cosine, each_outcome, findings_by, outcomes_of
from tests.oracles.model_numbers import levenshtein
from tests.oracles.text_models import ScriptedModels
from tests.oracles.text_samples import samples
from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators.embedding.metrics import step_alignment
from valor_cli.evaluators.embedding.metrics.step_alignment import STEP_ALIGNMENT
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.metric import Call
from valor_cli.results import Mark

CONTEXTS = ["An introduction.", "1. Boil the water\n2. Add salt\n3. Add the pasta\n4. Drain it"]


def edited(data: TextDataset, **parameters: Any) -> Outcome:
    """What edit distances find of the one sample; no model is asked."""
    models = ScriptedModels()
    (found,) = each_outcome(STEP_ALIGNMENT, data, models, similarity="edit", **parameters)
    assert not models.embedded
    return found


def test_by_hand() -> None:
    # "boil water" is "boil the water" without four of 14 characters: 1 - 4/14 = 0.714. Salt is
    # missing, "add the pasta" is the same; of "serve" and "eat" one stands for "drain it", and one
    # is too many. Step by step there would be three edits as well, and two matches fewer.
    response = "1. Boil water\n2. ADD the  pasta.\n3. Serve\n4. Eat"
    data = samples([response], retrieved_contexts=[CONTEXTS])
    found = edited(data)
    assert found.values == {
        "edits": 3,
        "insertions": 1,
        "deletions": 1,
        "mismatches": 1,
        "context_steps": 4,
        "answer_steps": 4,
        "edits_per_context_step": 0.75,
    }
    assert found.details is not None
    assert [one["edit"] for one in found.details["alignment"]] == [
        "match",
        "insertion",
        "match",
        "deletion",
        "mismatch",
    ]
    assert found.details["alignment"][0]["similarity"] == 1 - 4 / 14
    assert found.details["context_steps"][0] == ["retrieved_contexts[1]", 0, 17]
    assert found.marks == (
        Mark("retrieved_contexts[1]", 18, 29, "missing step"),
        Mark("response", 33, 41, "extra step"),
        Mark("retrieved_contexts[1]", 47, 58, "different step"),
        Mark("response", 42, 48, "different step"),
    )


def test_the_same_steps() -> None:
    data = samples(["\n".join(CONTEXTS)], retrieved_contexts=[CONTEXTS])
    assert edited(data).values == {
        "edits": 0,
        "insertions": 0,
        "deletions": 0,
        "mismatches": 0,
        "context_steps": 4,
        "answer_steps": 4,
        "edits_per_context_step": 0,
    }


def test_a_response_without_steps_lacks_them_all() -> None:
    data = samples(["Just cook it."], retrieved_contexts=[CONTEXTS])
    found = edited(data)
    assert (found.values["edits"], found.values["insertions"]) == (4, 4)
    assert found.values["edits_per_context_step"] == 1


def test_steps_of_all_contexts_are_one_list() -> None:
    contexts = ["- red\n- green", "no list", "Step 1: blue"]
    data = samples(["1. red\n2. green\n3. blue"], retrieved_contexts=[contexts])
    found = edited(data)
    assert (found.values["edits"], found.values["context_steps"]) == (0, 3)


@pytest.mark.parametrize(
    ("response", "contexts", "status", "reason"),
    [
        (None, CONTEXTS, "missing_input", "no response"),
        ("1. a", None, "missing_input", "no retrieved contexts"),
        ("1. a", [], "missing_input", "no retrieved contexts"),
        ("1. a", ["prose"], "not_applicable", "no steps in the retrieved contexts"),
        ("1. a", [""], "not_applicable", "no steps in the retrieved contexts"),
    ],
)
def test_without_value(
    response: str | None, contexts: list[str] | None, status: str, reason: str
) -> None:
    found = edited(samples([response], retrieved_contexts=[contexts]))
    assert (found.values, found.status, found.reason) == ({}, status, reason)


def test_more_steps_than_are_aligned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_alignment, "MOST_STEPS", 3)
    data = samples(["1. a\n2. b"], retrieved_contexts=[CONTEXTS])
    found = edited(data)
    assert found.status == "skipped"
    assert found.reason == "the retrieved contexts list 4 steps; at most 3 are aligned"
    data = samples(["1. a\n2. b\n3. c\n4. d"], retrieved_contexts=[["1. a"]])
    found = edited(data)
    assert found.reason == "the response lists 4 steps; at most 3 are aligned"


def test_the_threshold_is_reached_at_equality() -> None:
    # "abcd" and "abxy": two of four characters.
    data = samples(["- abcd"], retrieved_contexts=[["- abxy"]])
    assert edited(data).values["mismatches"] == 0
    assert edited(data, step_similarity_threshold=0.51).values["mismatches"] == 1
    assert edited(data, step_similarity_threshold=0.0).values["mismatches"] == 0


def test_long_steps_are_compared_by_their_beginnings(monkeypatch: pytest.MonkeyPatch) -> None:
    data = samples(["- abcdxxxx"], retrieved_contexts=[["- abcdyyyyyyyy"]])
    assert edited(data).values["mismatches"] == 1
    monkeypatch.setattr(step_alignment, "COMPARED", 4)
    assert edited(data).values["mismatches"] == 0


WORDS = st.lists(
    st.text("abc d", min_size=1, max_size=12).filter(str.strip), min_size=1, max_size=4
)


@given(WORDS, WORDS)
def test_similarity_is_the_definition(ours: list[str], theirs: list[str]) -> None:
    steps = [
        [step_alignment._Step("", 0, 0, " ".join(one.split())) for one in words]
        for words in (ours, theirs)
    ]
    expected = [
        [1 - levenshtein(a.words, b.words) / max(len(a.words), len(b.words)) for b in steps[1]]
        for a in steps[0]
    ]
    assert np.array_equal(step_alignment._likeness(*steps), np.array(expected))


def test_means() -> None:
    data = samples(
        ["1. Boil the water\n2. Add salt\n3. Add the pasta\n4. Drain it", "-", None],
        retrieved_contexts=[CONTEXTS, CONTEXTS, CONTEXTS],
    )
    found = findings_by(STEP_ALIGNMENT, data, ScriptedModels(), similarity="edit")
    means = {one.output: one.value for one in found.values}
    assert (means["edits"], means["answer_steps"], means["context_steps"]) == (2, 2, 4)


VECTORS = {
    "boil the water": [1.0, 0.0, 0.0],
    "heat water": [0.5, 0.75**0.5, 0.0],
    "add salt": [0.0, 0.0, 1.0],
    "eat": [0.0, -1.0, 0.0],
    "xyzzy": [0.0, 0.0, 0.0],
}


def test_embeddings_by_hand() -> None:
    # The cosine of heating with boiling is 0.5: the same step. Salt is missing, eating too many:
    # one stands for the other.
    contexts = ["1. Boil the water\n2. Add salt"]
    data = samples(["1. Heat water\n2. Eat"], retrieved_contexts=[contexts])
    models = ScriptedModels(vectors=VECTORS)
    (found,) = each_outcome(STEP_ALIGNMENT, data, models, step_similarity_threshold=0.4999999)
    assert (found.values["edits"], found.values["mismatches"]) == (1, 1)
    assert found.details is not None
    assert [one["similarity"] for one in found.details["alignment"]] == [
        pytest.approx(0.5, abs=1e-9),
        0.0,
    ]
    (found,) = each_outcome(STEP_ALIGNMENT, data, models, step_similarity_threshold=0.51)
    assert (found.values["edits"], found.values["mismatches"]) == (2, 2)


def test_steps_of_the_same_words_are_the_same_without_a_vector() -> None:
    data = samples(["- Xyzzy"], retrieved_contexts=[["- xyzzy."]])
    (found,) = each_outcome(STEP_ALIGNMENT, data, ScriptedModels(vectors=VECTORS))
    assert found.values["edits"] == 0


def test_cosines_against_the_definition() -> None:
    data = samples(
        ["1. a b\n2. c\n3. d", "no steps", "- z"],
        retrieved_contexts=[["1. e\n2. c"], ["1. f"], ["- q\n- r"]],
    )
    models = ScriptedModels()
    first, none, last = each_outcome(STEP_ALIGNMENT, data, models, step_similarity_threshold=0.0)
    assert (none.values["edits"], none.values["insertions"]) == (1, 1)
    said = (["e", "c"], ["a b", "c", "d"]), (["q", "r"], ["z"])
    for found, (ours, theirs) in zip((first, last), said, strict=True):
        assert found.details is not None
        for one in found.details["alignment"]:
            if one["similarity"] is not None:
                pair = ours[one["context_step"]], theirs[one["answer_step"]]
                assert one["similarity"] == pytest.approx(cosine(models, *pair), abs=1e-9)


def test_what_stands_beside_values() -> None:
    data = samples(["1. a"], retrieved_contexts=[["1. a"]])
    beside = outcomes_of(STEP_ALIGNMENT, data, ScriptedModels()).beside
    assert beside == {"model": "scripted-vectors", "model_sha256": "0" * 64}
    assert not outcomes_of(STEP_ALIGNMENT, data, ScriptedModels(), similarity="edit").beside


def test_which_models_are_asked() -> None:
    metric = pickle.loads(pickle.dumps(STEP_ALIGNMENT))  # noqa: S301 - made just now
    assert Call(metric, {"similarity": "embeddings"}).asks == ("embedder",)
    assert Call(metric, {"similarity": "edit"}).asks == ()
