"""What every classification metric should say of samples: scikit-learn where it has the metric,
plain loops over samples where it has not. Knows nothing of the package.
"""

from __future__ import annotations

import bisect
import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn.metrics")
# What is given is right: checking it takes half of its time.
pytest.importorskip("sklearn").set_config(assume_finite=True, skip_parameter_validation=True)

Threshold = float | Mapping[str, float]
Values = dict[tuple[str, str | None], float | None]
"""By output and label (None for all), the value."""

NOBODY = "\0nobody"
"""What a sample without a prediction is taken for: no label is called so."""


class Sample(NamedTuple):
    """A sample, the labels that are listed for it with their scores, in order, and metadata."""

    id: str
    truth: str
    listed: tuple[tuple[str, float], ...]
    place: str = ""

    def score(self, label: str) -> float:
        """The score of a label; 0 where it is not listed."""
        return dict(self.listed).get(label, 0.0)

    @property
    def top(self) -> tuple[str, float]:
        """The first listed label of the highest score, with it; nobody where that is 0."""
        best = NOBODY, -math.inf
        for label, score in self.listed:
            if score > best[1]:
                best = label, score
        return best if best[1] not in (0, -math.inf) else (NOBODY, 0.0)

    def positives(self, threshold: Threshold, *, hardmax: bool) -> list[tuple[str, float]]:
        """The labels that are positive, with their scores."""
        return [
            (label, score)
            for label, score in self.listed
            if score != 0
            and score >= least(threshold, label)
            and (not hardmax or label == self.top[0])
        ]


def least(threshold: Threshold, label: str) -> float:
    """The threshold of a label."""
    return threshold.get(label, 0.0) if isinstance(threshold, Mapping) else threshold


def labels_of(samples: Iterable[Sample]) -> list[str]:
    """All labels that are true or listed, by name."""
    return sorted({name for one in samples for name in (one.truth, *dict(one.listed))})


def truths(samples: Sequence[Sample]) -> list[str]:
    """The true label of each sample."""
    return [one.truth for one in samples]


def tops(samples: Sequence[Sample]) -> list[str]:
    """The top label of each sample."""
    return [one.top[0] for one in samples]


def binary(
    samples: Sequence[Sample], labels: Sequence[str], threshold: Threshold, *, hardmax: bool
) -> tuple[np.ndarray, np.ndarray]:
    """(samples, labels) what is true and what is positive."""
    levels = tuple(least(threshold, label) for label in labels)
    return _binary(tuple(samples), tuple(labels), levels, hardmax)


@lru_cache(64)
def _binary(
    samples: tuple[Sample, ...], labels: tuple[str, ...], levels: tuple[float, ...], hardmax: bool
) -> tuple[np.ndarray, np.ndarray]:
    threshold = dict(zip(labels, levels, strict=True))
    true = np.array([[one.truth == label for label in labels] for one in samples])
    said = [dict(one.positives(threshold, hardmax=hardmax)) for one in samples]
    return true, np.array([[label in some for label in labels] for some in said])


# ---- metrics of the top label


def _quiet(metric: Callable[..., Any], *arguments: Any, **options: Any) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(metric(*arguments, **options))


def accuracy(samples: Sequence[Sample], labels: Sequence[str]) -> Values:
    return one_value(_quiet(sklearn.accuracy_score, truths(samples), tops(samples)))


def balanced_accuracy(samples: Sequence[Sample], labels: Sequence[str]) -> Values:
    return one_value(_quiet(sklearn.balanced_accuracy_score, truths(samples), tops(samples)))


def matthews_corrcoef(samples: Sequence[Sample], labels: Sequence[str]) -> Values:
    if len(set(truths(samples))) == 1 or len(set(tops(samples))) == 1:
        return one_value(None)
    return one_value(_quiet(sklearn.matthews_corrcoef, truths(samples), tops(samples)))


def cohen_kappa(samples: Sequence[Sample], labels: Sequence[str]) -> Values:
    if len({*truths(samples), *tops(samples)}) == 1:
        return one_value(None)
    return one_value(_quiet(sklearn.cohen_kappa_score, truths(samples), tops(samples)))


def top_k_accuracy(
    samples: Sequence[Sample], labels: Sequence[str], *, k: int = 5, ties: str = "first_listed"
) -> Values:
    hits = 0
    for one in samples:
        listed = one.listed if ties == "first_listed" else one.listed[::-1]
        # Sorting is stable: equal scores keep their order.
        first = [label for label, _ in sorted(listed, key=lambda pair: -pair[1])][:k]
        hits += one.truth in first and one.top[0] != NOBODY
    return one_value(hits / len(samples))


