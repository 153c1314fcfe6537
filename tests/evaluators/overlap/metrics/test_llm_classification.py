"""Classification by text: worked by hand, against scikit-learn, and labels of every kind."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from sklearn.metrics import accuracy_score, confusion_matrix, precision_recall_fscore_support

from tests.oracles.text_samples import found, measured, outcome, samples, values
from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators.overlap.metrics.llm_classification import (
    LLM_CLASSIFICATION,
    LONGEST_NAME,
    label_name,
    label_reader,
)
from valor_cli.results import MetricTable

LABELS = ["spam", "ham", "eggs", "toast"]
PAIRS = st.lists(
    st.tuples(st.sampled_from(LABELS[:3]), st.sampled_from(LABELS)), min_size=1, max_size=30
)

TRUTH = ["cat", "cat", "cat", "dog", "dog", "cow"]
ANSWERS = ["cat", " cat\n", "dog", "dog", "bird", "cat"]


def answered(truth: list[str], answers: list[str]) -> TextDataset:
    return samples(answers, references=[[each] for each in truth])


def by_label(data: TextDataset, **parameters: Any) -> dict[tuple[str, str | None], float | None]:
    rows = found(LLM_CLASSIFICATION, data, **parameters).values
    return {(row.output, row.label): row.value for row in rows}


def test_worked_by_hand() -> None:
    # Of cat 2 hits, 3 answers, 3 truths; dog 1, 2, 2; bird 0, 1, 0; cow 0, 0, 1.
    rows = by_label(answered(TRUTH, ANSWERS))
    assert rows == {
        ("accuracy", None): 3 / 6,
        ("precision", "cat"): 2 / 3,
        ("precision", "dog"): 1 / 2,
        ("precision", "bird"): 0,
        ("precision", "cow"): 0,
        ("precision", None): pytest.approx((2 / 3 + 1 / 2) / 4),
        ("recall", "cat"): 2 / 3,
        ("recall", "dog"): 1 / 2,
        ("recall", "bird"): None,
        ("recall", "cow"): 0,
        ("recall", None): pytest.approx((2 / 3 + 1 / 2) / 4),
        ("f1", "cat"): 4 / 6,
        ("f1", "dog"): 2 / 4,
        ("f1", "bird"): None,
        ("f1", "cow"): 0,
        ("f1", None): pytest.approx((2 / 3 + 1 / 2) / 4),
    }


def test_accuracy_is_a_part_of_the_samples() -> None:
    rows = found(LLM_CLASSIFICATION, answered(TRUTH, ANSWERS)).values
    assert {row.output for row in rows if row.proportion} == {"accuracy"}


def test_a_sample_without_a_response_leaves_the_others() -> None:
    # The cat is found, of the dog nothing is known.
    rows = found(LLM_CLASSIFICATION, answered(["cat", "dog"], ["cat", None])).values
    recall = next(row for row in rows if (row.output, row.label) == ("recall", None))
    assert (recall.value, recall.undefined, recall.n) == (1, None, 1)


def test_table_and_samples() -> None:
    findings = found(LLM_CLASSIFICATION, answered(TRUTH, ANSWERS))
    names = ("bird", "cat", "cow", "dog")
    matrix = [[0, 0, 0, 0], [0, 2, 0, 1], [0, 1, 0, 0], [1, 0, 0, 1]]
    assert findings.tables == (MetricTable(names, matrix, [0] * 4, [0] * 4),)
    assert findings.samples is not None
    assert findings.samples.details[2] == {"predicted": "dog", "expected": "cat"}
    assert [row.n for row in findings.values if row.output == "recall"] == [6, 0, 3, 1, 2]


@given(PAIRS, st.sampled_from(["macro", "micro", "weighted"]))
def test_against_scikit_learn(
    pairs: list[tuple[str, str]], average: Literal["macro", "micro", "weighted"]
) -> None:
    truth, answers = map(list, zip(*pairs, strict=True))
    rows = by_label(answered(truth, answers), average=average)
    assert rows["accuracy", None] == pytest.approx(accuracy_score(truth, answers))
    names = sorted({*truth, *answers})
    overall = precision_recall_fscore_support(truth, answers, average=average, zero_division=0)
    each = precision_recall_fscore_support(truth, answers, labels=names, zero_division=0)
    for at, output in enumerate(("precision", "recall", "f1")):
        assert rows[output, None] == pytest.approx(overall[at], abs=1e-12)
        for name, value in zip(names, each[at], strict=True):
            undefined = output != "precision" and name not in truth
            assert rows[output, name] == (None if undefined else pytest.approx(value, abs=1e-12))
    (table,) = found(LLM_CLASSIFICATION, answered(truth, answers)).tables
    if len(names) > 1:  # scikit-learn warns of one
        assert table.matrix == confusion_matrix(truth, answers, labels=names).tolist()


@given(PAIRS)
def test_listed_labels_against_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    pairs += [("spam", "ham"), ("ham", "toast")]  # both listed labels are seen
    truth, answers = map(list, zip(*pairs, strict=True))
    listed = ("spam", "ham")
    rows = by_label(answered(truth, answers), labels=listed)
    overall = precision_recall_fscore_support(
        truth, answers, labels=list(listed), average="macro", zero_division=0
    )
    for at, output in enumerate(("precision", "recall", "f1")):
        assert rows[output, None] == pytest.approx(overall[at], abs=1e-12)
    assert rows["accuracy", None] == pytest.approx(accuracy_score(truth, answers))
    assert {label for _, label in rows} == {None, *listed}
    (table,) = found(LLM_CLASSIFICATION, answered(truth, answers), labels=listed).tables
    whole = confusion_matrix(truth, answers, labels=LABELS)
    assert table.labels == listed
    assert table.matrix == whole[:2, :2].tolist()
    assert table.unmatched_ground_truths == whole[:2, 2:].sum(axis=1).tolist()
    assert table.unmatched_predictions == whole[2:, :2].sum(axis=0).tolist()


def test_positive_label() -> None:
    truth, answers = ["yes", "yes", "no", "no"], ["yes", "no", "yes", "maybe"]
    wanted = precision_recall_fscore_support(truth, answers, labels=["yes"], average="macro")
    found_values = values(LLM_CLASSIFICATION, answered(truth, answers), positive_label="yes")
    assert found_values == {
        "accuracy": 1 / 4,
        **dict(zip(("precision", "recall", "f1"), wanted[:3], strict=True)),
    }


def test_positive_label_that_is_nowhere() -> None:
    data = answered(["yes", "no"], ["no", "no"])
    findings = found(LLM_CLASSIFICATION, data, positive_label="Yes")
    overall = {row.output: row for row in findings.values if row.label is None}
    assert overall["accuracy"].value == 0.5
    assert (overall["f1"].value, overall["f1"].undefined) == (None, "no ground truth")
    assert findings.warnings == (
        "no reference and no response is positive_label 'Yes'; labels seen: 'no', 'yes'",
    )
    folded = found(LLM_CLASSIFICATION, data, positive_label="Yes", case_sensitive=False)
    assert not folded.warnings
    assert {row.label for row in folded.values} == {None, "Yes", "no"}


def test_zero_division() -> None:
    # "no" is never answered: precision and F1 are 0/0, and say so.
    findings = found(LLM_CLASSIFICATION, answered(["yes", "no"], ["yes", "yes"]), zero_division=1.0)
    rows = {(row.output, row.label): row for row in findings.values}
    assert rows["precision", "no"].value == rows["f1", "no"].value == 1
    assert (rows["precision", "no"].undefined or "").startswith("0/0: no response is this label")
    assert rows["precision", None].value == (1 / 2 + 1) / 2
    assert rows["recall", None].value == 1 / 2


def test_case_and_label_map() -> None:
    data = answered(["Positive", "NEG"], ["positive ", "negative"])
    assert values(LLM_CLASSIFICATION, data)["accuracy"] == 0
    assert values(LLM_CLASSIFICATION, data, case_sensitive=False)["accuracy"] == 0.5
    mapped = replace(data, label_map={"NEG": "negative"})
    assert values(LLM_CLASSIFICATION, mapped)["accuracy"] == 0.5
    rows = by_label(mapped, case_sensitive=False, labels=("Positive", "Negative"))
    assert rows["accuracy", None] == 1
    assert {label for _, label in rows} == {None, "Positive", "Negative"}


def test_several_references() -> None:
    data = samples(["b", "c"], references=[["a", "b"], ["a", "b"]])
    outcomes = measured(LLM_CLASSIFICATION, data)
    assert outcome(outcomes, 0).details == {"predicted": "b", "expected": "b"}
    assert outcome(outcomes, 1).details == {"predicted": "c", "expected": "a"}
    (table,) = found(LLM_CLASSIFICATION, data).tables
    assert table.matrix == [[0, 0, 1], [0, 1, 0], [0, 0, 0]]


def test_without_input_and_empty_answers() -> None:
    data = samples([None, "a", "", "a"], references=[["a"], [], ["a"], ["a"]])
    findings = found(LLM_CLASSIFICATION, data)
    assert findings.statuses == {"ok": 2, "missing_input": 2}
    rows = {(row.output, row.label): row.value for row in findings.values}
    assert rows["accuracy", None] == 0.5
    assert rows["recall", "a"] == 0.5
    assert rows["precision", ""] == 0


@pytest.mark.parametrize("data", [samples([]), samples([None], references=[["a"]])])
def test_no_sample(data: TextDataset) -> None:
    for parameters in ({}, {"positive_label": "a"}, {"labels": ("a", "b")}):
        rows = found(LLM_CLASSIFICATION, data, **parameters).values
        assert {row.value for row in rows} == {None}
        assert all(row.undefined for row in rows)


def test_very_many_labels() -> None:
    count = 201
    names = [f"label {at}" for at in range(count)]
    findings = found(LLM_CLASSIFICATION, answered(names, names))
    assert not findings.tables
    assert findings.warnings == (
        "201 labels: no confusion table (at most 200); list the ones to be evaluated as `labels`",
    )
    assert len(findings.values) == 4 + 3 * count
    names = [f"label {at}" for at in range(2_001)]
    findings = found(LLM_CLASSIFICATION, answered(names, names))
    assert [row.value for row in findings.values] == [1, 1, 1, 1]
    assert "no confusion table (at most 200) and no values by label" in findings.warnings[0]


def test_essays_and_secrets() -> None:
    essay = "I would say that " * 1_000
    data = answered(["yes", "no"], [essay, essay + "."])
    rows = found(LLM_CLASSIFICATION, data).values
    assert max(len(row.label or "") for row in rows) < 150
    assert len({row.label for row in rows}) == 1 + 4
    secret = replace(
        answered(["yes"], ["key 123"]), secrets=lambda text: [(4, 7)] if "key" in text else []
    )
    details = outcome(measured(LLM_CLASSIFICATION, secret), 0).details
    # The first 16 bits of the sha256 of the whole label: what looks alike masked is still two.
    digest = sha256(b"key 123").hexdigest()[:4]
    assert details == {"predicted": f"key ••• ({digest})", "expected": "yes"}
    both = replace(answered(["key 124"], ["key 123"]), secrets=secret.secrets)
    assert values(LLM_CLASSIFICATION, both)["f1"] == 0


@pytest.mark.parametrize(
    ("case_sensitive", "names", "label_map", "text", "label"),
    [
        (True, (), {}, " Yes\n", "Yes"),
        (False, (), {}, " Yes\n", "yes"),
        (False, (), {}, "STRASSE", "strasse"),
        (False, ("Yes", "YES"), {}, "yES", "Yes"),
        (True, ("Yes",), {}, "yes", "yes"),
        (True, (), {"y": "yes"}, "y ", "yes"),
        (True, (), {"y": "yes"}, "Y", "Y"),
        (False, ("Yes",), {"y": "YES"}, "Y", "Yes"),
        (False, (), {"Y": "upper", "y": "lower"}, "y", "lower"),  # its own spelling first
        (False, (), {"Yo": "first", "YO": "second"}, "yo", "first"),
        (True, (), {"n/a": ""}, "n/a", ""),
        (True, (), {}, "", ""),
    ],
)
def test_labels_read_from_texts(
    case_sensitive: bool, names: tuple[str, ...], label_map: dict[str, str], text: str, label: str
) -> None:
    read = label_reader(case_sensitive=case_sensitive, names=names, label_map=label_map)
    assert read(text) == label
    assert read(label) == label


def test_long_labels_have_short_names() -> None:
    assert label_name("x" * LONGEST_NAME) == "x" * LONGEST_NAME
    essays = ["x" * 5_000, "x" * 4_999 + "y", "\ud800" * 5_000]
    named = [label_name(essay) for essay in essays]
    assert named[0].startswith("x" * LONGEST_NAME + "… (5,000 characters, ")
    assert len(set(named)) == 3
    assert max(map(len, named)) < 150
