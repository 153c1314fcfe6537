"""Condensed evidence: shards of any cut, merged in any order, say what all rows say."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from tests.evaluators.classification.asking import (
    HALF_RIGHT,
    METRICS,
    called,
    evidence,
    resampled,
)
from valor_cli.data.shapes.scores.dataset import ClassificationDataset
from valor_cli.evaluators.classification import CLASSIFICATION
from valor_cli.evaluators.classification.evidence import binary_problems as ranked_labels
from valor_cli.evaluators.classification.evidence.scores import (
    Evidence,
    by_key,
    condense,
    merge_scored,
    score_samples,
)
from valor_cli.evaluators.classification.evidence.tallies import CondensedScores
from valor_cli.evaluators.classification.metrics import confusion_matrix as confusion
from valor_cli.kernels.ranking.scores import DenseScores, Scores, SparseScores
from valor_cli.metric import Call

ROWS_ALONE = {"detailed_pr_curve", "sample_scores", "label_set_scores"}

OTHERWISE: dict[str, list[dict[str, Any]]] = {
    "top_k_accuracy": [{"k": 2}, {"k": 2, "ties": "last_listed"}],
    "counts": [{"score_threshold": 0.3}, {"score_threshold": {"a": 0.4, "d": 0.2}}],
    "f1": [{"hardmax": False}, {"score_threshold": 0.2, "hardmax": False, "average": "micro"}],
    "pr_curve": [{"score_thresholds": (-1.0, 0.0, 0.3, 0.5)}],
    "confusion_matrix": [
        {"max_examples": 0, "score_threshold": 0.4},
        {"max_examples": 1, "hardmax": False, "score_threshold": 0.2},
        {"max_examples": 50, "score_threshold": {"a": 0.4}},
    ],
    "log_loss": [{"normalize": True}],
    "brier_score": [{"normalize": True}],
    "expected_calibration_error": [{"bins": 3, "normalize": True}],
}
"""Parameters that are asked for beside the defaults."""


def calls() -> list[Call]:
    """Every metric that reads sums, with its defaults and otherwise."""
    found = []
    for name, metric in METRICS.items():
        if metric.condensed:
            found += [called(name, **more) for more in [{}, *OTHERWISE.get(name, [])]]
    return found


CALLS = calls()


def samples(seed: int, *, count: int, keys: int, dense: bool, digits: int) -> ClassificationDataset:
    """Rows with ties, zeros, scores below 0, and nothing at all; some samples lack some keys.

    The labels of keys overlap, and one of each key is nobody's.
    """
    rng = np.random.default_rng(seed)
    ids = sorted({f"{number:x}".encode() for number in rng.integers(0, 1 << 20, count)})
    has = rng.random((len(ids), keys)) < (0.8 if keys > 1 else 1.0)
    unit, key = np.nonzero(has)
    labels = tuple("abcdefghi"[: 3 + 2 * keys])
    labels_of = tuple(tuple(range(2 * at, 2 * at + 5)) for at in range(keys))
    truth = 2 * key + rng.integers(0, 4, len(key))
    score = rng.dirichlet(np.full(5, 0.6), len(key)).round(digits)
    score *= rng.choice([1.0, 1.0, 1.0, 0.0, -1.0, 0.5], (len(key), 1))
    return ClassificationDataset(
        sample_ids=np.array(ids or np.zeros(0, "S1")),
        labels=labels,
        keys=tuple(f"key {at}" for at in range(keys)) if keys > 1 else (None,),
        labels_of=labels_of,
        unit=unit,
        key=key,
        truth=truth,
        scores=_listed(rng, score, key, keys, dense=dense),
        number=np.arange(len(key)),
    )


def _listed(
    rng: np.random.Generator, score: np.ndarray, key: np.ndarray, keys: int, *, dense: bool
) -> Scores:
    """Dense rows list all labels, those of other keys with 0; others some of their key's own."""
    if dense:
        width = 3 + 2 * keys
        wide = np.zeros((len(key), width))
        np.put_along_axis(wide, 2 * key[:, None] + np.arange(5), score, axis=1)
        return DenseScores(np.arange(width), wide)
    rows = [rng.permutation(5)[: rng.integers(0, 6)] for _ in key]
    listed = [(2 * own + at, score[row, at]) for row, own in enumerate(key) for at in rows[row]]
    return SparseScores(
        np.cumsum([0, *map(len, rows)]),
        np.array([label for label, _ in listed], np.int32),
        np.array([one for _, one in listed], np.float64),
    )