# ---- metrics of decisions


def counts(
    samples: Sequence[Sample],
    labels: Sequence[str],
    *,
    score_threshold: Threshold = 0.0,
    hardmax: bool = True,
) -> Values:
    true, said = binary(samples, labels, score_threshold, hardmax=hardmax)
    tables = _tables(true.shape, true.tobytes(), said.tobytes())
    found: Values = {}
    for label, table in zip(labels, tables[: len(labels)], strict=True):
        for output, value in zip(("tn", "fp", "fn", "tp"), table.ravel().tolist(), strict=True):
            found[output, label] = value
    return found


@lru_cache(64)
def _tables(shape: tuple[int, int], true: bytes, said: bytes) -> np.ndarray:
    both = (np.frombuffer(side, dtype=bool).reshape(shape) for side in (true, said))
    every = range(shape[1])
    found: np.ndarray = sklearn.multilabel_confusion_matrix(*(_columns(one, every) for one in both))
    return found


def ratio(
    name: str,
    samples: Sequence[Sample],
    labels: Sequence[str],
    *,
    score_threshold: Threshold = 0.0,
    hardmax: bool = True,
    average: str = "macro",
    zero_division: float = 0.0,
) -> Values:
    """Precision, recall or F1 of each label, and the average over labels seen on either side."""
    true, said = binary(samples, labels, score_threshold, hardmax=hardmax)
    each: list[float] = []
    found: Values = {}
    for at, label in enumerate(labels):
        tp, positive, truths = (
            int(column.sum()) for column in (true[:, at] & said[:, at], said[:, at], true[:, at])
        )
        whole = {"precision": positive, "recall": truths, "f1": (positive + truths) / 2}[name]
        stand_in = name != "recall" and not positive
        each.append(zero_division if stand_in else _part(tp, whole) or 0.0)
        known = truths or name == "precision"
        found["value", label] = each[at] if known else None
    seen = [at for at in range(len(labels)) if true[:, at].any() or said[:, at].any()]
    if not said.any() and name != "recall":
        mean = zero_division
    elif zero_division == 0 or average == "micro":
        mean = _mean_ratio(name, _columns(true, seen), _columns(said, seen), average, len(seen))
    else:
        # scikit-learn has an F1 of 0 whatever stands in for 0/0.
        weights = true[:, seen].sum(axis=0) if average == "weighted" else None
        mean = float(np.average([each[at] for at in seen], weights=weights))
    return {**found, ("value", None): mean}


def _mean_ratio(name: str, true: np.ndarray, said: np.ndarray, average: str, labels: int) -> float:
    three = _means(true.shape, true.tobytes(), said.tobytes(), average)
    mean = three[("precision", "recall", "f1").index(name)]
    # The column that was put beside a lone one has 0, which a macro average counts.
    return mean * true.shape[1] / labels if average == "macro" else mean


@cache
def _means(
    shape: tuple[int, int], true: bytes, said: bytes, average: str
) -> tuple[float, float, float]:
    """Precision, recall and F1, which scikit-learn computes together."""
    both = (np.frombuffer(side, dtype=int).reshape(shape) for side in (true, said))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        three = sklearn.precision_recall_fscore_support(*both, average=average, zero_division=0.0)
    precision, recall, f1 = map(float, three[:3])
    return precision, recall, f1


def _columns(table: np.ndarray, columns: Sequence[int]) -> np.ndarray:
    # A table of one column would be read as a vector; an empty second one says nothing.
    kept = table[:, list(columns)].astype(int)
    return kept if kept.shape[1] > 1 else np.hstack([kept, np.zeros_like(kept)])


def confusion(
    samples: Sequence[Sample], labels: Sequence[str], threshold: Threshold, *, hardmax: bool
) -> tuple[list[list[int]], list[int]]:
    """The matrix, ground truth in rows, and what nothing is positive for."""
    true, said = binary(samples, labels, threshold, hardmax=hardmax)
    matrix = (true.T.astype(int) @ said.astype(int)).tolist()
    return matrix, true[~said.any(axis=1)].sum(axis=0).tolist()


