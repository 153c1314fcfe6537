"""Metrics of nearest sentences: worked by hand, against loops, what they lack, short answers."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.oracles.measured_by_models import (
    cosine,
    each_outcome,
    findings_by,
    highest,
    outcomes_of,
    sentences,
)
from tests.oracles.model_numbers import levenshtein
from tests.oracles.text_models import HashedClassifier, ScriptedModels
from tests.oracles.text_problems import random_texts
from tests.oracles.text_samples import samples
from valor_cli import catalogue
from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.errors import ConfigError
from valor_cli.evaluators.embedding import WING
from valor_cli.evaluators.embedding.metrics.answer_accuracy_semantic import (
    edit_likeness,
    equality,
    token_jaccard,
)
from valor_cli.evaluators.embedding.metrics.semantic_similarity import CROSS_ENCODER
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.metric import Call
from valor_cli.models.protocols import Pair
from valor_cli.results import Mark

METRICS = {one.name: one for one in WING.metrics}

# The cosines: ants with cows 0.6, with elks 0.8, with dogs -1; bees with cows 0.8, with elks -0.6.
VECTORS = {
    "Ants.": (1.0, 0.0),
    "Bees.": (0.0, 1.0),
    "Cows.": (0.6, 0.8),
    "Dogs.": (-1.0, 0.0),
    "Elks.": (0.8, -0.6),
    "Fish.": (0.8, 0.6),
    "Why? How?": (1.0, 0.0),
    "Yes": (1.0, 0.0),
    "Yep": (0.6, 0.8),
}
MODELS = ScriptedModels(vectors=VECTORS)


def of(
    name: str, response: str | None, /, models: ScriptedModels = MODELS, **columns: Any
) -> Outcome:
    """What a metric finds of one sample; what is no column is a parameter."""
    texts = {
        one: [columns.pop(one)]
        for one in ("user_input", "references", "retrieved_contexts")
        if one in columns
    }
    (found,) = each_outcome(METRICS[name], samples([response], **texts), models, **columns)
    return found


def worst(text: str, start: int, value: float, field: str, at: int, nearest: str) -> Any:
    """What is told of the worst sentence of a response."""
    near = {"field": field, "start": at, "end": at + len(nearest), "similarity": value}
    own = {"text": text, "start": start, "end": start + len(text), "similarity": value}
    return {"worst_sentence": {**own, "nearest": near}}


NEAR = pytest.approx


@pytest.mark.parametrize(
    ("name", "response", "columns", "values", "details", "mark"),
    [
        # Ants are nearest to cows, 0.6, and bees to cows, 0.8.
        (
            "sentence_similarity",
            "Ants. Bees.",
            {"references": ["Cows. Dogs."]},
            {"mean": 0.7, "min": 0.6},
            None,
            None,
        ),
        # The reference with the highest mean counts for both; their sentences are not mixed.
        (
            "sentence_similarity",
            "Ants. Bees.",
            {"references": ["Elks.", "", "Cows."]},
            {"mean": 0.7, "min": 0.6},
            {"reference": 2},
            None,
        ),
        # What the response leaves out does not count.
        (
            "sentence_similarity",
            "Ants.",
            {"references": ["Ants. Dogs. Bees."]},
            {"mean": 1, "min": 1},
            None,
            None,
        ),
        # The question is one text of two sentences.
        (
            "answer_relevancy_sentence",
            "Bees. Cows.",
            {"user_input": "Why? How?"},
            {"value": 0.6},
            None,
            Mark("response", 6, 11, "most relevant"),
        ),
        # Contexts: 0.6 by its cows, nothing, 0.8 by its elks, -1.
        (
            "context_relevancy_soft",
            None,
            {
                "user_input": "Why? How?",
                "retrieved_contexts": ["Bees. Cows.", "\n", "Elks. Dogs.", "Dogs."],
            },
            {"recall": 0.8, "precision": 0.4 / 3},
            {"most_relevant": "retrieved_contexts[2]"},
            None,
        ),
        # Elks alone are at 0.7 or more; a blank context keeps its rank.
        (
            "context_mrr",
            None,
            {
                "user_input": "Why? How?",
                "retrieved_contexts": ["Cows.", " ", "Bees.", "Dogs. Elks."],
            },
            {"value": 0.25, "hit": 1},
            {"rank": 4, "most_relevant": "retrieved_contexts[3]", "relevance": NEAR(0.8)},
            None,
        ),
        (
            "context_mrr",
            None,
            {"user_input": "Why? How?", "retrieved_contexts": ["Bees.", "Cows."]},
            {"value": 0, "hit": 0},
            {"rank": None, "most_relevant": "retrieved_contexts[1]", "relevance": NEAR(0.6)},
            None,
        ),
        # Ants: 0.8. Bees: 0.8. Dogs: cows -0.6, fish -0.8: the worst, nearest to the cows.
        (
            "groundedness_semantic",
            "Ants.  Dogs. Bees.",
            {"retrieved_contexts": ["Fish.", " ", "Fish. Cows."]},
            {"value": -0.6},
            worst("Dogs.", 7, NEAR(-0.6), "retrieved_contexts[2]", 6, "Cows."),
            Mark("response", 7, 12, "least grounded"),
        ),
        # By the first reference ants have 0.6 and bees 0.8, by the second ants 0.8 and bees 0.6,
        # and by the third both 0.8: of its sentences cows are nearest to bees, the first worst.
        (
            "answer_accuracy_semantic",
            "Bees. Ants.",
            {"references": ["Cows.", "", "Fish. Cows."], "short_string_threshold": 0},
            {"value": 0.8},
            worst("Bees.", 0, NEAR(0.8), "references[2]", 6, "Cows."),
            Mark("response", 0, 5, "least accurate"),
        ),
        # Sentences of references are not mixed.
        (
            "answer_accuracy_semantic",
            "Ants. Bees.",
            {"references": ["Ants.", "Bees."], "short_string_threshold": 0},
            {"value": 0},
            worst("Bees.", 6, NEAR(0), "references[0]", 0, "Ants."),
            Mark("response", 6, 11, "least accurate"),
        ),
        # Texts as they are, and whole.
        (
            "semantic_similarity",
            "Ants.",
            {"references": ["Dogs.", " ", "Cows."]},
            {"value": 0.6},
            {"reference": 2},
            None,
        ),
    ],
)
def test_by_hand(
    name: str, response: str | None, columns: Any, values: Any, details: Any, mark: Any
) -> None:
    found = of(name, response, **columns)
    assert found.values == pytest.approx(values, abs=1e-9)
    assert found.details == details
    assert found.marks == (() if mark is None else (mark,))


def test_whole_texts_by_hand() -> None:
    # (1, 2, 2) and (2, 1, 2): 8 / (3 * 3); (1, 2, 2) and (0, -3, 4): 2 / (3 * 5).
    vectors = {" A. B\n": (1, 2, 2), "b": (2, 1, 2), "c": (0, -3, 4), "z": (0, 0, 0)}
    models = ScriptedModels(vectors=vectors)
    data = samples([" A. B\n"] * 3, references=[["b"], ["c"], ["z"]])
    found = each_outcome(METRICS["semantic_similarity"], data, models)
    assert [one.values["value"] for one in found[:2]] == pytest.approx([8 / 9, 2 / 15], abs=1e-9)
    # A vector of zeros has no direction, so no cosine.
    assert (found[2].status, found[2].values) == ("not_applicable", {})


Twin = Callable[[ScriptedModels, TextDataset, int], Mapping[str, float]]


def whole(models: ScriptedModels, data: TextDataset, at: int) -> Mapping[str, float]:
    return {"value": max(cosine(models, data.response[at] or "", r) for r in data.references[at])}


def by_sentence(models: ScriptedModels, data: TextDataset, at: int) -> Mapping[str, float]:
    best = (-2.0, -2.0)
    for reference in data.references[at]:
        alike = [
            highest(models, one, sentences(reference)) for one in sentences(data.response[at] or "")
        ]
        if sum(alike) / len(alike) > best[0]:
            best = (sum(alike) / len(alike), min(alike))
    return {"mean": best[0], "min": best[1]}


def relevant(models: ScriptedModels, data: TextDataset, at: int) -> Mapping[str, float]:
    return {"value": highest(models, data.user_input[at] or "", sentences(data.response[at] or ""))}


def relevances(models: ScriptedModels, data: TextDataset, at: int) -> list[float]:
    question = data.user_input[at] or ""
    contexts = data.retrieved_contexts[at] or ()
    return [highest(models, question, sentences(one)) for one in contexts]


def soft(models: ScriptedModels, data: TextDataset, at: int) -> Mapping[str, float]:
    found = relevances(models, data, at)
    return {"recall": max(found), "precision": sum(found) / len(found)}


def reciprocal(threshold: float) -> Twin:
    def twin(models: ScriptedModels, data: TextDataset, at: int) -> Mapping[str, float]:
        for rank, relevance in enumerate(relevances(models, data, at), 1):
            if relevance >= threshold:
                return {"value": 1 / rank, "hit": 1.0}
        return {"value": 0.0, "hit": 0.0}

    return twin


def grounded(models: ScriptedModels, data: TextDataset, at: int) -> Mapping[str, float]:
    contexts = [one for text in data.retrieved_contexts[at] or () for one in sentences(text)]
    response = sentences(data.response[at] or "")
    return {"value": min(highest(models, one, contexts) for one in response)}


def accurate(short: int) -> Twin:
    def twin(models: ScriptedModels, data: TextDataset, at: int) -> Mapping[str, float]:
        text, best = (data.response[at] or "").strip(), -2.0
        for reference in map(str.strip, data.references[at]):
            if max(len(text), len(reference)) <= short:
                changed = levenshtein(text.lower(), reference.lower())
                alike = 1 - changed / max(len(text), len(reference))
            else:
                nearest = sentences(reference)
                alike = min(highest(models, one, nearest) for one in sentences(text))
            best = max(best, alike)
        return {"value": best}

    return twin


@pytest.mark.parametrize(
    ("name", "parameters", "twin"),
    [
        ("semantic_similarity", {}, whole),
        ("sentence_similarity", {}, by_sentence),
        ("answer_relevancy_sentence", {}, relevant),
        ("context_relevancy_soft", {}, soft),
        *(
            ("context_mrr", {"mrr_relevant_chunk_threshold": one}, reciprocal(one))
            for one in (-0.5, 0.0, 0.5)
        ),
        ("context_mrr", {}, reciprocal(0.7)),
        ("groundedness_semantic", {}, grounded),
        *(
            ("answer_accuracy_semantic", {"short_string_threshold": one}, accurate(one))
            for one in (0, 60)
        ),
    ],
)
def test_against_loops(name: str, parameters: Mapping[str, Any], twin: Twin) -> None:
    data, models = random_texts(28), ScriptedModels()
    metric = METRICS[name]
    scored = 0
    for at, one in enumerate(each_outcome(metric, data, models, **parameters)):
        texts = [getattr(data, need)[at] for need in metric.needs]
        if not all(text and (not isinstance(text, str) or text.strip()) for text in texts):
            assert one.status == "missing_input"
            continue
        assert one.values == pytest.approx(twin(models, data, at), abs=1e-9)
        scored += 1
    assert scored > 3


@pytest.mark.parametrize("name", ["semantic_similarity", "sentence_similarity"])
def test_what_stands_beside_the_values(name: str) -> None:
    data, models = random_texts(1), ScriptedModels()
    splitter = {} if name == "semantic_similarity" else {"splitter": "valor-2"}
    assert outcomes_of(METRICS[name], data, models).beside == {**models.embedder.beside, **splitter}


# --- Ranks of contexts ---------------------------------------------------------------------------


def ranked(*contexts: str, **parameters: Any) -> Mapping[str, float | None]:
    return of(
        "context_mrr", None, user_input="Why? How?", retrieved_contexts=contexts, **parameters
    ).values


def test_the_mean_over_questions() -> None:
    data = samples(
        [None] * 4,
        user_input=["Ants.", "Ants.", "Ants.", None],
        retrieved_contexts=[["Elks."], ["Cows.", "Elks."], ["Cows."], ["Elks."]],
    )
    found = findings_by(METRICS["context_mrr"], data, MODELS)
    assert [(one.output, one.n) for one in found.values] == [("value", 3), ("hit", 3)]
    assert [one.value for one in found.values] == pytest.approx([0.5, 2 / 3], abs=1e-12)
    # Ranks have a mean; hits are a part of the questions.
    assert [one.proportion for one in found.values] == [False, True]


def test_at_the_threshold_a_context_is_relevant() -> None:
    contexts = ["Bees.", "Cows.", "Elks."]
    thresholds = [-1, 0, 0.001, 0.6, 0.8, 0.81]
    found = [ranked(*contexts, mrr_relevant_chunk_threshold=one)["value"] for one in thresholds]
    assert found == [1.0, 1.0, 0.5, 0.5, 1 / 3, 0.0]
    # A context that is the question is relevant at 1, whatever the last digits are.
    for vector in ([0.1, 0.2, 0.3], [1e-8, 3.0, 7.0], [0.3, 0.7, -0.9]):
        columns: Any = {"user_input": "Q", "retrieved_contexts": ["Q"]}
        models = ScriptedModels(vectors={"Q": vector})
        one = of("context_mrr", None, models, **columns, mrr_relevant_chunk_threshold=1.0)
        assert one.values["value"] == 1.0


def test_beyond_the_last_rank_nothing_is_found() -> None:
    contexts = [*["Cows."] * 9, "Elks."]
    assert ranked(*contexts) == {"value": 0.1, "hit": 1.0}
    assert ranked("Cows.", *contexts) == {"value": 0.0, "hit": 0.0}
    assert ranked("Cows.", *contexts, mrr_relevant_chunk_oor_idx=11) == {"value": 1 / 11, "hit": 1}
    assert ranked("Cows.", "Elks.", mrr_relevant_chunk_oor_idx=1) == {"value": 0.0, "hit": 0.0}


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("context_mrr", '{"mrr_relevant_chunk_threshold": 1.1}'),
        ("context_mrr", '{"mrr_relevant_chunk_oor_idx": 0}'),
        ("context_mrr", '{"mrr_relevant_chunk_oor_idx": 2.5}'),
        ("semantic_similarity", '{"method": "other"}'),
    ],
)
def test_parameters_have_limits(name: str, given: str) -> None:
    with pytest.raises(ValidationError):
        catalogue.parameters("text_generation", name).model_validate_json(given)


# --- Short answers, as they are written ----------------------------------------------------------


@pytest.mark.parametrize(
    ("alike", "one", "other", "value"),
    [
        # kitten - sitten - sittin - sitting: 3 edits of 7 characters.
        (edit_likeness, "kitten", "Sitting", 4 / 7),
        (edit_likeness, "YES", "yes", 1),
        (edit_likeness, "ab", "cd", 0),
        (edit_likeness, "", "", 1),
        # Folded, ß is two letters: one edit of three characters is left.
        (edit_likeness, "ß", "ssa", 2 / 3),
        (equality, "Yes", "yES", 1),
        (equality, "Yes", "Yes.", 0),
        (equality, "Straße", "STRASSE", 1),
        # {in, may} and {in, june}: one of three.
        (token_jaccard, "In May", "in June", 1 / 3),
        (token_jaccard, "May, in May", "in may!", 1),
        (token_jaccard, "42", "43", 0),
        (token_jaccard, "?", "?", 1),
        (token_jaccard, "?", "!", 0),
        (token_jaccard, "?", "a", 0),
        (token_jaccard, "北京 大", "北京", 0.5),
    ],
)
def test_how_alike_short_answers_are(
    alike: Callable[[str, str], float], one: str, other: str, value: float
) -> None:
    assert alike(one, other) == pytest.approx(value, abs=1e-12)


@given(st.text(max_size=12), st.text(max_size=12))
def test_both_ways_are_equal_and_between_0_and_1(one: str, other: str) -> None:
    for alike in (edit_likeness, equality, token_jaccard):
        assert alike(one, one) == 1
        assert 0 <= alike(one, other) <= 1
        assert alike(one, other) == pytest.approx(alike(other, one), abs=1e-12)


@pytest.mark.parametrize(
    ("response", "references", "parameters", "value"),
    [
        # Yes and Yep: one letter of three; 0.6 by their vectors.
        ("Yes", ["Yep"], {}, 2 / 3),
        ("Yes", ["Yep"], {"short_string_metric": "exact_match"}, 0),
        ("Yes", ["Yep"], {"short_string_metric": "token_jaccard"}, 0),
        ("Yes", ["Yep"], {"short_string_metric": "embeddings"}, 0.6),
        (" YES\n", ["yes"], {"short_string_metric": "exact_match"}, 1),
        (" YES\n", ["yes"], {"short_string_metric": "token_jaccard"}, 1),
        # Ten characters are short, eleven are not, and both texts must be.
        ("1234567890", ["1234567890"], {}, 1),
        ("12345678901", ["1234567890"], {}, 0),
        ("1234567890", ["12345678901"], {}, 0),
        ("12345678901", ["1234567890"], {"short_string_threshold": 11}, 10 / 11),
        ("1234567890", ["12345678901"], {"short_string_threshold": 0}, 0),
        # The best reference counts however it is compared: 2/3 as written, 0.8 and 0.6 by vectors.
        ("Yes", ["Yep", "Dogs live there.", "Cows live there."], {}, 0.8),
        ("Yes", ["Yep", "Cows live there."], {}, 2 / 3),
        ("Yes", ["Cows live there.", "yes"], {}, 1),
    ],
)
def test_short_answers_are_compared_as_they_are_written(
    response: str, references: list[str], parameters: Any, value: float
) -> None:
    vectors = {
        **VECTORS,
        "12345678901": (1.0, 0.0),
        "1234567890": (0.0, 1.0),
        "Dogs live there.": (0.8, 0.6),
        "Cows live there.": (0.6, 0.8),
    }
    models = ScriptedModels(vectors=vectors)
    found = of("answer_accuracy_semantic", response, models, references=references, **parameters)
    assert found.values["value"] == pytest.approx(value, abs=1e-9)


def test_case_and_white_space_do_not_count_in_short_answers() -> None:
    models = ScriptedModels()
    found = of("answer_accuracy_semantic", " Yes\n", models, references=["\tyes"])
    assert found.details == worst("Yes", 1, 1.0, "references[0]", 1, "yes")
    assert models.embedded == []


# --- A cross-encoder in place of vectors ---------------------------------------------------------


class _Rater(HashedClassifier):
    """Rates pairs as told; by window of the hypothesis, then of the premise."""

    def __init__(self, rates: dict[Pair, list[list[float]]]) -> None:
        super().__init__(("LABEL_0",), False)
        self.rates = rates

    def of_pairs(self, pairs: object) -> list[np.ndarray]:
        self.asked += list(pairs)  # type: ignore[call-overload]
        return [np.array(self.rates[one])[:, :, None] for one in pairs]  # type: ignore[attr-defined]


def test_a_cross_encoder_rates_pairs() -> None:
    # Of windows: the first part of the response is best at 0.9, the second at 0.6, which counts.
    rates = {
        Pair("r1", "a"): [[0.25]],
        Pair("r2", "a"): [[0.75]],
        Pair("r1", "b"): [[0.1, 0.9], [0.6, 0.5]],
    }
    rater = _Rater(rates)
    models = ScriptedModels(classifiers={"semantic_similarity": rater})
    data = samples(["a", "b", "a", None], references=[["r1", " ", "r2"], ["r1"], ["r1"], ["r1"]])
    metric = METRICS["semantic_similarity"]
    found = each_outcome(metric, data, models, method="cross_encoder")
    assert [one.values.get("value") for one in found] == [0.75, 0.6, 0.25, None]
    assert [one.details for one in found] == [{"reference": 2}, None, None, None]
    assert found[3].reason == "no response"
    assert rater.asked == [Pair("r1", "a"), Pair("r2", "a"), Pair("r1", "b")]
    assert models.embedded == []
    beside = outcomes_of(metric, data, models, method="cross_encoder").beside
    assert beside == rater.identity.beside


def test_which_cross_encoder_is_asked() -> None:
    asked: list[tuple[str, str]] = []

    class Models(ScriptedModels):
        def classifier(self, model: str, metric: str) -> HashedClassifier:
            asked.append((model, metric))
            return HashedClassifier(("LABEL_0",), False)

    for own in (None, "own/one"):
        of(
            "semantic_similarity",
            "a",
            Models(),
            references=["b"],
            method="cross_encoder",
            model=own,
        )
    assert asked == [(one, "semantic_similarity") for one in (CROSS_ENCODER, "own/one")]
    metric = pickle.loads(pickle.dumps(METRICS["semantic_similarity"]))  # noqa: S301 - made just now
    assert Call(metric, {"method": "embedding", "model": None}).asks == ("embedder",)
    assert Call(metric, {"method": "cross_encoder", "model": None}).asks == ("classifier",)


def test_a_model_of_several_labels_rates_nothing() -> None:
    rater = HashedClassifier(("contradiction", "neutral", "entailment"))
    models = ScriptedModels(classifiers={"semantic_similarity": rater})
    data = samples(["a"], references=[["b"]])
    with pytest.raises(ConfigError, match="one label is needed, and hashed-labels has 3") as error:
        findings_by(METRICS["semantic_similarity"], data, models, method="cross_encoder")
    assert CROSS_ENCODER in error.value.hint


def test_a_folder_is_found_from_the_config(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    model = catalogue.parameters("text_generation", "semantic_similarity")

    def read(name: str) -> object:
        given = json.dumps({"model": name})
        return model.model_validate_json(given, context={"folder": tmp_path}).model_dump()["model"]

    assert read("own") == str(tmp_path / "own")
    assert read("some/id") == "some/id"
    with pytest.raises(ValidationError, match="there is no file or folder"):
        read("./nowhere")