def merged_somehow(rng: np.random.Generator, parts: list[CondensedScores]) -> CondensedScores:
    """Some parts at a time, in an order and a tree by chance, each from another process."""
    parts = pickle.loads(pickle.dumps(parts))  # noqa: S301 - made here
    while len(parts) > 1:
        rng.shuffle(parts)
        some = int(rng.integers(2, len(parts) + 1))
        one = merge_scored(parts[:some])
        assert isinstance(one, CondensedScores)
        parts = [*parts[some:], one]
    return parts[0]


def shards(
    dataset: ClassificationDataset, rng: np.random.Generator, count: int, asked: list[Call]
) -> list[CondensedScores]:
    """Condensed shards of samples by chance; some may have none."""
    of = rng.integers(0, count, dataset.unit_count)
    return [condense(score_samples(dataset.shard(of == at), None), asked) for at in range(count)]


def said(evidence: Evidence, asked: list[Call]) -> list[tuple[str, list[str]]]:
    """All that the calls find, to the last bit: floats are written so that they can be read."""
    parts = by_key(evidence)
    return [
        (
            f"{call.metric.name} {dict(call.parameters)}",
            [repr(call.findings(part)) for _, part in parts],
        )
        for call in asked
    ]


def exact(thing: Any) -> Any:
    """A record as what it consists of, types and bits included."""
    if isinstance(thing, np.ndarray):
        return (thing.dtype.kind, thing.tolist())
    if isinstance(thing, dict):
        return {name: exact(one) for name, one in thing.items()}
    if isinstance(thing, Struct):
        return [exact(getattr(thing, one)) for one in thing.__struct_fields__ if one[0] != "_"]
    if dataclasses.is_dataclass(thing):
        names = [one.name for one in dataclasses.fields(thing)]
        return [exact(getattr(thing, one)) for one in names if one[0] != "_"]
    if isinstance(thing, tuple):
        return [exact(one) for one in thing]
    return thing


@given(
    st.integers(0, 10**6),
    st.integers(0, 60),
    st.integers(1, 3),
    st.booleans(),
    st.sampled_from([1, 3, 17]),
    st.integers(1, 7),
)
@settings(max_examples=20, deadline=None)
def test_merged_shards_say_what_all_rows_say(
    seed: int, count: int, keys: int, dense: bool, digits: int, cuts: int
) -> None:
    dataset = samples(seed, count=count, keys=keys, dense=dense, digits=digits)
    whole = score_samples(dataset, None)
    rng = np.random.default_rng(seed)
    parts = shards(dataset, rng, cuts, CALLS)
    merged = merged_somehow(rng, parts)
    assert merged.unit_count == whole.unit_count
    assert [own for own, _ in by_key(merged)] == [own for own, _ in by_key(whole)]
    assert [part.labels for _, part in by_key(merged)] == [part.labels for _, part in by_key(whole)]
    assert said(merged, CALLS) == said(whole, CALLS)
    # Not only what is said: what is held, too, is the same for every order.
    assert exact(merged) == exact(merged_somehow(rng, parts)) == exact(condense(whole, CALLS))


@pytest.mark.parametrize("dense", [True, False])
def test_many_rows(dense: bool) -> None:
    # More rows than a curve is drawn by, or than sums are made of at once.
    dataset = samples(1, count=12_000, keys=1, dense=dense, digits=4)
    rng = np.random.default_rng(0)
    merged = merged_somehow(rng, shards(dataset, rng, 5, CALLS))
    assert said(merged, CALLS) == said(score_samples(dataset, None), CALLS)