def confusion_examples(
    samples: Sequence[Sample],
    labels: Sequence[str],
    threshold: Threshold,
    *,
    hardmax: bool,
    most: int,
) -> list[tuple[str, str, str | None, str, float | None]]:
    """Kind, true label, predicted label, sample and score, in the order of the file."""
    cells: dict[tuple[int, int, int], list[tuple[float, bytes, float | None]]] = {}
    for one in samples:
        truth, key = labels.index(one.truth), one.id.encode()
        said = one.positives(threshold, hardmax=hardmax)
        for label, score in said:
            cell = int(label != one.truth), truth, labels.index(label)
            cells.setdefault(cell, []).append((-score, key, score))
        if not said:
            cells.setdefault((2, truth, -1), []).append((-one.top[1], key, None))
    kinds = ("true_positive", "misclassification", "unmatched_ground_truth")
    return [
        (kinds[kind], labels[truth], None if label < 0 else labels[label], key.decode(), score)
        for (kind, truth, label), some in sorted(
            cells.items(), key=lambda cell: (cell[0][1], cell[0][0], cell[0][2])
        )
        for _, key, score in sorted(some, key=lambda case: case[:2])[:most]
    ]


# ---- metrics of ranking


def roc_auc(samples: Sequence[Sample], labels: Sequence[str]) -> Values:
    return _roc_auc(tuple(samples), tuple(labels))


@lru_cache(64)
def _roc_auc(samples: tuple[Sample, ...], labels: tuple[str, ...]) -> Values:
    found: Values = {}
    for label in labels:
        true = [one.truth == label for one in samples]
        score = [one.score(label) for one in samples]
        known = any(true) and not all(true)
        found["value", label] = float(sklearn.roc_auc_score(true, score)) if known else None
    return found


def mean_roc_auc(samples: Sequence[Sample], labels: Sequence[str]) -> Values:
    return one_value(_mean(roc_auc(samples, labels).values()))


def average_precision(samples: Sequence[Sample], labels: Sequence[str]) -> Values:
    found: Values = {}
    for label in labels:
        true = [one.truth == label for one in samples]
        score = [one.score(label) for one in samples]
        area = float(sklearn.average_precision_score(true, score)) if any(true) else None
        found["value", label] = area
    return {**found, ("value", None): _mean(found.values())}


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


# ---- curves


def pr_curve(
    samples: Sequence[Sample], labels: Sequence[str], thresholds: Sequence[float]
) -> dict[str, dict[str, list[float | None]]]:
    """By label, the columns; labels that nothing is to be said of are left out."""
    return {
        label: {
            "score_threshold": levels,
            **{name: [row[name] for row in rows] for name in ("tp", "fp", "fn", "tn")},
            "precision": [_part(row["tp"], row["tp"] + row["fp"]) for row in rows],
            "recall": [_part(row["tp"], row["tp"] + row["fn"]) for row in rows],
            "accuracy": [_part(row["tp"] + row["tn"], len(samples)) for row in rows],
            "f1": [
                _part(2 * row["tp"], 2 * row["tp"] + row["fp"] + row["fn"])
                if row["tp"] + row["fn"]
                else None
                for row in rows
            ],
        }
        for label, levels, rows in _curves(samples, labels, thresholds)
    }


def _part(some: float, all_: float) -> float | None:
    return some / all_ if all_ else None


def detailed_pr_curve(
    samples: Sequence[Sample], labels: Sequence[str], thresholds: Sequence[float]
) -> dict[str, dict[str, list[float]]]:
    """By label, the columns; a false negative for which nothing passes is apart from the others."""
    found = {}
    for label, levels, rows in _curves(samples, labels, thresholds):
        silent = [
            sum(one.truth == label and not one.positives(level, hardmax=False) for one in samples)
            for level in levels
        ]
        columns = {name: [row[name] for row in rows] for name in ("tp", "fp", "fn", "tn")}
        found[label] = {
            "score_threshold": levels,
            **columns,
            "fp_misclassifications": columns["fp"],
            "fn_misclassifications": [
                missed - nothing for missed, nothing in zip(columns["fn"], silent, strict=True)
            ],
            "fn_no_predictions": silent,
        }
    return found


def _curves(
    samples: Sequence[Sample], labels: Sequence[str], thresholds: Sequence[float]
) -> Iterable[tuple[str, list[float], list[dict[str, int]]]]:
    levels = sorted(set(thresholds))
    found = [counts(samples, labels, score_threshold=one, hardmax=False) for one in levels]
    for label in labels:
        rows = [
            {name: int(table[name, label] or 0) for name in ("tp", "fp", "fn", "tn")}
            for table in found
        ]
        if rows[0]["tp"] + rows[0]["fn"] + rows[0]["fp"]:
            yield label, levels, rows


