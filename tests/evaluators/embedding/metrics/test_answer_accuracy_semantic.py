"""Semantic answer accuracy: the sentence that is furthest from the reference, and short answers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.oracles.measured_by_models import each_outcome, highest, sentences
from tests.oracles.text_models import ScriptedModels
from tests.oracles.text_problems import random_texts
from tests.oracles.text_samples import samples
from valor_cli.evaluators.embedding.metrics.answer_accuracy_semantic import ANSWER_ACCURACY_SEMANTIC
from valor_cli.results import Mark

VECTORS = {
    "Ants live here.": [1.0, 0.0],
    "Bees live here.": [0.0, 1.0],
    "Cows live there.": [0.6, 0.8],
    "Dogs live there.": [0.8, 0.6],
    "Yes": [1.0, 0.0],
    "Yep": [0.6, 0.8],
}


def accuracy(response: str | None, *references: str, **parameters: Any) -> float | None:
    data = samples([response], references=[references])
    models = ScriptedModels(vectors=VECTORS)
    (found,) = each_outcome(ANSWER_ACCURACY_SEMANTIC, data, models, **parameters)
    return found.values.get("value")


def test_by_hand() -> None:
    # By the first reference ants have 0.6 and bees 0.8, by the second ants 0.8 and bees 0.6, and
    # by the third both 0.8: of its sentences cows are nearest to bees, which are the first worst.
    data = samples(
        ["Bees live here. Ants live here."],
        references=[["Cows live there.", "", "Dogs live there. Cows live there."]],
    )
    (found,) = each_outcome(ANSWER_ACCURACY_SEMANTIC, data, ScriptedModels(vectors=VECTORS))
    assert found.values["value"] == pytest.approx(0.8, abs=1e-9)
    assert found.details == {
        "worst_sentence": {
            "text": "Bees live here.",
            "start": 0,
            "end": 15,
            "similarity": found.values["value"],
            "nearest": {
                "field": "references[2]",
                "start": 17,
                "end": 33,
                "similarity": found.values["value"],
            },
        }
    }
    assert found.marks == (Mark("response", 0, 15, "least accurate"),)


def test_sentences_of_references_are_not_mixed() -> None:
    assert accuracy(
        "Ants live here. Bees live here.", "Ants live here.", "Bees live here."
    ) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("normalized_edit_distance", 2 / 3),
        ("exact_match", 0.0),
        ("token_jaccard", 0.0),
        ("embeddings", 0.6),
    ],
)
def test_short_answers_are_compared_as_they_are_written(metric: str, expected: float) -> None:
    # Yes and Yep: one letter of three; 0.6 by their vectors.
    found = accuracy("Yes", "Yep", short_string_metric=metric)
    assert found == pytest.approx(expected, abs=1e-9)


def test_case_and_white_space_do_not_count_in_short_answers() -> None:
    for metric in ("normalized_edit_distance", "exact_match", "token_jaccard"):
        assert accuracy(" YES\n", "yes", short_string_metric=metric) == 1.0
    data = samples([" Yes\n"], references=[["\tyes"]])
    models = ScriptedModels()
    (found,) = each_outcome(ANSWER_ACCURACY_SEMANTIC, data, models)
    assert found.details is not None
    worst = found.details["worst_sentence"]
    assert (worst["text"], worst["start"], worst["end"]) == ("Yes", 1, 4)
    assert worst["nearest"] == {"field": "references[0]", "start": 1, "end": 4, "similarity": 1.0}
    assert models.embedded == []


def test_how_short_is_short() -> None:
    # Ten characters are, eleven are not, and both texts must be.
    models = ScriptedModels(vectors={"12345678901": [1.0, 0.0], "1234567890": [0.0, 1.0]})
    data = samples(
        ["1234567890", "12345678901", "1234567890"],
        references=[["1234567890"], ["1234567890"], ["12345678901"]],
    )
    found = each_outcome(ANSWER_ACCURACY_SEMANTIC, data, models)
    assert [one.values["value"] for one in found] == [1.0, 0.0, 0.0]
    longer = each_outcome(ANSWER_ACCURACY_SEMANTIC, data, models, short_string_threshold=11)
    assert [one.values["value"] for one in longer] == pytest.approx([1.0, 10 / 11, 10 / 11])
    never = each_outcome(ANSWER_ACCURACY_SEMANTIC, data, models, short_string_threshold=0)
    assert [one.values["value"] for one in never] == [1.0, 0.0, 0.0]


def test_the_best_reference_counts_however_it_is_compared() -> None:
    # "Yep" as it is written 2/3, the others by vectors: 0.8 and 0.6.
    long = ("Dogs live there.", "Cows live there.")
    assert accuracy("Yes", "Yep", *long) == pytest.approx(0.8, abs=1e-9)
    assert accuracy("Yes", "Yep", long[1]) == pytest.approx(2 / 3, abs=1e-9)
    assert accuracy("Yes", long[1], "yes") == 1.0


def test_empty_texts_are_missing_however_short() -> None:
    data = samples(["", " ", "Yes", None, "Yes"], references=[["Yes"], [""], [" "], ["Yes"], []])
    found = each_outcome(ANSWER_ACCURACY_SEMANTIC, data, ScriptedModels())
    assert {one.status for one in found} == {"missing_input"}
    assert [one.reason for one in found] == [
        "the response is empty",
        "the response is empty",
        "the references are empty",
        "no response",
        "no reference",
    ]


@pytest.mark.parametrize("threshold", [0, 60])
def test_against_loops(threshold: int) -> None:
    data, models = random_texts(28), ScriptedModels()
    found = each_outcome(ANSWER_ACCURACY_SEMANTIC, data, models, short_string_threshold=threshold)
    for at, one in enumerate(found):
        text = (data.response[at] or "").strip()
        if not text or not data.references[at]:
            assert one.status == "missing_input"
            continue
        best = -2.0
        for reference in data.references[at]:
            if len(text) <= threshold and len(reference.strip()) <= threshold:
                longer = max(len(text), len(reference.strip()))
                distance = edits(text.lower(), reference.strip().lower())
                best = max(best, 1 - distance / longer)
                continue
            lowest = 2.0
            for sentence in sentences(text):
                lowest = min(lowest, highest(models, sentence, sentences(reference)))
            best = max(best, lowest)
        assert one.values["value"] == pytest.approx(best, abs=1e-9)


def edits(left: str, right: str) -> int:
    """Levenshtein's distance, by its recursion."""
    row = list(range(len(right) + 1))
    for i, mine in enumerate(left, 1):
        above, row[0] = row[0], i
        for j, theirs in enumerate(right, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (mine != theirs))
    return row[-1]
