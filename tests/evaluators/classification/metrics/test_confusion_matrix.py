"""The confusion matrix: worked by hand, against plain loops, its sums, and its examples."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from msgspec.structs import replace

from tests.evaluators.classification.asking import (
    LABELS,
    plain,
    repeated,
    row_of,
    scored,
    weighed,
)
from tests.evaluators.classification.metrics.test_counts import ROWS
from tests.oracles import classification as oracle
from tests.oracles.classification import Row, random_rows
from tests.oracles.classification_problems import random_samples
from valor_cli.evaluators.classification.evidence.scores import by_key, score_samples
from valor_cli.evaluators.classification.metrics import confusion_matrix as module
from valor_cli.evaluators.classification.metrics.confusion_matrix import confusion_matrix
from valor_cli.evaluators.classification.metrics.counts import counts
from valor_cli.results import MetricTable, ObjectRef


def test_worked_by_hand() -> None:
    # At 0.3 (test_counts): cat as cat, cat as cow, dog as cat; two cows without any.
    found = scored(ROWS, LABELS[:3])
    assert confusion_matrix(found, score_threshold=0.3).tables == [
        MetricTable(LABELS[:3], [[1, 0, 1], [1, 0, 0], [0, 0, 0]], [0, 0, 2], [0, 0, 0])
    ]
    # cat as cat, dog; cat as all; dog as cat, dog.
    assert confusion_matrix(found, score_threshold=0.3, hardmax=False).tables == [
        MetricTable(LABELS[:3], [[2, 2, 1], [1, 1, 0], [0, 0, 0]], [0, 0, 2], [0, 0, 0])
    ]


@pytest.mark.parametrize("hardmax", [True, False])
@pytest.mark.parametrize("partial", [True, False])
@pytest.mark.parametrize("tabulated", [0, 1 << 20])
@pytest.mark.parametrize("seed", range(3))
def test_against_plain_loops(
    seed: int, tabulated: int, partial: bool, hardmax: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With no table of cells, and fewer rows than cells, the pairs that occur are sorted out.
    monkeypatch.setattr(
        "valor_cli.evaluators.classification.evidence.decisions.CELLS_TABULATED", tabulated
    )
    rows = random_rows(seed, n=20, partial=partial)
    thresholds = {"cat": 0.2, "cow": 0.3}
    for read, found in ((plain(rows), scored(rows)), (repeated(rows), weighed(rows))):
        (table,) = confusion_matrix(found, score_threshold=thresholds, hardmax=hardmax).tables
        matrix, unmatched = oracle.confusion(read, 5, {0: 0.2, 2: 0.3}, hardmax=hardmax)
        assert table.matrix == matrix
        assert table.unmatched_ground_truths == unmatched
        assert table.unmatched_predictions == [0] * 5


@pytest.mark.parametrize("seed", range(4))
def test_sums(seed: int) -> None:
    found = scored(random_rows(seed, partial=True))
    (table,) = confusion_matrix(found, score_threshold=0.3).tables
    counted = counts(found, score_threshold=0.3)
    for at, label in enumerate(LABELS):
        tp, fp, fn = (row_of(counted, label, output).value for output in ("tp", "fp", "fn"))
        assert table.matrix[at][at] == tp
        assert sum(table.matrix[at]) + table.unmatched_ground_truths[at] == (tp or 0) + (fn or 0)
        assert sum(row[at] for row in table.matrix) == (tp or 0) + (fp or 0)
    (table,) = confusion_matrix(found, score_threshold=0.3, hardmax=False).tables
    counted = counts(found, score_threshold=0.3, hardmax=False)
    for at, label in enumerate(LABELS):
        assert table.matrix[at][at] == row_of(counted, label, "tp").value


def test_examples_worked_by_hand() -> None:
    rows = [
        Row(0, [(0, 0.5)]),
        Row(0, [(0, 0.9)]),
        Row(0, [(0, 0.5)]),
        Row(1, [(2, 0.4)]),
        Row(1, [(2, 0.1)]),
        Row(2, []),
    ]
    found = confusion_matrix(scored(rows), score_threshold=0.3, max_examples=2)
    # The best cat, then the first of the equal ones.
    assert [(one.kind, one.sample_id, one.label) for one in found.examples] == [
        ("true_positive", "s001", "cat"),
        ("true_positive", "s000", "cat"),
        ("misclassification", "s003", "dog"),
        ("unmatched_ground_truth", "s004", "dog"),
        ("unmatched_ground_truth", "s005", "cow"),
    ]
    assert [
        [(ref.role, ref.number, ref.label, ref.score) for ref in one.objects]
        for one in found.examples
    ] == [
        [("ground_truth", 1, "cat", None), ("prediction", 1, "cat", 0.9)],
        [("ground_truth", 0, "cat", None), ("prediction", 0, "cat", 0.5)],
        [("ground_truth", 3, "dog", None), ("prediction", 3, "cow", 0.4)],
        [("ground_truth", 4, "dog", None)],
        [("ground_truth", 5, "cow", None)],
    ]
    assert {ref.outcome for ref in found.examples[0].objects} == {"true_positive"}


@pytest.mark.parametrize("hardmax", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_every_cell_has_its_best_rows(seed: int, hardmax: bool) -> None:
    rows = random_rows(seed, n=80, partial=True)
    found = confusion_matrix(scored(rows), hardmax=hardmax, max_examples=2)
    cells: dict[tuple[int, int], list[tuple[float, int]]] = {}
    for at, row in enumerate(rows):
        said = oracle.positives(row, {}, hardmax=hardmax)
        for label in said or [oracle.NONE]:
            score = dict(row.listed)[label] if said else 0.0
            cells.setdefault((row.truth, label), []).append((-score, at))
    expected = {cell: [at for _, at in sorted(some)[:2]] for cell, some in cells.items()}
    shown: dict[tuple[int, int], list[int]] = {}
    for one in found.examples:
        numbers = {ref.role: ref.number for ref in one.objects}
        at = numbers["ground_truth"]
        said = [ref.label for ref in one.objects if ref.role == "prediction"]
        label = LABELS.index(said[0]) if said else oracle.NONE
        assert one.label == LABELS[rows[at].truth]
        shown.setdefault((rows[at].truth, label), []).append(at)
    assert shown == expected


def test_a_table_of_very_many_labels_is_left_out() -> None:
    rows = [Row(0, [(1, 0.5)]), Row(1, [(1, 0.5)])]
    most = module.MOST_LABELS
    (table,) = confusion_matrix(scored(rows, list(map(str, range(most))))).tables
    assert len(table.labels) == most
    assert table.matrix[0][1] == 1
    # A table of 100,000 labels would take 80 GB.
    for hardmax in (True, False):
        found = confusion_matrix(scored(rows, list(map(str, range(100_000)))), hardmax=hardmax)
        assert (found.tables, found.examples) == ((), ())
        (warning,) = found.warnings
        assert warning == (
            "100,000 labels make a table of 10,000 million cells; left out (at most 2,000 labels: "
            "`filter` or merge them by `label_map`)"
        )


def test_of_many_examples_errors_and_full_cells_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    # Cells: cat as cat 3 rows, cat as dog 1, dog as cat 2, cow as nothing 1.
    rows = [Row(0, [(0, 1.0)])] * 3 + [Row(0, [(1, 1.0)])] + [Row(1, [(0, 1.0)])] * 2 + [Row(2, [])]

    def shown(most: int) -> list[object]:
        monkeypatch.setattr(module, "MOST_EXAMPLES", most)
        return [one.sample_id for one in confusion_matrix(scored(rows)).examples]

    everything = ["s000", "s001", "s002", "s003", "s004", "s005", "s006"]
    assert shown(7) == everything
    assert shown(5) == ["s000", *everything[3:]]
    assert shown(3) == ["s003", "s004", "s005"]
    assert shown(2) == ["s004", "s005"]


def test_without_examples() -> None:
    found = scored(random_rows(1))
    assert not confusion_matrix(found, max_examples=0).examples
    assert not confusion_matrix(weighed(random_rows(1))).examples


def test_examples_of_a_label_key_name_the_rows_of_the_whole_dataset() -> None:
    dataset = random_samples(3, keys=2, labels=3)
    for at, (_, part) in enumerate(by_key(score_samples(dataset, None))):
        for one in confusion_matrix(part).examples:
            truth = one.objects[0]
            assert dataset.key[truth.number] == at
            assert one.sample_id == dataset.sample_ids[dataset.unit[truth.number]].decode()
            assert one.label == dataset.labels[dataset.truth[truth.number]]
            for ref in one.objects[1:]:
                assert ref.number == truth.number
                best = dataset.scores.take(np.array([ref.number])).best()
                assert (ref.label, ref.score) == (dataset.labels[best.label[0]], best.score[0])


def test_of_a_shard_examples_have_the_numbers_of_the_whole() -> None:
    dataset = random_samples(3)
    units = np.arange(dataset.unit_count) >= 30
    found = confusion_matrix(score_samples(dataset.shard(units), None))
    numbers = {one.sample_id: one.objects[0] for one in found.examples}
    assert numbers
    for sample, ref in numbers.items():
        assert ref == replace(ref, number=int(str(sample)[1:]))
        assert isinstance(ref, ObjectRef)
    assert max(Counter(one.kind for one in found.examples).values()) > 1


def test_against_scikit_learn_with_many_labels() -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    truth, said = rng.integers(0, 200, (2, 3000))
    rows = [Row(int(t), [(int(s), 1.0)]) for t, s in zip(truth, said, strict=True)]
    (table,) = confusion_matrix(scored(rows, [str(at) for at in range(200)])).tables
    expected = sklearn.confusion_matrix(truth, said, labels=range(200))
    np.testing.assert_array_equal(table.matrix, expected)


def test_no_samples() -> None:
    found = confusion_matrix(scored([]))
    assert not found.tables
    assert not found.examples