def test_more_cells_than_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    # Which cells have most rows, and so examples, only all shards together know.
    monkeypatch.setattr(confusion, "MOST_EXAMPLES", 7)
    dataset = samples(2, count=80, keys=1, dense=False, digits=1)
    rng = np.random.default_rng(0)
    asked = [call for call in CALLS if call.metric.name == "confusion_matrix"]
    merged = merged_somehow(rng, shards(dataset, rng, 6, asked))
    whole = score_samples(dataset, None)
    assert said(merged, asked) == said(whole, asked)
    assert len(confusion.confusion_matrix(merged).examples) == 7


def test_more_labels_than_are_drawn_or_tabulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranked_labels, "DRAWN_LABELS", 4)
    monkeypatch.setattr(confusion, "MOST_LABELS", 4)
    dataset = samples(3, count=30, keys=1, dense=True, digits=2)
    rng = np.random.default_rng(0)
    parts = shards(dataset, rng, 4, CALLS)
    assert said(merged_somehow(rng, parts), CALLS) == said(score_samples(dataset, None), CALLS)
    assert not any("cell" in str(name) or "pairs" in str(name) for name in parts[0].tallies[0])


def test_examples_of_one_score_stand_by_sample_id() -> None:
    # Shards come in any order; ids are compared byte by byte: "10" is before "9".
    dataset = replace(
        samples(4, count=3, keys=1, dense=True, digits=1),
        sample_ids=np.array([b"10", b"100", b"9"]),
        truth=np.zeros(3, np.int64),
        scores=DenseScores(np.arange(5), np.tile([0.6, 0.4, 0, 0, 0], (3, 1))),
    )
    asked = [Call(METRICS["confusion_matrix"], {"max_examples": 2})]
    parts = [
        condense(score_samples(dataset.shard(np.arange(3) == at), None), asked) for at in (2, 1, 0)
    ]
    found = confusion.confusion_matrix(merge_scored(parts), max_examples=2)
    assert [one.sample_id for one in found.examples] == ["10", "100"]


def test_every_metric_says_whether_it_reads_sums() -> None:
    assert {name for name, one in METRICS.items() if not one.condensed} == ROWS_ALONE
    for name in ROWS_ALONE:
        with pytest.raises(ValueError, match=f"reads rows: {name}"):
            condense(evidence("abc", HALF_RIGHT), [Call(METRICS[name], {})])


def test_it_holds_what_its_calls_ask_and_no_more() -> None:
    rows = score_samples(samples(1, count=40, keys=1, dense=True, digits=1), None)
    found = condense(rows, [Call(METRICS["accuracy"], {})])
    (tallies,) = found.tallies
    assert list(tallies) == ["agreement"]
    assert METRICS["accuracy"].compute(found) == METRICS["accuracy"].compute(rows)
    with pytest.raises(ValueError, match=r"calls that do not ask \('log losses', False\)"):
        METRICS["log_loss"].compute(found)
    assert condense(found, []) is found


def test_it_is_small() -> None:
    asked = [Call(METRICS[name], {}) for name in CLASSIFICATION.defaults]
    few, many = (
        len(pickle.dumps(condense(score_samples(dataset, None), asked)))
        for dataset in (
            samples(5, count=count, keys=1, dense=True, digits=1) for count in (2_000, 20_000)
        )
    )
    assert many < few + 200


def test_it_has_no_rows_to_choose_or_to_draw() -> None:
    found = condense(evidence("abc", HALF_RIGHT), CALLS)
    assert not found.resampled
    with pytest.raises(ValueError, match="has no rows"):
        found.select(np.ones(4, bool))
    with pytest.raises(ValueError, match="has no rows"):
        found.resamples(np.ones((1, 4), np.int64))


def test_what_cannot_be_merged_is_refused() -> None:
    rows = evidence("abc", HALF_RIGHT)
    one = condense(rows, CALLS)
    with pytest.raises(ValueError, match="for the same calls"):
        merge_scored([one, condense(rows, CALLS[:3])])
    with pytest.raises(ValueError, match="share their labels"):
        merge_scored([one, dataclasses.replace(one, labels=("x", *one.labels[1:]))])
    with pytest.raises(ValueError, match="all condensed, or none"):
        merge_scored([one, rows])
    with pytest.raises(ValueError, match="no resample"):
        merge_scored([rows, resampled(rows, [1] * 4)])
