"""Evidence: what is read of each row, shards in any order, parts by label key, resamples."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from tests.evaluators.classification.asking import LABELS, scored, weighed
from tests.oracles import classification as oracle
from tests.oracles.classification import Row, dataset_of, random_rows
from tests.oracles.classification_problems import random_samples
from valor_cli.data.shapes.scores.dataset import ClassificationDataset
from valor_cli.evaluators.classification.evidence import scores
from valor_cli.evaluators.classification.evidence.scores import (
    Scored,
    by_key,
    merge_scored,
    score_samples,
)
from valor_cli.kernels.ranking.scores import UNLISTED, DenseScores


def assert_same(one: Scored, other: Scored) -> None:
    """Bit by bit."""

    def columns(part: Any) -> dict[str, Any]:
        names = [name for name in type(part).__match_args__ if not name.startswith("_")]
        return {name: getattr(part, name) for name in names}

    for name in ("true_score", "place", "total", "squares"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name, value in columns(one).items():
        if name == "scores":
            assert type(value) is type(other.scores)
            for inner, array in columns(value).items():
                np.testing.assert_array_equal(array, columns(other.scores)[inner])
        elif isinstance(value, np.ndarray):
            assert value.dtype == getattr(other, name).dtype
            np.testing.assert_array_equal(value, getattr(other, name))
        else:
            assert value == getattr(other, name)


def shards(dataset: ClassificationDataset, count: int, order: Sequence[int]) -> list[Scored]:
    """Evidence of that many shards of samples by chance, in that order."""
    of = np.random.default_rng(3).integers(0, count, dataset.unit_count)
    return [score_samples(dataset.shard(of == at), None) for at in order]


@pytest.mark.parametrize("partial", [False, True])
def test_what_is_read_of_each_row(partial: bool) -> None:
    rows = random_rows(1, partial=partial)
    found = scored(rows)
    for at, row in enumerate(rows):
        listed = dict(row.listed)
        assert found.top[at] == oracle.top(row)
        assert found.top_score[at] == oracle.top_score(row)
        assert found.true_score[at] == listed.get(row.truth, 0.0)
        place = oracle.place(row)
        assert found.place[at] == (UNLISTED if place is None else place)
        assert found.total[at] == pytest.approx(sum(listed.values()), abs=1e-15)
        assert found.squares[at] == pytest.approx(sum(s * s for s in listed.values()), abs=1e-15)
        assert found.sample_id(at) == f"s{at:03}"


@pytest.mark.parametrize("keys", [1, 3])
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_shards_in_any_order_are_one_pass(keys: int, order: Sequence[int]) -> None:
    dataset = random_samples(4, keys=keys)
    whole = score_samples(dataset, None)
    parts = shards(dataset, 3, order)
    assert_same(merge_scored(parts), whole)
    assert_same(merge_scored(pickle.loads(pickle.dumps(parts))), whole)  # noqa: S301 - made here
    two = merge_scored([merge_scored(parts[:2]), parts[2]])
    assert_same(two, whole)


def test_partial_lists_are_merged() -> None:
    dataset = dataset_of(random_rows(5, partial=True), LABELS)
    assert_same(merge_scored(shards(dataset, 4, (3, 1, 0, 2))), score_samples(dataset, None))


def test_shards_of_different_labels_are_refused() -> None:
    one = scored(random_rows(1))
    with pytest.raises(ValueError, match="share their labels"):
        merge_scored([one, replace(one, labels=(*LABELS[:4], "elk"))])
    with pytest.raises(ValueError, match="no resample"):
        merge_scored([one, weighed(random_rows(1))])


def test_selected_samples_are_those_of_the_dataset() -> None:
    dataset = random_samples(6, keys=2)
    units = np.random.default_rng(0).random(dataset.unit_count) < 0.4
    selected = score_samples(dataset, None).select(units)
    assert_same(selected, score_samples(dataset.shard(units), None))


def test_without_keys_the_evidence_is_its_only_part() -> None:
    found = scored(random_rows(2))
    ((parameters, part),) = by_key(found)
    assert parameters == {}
    assert part is found


def test_the_only_key_is_named() -> None:
    found = replace(scored(random_rows(2)), keys=("animal",))
    ((parameters, part),) = by_key(found)
    assert parameters == {"label_key": "animal"}
    assert part.labels == LABELS


@pytest.mark.parametrize("keys", [2, 3])
def test_each_key_has_its_rows_and_its_labels(keys: int) -> None:
    dataset = random_samples(7, keys=keys, labels=3)
    whole = score_samples(dataset, None)
    parts = by_key(whole)
    assert [parameters for parameters, _ in parts] == [
        {"label_key": f"key {at}"} for at in range(keys)
    ]
    for at, (_, part) in enumerate(parts):
        rows = np.flatnonzero(dataset.key == at)
        assert part.labels == tuple(f"{'abc'[at]}{label}" for label in range(3))
        assert part.unit.tolist() == dataset.unit[rows].tolist()
        assert part.unit_count == dataset.unit_count
        assert (part.truth + at * 3).tolist() == dataset.truth[rows].tolist()
        assert (part.top + at * 3).tolist() == whole.top[rows].tolist()
        # The same numbers of the scores, under the labels of the key alone.
        best = part.scores.best(part.choices)
        assert best.label.tolist() == part.top.tolist()
        assert part.scores.of(part.truth).tolist() == whole.true_score[rows].tolist()
        # A row is found again in the whole dataset.
        assert part.number.tolist() == rows.tolist()


def test_a_label_of_another_key_leaves_the_columns_of_dense_scores() -> None:
    # Two keys, two labels each; all rows list all four.
    score = np.array([[0.7, 0.3, 0, 0], [0, 0, 0.4, 0.6], [0.1, 0.9, 0, 0], [0, 0, 1, 0]])
    dataset = replace(
        random_samples(1, samples=2, labels=2, keys=2), scores=DenseScores(np.arange(4), score)
    )
    (_, first), (_, second) = by_key(score_samples(dataset, None))
    assert isinstance(first.scores, DenseScores)
    assert first.scores.score.tolist() == [[0.7, 0.3], [0.1, 0.9]]
    assert isinstance(second.scores, DenseScores)
    assert second.scores.score.tolist() == [[0.4, 0.6], [1, 0]]
    assert (first.top.tolist(), second.top.tolist()) == ([0, 1], [1, 0])


def test_parts_of_a_resample_have_its_weights_and_share_what_is_known_of_the_rows() -> None:
    whole = score_samples(random_samples(7, keys=2), None)
    weights = np.random.default_rng(0).integers(0, 3, (3, whole.unit_count))
    made = []
    for row in weights:
        (again,) = whole.resamples(row[None])
        for _, part in by_key(again):
            assert part.row_weights.tolist() == [row[part.unit].tolist()]
            part.once("test", lambda: made.append(1))
            part.known("test", lambda: made.append(100))
        assert by_key(again) is by_key(again)
    # Once for each of two parts, and once for each part of each of three resamples.
    assert sum(made) == 2 + 600
    assert all((part.row_weights == 1).all() for _, part in by_key(whole))


def test_resamples_are_of_the_samples() -> None:
    rows = [Row(0, [(0, 1.0)]), Row(1, [(0, 1.0)])]
    (both,) = scored(rows).resamples(np.array([[2, 0], [1, 1]]))
    assert both.row_weights.tolist() == [[2, 0], [1, 1]]
    assert both.select(np.array([False, True])).row_weights.tolist() == [[0], [1]]


def test_many_samples_are_resampled_some_replicas_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scores, "_WEIGHTS_AT_ONCE", 40)
    weights = np.random.default_rng(0).integers(0, 3, (21, 2))
    rows = [Row(0, [(0, 1.0)]), Row(1, [(0, 1.0)])]
    parts = [one.row_weights for one in scored(rows).resamples(weights)]
    assert [len(part) for part in parts] == [16, 5]
    assert np.concatenate(parts).tolist() == weights.tolist()
