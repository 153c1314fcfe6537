"""Data sets as other tools write them load without a config."""

from __future__ import annotations

from pathlib import Path

import pytest

from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.data.shapes.samples.other_tools import expected_answer
from valor_cli.evaluators.text_generation.inputs import TextInputs
from valor_cli.evaluators.text_generation.loading import load_text
from valor_cli.metric import Loaded, ModelUsage, NoOptions, Selection

FOLDER = Path(__file__).parents[2] / "real_data" / "text" / "peers"

QUESTIONS = ("Which river flows through Vienna?", "How many strings has a violin?")
RESPONSES = ("The Danube.", "A violin has five strings.")
REFERENCES = (("The Danube flows through Vienna.",), ("Four.",))
CONTEXTS = (
    ("Vienna lies on the Danube.", "The Rhine flows to the North Sea."),
    ("A violin has four strings, tuned in fifths.",),
)


def load(name: str, selection: Selection | None = None) -> Loaded[TextDataset]:
    inputs = TextInputs(samples=str(FOLDER / name))
    return load_text(inputs, NoOptions(), selection or Selection())


@pytest.mark.parametrize(
    "name",
    [
        "ragas.jsonl",
        "ragas_columns.json",
        "ragas_pandas.csv",
        "deepeval.json",
        "deepeval_saved.csv",
        "deepeval_test_run.json",
        "valor_lite.jsonl",
    ],
)
def test_one_model_with_contexts(name: str) -> None:
    loaded = load(name)
    (data,) = loaded.datasets.values()
    assert data.sample_ids == ("1", "2")
    assert data.user_input == QUESTIONS
    assert data.response == RESPONSES
    assert data.references == REFERENCES
    assert data.retrieved_contexts == CONTEXTS
    assert not loaded.warnings


@pytest.mark.parametrize("name", ["promptfoo_results.json", "promptfoo_results.jsonl"])
def test_results_of_promptfoo(name: str) -> None:
    loaded = load(name, Selection(metadata=["region", "difficulty"]))
    assert list(loaded.datasets) == ["openai:gpt-4o-mini", "llama"]
    gpt, llama = loaded.datasets.values()
    assert gpt.sample_ids == llama.sample_ids == ("0", "1")
    assert gpt.user_input == llama.user_input == QUESTIONS
    assert gpt.references == llama.references == REFERENCES
    assert gpt.response == RESPONSES
    # Output that is no text is kept as JSON; a call that failed has no output.
    assert llama.response == ('{"river":"Danube","km":2850.0}', None)
    assert loaded.spent["openai:gpt-4o-mini"] == ModelUsage(0.54, 0.0002)
    assert loaded.metadata["llama"] == {"region": ["Europe", "Europe"], "difficulty": [1, 2]}


def test_tests_of_promptfoo() -> None:
    loaded = load("promptfoo_tests.csv", Selection(metadata=["region"]))
    (data,) = loaded.datasets.values()
    assert data.user_input[:2] == QUESTIONS
    assert data.references == (*REFERENCES, ())
    assert loaded.metadata["promptfoo_tests"] == {"region": ["Europe", None, "Europe"]}


@pytest.mark.parametrize(
    ("cell", "answer"),
    [
        ("Four.", "Four."),
        ("equals: Four.", "Four."),
        ("note: this is an answer", "note: this is an answer"),
        ("contains: four", None),
        ("not-contains:four", None),
        ("similar(0.8): four", None),
        ("llm-rubric: is kind", None),
        ("is-json", None),
        ("file://check.js", None),
    ],
)
def test_what_promptfoo_expects_is_an_answer_or_a_rule(cell: str, answer: str | None) -> None:
    assert expected_answer(cell) == answer


def test_a_test_lab_of_h2o() -> None:
    loaded = load("h2o_test_lab.json", Selection(needs=frozenset({"condition", "response"})))
    assert list(loaded.datasets) == ["large-7b", "small-1b"]
    large, small = loaded.datasets.values()
    assert large.sample_ids == small.sample_ids == ("k0", "k1")
    assert large.user_input == QUESTIONS
    assert large.response == RESPONSES
    assert small.response == ("The Rhine.", "Four.")
    assert large.references == (REFERENCES[0], ())
    assert large.retrieved_contexts == (CONTEXTS[0], ())
    assert large.condition == (
        '"Danube" AND NOT "Rhine"',
        r'"four" AND (regexp("\\bstrings?\\b") OR "\"cords\"")',
    )
    assert large.categories[0] == ("question-answering",)
    # (1.5 + 0.5) / 2 seconds, 0.01 + 0.02 dollars.
    assert loaded.spent["large-7b"] == ModelUsage(1.0, 0.03)


def test_a_test_lab_without_keys_is_joined_by_prompt() -> None:
    loaded = load("h2o_test_lab_without_keys.json")
    assert list(loaded.datasets) == ["a", "b"]
    assert {tuple(data.sample_ids) for data in loaded.datasets.values()} == {("1", "2")}
    assert {tuple(data.user_input) for data in loaded.datasets.values()} == {QUESTIONS}
    assert loaded.sizes == {"samples": 2}


def test_results_of_h2o() -> None:
    (data,) = load("h2o_results.json").datasets.values()
    assert data.sample_ids == ("k0", "k1")
    assert data.references == (REFERENCES[0], ())
    assert data.condition == ('"Danube"', None)
