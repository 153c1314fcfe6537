"""Metrics of what is positive at a threshold, worked by hand, with their examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evaluators.classification.asking import (
    METRICS,
    Sample,
    ask,
    by_label,
    evidence,
    reasons,
    resampled,
    row_of,
)
from tests.oracles.classification_problems import random_samples
from valor_cli.evaluators.classification.evidence.scores import Scored, by_key, score_samples
from valor_cli.evaluators.classification.metrics import confusion_matrix as module
from valor_cli.evaluators.classification.metrics.confusion_matrix import best_of_each
from valor_cli.evaluators.classification.metrics.precision_recall import NO_PREDICTIONS
from valor_cli.evaluators.ratios import NO_GROUND_TRUTH
from valor_cli.results import Findings, MetricCurve, MetricExample, MetricTable

# What is positive at 0.3:
#   truth  a     b     c       hardmax   else
#   a      .6    .4    0       a         a, b
#   a      .3    .3    .4      c         all
#   b      .5    .5    0       a, of equal ones the first   a, b
#   c      .2    .2    .2      none      none
#   c      0     0     0       none      none
FOUND = evidence(
    "abc",
    [
        (truth, dict(zip("abc", row, strict=True)))
        for truth, row in (
            ("a", (0.6, 0.4, 0.0)),
            ("a", (0.3, 0.3, 0.4)),
            ("b", (0.5, 0.5, 0.0)),
            ("c", (0.2, 0.2, 0.2)),
            ("c", (0.0, 0.0, 0.0)),
        )
    ],
)
SOFT = {"hardmax": False}
AT = {"score_threshold": 0.3}


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        # a: rows 0, 1 have it; positive in 0 and 2. b: row 2 has it, nowhere positive. c: rows 3
        # and 4 have it, positive in row 1.
        (AT, [(1, 1, 1, 2), (0, 0, 1, 4), (0, 1, 2, 2)]),
        # a: positive in 0, 1, 2. b too. c: in row 1.
        ({**AT, **SOFT}, [(2, 1, 0, 2), (1, 2, 0, 2), (0, 1, 2, 2)]),
        # At 0 row 3 says a under hardmax, all labels else; row 4 still says nothing.
        ({}, [(1, 2, 1, 1), (0, 0, 1, 4), (0, 1, 2, 2)]),
        (SOFT, [(2, 2, 0, 1), (1, 3, 0, 1), (1, 1, 1, 2)]),
    ],
)
def test_counts(parameters: Mapping[str, Any], expected: list[tuple[int, ...]]) -> None:
    found = ask("counts", FOUND, **parameters)
    columns = [by_label(found, output) for output in ("tp", "fp", "fn", "tn")]
    assert [tuple(column[label] for column in columns) for label in "abc"] == expected
    assert [row_of(found, label, "tp").n for label in "abc"] == [2, 1, 2]


@pytest.mark.parametrize("hardmax", [True, False])
@pytest.mark.parametrize(
    ("score", "threshold", "tp"), [(0.25, 0.25, 1), (0.25, 0.26, 0), (0.0, -0.5, 0), (-1.0, -2, 1)]
)
def test_a_threshold_is_reached_by_what_equals_it_and_never_by_0(
    score: float, threshold: float, tp: int, hardmax: bool
) -> None:
    found = evidence("a", [("a", {"a": score})])
    found_counts = ask("counts", found, score_threshold=threshold, hardmax=hardmax)
    assert row_of(found_counts, "a", "tp").value == tp


# At 0.3 under hardmax: a tp 1 fp 1 fn 1, b fn 1, c fp 1 fn 2; in all tp 1, fp 2, fn 4.
@pytest.mark.parametrize(
    ("name", "parameters", "mean"),
    [
        ("precision", {}, 1 / 6),
        ("recall", {}, 1 / 6),
        ("f1", {"average": "weighted"}, 0.5 * 2 / 5),
        ("precision", {"average": "micro"}, 1 / 3),
        ("recall", {"average": "micro"}, 1 / 5),
        ("f1", {"average": "micro"}, 2 / 8),
    ],
)
def test_ratios(name: str, parameters: Mapping[str, Any], mean: float) -> None:
    found = by_label(ask(name, FOUND, **AT, **parameters))
    assert found == {"a": 0.5, "b": 0, "c": 0, None: pytest.approx(mean)}


@pytest.mark.parametrize("name", ["precision", "f1"])
def test_zero_division_stands_in_for_what_is_never_predicted(name: str) -> None:
    found = ask(name, FOUND, **AT, zero_division=1.0)
    assert by_label(found) == {"a": 0.5, "b": 1, "c": 0, None: 0.5}
    assert reasons(found) == {"a": None, "b": NO_PREDICTIONS, "c": None, None: None}


def test_a_label_without_ground_truth() -> None:
    # b is predicted for an a; nothing has to do with c.
    found = evidence("abc", [("a", {"a": 1.0}), ("a", {"b": 1.0})])
    values = ask("precision", found)
    assert by_label(values) == {"a": 1, "b": 0, "c": 0, None: 0.5}
    assert reasons(values)["c"] == NO_PREDICTIONS
    for name, own in (("recall", 0.5), ("f1", 2 / 3)):
        values = ask(name, found)
        # scikit-learn counts the predicted label as 0, and one seen on neither side not at all.
        assert by_label(values) == {"a": own, "b": None, "c": None, None: own / 2}
        assert reasons(values) == {
            "a": None,
            "b": NO_GROUND_TRUTH,
            "c": NO_GROUND_TRUTH,
            None: None,
        }
        assert not row_of(values, "b").proportion


@pytest.mark.parametrize("name", ["counts", "precision"])
def test_a_labels_row_says_its_threshold(name: str) -> None:
    found = ask(name, FOUND, score_threshold={"b": 0.45})
    at = {value.label: dict(value.at) for value in found.values}
    own = {"a": 0.0, "b": 0.45, "c": 0.0}
    assert at == {label: {"score_threshold": one} for label, one in own.items()} | (
        {} if name == "counts" else {None: {}}
    )
    assert not any(value.at for value in ask(name, FOUND, **AT).values)


@pytest.mark.parametrize("hardmax", [True, False])
@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
def test_a_recall_is_a_share_of_its_samples(average: str, hardmax: bool) -> None:
    read = score_samples(random_samples(2), None)
    options = {"average": average, "hardmax": hardmax, "score_threshold": 0.2}
    values = ask("recall", read, **options).values
    for value in values:
        assert value.proportion == (value.label is not None or average != "macro")
        if value.proportion:
            assert value.value is not None
            assert value.n
            found = value.value * value.n
            assert found == pytest.approx(round(found), abs=1e-9)
    assert len(values) > 3
    # What is predicted, the denominator of the others, is no number of samples drawn.
    others = [one for name in ("precision", "f1") for one in ask(name, read, **options).values]
    assert not any(value.proportion for value in others)


# ---- the confusion matrix


def test_confusion_matrix() -> None:
    # At 0.3: a as a, a as c, b as a; two c without any.
    assert ask("confusion_matrix", FOUND, **AT).tables == [
        MetricTable(("a", "b", "c"), [[1, 0, 1], [1, 0, 0], [0, 0, 0]], [0, 0, 2], [0, 0, 0])
    ]
    # a as a, b; a as all; b as a, b.
    assert ask("confusion_matrix", FOUND, **AT, **SOFT).tables == [
        MetricTable(("a", "b", "c"), [[2, 2, 1], [1, 1, 0], [0, 0, 0]], [0, 0, 2], [0, 0, 0])
    ]
    nothing = ask("confusion_matrix", evidence("ab", []))
    assert (list(nothing.tables), list(nothing.examples)) == ([], [])


def test_examples_of_cells() -> None:
    found = evidence(
        "abc",
        [
            *(("a", {"a": 0.5}), ("a", {"a": 0.9}), ("a", {"a": 0.5})),
            *(("b", {"c": 0.4}), ("b", {"c": 0.1}), ("c", {})),
        ],
    )
    examples = ask("confusion_matrix", found, **AT, max_examples=2).examples

    def told(one: MetricExample) -> tuple[Any, ...]:
        assert {ref.outcome for ref in one.objects} == {one.kind}
        objects = [(ref.role, ref.number, ref.label, ref.score) for ref in one.objects]
        return one.kind, one.sample_id, one.label, *objects

    # The best a, then the first of the equal ones.
    right, wrong, missed = "true_positive", "misclassification", "unmatched_ground_truth"
    assert [told(one) for one in examples] == [
        (right, "s1", "a", ("ground_truth", 1, "a", None), ("prediction", 1, "a", 0.9)),
        (right, "s0", "a", ("ground_truth", 0, "a", None), ("prediction", 0, "a", 0.5)),
        (wrong, "s3", "b", ("ground_truth", 3, "b", None), ("prediction", 3, "c", 0.4)),
        (missed, "s4", "b", ("ground_truth", 4, "b", None)),
        (missed, "s5", "c", ("ground_truth", 5, "c", None)),
    ]
    assert not ask("confusion_matrix", found, max_examples=0).examples
    assert not ask("confusion_matrix", resampled(found, [1] * 6)).examples


def test_a_table_of_very_many_labels_is_left_out() -> None:
    samples: list[Sample] = [("0", {"1": 0.5}), ("1", {"1": 0.5})]
    most = module.MOST_LABELS
    (table,) = ask("confusion_matrix", evidence(list(map(str, range(most))), samples)).tables
    assert len(table.labels) == most
    assert table.matrix[0][1] == 1
    # A table of 100,000 labels would take 80 GB.
    many = evidence(list(map(str, range(100_000))), samples)
    for hardmax in (True, False):
        found = ask("confusion_matrix", many, hardmax=hardmax)
        assert (found.tables, found.examples) == ((), ())
        (warning,) = found.warnings
        assert warning == (
            "100,000 labels make a table of 10,000 million cells; left out (at most 2,000 labels: "
            "`filter` or merge them by `label_map`)"
        )


@pytest.mark.parametrize(
    ("most", "shown"),
    [(7, "0123456"), (5, "03456"), (3, "345"), (2, "45")],
)
def test_of_many_examples_errors_and_full_cells_stay(
    most: int, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Cells: a as a 3 rows, a as b 1, b as a 2, c as nothing 1.
    samples: list[Sample] = [
        *[("a", {"a": 1.0})] * 3,
        *[("a", {"b": 1.0}), ("b", {"a": 1.0}), ("b", {"a": 1.0}), ("c", {})],
    ]
    monkeypatch.setattr(module, "MOST_EXAMPLES", most)
    examples = ask("confusion_matrix", evidence("abc", samples)).examples
    assert [one.sample_id for one in examples] == [f"s{at}" for at in shown]


def test_examples_of_a_label_key_name_the_rows_of_the_whole_dataset() -> None:
    dataset = random_samples(3, keys=2, labels=3)
    for at, (_, part) in enumerate(by_key(score_samples(dataset, None))):
        for one in ask("confusion_matrix", part).examples:
            truth = one.objects[0]
            assert dataset.key[truth.number] == at
            assert one.sample_id == dataset.sample_ids[dataset.unit[truth.number]].decode()
            assert one.label == dataset.labels[dataset.truth[truth.number]]
            for ref in one.objects[1:]:
                assert ref.number == truth.number
                best = dataset.scores.take(np.array([ref.number])).best()
                assert (ref.label, ref.score) == (dataset.labels[best.label[0]], best.score[0])


@pytest.mark.parametrize("name", ["confusion_matrix", "detailed_pr_curve"])
def test_examples_of_a_part_have_the_numbers_of_the_whole(name: str) -> None:
    dataset = random_samples(3)
    units = np.arange(dataset.unit_count) >= 30
    for part in (
        score_samples(dataset.shard(units), None),
        score_samples(dataset, None).select(units),
    ):
        examples = ask(name, part).examples
        assert examples
        for one in examples:
            assert {ref.number for ref in one.objects} == {int(str(one.sample_id)[1:])}


# ---- curves


def curves(name: str, scored: Scored, levels: Sequence[float]) -> dict[str | None, list[list[Any]]]:
    """By label the rows of its curve, less the thresholds."""

    def rows(curve: MetricCurve) -> list[list[Any]]:
        columns = [column for key, column in curve.points.items() if key != "score_threshold"]
        return [list(row) for row in zip(*columns, strict=True)]

    found = ask(name, scored, score_thresholds=tuple(levels))
    return {curve.label: rows(curve) for curve in found.curves}


def test_pr_curve() -> None:
    # The threshold itself passes. At .5, a: s0 right; s1 of b wrong; s2 (.4) missed.
    # c is only predicted, at .5 by s2: its recall and F1 are null. d is nobody's: no curve.
    found = evidence(
        "abcd",
        [
            ("a", {"a": 0.5, "b": 0.4}),
            ("b", {"a": 0.9, "b": 0.4}),
            ("a", {"a": 0.4, "c": 0.6}),
            ("b", {"d": 0.1}),
        ],
    )
    # tp fp fn tn, precision, recall, accuracy, f1
    assert curves("pr_curve", found, (0.5, 0.95)) == {
        "a": [[1, 1, 1, 1, 1 / 2, 1 / 2, 2 / 4, 1 / 2], [0, 0, 2, 2, None, 0.0, 2 / 4, 0.0]],
        "b": [[0, 0, 2, 2, None, 0.0, 2 / 4, 0.0]] * 2,
        "c": [[0, 1, 0, 3, 0.0, None, 3 / 4, None], [0, 0, 0, 4, None, None, 4 / 4, None]],
    }
    (curve,) = ask("pr_curve", evidence("a", [("a", {"a": 0.5})])).curves
    assert list(curve.points["score_threshold"]) == [round(x / 100, 2) for x in range(5, 100, 5)]
    assert list(curve.points["tp"]) == [1] * 10 + [0] * 9
    assert (METRICS["pr_curve"].draws, METRICS["pr_curve"].outputs) == ("curves", ())


SIX: list[Sample] = [
    ("a", {"a": 0.9, "b": 0.6}),  # right; b is a false positive up to .6
    ("a", {"b": 0.8, "a": 0.3}),  # found up to .3; then b stands for it up to .8
    ("a", {"a": 0.9}),  # right
    ("b", {"a": 0.4}),  # a stands for it up to .4; then nothing
    ("b", {}),  # nothing
    ("b", {"b": 0.7, "c": 0.2}),  # right
]


def test_detailed_pr_curve() -> None:
    found = evidence("abc", SIX)
    assert curves("detailed_pr_curve", found, (0.2, 0.5, 0.85)) == {
        #     tp fp fn tn  fp_mis fn_mis fn_none
        "a": [[3, 1, 0, 2, 1, 0, 0], [2, 0, 1, 3, 0, 1, 0], [2, 0, 1, 3, 0, 0, 1]],
        "b": [[1, 2, 2, 1, 2, 1, 1], [1, 2, 2, 1, 2, 0, 2], [0, 0, 3, 3, 0, 0, 3]],
        "c": [[0, 1, 0, 5, 1, 0, 0], [0, 0, 0, 6, 0, 0, 0], [0, 0, 0, 6, 0, 0, 0]],
    }
    # Kind, label, sample, labels of the objects (the truth, the prediction) and thresholds.
    assert told(ask("detailed_pr_curve", found, score_thresholds=(0.2, 0.5, 0.85))) == [
        # Equal scores: the first sample.
        ("true_positive", "a", "s0", "aa", (0.2, 0.5, 0.85)),
        ("true_positive", "b", "s5", "bb", (0.2, 0.5)),
        # False positives, best score first.
        ("misclassification", "a", "s3", "ba", (0.2,)),
        ("misclassification", "b", "s1", "ab", (0.2, 0.5)),
        ("misclassification", "c", "s5", "bc", (0.2,)),
        # False negatives that another label stands for.
        ("misclassification", "a", "s1", "ab", (0.5,)),
        ("misclassification", "b", "s3", "ba", (0.2,)),
        # False negatives without any prediction, the first sample: s3 comes before s4.
        ("no_prediction", "a", "s1", "a", (0.85,)),
        ("no_prediction", "b", "s3", "b", (0.5, 0.85)),
        ("no_prediction", "b", "s4", "b", (0.2,)),
        # True negatives, the first sample.
        ("true_negative", "a", "s3", "b", (0.5, 0.85)),
        ("true_negative", "a", "s4", "b", (0.2,)),
        ("true_negative", "b", "s0", "a", (0.85,)),
        ("true_negative", "b", "s2", "a", (0.2, 0.5)),
        ("true_negative", "c", "s0", "a", (0.2, 0.5, 0.85)),
    ]


def told(found: Findings) -> list[tuple[Any, ...]]:
    return [
        (
            *(one.kind, one.label, one.sample_id),
            "".join(str(thing.label) for thing in one.objects),
            one.at["score_thresholds"],
        )
        for one in found.examples
    ]


def test_a_label_below_zero_stands_for_one_that_is_zero() -> None:
    # At -1 b and c pass, a's 0 never does: b is the higher one.
    below = evidence("abc", [("a", {"a": 0.0, "c": -0.75, "b": -0.5})])
    found = ask("detailed_pr_curve", below, score_thresholds=(-1.0, 0.0))
    points = {curve.label: curve.points for curve in found.curves}
    assert points["a"]["fn_misclassifications"] == [1, 0]
    assert points["a"]["fn_no_predictions"] == [0, 1]
    assert ("misclassification", "a", "s0", "ab", (-1.0,)) in told(found)


@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from([-0.5, 0.0, 0.25, 0.5, 1.0]))),
    st.integers(1, 4),
)
def test_the_best_of_each_group(rows: list[tuple[int, float]], most: int) -> None:
    # 40 times the rows, so that most of them are worth no sort.
    rows = rows * 40
    number = np.random.default_rng(len(rows)).permutation(len(rows))
    group = np.array([group for group, _ in rows], np.int64)
    score = np.array([score for _, score in rows])
    expected = []
    for one in sorted(set(group.tolist())):
        members = [at for at in range(len(rows)) if group[at] == one]
        members.sort(key=lambda at: (-score[at], number[at]))
        expected += members[:most]
    assert best_of_each(group, score, number, most).tolist() == expected


@pytest.mark.parametrize("seed", range(3))
def test_of_many_rows_some_are_looked_at_first(seed: int) -> None:
    # One group in four rows of five, one in a few, one in rows that no sample may meet.
    rng = np.random.default_rng(seed)
    group = rng.choice(4, 20_000, p=[0.8, 0.19, 0.0095, 0.0005]).astype(np.int32)
    score, number = rng.random(20_000).round(3), rng.permutation(20_000)
    # Sorted, so that evenly spaced rows are nothing like all of them.
    order = np.argsort(score)
    group, score = group[order], score[order]
    found = best_of_each(group, score, number, 3)
    ordered = np.lexsort((number, -score, group))
    expected = [at for one in range(4) for at in ordered[group[ordered] == one][:3]]
    assert found.tolist() == expected


def test_of_no_rows_none_is_best() -> None:
    none = np.zeros(0, np.int64)
    assert best_of_each(none, np.zeros(0), none, 3).tolist() == []
