"""What results.json should hold of samples, and what it holds, in one shape to be compared."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pytest

from tests.oracles import classification_truth as truth
from tests.oracles.classification_truth import Sample

Call = tuple[str, dict[str, Any]]
"""A metric with all of its parameters."""

Named = dict[str, Any]
"""By what identifies it, a number, a column or a whole table."""

AVERAGES = ("macro", "micro", "weighted")
LEVELS = [0.5, 0.2, 0.5, 1.7, 0.0, -1, 1.0, 0.05]
"""Thresholds out of order, twice, beyond all scores and below."""

RANKING: list[Call] = [("roc_auc", {}), ("mean_roc_auc", {}), ("average_precision", {})]
TOP: list[Call] = [
    *((name, {}) for name in ("accuracy", "balanced_accuracy", "matthews_corrcoef", "cohen_kappa")),
    *(
        ("top_k_accuracy", {"k": k, "ties": ties})
        for k in (1, 2, 3, 9)
        for ties in ("first_listed", "last_listed")
    ),
]
CURVES: list[Call] = [
    ("pr_curve", {"score_thresholds": LEVELS}),
    ("detailed_pr_curve", {"score_thresholds": LEVELS, "max_examples": 2}),
]
PROBABILITIES: list[Call] = [
    *(
        (name, {"normalize": normalize})
        for name in ("log_loss", "brier_score")
        for normalize in (False, True)
    ),
    *(
        ("expected_calibration_error", {"bins": bins, "normalize": normalize})
        for bins in (1, 4, 10, 15)
        for normalize in (False, True)
    ),
]


def decided(thresholds: Sequence[truth.Threshold]) -> list[Call]:
    """Every metric that decides by a threshold, under each of some."""
    calls: list[Call] = []
    for threshold in thresholds:
        for hardmax in (True, False):
            at = {"score_threshold": threshold, "hardmax": hardmax}
            calls += [("counts", at), ("confusion_matrix", {**at, "max_examples": 2})]
            for place, average in enumerate(AVERAGES):
                calls.append(("recall", {**at, "average": average}))
                for name in ("precision", "f1"):
                    more = {"average": average, "zero_division": place / 2}
                    calls.append((name, {**at, **more}))
    return calls


def every_call(thresholds: Sequence[truth.Threshold]) -> list[Call]:
    """Every metric of classification."""
    return [*TOP, *decided(thresholds), *RANKING, *CURVES, *PROBABILITIES]


def metrics(calls: Sequence[Call]) -> list[Any]:
    """The `metrics:` of a config."""
    return [{name: parameters} if parameters else name for name, parameters in calls]


def _name(*parts: object) -> str:
    return json.dumps(_plain(parts), sort_keys=True)


def _plain(part: Any) -> Any:
    """The part with whole numbers as floats: 1 and 1.0 are one threshold."""
    if isinstance(part, Mapping):
        return {name: _plain(one) for name, one in part.items()}
    if isinstance(part, list | tuple):
        return [_plain(one) for one in part]
    return float(part) if isinstance(part, int) and not isinstance(part, bool) else part


class Rows(NamedTuple):
    """All that is said of one model, slice and label key."""

    values: Named
    counts: Named
    curves: Named
    tables: Named
    examples: Named


def assert_same(found: Rows, expected: Rows) -> None:
    """Both hold the same things, and the same of each; numbers but for rounding."""
    for kind, ours, theirs in zip(Rows._fields, found, expected, strict=True):
        assert ours.keys() == theirs.keys(), kind
        wrong = {
            name: (ours[name], theirs[name]) for name in ours if not _near(ours[name], theirs[name])
        }
        assert not wrong, f"{len(wrong)} {kind}, found and expected: {list(wrong.items())[:3]}"


def _near(found: Any, expected: Any) -> bool:
    if isinstance(expected, float):
        return found is not None and bool(found == pytest.approx(expected, abs=1e-11, rel=1e-11))
    if isinstance(expected, list) and isinstance(found, list):
        return len(found) == len(expected) and all(map(_near, found, expected))
    return bool(found == expected)


# ---- expected


def expected_rows(
    samples: Sequence[Sample],
    labels: Sequence[str],
    calls: Sequence[Call],
    key: str | None = None,
) -> Rows:
    """What should be said of samples.

    Args:
        samples: All of them.
        labels: The labels of the run, in their order.
        calls: The metrics.
        key: The label key, if there are any.
    """
    rows = Rows({}, {}, {}, {}, {})
    under = {} if key is None else {"label_key": key}
    for name, parameters in calls:
        full = {**parameters, **under}
        if name in truth.METRICS:
            _expect_values(rows, name, samples, labels, parameters, full)
        if name == "confusion_matrix":
            _expect_confusion(rows, samples, labels, parameters, full)
        if name == "expected_calibration_error":
            table = truth.reliability(samples, parameters["bins"], normalize=full["normalize"])
            _expect_columns(rows, name, None, full, table)
        if name in ("pr_curve", "detailed_pr_curve"):
            levels = parameters["score_thresholds"]
            full["score_thresholds"] = sorted(set(levels))
            curves = getattr(truth, name)(samples, labels, levels)
            for label, table in curves.items():
                _expect_columns(rows, name, label, full, table)
        if name == "detailed_pr_curve":
            most = parameters["max_examples"]
            for label in labels:
                for level in sorted(set(levels)):
                    some = truth.detailed_examples(samples, label, level, most)
                    if some:
                        rows.examples[_name(name, label, float(level))] = sorted(some)
    return rows


def _expect_values(
    rows: Rows,
    name: str,
    samples: Sequence[Sample],
    labels: Sequence[str],
    parameters: Mapping[str, Any],
    full: Mapping[str, Any],
) -> None:
    truths = truth.truths(samples)
    for (output, label), value in truth.METRICS[name](samples, labels, **parameters).items():
        own = dict(full)
        if label is not None and "score_threshold" in own:
            own["score_threshold"] = float(truth.least(own["score_threshold"], label))
        at = _name(name, output, label, own)
        rows.values[at] = value
        rows.counts[at] = len(samples) if label is None else truths.count(label)


def _expect_confusion(
    rows: Rows,
    samples: Sequence[Sample],
    labels: Sequence[str],
    parameters: Mapping[str, Any],
    full: Mapping[str, Any],
) -> None:
    threshold, hardmax = parameters["score_threshold"], parameters["hardmax"]
    matrix, unmatched = truth.confusion(samples, labels, threshold, hardmax=hardmax)
    at = _name("confusion_matrix", full)
    rows.tables[at] = [list(labels), matrix, unmatched, [0] * len(labels)]
    examples = truth.confusion_examples(
        samples, labels, threshold, hardmax=hardmax, most=parameters["max_examples"]
    )
    if examples:
        rows.examples[at] = [list(one) for one in examples]


def _expect_columns(
    rows: Rows,
    name: str,
    label: str | None,
    full: Mapping[str, Any],
    table: Mapping[str, list[Any]],
) -> None:
    for column, numbers in table.items():
        rows.curves[_name(name, label, full, column)] = numbers


# ---- found


def found_rows(
    result: Mapping[str, Any],
    *,
    model: str = "model",
    part: str | None = None,
    key: str | None = None,
) -> Rows:
    """What results.json says of a model, a slice (`part`) and a label key, less ROC curves."""

    def own(kind: str) -> Iterator[dict[str, Any]]:
        for one in result[kind]:
            said = one["model"], one["slice"], one["parameters"].get("label_key")
            if said == (model, part, key):
                yield one

    rows = Rows({}, {}, {}, {}, {})
    for one in own("metrics"):
        at = _name(one["metric"], one["output"], one["label"], one["parameters"])
        # Mappings of thresholds that agree on a label say the same of it.
        assert rows.values.setdefault(at, one["value"]) == one["value"], at
        assert one["value"] is not None or one["undefined"], at
        rows.counts[at] = one["n"]
    for one in own("curves"):
        if one["metric"] != "roc_auc":
            for column, numbers in one["points"].items():
                rows.curves[_name(one["metric"], one["label"], one["parameters"], column)] = numbers
    for one in own("tables"):
        sides = (one["unmatched_ground_truths"], one["unmatched_predictions"])
        at = _name("confusion_matrix", one["parameters"])
        rows.tables[at] = [one["labels"], one["matrix"], *sides]
    for one in own("examples"):
        if one["metric"] == "confusion_matrix":
            at = _name("confusion_matrix", one["parameters"])
            rows.examples.setdefault(at, []).append(_cell_example(one))
        else:
            _add_detailed_example(rows, one)
    for some in rows.examples.values():
        if isinstance(some[0], tuple):
            some.sort()
    return rows


def _cell_example(one: Mapping[str, Any]) -> list[Any]:
    true, *said = one["objects"]
    assert true["role"] == "ground_truth"
    assert true["label"] == one["label"]
    assert {thing["outcome"] for thing in one["objects"]} == {one["kind"]}
    found = said[0] if said else {"label": None, "score": None}
    return [one["kind"], one["label"], found["label"], one["sample_id"], found["score"]]


def _add_detailed_example(rows: Rows, one: Mapping[str, Any]) -> None:
    kind = one["kind"]
    if kind == "misclassification":
        kind += " of it" if one["objects"][0]["label"] == one["label"] else " as it"
    for level in one["parameters"]["score_thresholds"]:
        at = _name("detailed_pr_curve", one["label"], float(level))
        rows.examples.setdefault(at, []).append((kind, one["sample_id"]))