def detailed_examples(
    samples: Sequence[Sample], label: str, threshold: float, most: int
) -> set[tuple[str, str]]:
    """Kind and sample of the examples that one label has at one threshold."""
    kinds: dict[str, list[tuple[float, bytes]]] = {}
    for one in samples:
        said = dict(one.positives(threshold, hardmax=False))
        if one.truth == label:
            if label in said:
                kind, rank = "true_positive", -said[label]
            elif said:
                kind, rank = "misclassification of it", -max(said.values())
            else:
                kind, rank = "no_prediction", 0.0
        elif label in said:
            kind, rank = "misclassification as it", -said[label]
        else:
            kind, rank = "true_negative", 0.0
        kinds.setdefault(kind, []).append((rank, one.id.encode()))
    return {(kind, key.decode()) for kind, some in kinds.items() for _, key in sorted(some)[:most]}


# ---- metrics of probabilities


def probabilities(one: Sample, *, normalize: bool) -> dict[str, float]:
    """Scores divided by their sum, where that is 1 but for rounding or if asked for."""
    total = float(np.array([score for _, score in one.listed]).sum())
    divided = total > 0 and (normalize or abs(total - 1) <= 1e-3 * (1 + 1e-9))
    return {label: score / total if divided else score for label, score in one.listed}


def log_loss(
    samples: Sequence[Sample], labels: Sequence[str], *, normalize: bool = False
) -> Values:
    said = [probabilities(one, normalize=normalize).get(one.truth, 0.0) for one in samples]
    eps = 2.0**-52
    losses = [-math.log(min(max(value, eps), 1 - eps)) for value in said]
    return one_value(math.fsum(losses) / len(losses))


def brier_score(
    samples: Sequence[Sample], labels: Sequence[str], *, normalize: bool = False
) -> Values:
    errors = []
    for one in samples:
        said = probabilities(one, normalize=normalize)
        errors += [((label == one.truth) - said.get(label, 0.0)) ** 2 for label in labels]
    return one_value(math.fsum(errors) / len(samples))


def reliability(
    samples: Sequence[Sample], bins: int, *, normalize: bool = False
) -> dict[str, list[float | None]]:
    """The reliability table: bins (low, high], 0 in the first."""
    edges = np.linspace(0, 1, bins + 1).tolist()
    members: list[list[tuple[float, bool]]] = [[] for _ in range(bins)]
    for one in samples:
        confidence = probabilities(one, normalize=normalize).get(one.top[0], 0.0)
        place = min(bisect.bisect_left(edges[1:], confidence), bins - 1)
        members[place].append((confidence, one.top[0] == one.truth))
    return {
        "confidence_low": edges[:-1],
        "confidence_high": edges[1:],
        "n": [len(some) for some in members],
        "confidence": [_part(math.fsum(c for c, _ in some), len(some)) for some in members],
        "accuracy": [_part(sum(right for _, right in some), len(some)) for some in members],
    }


def expected_calibration_error(
    samples: Sequence[Sample],
    labels: Sequence[str],
    *,
    bins: int = 15,
    normalize: bool = False,
) -> Values:
    table = reliability(samples, bins, normalize=normalize)
    gaps = [
        (n, abs(said - right))
        for n, said, right in zip(table["n"], table["confidence"], table["accuracy"], strict=True)
        if n and said is not None and right is not None
    ]
    return {
        ("value", None): sum(n * gap for n, gap in gaps) / len(samples),
        ("maximum", None): max(gap for _, gap in gaps),
    }


def one_value(value: float | None) -> Values:
    """A metric that has one value, over all labels."""
    return {("value", None): value}


def ratios(name: str) -> Callable[..., Values]:
    """The metric of that name among precision, recall and F1."""
    return lambda samples, labels, **options: ratio(name, samples, labels, **options)


METRICS: dict[str, Callable[..., Values]] = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "matthews_corrcoef": matthews_corrcoef,
    "cohen_kappa": cohen_kappa,
    "top_k_accuracy": top_k_accuracy,
    "counts": counts,
    "precision": ratios("precision"),
    "recall": ratios("recall"),
    "f1": ratios("f1"),
    "roc_auc": roc_auc,
    "mean_roc_auc": mean_roc_auc,
    "average_precision": average_precision,
    "log_loss": log_loss,
    "brier_score": brier_score,
    "expected_calibration_error": expected_calibration_error,
}
"""Of each metric, its values; parameters are those of the config."""
