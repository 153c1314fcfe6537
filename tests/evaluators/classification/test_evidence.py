"""Evidence: what is read of each row, parts by label key, selections and resamples."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from tests.evaluators.classification.asking import evidence, resampled
from tests.oracles import classification_forms as forms
from tests.oracles.classification_problems import random_samples
from valor_cli.evaluators.classification.evidence import scores
from valor_cli.evaluators.classification.evidence.scores import (
    by_key,
    merge_scored,
    score_samples,
)
from valor_cli.kernels.ranking.scores import UNLISTED, DenseScores

TWO = evidence("ab", [("a", {"a": 1.0}), ("b", {"a": 1.0})])


@pytest.mark.parametrize("partial", [False, True])
def test_what_is_read_of_each_row(partial: bool) -> None:
    samples = forms.random_samples(1, partial=partial)
    found = evidence("abcdef", [(one.truth, dict(one.listed)) for one in samples])
    for at, one in enumerate(samples):
        top, score = one.top
        assert found.top[at] == "abcdef".find(top)
        assert found.top_score[at] == score
        assert found.true_score[at] == one.score(one.truth)
        # Sorting is stable: equal scores keep the order listed.
        ranked = [label for label, _ in sorted(one.listed, key=lambda pair: -pair[1])]
        place = ranked.index(one.truth) if one.truth in ranked else UNLISTED
        assert found.place[at] == place
        listed = dict(one.listed).values()
        assert found.total[at] == pytest.approx(sum(listed), abs=1e-15)
        assert found.squares[at] == pytest.approx(sum(s * s for s in listed), abs=1e-15)
        assert found.sample_id(at) == f"s{at:02}"


def test_what_cannot_be_merged_is_refused() -> None:
    with pytest.raises(ValueError, match="share their labels"):
        merge_scored([TWO, replace(TWO, labels=("a", "c"))])
    with pytest.raises(ValueError, match="no resample"):
        merge_scored([TWO, resampled(TWO, [1, 1])])


@pytest.mark.parametrize(("keys", "named"), [((None,), {}), (("animal",), {"label_key": "animal"})])
def test_the_only_key_is_named(keys: tuple[str | None], named: dict[str, str]) -> None:
    found = replace(TWO, keys=keys)
    ((parameters, part),) = by_key(found)
    assert (parameters, part.labels) == (named, ("a", "b"))
    assert (part is found) == (not named)


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
    parts = [part for _, part in by_key(score_samples(dataset, None))]
    for part, own, top in zip(
        parts, ([[0.7, 0.3], [0.1, 0.9]], [[0.4, 0.6], [1, 0]]), ([0, 1], [1, 0]), strict=True
    ):
        assert isinstance(part.scores, DenseScores)
        assert (part.scores.score.tolist(), part.top.tolist()) == (own, top)


def test_parts_of_a_resample_have_its_weights_and_share_what_is_known_of_the_rows() -> None:
    whole = score_samples(random_samples(7, keys=2), None)
    weights = np.random.default_rng(0).integers(0, 3, (3, whole.unit_count))
    made = []
    for row in weights:
        again = resampled(whole, row)
        for _, part in by_key(again):
            assert part.row_weights.tolist() == [row[part.unit].tolist()]
            part.once("test", lambda: made.append(1))
            part.known("test", lambda: made.append(100))
        assert by_key(again) is by_key(again)
    # Once for each of two parts, and once for each part of each of three resamples.
    assert sum(made) == 2 + 600
    assert all((part.row_weights == 1).all() for _, part in by_key(whole))


def test_resamples_are_of_the_samples_some_replicas_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (both,) = TWO.resamples(np.array([[2, 0], [1, 1]]))
    assert both.row_weights.tolist() == [[2, 0], [1, 1]]
    assert both.select(np.array([False, True])).row_weights.tolist() == [[0], [1]]
    monkeypatch.setattr(scores, "_WEIGHTS_AT_ONCE", 40)
    weights = np.random.default_rng(0).integers(0, 3, (21, 2))
    parts = [one.row_weights for one in TWO.resamples(weights)]
    assert [len(part) for part in parts] == [16, 5]
    assert np.concatenate(parts).tolist() == weights.tolist()
