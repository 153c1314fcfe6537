"""Numbers of classification from files to results.json, against scikit-learn and plain loops."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.cli.conftest import Valor
from tests.oracles import classification_forms as forms
from tests.oracles import classification_truth as truth
from tests.oracles.classification_forms import COMPLETE, PARTIAL, random_samples
from tests.oracles.classification_rows import (
    CURVES,
    PROBABILITIES,
    RANKING,
    TOP,
    Call,
    assert_same,
    decided,
    every_call,
    expected_rows,
    found_rows,
    metrics,
)
from tests.oracles.classification_truth import Sample
from tests.program import invoke

sklearn = pytest.importorskip("sklearn.metrics")

DATA = Path(__file__).parents[1] / "real_data" / "classification"
LABELS = list("abcdef")
THRESHOLDS: list[truth.Threshold] = [0.0, 0.3, {"a": 0.5, "d": 0.2}]

Evaluate = Callable[..., dict[str, Any]]


@pytest.fixture
def evaluate(tmp_path: Path) -> Evaluate:
    """`evaluate(data, metrics, *options, code=0, **config)`: what results.json then holds.

    The program runs in this process: a run is 30 ms, not 400.
    """

    def run(
        data: Mapping[str, Any],
        wanted: Sequence[Any],
        *options: object,
        code: int = 0,
        **config: Any,
    ) -> dict[str, Any]:
        path = write_config(tmp_path, data, wanted, **config)
        arguments = ["evaluate", str(path), "--format", "json", *map(str, options)]
        done = invoke(arguments, catch_exceptions=False)
        assert done.exit_code == code, done.output
        return json.loads((tmp_path / "out" / "results.json").read_text())

    return run


def write_config(folder: Path, data: Mapping[str, Any], wanted: Sequence[Any], **more: Any) -> Path:
    """A config; JSON is YAML."""
    config = {"task": "classification", "data": data, "metrics": wanted, "report": {"out": "out"}}
    path = folder / "run.yaml"
    path.write_text(json.dumps({**config, **more}))
    return path


def near(value: Any, within: float = 1e-12) -> Any:
    return pytest.approx(value, abs=within, rel=0)


def value(result: Mapping[str, Any], metric: str, label: str | None = None, **where: Any) -> Any:
    """The value of the one row that fits."""
    wanted = {"metric": metric, "label": label, "output": "value", "slice": None, **where}
    rows = [one for one in result["metrics"] if wanted.items() <= one.items()]
    assert len(rows) == 1, rows
    return rows[0]["value"]


def said(result: dict[str, Any]) -> str:
    """All but what may differ between two runs."""
    return json.dumps({name: part for name, part in result.items() if name != "run"})


# ---- every metric, in every form of file


CASES = [
    *((name, False, seed) for seed, name in enumerate([*COMPLETE, *PARTIAL])),
    *((name, True, seed) for seed, name in enumerate(PARTIAL, start=20)),
]


@pytest.mark.parametrize(("form", "partial", "seed"), CASES)
def test_every_metric_from_every_form(
    evaluate: Evaluate, tmp_path: Path, form: str, partial: bool, seed: int
) -> None:
    # Scores of one digit tie often; those of 17 show whether a reader keeps the last bit.
    samples = random_samples(seed, partial=partial, digits=(1, 2, None)[seed % 3], count=40)
    labels = truth.labels_of(samples) if partial else LABELS
    calls = every_call([THRESHOLDS[seed % 3]])
    data = {**COMPLETE, **PARTIAL}[form](tmp_path, samples, labels)
    result = evaluate(data, metrics(calls), slices=["metadata.place"])
    assert_same(found_rows(result), expected_rows(samples, labels, calls))
    for place in ("north", "south", "east")[: seed % 4]:
        some = [one for one in samples if one.place == place]
        found = found_rows(result, part=f"metadata.place={place}")
        assert_same(found, expected_rows(some, labels, calls))
    assert result["data"] == {"samples": 40, "labels": len(labels)}


@pytest.mark.parametrize("partial", [False, True])
def test_every_form_says_the_same(evaluate: Evaluate, tmp_path: Path, partial: bool) -> None:
    samples = random_samples(31, partial=partial, digits=None)
    names = [*PARTIAL] if partial else [*COMPLETE, *PARTIAL]
    found = set()
    for at, name in enumerate(names):
        folder = tmp_path / str(at)
        folder.mkdir()
        data = {**COMPLETE, **PARTIAL}[name](folder, samples, LABELS)
        paths = {
            side: _inside(at, data[side])
            for side in ("ground_truth", "predictions", "samples")
            if side in data
        }
        result = evaluate({"classes": LABELS, **paths}, metrics(every_call([0.3])))
        # Lines of a label each do not name a sample that lists none: another warning.
        found.add(said({**result, "warnings": []}))
    assert len(found) == 1


def _inside(folder: int, paths: Any) -> Any:
    if isinstance(paths, dict):
        return {model: f"{folder}/{path}" for model, path in paths.items()}
    return f"{folder}/{paths}"


@pytest.mark.parametrize("form", ["pairs csv.gz", "objects jsonl", "pairs json with truth"])
def test_the_order_of_rows_says_nothing(evaluate: Evaluate, tmp_path: Path, form: str) -> None:
    samples = random_samples(32, partial=True)
    config = {"slices": ["metadata.place"], "interval": {"resamples": 5}}
    found = set()
    for order in (samples, sorted(samples), samples[::-1]):
        data = {**PARTIAL[form](tmp_path, order, LABELS), "classes": LABELS}
        found.add(said(evaluate(data, metrics(every_call([0.2])), **config)))
    assert len(found) == 1


def test_the_order_of_long_rows_says_nothing(evaluate: Evaluate, tmp_path: Path) -> None:
    # No two scores of a sample are equal: which one is listed first says nothing either.
    samples = random_samples(33, partial=True, digits=None)
    rows = [(one.id, label, repr(score)) for one in samples for label, score in one.listed]
    found = set()
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(rows)).tolist()
        header = ("sample_id", "prediction", "score")
        forms.store(tmp_path / "long.csv", forms.table([header, *(rows[at] for at in order)]))
        data = {"ground_truth": "truth.csv", "predictions": "long.csv", "classes": LABELS}
        forms.truth_csv(tmp_path / "truth.csv", samples[seed:] + samples[:seed])
        wanted = [*TOP[:5], *decided([0.1]), *RANKING, *CURVES]
        found.add(said(evaluate(data, metrics(wanted))))
    assert len(found) == 1


# ---- straight from scikit-learn


@pytest.mark.parametrize("seed", range(3))
def test_values_that_scikit_learn_has_ready(evaluate: Evaluate, tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = list("abcd")
    share = rng.dirichlet(np.full(4, 0.8), 150)
    true = [labels[at] for at in (share + rng.normal(0, 0.3, share.shape)).argmax(axis=1)]
    top = [labels[at] for at in share.argmax(axis=1)]
    samples = [
        Sample(f"{at:03}", label, tuple(zip(labels, row.tolist(), strict=True)))
        for at, (label, row) in enumerate(zip(true, share, strict=True))
    ]
    wanted = [{"top_k_accuracy": {"k": 2}}, "mean_roc_auc", "average_precision", "log_loss"]
    wanted += ["brier_score", "accuracy", "balanced_accuracy", "cohen_kappa", "matthews_corrcoef"]
    wanted += [{name: {"average": "weighted"}} for name in ("precision", "recall", "f1")]
    result = evaluate(forms.wide_csv(tmp_path, samples, labels), wanted)
    one_hot = np.array([[label == name for name in labels] for label in true])
    precision, recall, f1, _ = sklearn.precision_recall_fscore_support(
        true, top, average="weighted"
    )
    expected = {
        "accuracy": sklearn.accuracy_score(true, top),
        "balanced_accuracy": sklearn.balanced_accuracy_score(true, top),
        "cohen_kappa": sklearn.cohen_kappa_score(true, top),
        "matthews_corrcoef": sklearn.matthews_corrcoef(true, top),
        "top_k_accuracy": sklearn.top_k_accuracy_score(true, share, k=2, labels=labels),
        "mean_roc_auc": sklearn.roc_auc_score(true, share, multi_class="ovr", labels=labels),
        "average_precision": sklearn.average_precision_score(one_hot, share, average="macro"),
        "log_loss": sklearn.log_loss(true, share, labels=labels),
        "brier_score": sklearn.brier_score_loss(true, share, labels=labels, scale_by_half=False),
        "precision": precision,
        "recall": recall,
        "f1": f1,
    }
    assert {name: value(result, name) for name in expected} == near(expected)


def test_the_default_parameters(evaluate: Evaluate, tmp_path: Path) -> None:
    samples = random_samples(41, digits=None)
    data = forms.wide_csv(tmp_path, samples, LABELS)
    steps = [round(x / 100, 2) for x in range(5, 100, 5)]
    decided_by = {"score_threshold": 0.0, "hardmax": True}
    averaged = {**decided_by, "average": "macro"}
    calls: list[Call] = [
        ("counts", decided_by),
        ("recall", averaged),
        ("precision", {**averaged, "zero_division": 0.0}),
        ("f1", {**averaged, "zero_division": 0.0}),
        ("top_k_accuracy", {"k": 5, "ties": "first_listed"}),
        ("confusion_matrix", {**decided_by, "max_examples": 3}),
        ("pr_curve", {"score_thresholds": steps}),
        ("detailed_pr_curve", {"score_thresholds": steps, "max_examples": 1}),
        ("log_loss", {"normalize": False}),
        ("brier_score", {"normalize": False}),
        ("expected_calibration_error", {"bins": 15, "normalize": False}),
    ]
    result = evaluate(data, [name for name, _ in calls])
    assert_same(found_rows(result), expected_rows(samples, LABELS, calls))


@pytest.mark.parametrize("partial", [False, True])
def test_roc_curves_are_scikit_learns(evaluate: Evaluate, tmp_path: Path, partial: bool) -> None:
    samples = random_samples(42, partial=partial, digits=2, count=80)
    result = evaluate(forms.objects_jsonl(tmp_path, samples, LABELS), ["roc_auc"])
    curves = {one["label"]: one["points"] for one in result["curves"]}
    # Nobody is an f, and nothing scores e.
    assert list(curves) == list("abcde")
    for label, points in curves.items():
        rates = sklearn.roc_curve(
            [one.truth == label for one in samples],
            [one.score(label) for one in samples],
            drop_intermediate=False,
        )
        assert points["score"][0] is None
        assert points["score"][1:] == near(rates[2][1:].tolist())
        assert points["false_positive_rate"] == near(rates[0].tolist())
        assert points["true_positive_rate"] == near(rates[1].tolist())
        area = value(result, "roc_auc", label)
        assert sklearn.auc(rates[0], rates[1]) == near(area)


def test_what_ranking_cannot_say_is_null_with_a_reason(evaluate: Evaluate, tmp_path: Path) -> None:
    # a ties throughout, b has no score, c has no ground truth.
    samples = [
        Sample("1", "a", (("a", 0.5), ("b", 0.0), ("c", 0.5))),
        Sample("2", "b", (("a", 0.5), ("b", 0.0), ("c", 0.1))),
        Sample("3", "b", (("a", 0.5), ("b", 0.0), ("c", 0.2))),
    ]
    wanted = ["roc_auc", "mean_roc_auc", "average_precision"]
    result = evaluate(forms.wide_csv(tmp_path, samples, list("abc")), wanted)
    rows = {
        (one["metric"], one["label"]): (one["value"], one["undefined"]) for one in result["metrics"]
    }
    assert rows == {
        ("roc_auc", "a"): (0.5, None),
        ("roc_auc", "b"): (0.5, None),
        ("roc_auc", "c"): (None, "no ground truth"),
        ("mean_roc_auc", None): (0.5, None),
        ("average_precision", "a"): (1 / 3, None),
        ("average_precision", "b"): (2 / 3, None),
        ("average_precision", "c"): (None, "no ground truth"),
        ("average_precision", None): (0.5, None),
    }
    single = evaluate(forms.wide_csv(tmp_path, samples[1:], list("abc")), wanted)
    reasons = {
        one["label"]: one["undefined"] for one in single["metrics"] if one["metric"] == "roc_auc"
    }
    assert reasons == {
        "a": "no ground truth",
        "b": "every sample has this label",
        "c": "no ground truth",
    }
    mean = [one for one in single["metrics"] if one["metric"] == "mean_roc_auc"]
    assert [(one["value"], one["undefined"]) for one in mean] == [
        (None, "no label has an area under its curve")
    ]


# ---- probabilities


def test_confidences_on_the_edges_of_bins(evaluate: Evaluate, tmp_path: Path) -> None:
    # Four bins: (0, .25], (.25, .5], (.5, .75], (.75, 1]. 0.25 is in the first, 0.5 in the second,
    # 0.75 in the third, 1 in the last; so is nothing at all, which is wrong, in the first.
    samples = [
        Sample("1", "a", (("a", 0.25), ("b", 0.25), ("c", 0.25), ("d", 0.25))),
        Sample("2", "a", (("a", 0.5), ("b", 0.25), ("c", 0.25), ("d", 0.0))),
        Sample("3", "b", (("a", 0.75), ("b", 0.25), ("c", 0.0), ("d", 0.0))),
        Sample("4", "c", (("a", 0.0), ("b", 0.0), ("c", 1.0), ("d", 0.0))),
        Sample("5", "d", (("a", 0.0), ("b", 0.0), ("c", 0.0), ("d", 0.0))),
    ]
    data = forms.wide_csv(tmp_path, samples, list("abcd"))
    result = evaluate(data, [{"expected_calibration_error": {"bins": 4}}])
    (curve,) = result["curves"]
    assert curve["points"] == {
        "confidence_low": [0.0, 0.25, 0.5, 0.75],
        "confidence_high": [0.25, 0.5, 0.75, 1.0],
        "n": [2, 1, 1, 1],
        "confidence": [0.125, 0.5, 0.75, 1.0],
        "accuracy": [0.5, 1.0, 0.0, 1.0],
    }
    # (2 * .375 + .5 + .75 + 0) / 5
    assert value(result, "expected_calibration_error") == near(0.4)
    assert value(result, "expected_calibration_error", output="maximum") == near(0.75)


@pytest.mark.parametrize(
    "bins",
    [
        5,
        10,
        20,
        35,
    ],
)
def test_a_fifth_is_the_upper_end_of_its_bin(evaluate: Evaluate, tmp_path: Path, bins: int) -> None:
    samples = [Sample("1", "a", (("a", 0.2), ("b", 0.1)))]
    data = forms.objects_jsonl(tmp_path, samples, list("ab"))
    result = evaluate(data, [{"expected_calibration_error": {"bins": bins}}])
    counts = result["curves"][0]["points"]["n"]
    assert counts.index(1) == bins // 5 - 1


@pytest.mark.parametrize("normalize", [False, True])
def test_rows_that_do_not_sum_to_one(evaluate: Evaluate, tmp_path: Path, normalize: bool) -> None:
    # 0.999 and 1.001 are rounding and divided away; 0.8 and 1.2 are not, unless asked for.
    samples = [
        Sample("1", "a", (("a", 0.599), ("b", 0.4))),
        Sample("2", "b", (("a", 0.5), ("b", 0.501))),
        Sample("3", "a", (("a", 0.6), ("b", 0.2))),
        Sample("4", "b", (("a", 0.8), ("b", 0.4))),
        Sample("5", "b", (("a", 0.0), ("b", 0.0))),
    ]
    calls: list[Call] = [
        ("log_loss", {"normalize": normalize}),
        ("brier_score", {"normalize": normalize}),
        ("expected_calibration_error", {"bins": 10, "normalize": normalize}),
    ]
    result = evaluate(forms.wide_csv(tmp_path, samples, list("ab")), metrics(calls))
    assert_same(found_rows(result), expected_rows(samples, list("ab"), calls))
    # Worked by hand, without the oracle.
    divisors = (0.999, 1.001, 0.8, 1.2) if normalize else (0.999, 1.001, 1, 1)
    true = [score / by for score, by in zip((0.599, 0.501, 0.6, 0.4), divisors, strict=True)]
    other = [score / by for score, by in zip((0.4, 0.5, 0.2, 0.8), divisors, strict=True)]
    squares = [(1 - p) ** 2 + q**2 for p, q in zip(true, other, strict=True)]
    losses = [-np.log(p) for p in true] + [-np.log(2.0**-52)]
    assert value(result, "brier_score") == near((sum(squares) + 1) / 5)
    assert value(result, "log_loss") == near(sum(losses) / 5)
    warned = [one for one in result["warnings"] if "do not sum to 1" in one]
    assert len(warned) == 1
    assert "sum to 1 as probabilities do: 2 (the first: '3', which sums to 0.8)" in warned[0]


# ---- decisions


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("hardmax", [True, False])
def test_invariants_of_counts(
    evaluate: Evaluate, tmp_path: Path, partial: bool, hardmax: bool
) -> None:
    samples = random_samples(51, partial=partial, digits=2)
    threshold = {"a": 0.5, "b": 0.2}
    at = {"score_threshold": threshold, "hardmax": hardmax}
    wanted = [{"counts": at}, {"confusion_matrix": at}, {"pr_curve": {}}]
    result = evaluate(forms.pairs_csv(tmp_path, samples, LABELS), wanted)
    (table,) = result["tables"]
    matrix = np.array(table["matrix"])
    unmatched = np.array(table["unmatched_ground_truths"])
    counts = {
        name: np.array([value(result, "counts", label, output=name) for label in table["labels"]])
        for name in ("tp", "fp", "fn", "tn")
    }
    truths = np.array([truth.truths(samples).count(label) for label in table["labels"]])
    assert (counts["tp"] + counts["fn"] == truths).all()
    assert (matrix.diagonal() == counts["tp"]).all()
    assert (matrix.sum(axis=0) == counts["tp"] + counts["fp"]).all()
    assert (sum(counts.values()) == len(samples)).all()
    assert unmatched.any()
    if hardmax:
        assert (matrix.sum(axis=1) + unmatched == truths).all()
    for curve in result["curves"]:
        points = curve["points"]
        of_label = truths[table["labels"].index(curve["label"])]
        assert {tp + fn for tp, fn in zip(points["tp"], points["fn"], strict=True)} == {of_label}
        # A higher threshold lets through no more.
        assert points["tp"] == sorted(points["tp"], reverse=True)
        assert points["fp"] == sorted(points["fp"], reverse=True)
    for kind in ("examples", "warnings"):
        assert result[kind]


def test_no_examples_where_none_are_wanted(evaluate: Evaluate, tmp_path: Path) -> None:
    data = forms.wide_csv(tmp_path, random_samples(52), LABELS)
    wanted = [{name: {"max_examples": 0}} for name in ("confusion_matrix", "detailed_pr_curve")]
    result = evaluate(data, wanted)
    assert result["examples"] == []
    assert len(result["tables"]) == 1
    assert len(result["curves"]) == 6


def test_labels_of_one_side_only_enter_the_averages(evaluate: Evaluate, tmp_path: Path) -> None:
    # b is never predicted, c is never true; d is listed and never positive: no average sees it.
    samples = [
        Sample("1", "a", (("a", 1.0), ("d", 0.0))),
        Sample("2", "a", (("c", 1.0),)),
        Sample("3", "b", (("a", 1.0),)),
    ]
    wanted = [
        {name: {"average": average}}
        for name in ("precision", "recall", "f1")
        for average in ("macro", "weighted", "micro")
    ]
    result = evaluate(forms.objects_jsonl(tmp_path, samples, []), wanted)
    found = {
        (one["metric"], one["parameters"]["average"]): one["value"]
        for one in result["metrics"]
        if one["label"] is None
    }
    # Of a: precision 1/2, recall 1/2, F1 1/2. Of b and c: 0. Of a, b and c: 2, 1 and 0 samples.
    macro, weighted, micro = 0.5 / 3, 1 / 3, 1 / 3
    assert found == near(
        {
            (name, average): expected
            for name in ("precision", "recall", "f1")
            for average, expected in (("macro", macro), ("weighted", weighted), ("micro", micro))
        }
    )
    assert result["missing_prediction_labels"] == {"model": ["b"]}
    assert result["ignored_prediction_labels"] == {"model": ["c"]}
    nulls = {
        (one["metric"], one["label"]): one["undefined"]
        for one in result["metrics"]
        if one["value"] is None
    }
    pairs = [(name, label) for name in ("recall", "f1") for label in "cd"]
    assert nulls == dict.fromkeys(pairs, "no ground truth")


def test_what_stands_in_for_nothing_over_nothing(evaluate: Evaluate, tmp_path: Path) -> None:
    # Nothing reaches the threshold: precision and F1 are 0/0 and follow zero_division, recall is 0.
    # All top labels are a: nothing to correlate with, and no agreement beyond chance.
    samples = [Sample("1", "a", (("a", 0.5),)), Sample("2", "b", (("a", 0.5),))]
    at = {"score_threshold": 0.75}
    wanted: list[Any] = [{name: {**at, "zero_division": 0.5}} for name in ("precision", "f1")]
    wanted += [{"recall": at}, "matthews_corrcoef", "cohen_kappa"]
    result = evaluate(forms.objects_jsonl(tmp_path, samples, []), wanted)
    rows = {
        (one["metric"], one["label"]): (one["value"], bool(one["undefined"]))
        for one in result["metrics"]
    }
    assert rows == {
        **{
            (name, label): (0.5, True) for name in ("precision", "f1") for label in ("a", "b", None)
        },
        **{("recall", label): (0.0, False) for label in ("a", "b", None)},
        ("matthews_corrcoef", None): (None, True),
        ("cohen_kappa", None): (0.0, False),
    }
    alike = evaluate(forms.objects_jsonl(tmp_path, samples[:1], []), wanted)
    for name in ("matthews_corrcoef", "cohen_kappa"):
        assert value(alike, name) is None


def test_another_label_passes_a_negative_threshold(evaluate: Evaluate, tmp_path: Path) -> None:
    # At -1 b's score passes, a's 0 never does: a is missed for b, which has a false positive.
    samples = [Sample("1", "a", (("a", 0.0), ("b", -0.5)))]
    wanted = [{"detailed_pr_curve": {"score_thresholds": [-1]}}]
    result = evaluate(forms.wide_csv(tmp_path, samples, list("ab")), wanted)
    points = {one["label"]: one["points"] for one in result["curves"]}
    assert points["b"]["fp"] == [1]
    assert points["a"]["fn_misclassifications"] == [1]
    assert points["a"]["fn_no_predictions"] == [0]


@pytest.mark.parametrize("partial", [False, True])
def test_scores_below_zero(evaluate: Evaluate, tmp_path: Path, partial: bool) -> None:
    # Scores as a network gives them before the softmax. Some row has a score above 0, or none has.
    rng = np.random.default_rng(61)
    samples = []
    for at in range(50):
        score = rng.normal(-1 if at % 2 else 0, 1.5, 5).round(1)
        if (score == score.max()).sum() and score.max() == 0:
            score += 0.5
        kept = rng.permutation(5)[: rng.integers(1, 6)] if partial else range(5)
        listed = tuple((LABELS[label], float(score[label])) for label in kept)
        samples.append(Sample(f"{at}", LABELS[int(rng.integers(0, 4))], listed))
    samples = [one for one in samples if max(score for _, score in one.listed) != 0]
    labels = truth.labels_of(samples)
    calls = [*TOP, *decided([0.0, -1.5, {"b": -2.0}]), *RANKING, *CURVES]
    result = evaluate(forms.pairs_csv(tmp_path, samples, labels), metrics(calls))
    full = [written_out(one, labels) for one in samples]
    assert_same(found_rows(result), expected_rows(full, labels, calls))


def written_out(one: Sample, labels: Sequence[str]) -> Sample:
    """With the 0 of labels that are not listed; not of the true one, which is then never found."""
    others = [name for name in labels if name not in {*dict(one.listed), one.truth}]
    return one._replace(listed=(*one.listed, *((name, 0.0) for name in others)))


def test_a_row_below_zero_is_the_same_partial_or_written_out(
    evaluate: Evaluate, tmp_path: Path
) -> None:
    # Of the second only a is listed, with less than the 0 of b and c: no prediction.
    partial = [Sample("1", "b", (("b", 0.5), ("c", -1.0))), Sample("2", "a", (("a", -0.5),))]
    wide = [
        Sample("1", "b", (("a", 0.0), ("b", 0.5), ("c", -1.0))),
        Sample("2", "a", (("a", -0.5), ("b", 0.0), ("c", 0.0))),
    ]
    wanted = ["accuracy", {"top_k_accuracy": {"k": 2}}, "counts"]
    data = forms.long_csv(tmp_path, partial, list("abc"))
    found = [found_rows(evaluate(data, wanted))]
    data = forms.wide_csv(tmp_path, wide, list("abc"))
    found.append(found_rows(evaluate(data, wanted)))
    assert_same(found[0], found[1])
    result = evaluate(data, wanted)
    assert value(result, "accuracy") == 0.5


# ---- labels without scores, and samples without a prediction


def test_labels_without_scores(evaluate: Evaluate, tmp_path: Path) -> None:
    rng = np.random.default_rng(71)
    true = [LABELS[at] for at in rng.integers(0, 5, 90)]
    answered = [LABELS[at] if at < 6 else "" for at in rng.integers(0, 7, 90)]
    rows = [(f"s{at}", *pair) for at, pair in enumerate(zip(true, answered, strict=True))]
    forms.store(tmp_path / "both.csv", forms.table([("id", "actual", "predicted"), *rows]))
    samples = [
        Sample(name, label, ((answer, 1.0),) if answer else ()) for name, label, answer in rows
    ]
    labels = truth.labels_of(samples)
    calls = every_call([0.0, 1.0])
    both = evaluate({"samples": {"model": "both.csv"}}, metrics(calls))
    assert_same(found_rows(both), expected_rows(samples, labels, calls))
    silent = answered.count("")
    assert [one for one in both["warnings"] if one.endswith(f"counted as wrong: {silent}")]
    # The same as JSONL in two files, of which one says null or nothing at all of the silent ones.
    forms.truth_csv(tmp_path / "truth.csv", samples)
    text = forms.lines({"id": name, "pred": answer or None} for name, _, answer in rows)
    forms.store(tmp_path / "null.jsonl", text)
    text = forms.lines({"id": name, "pred": answer} for name, _, answer in rows if answer)
    forms.store(tmp_path / "absent.jsonl", text)
    for name in ("null.jsonl", "absent.jsonl"):
        data = {"ground_truth": "truth.csv", "predictions": {"model": name}}
        apart = evaluate(data, metrics(calls))
        assert found_rows(apart) == found_rows(both)
    assert f"counted as wrong: {silent}" in apart["warnings"][0]


# ---- parts of the data


def test_a_slice_is_its_samples_alone(evaluate: Evaluate, tmp_path: Path) -> None:
    samples = random_samples(81, count=90, digits=2)
    calls = every_call([0.3])
    data = forms.wide_csv(tmp_path, samples, LABELS)
    whole = evaluate(data, metrics(calls), slices=["metadata.place"])
    for place in ("north", "south", "east"):
        kept = evaluate(data, metrics(calls), filter={"metadata.place": place})
        some = [one for one in samples if one.place == place]
        alone = evaluate(forms.wide_csv(tmp_path, some, LABELS), metrics(calls))
        assert said(kept) == said(alone)
        assert found_rows(whole, part=f"metadata.place={place}") == found_rows(alone)
        data = forms.wide_csv(tmp_path, samples, LABELS)


def test_a_limit_keeps_the_first_samples_of_the_file(evaluate: Evaluate, tmp_path: Path) -> None:
    samples = random_samples(82)
    data = forms.wide_csv(tmp_path, samples, LABELS)
    calls = every_call([0.3])
    few = evaluate(data, metrics(calls), "--limit", 7)
    assert [one.id for one in samples[:7]] != sorted(one.id for one in samples)[:7]
    assert_same(found_rows(few), expected_rows(samples[:7], LABELS, calls))


def test_a_filter_by_label_keeps_predictions(evaluate: Evaluate, tmp_path: Path) -> None:
    samples = random_samples(83, partial=True)
    data = {**forms.pairs_csv(tmp_path, samples, LABELS), "classes": LABELS}
    calls = every_call([0.3])
    kept = evaluate(data, metrics(calls), filter={"label": ["b", "d"]})
    some = [one for one in samples if one.truth in "bd"]
    assert_same(found_rows(kept), expected_rows(some, truth.labels_of(some), calls))


@pytest.mark.parametrize("partial", [False, True])
def test_merged_labels_add_their_scores(evaluate: Evaluate, tmp_path: Path, partial: bool) -> None:
    samples = random_samples(84, partial=partial, digits=2)
    names = {"b": "x", "e": "x", "a": "d"}
    merged = []
    for one in samples:
        scores: dict[str, float] = {}
        for label, score in one.listed:
            name = names.get(label, label)
            scores[name] = scores.get(name, 0.0) + score
        new = names.get(one.truth, one.truth)
        merged.append(one._replace(truth=new, listed=tuple(scores.items())))
    labels = ["d", "x", "c", "f"]
    calls = every_call([0.3, {"x": 0.6}])
    form = forms.objects_jsonl if partial else forms.wide_csv
    data = {**form(tmp_path, samples, LABELS), "classes": LABELS}
    result = evaluate(data, metrics(calls), label_map=names)
    assert_same(found_rows(result), expected_rows(merged, labels, calls))


def test_each_model_is_evaluated_alone(evaluate: Evaluate, tmp_path: Path) -> None:
    calls = every_call([0.3])
    models = {
        f"m{seed}": random_samples(seed, partial=seed % 2 == 1, digits=2) for seed in (85, 86, 87)
    }
    true = {one.id: one for one in models["m85"]}
    files = {}
    for name, samples in models.items():
        text = forms.lines({"id": one.id, "probs": dict(one.listed)} for one in samples)
        files[name] = forms.store(tmp_path / f"{name}.jsonl", text)
    data = {"ground_truth": forms.truth_csv(tmp_path / "truth.csv", list(true.values()))}
    config = {"slices": ["metadata.place"], "interval": {"resamples": 4}}
    together = evaluate({**data, "predictions": files}, metrics(calls), **config)
    assert together["models"] == list(models)
    for name, path in files.items():
        alone = evaluate({**data, "predictions": {name: path}}, metrics(calls), **config)
        for part in (None, "metadata.place=north"):
            found = found_rows(together, model=name, part=part)
            assert found == found_rows(alone, model=name, part=part)
        rows = [one for one in together["metrics"] if one["model"] == name]
        assert rows == alone["metrics"]
        samples = [
            one._replace(truth=true[one.id].truth, place=true[one.id].place) for one in models[name]
        ]
        assert_same(found_rows(together, model=name), expected_rows(samples, LABELS, calls))


# ---- several labels of a sample


KEYS = {"animal": "abc", "colour": "bcd", "size": "xy"}


def keyed_samples() -> dict[str, list[Sample]]:
    """Of each key the samples that have it; keys share some labels, size is not known of all."""
    found = {}
    for at, (key, labels) in enumerate(KEYS.items()):
        rng = np.random.default_rng(90 + at)
        rows = []
        for number in range(40):
            share = rng.dirichlet(np.ones(len(labels))).round(1)
            order = rng.permutation(len(labels))[: rng.integers(0, len(labels) + 1)]
            listed = tuple((labels[label], float(share[label])) for label in order)
            rows.append(Sample(f"s{number}", labels[int(rng.integers(0, len(labels)))], listed))
        found[key] = rows[:25] if key == "size" else rows
    return found


def keys_as_column(folder: Path, keyed: Mapping[str, Sequence[Sample]]) -> dict[str, Any]:
    rows = [
        (key, one.id, one.truth, label, "" if score is None else repr(score))
        for key, samples in keyed.items()
        for one in samples
        for label, score in (one.listed or [("", None)])
    ]
    header = ("label_key", "sample_id", "label", "prediction", "score")
    return {"samples": {"model": forms.store(folder / "k.csv", forms.table([header, *rows]))}}


def keys_nested(folder: Path, keyed: Mapping[str, Sequence[Sample]]) -> dict[str, Any]:
    by_id: dict[str, dict[str, Sample]] = {}
    for key, samples in keyed.items():
        for one in samples:
            by_id.setdefault(one.id, {})[key] = one
    text = forms.lines(
        {
            "sample_id": name,
            "label": {key: one.truth for key, one in rows.items()},
            "predictions": {key: dict(one.listed) for key, one in rows.items()},
        }
        for name, rows in by_id.items()
    )
    return {"samples": {"model": forms.store(folder / "k.jsonl", text)}}


def keys_apart(folder: Path, keyed: Mapping[str, Sequence[Sample]]) -> dict[str, Any]:
    rows = [(one.id, key, one.truth) for key, samples in keyed.items() for one in samples]
    truths = forms.table([("image_id", "attribute", "label"), *rows[::-1]])
    text = forms.lines(
        {"image_id": one.id, "key": key, "scores": [list(pair) for pair in one.listed]}
        for key, samples in keyed.items()
        for one in samples
    )
    return {
        "ground_truth": forms.store(folder / "truth.csv", truths),
        "predictions": {"model": forms.store(folder / "k.jsonl.gz", text)},
    }


@pytest.mark.parametrize("write", [keys_as_column, keys_nested, keys_apart])
def test_label_keys_are_evaluated_one_by_one(
    evaluate: Evaluate, tmp_path: Path, write: Callable[..., dict[str, Any]]
) -> None:
    keyed = keyed_samples()
    calls = every_call([0.3, {"b": 0.6}])
    result = evaluate(write(tmp_path, keyed), metrics(calls))
    assert result["data"] == {"samples": 40, "labels": 6, "label keys": 3}
    for key, samples in keyed.items():
        expected = expected_rows(samples, truth.labels_of(samples), calls, key)
        assert_same(found_rows(result, key=key), expected)
    assert not any(found_rows(result))


def wide_keys(
    folder: Path, keyed: Mapping[str, Sequence[Sample]]
) -> tuple[dict[str, Any], dict[str, list[Sample]]]:
    """A column for each class of any key, and what the samples then list of their own key's."""
    columns = sorted({label for labels in KEYS.values() for label in labels})
    rows = [
        (one.id, key, *(repr(one.score(label)) for label in columns))
        for key, samples in keyed.items()
        for one in samples
    ]
    text = forms.table([("sample_id", "label_key", *columns), *rows])
    truths = [(one.id, key, one.truth) for key, samples in keyed.items() for one in samples]
    forms.store(folder / "truth.csv", forms.table([("sample_id", "label_key", "label"), *truths]))
    listed = {
        key: [
            one._replace(listed=tuple((label, one.score(label)) for label in KEYS[key]))
            for one in samples
        ]
        for key, samples in keyed.items()
    }
    predictions = {"model": forms.store(folder / "wide.csv", text)}
    return {"ground_truth": "truth.csv", "predictions": predictions}, listed


def test_label_keys_that_share_the_columns_of_classes(evaluate: Evaluate, tmp_path: Path) -> None:
    data, keyed = wide_keys(tmp_path, keyed_samples())
    calls = every_call([0.3])
    result = evaluate(data, metrics(calls))
    for key, samples in keyed.items():
        expected = expected_rows(samples, list(KEYS[key]), calls, key)
        assert_same(found_rows(result, key=key), expected)


def test_top_k_of_label_keys_that_share_the_columns_of_classes(
    evaluate: Evaluate, tmp_path: Path
) -> None:
    # k2's labels are b and c. Column a is k1's, and does not stand before b though it is as good.
    forms.store(tmp_path / "t.csv", "sample_id,label_key,label\n1,k1,a\n1,k2,b\n")
    forms.store(tmp_path / "p.csv", "sample_id,label_key,a,b,c\n1,k1,1,0,0\n1,k2,0,0,1\n")
    data = {"ground_truth": "t.csv", "predictions": "p.csv"}
    result = evaluate(data, [{"top_k_accuracy": {"k": 2}}, "roc_auc"])
    labels = [
        one["label"]
        for one in result["metrics"]
        if one["metric"] == "roc_auc" and one["parameters"]["label_key"] == "k2"
    ]
    assert labels == ["b", "c"]
    found = {
        one["parameters"]["label_key"]: one["value"]
        for one in result["metrics"]
        if one["metric"] == "top_k_accuracy"
    }
    assert found == {"k1": 1.0, "k2": 1.0}


def test_gates_on_rows_of_a_label_and_of_a_label_key(evaluate: Evaluate, tmp_path: Path) -> None:
    keyed = keyed_samples()
    data = keys_as_column(tmp_path, keyed)
    at = {"score_threshold": 0.3, "hardmax": False}
    right = {
        key: truth.accuracy(samples, [])["value", None] or 0.0 for key, samples in keyed.items()
    }
    recall = truth.ratio("recall", keyed["colour"], list("bcd"), **at)["value", "c"] or 0.0
    own = {"metric": "accuracy", "parameters": {"label_key": "size"}}
    of_c = {"metric": "recall", "label": "c", "parameters": {"label_key": "colour"}}

    def judged(*gates: dict[str, Any], code: int) -> list[tuple[float, str]]:
        result = evaluate(data, ["accuracy", {"recall": at}], gates=list(gates), code=code)
        return [(one["value"], one["status"]) for one in result["gates"]]

    assert judged({**own, "min": right["size"]}, {**of_c, "max": recall}, code=0) == [
        (near(right["size"]), "passed"),
        (near(recall), "passed"),
    ]
    assert judged({**own, "min": right["size"] + 1e-9}, {**of_c, "max": recall - 1e-9}, code=1) == [
        (near(right["size"]), "failed"),
        (near(recall), "failed"),
    ]
    # Without a key a gate holds for every key.
    every = judged({"metric": "accuracy", "min": max(right.values())}, code=1)
    assert sorted(status for _, status in every) == ["failed", "failed", "passed"]
    assert sorted(number for number, _ in every) == near(sorted(right.values()))


# ---- intervals


def wilson(value: float, n: int, level: float) -> list[float]:
    """The interval of so many samples of n, as scipy has it."""
    found = stats.binomtest(round(value * n), n).proportion_ci(level, method="wilson")
    return [float(found.low), float(found.high)]


def test_intervals_are_wilson_s_of_rates_and_else_quantiles_of_resampled_values(
    evaluate: Evaluate, tmp_path: Path
) -> None:
    samples = sorted(random_samples(91, count=50, partial=True, digits=1))
    samples.sort(key=lambda one: one.id)
    labels = truth.labels_of(samples)
    calls: list[Call] = [
        *TOP[:5],
        *RANKING,
        *(("counts", {"score_threshold": 0.3, "hardmax": hardmax}) for hardmax in (True, False)),
        ("f1", {"score_threshold": 0.0, "hardmax": True, "average": "weighted"}),
        ("log_loss", {"normalize": True}),
        ("brier_score", {"normalize": False}),
        ("expected_calibration_error", {"bins": 5, "normalize": False}),
    ]
    interval = {"method": "bootstrap", "resamples": 40, "level": 0.9, "seed": 3}
    data = forms.long_csv(tmp_path, samples, labels)
    data["ground_truth"] = forms.truth_csv(tmp_path / "truth.csv", samples)
    result = evaluate(data, metrics(calls), interval=interval)
    drawn: dict[tuple[int, str, str | None], list[float | None]] = {}
    for replica in range(40):
        chosen = np.random.default_rng([3, replica]).integers(0, 50, 50)
        again = [samples[at] for at in chosen.tolist()]
        for at, (name, parameters) in enumerate(calls):
            found = truth.METRICS[name](again, labels, **parameters)
            for (output, label), number in found.items():
                drawn.setdefault((at, output, label), []).append(number)
    compared = 0
    for at, (name, parameters) in enumerate(calls):
        for row in result["metrics"]:
            if row["metric"] != name or not parameters.items() <= row["parameters"].items():
                continue
            if name in ("accuracy", "top_k_accuracy"):
                assert row["method"] == "wilson"
                assert row["interval"] == near(wilson(row["value"], row["n"], 0.9), 1e-9)
                continue
            known = [one for one in drawn[at, row["output"], row["label"]] if one is not None]
            if len(known) < 38:
                assert row["interval"] is None
            else:
                ends = np.quantile(known, [0.05, 0.95]).tolist()
                assert row["interval"] == near(ends, 1e-9), row
                compared += 1
    # Of 3 plain values that are no rates, 6 + 1 + 7 of ranking, 2 x 24 counts, 7 F1 and 4 of
    # probabilities some are undefined too often.
    assert compared > 60


def test_runs_differ_in_the_run_block_only(valor: Valor, tmp_path: Path) -> None:
    keyed = keyed_samples()
    data = keys_as_column(tmp_path, keyed)
    # More resamples than are drawn at once, so that two processes have work.
    config = {"interval": {"resamples": 60, "seed": 5}}
    calls = [*TOP[:4], *decided([0.2])[:2], *RANKING, *CURVES, *PROBABILITIES[::3]]
    write_config(tmp_path, data, metrics(calls), **config)
    arguments = ("evaluate", tmp_path / "run.yaml", "--out", "-")
    # A process in which sets have another order, among others.
    found = [
        said(json.loads(valor(*arguments, *more, **variables).stdout))
        for more, variables in (
            ((), {}),
            ((), {"PYTHONHASHSEED": "1"}),
            (("--jobs", 2), {}),
            (("--set", "interval.seed=6"), {}),
        )
    ]
    assert found[0] == found[1] == found[2]
    assert found[0] != found[3]


# ---- what other tools said of stored files


SETS = (
    "breastcancer-342-binary",
    "cifar10-10000",
    "digits-899-naivebayes-overconfident",
    "digits-899-randomforest",
)


def stored(name: str, file: str = "expected.json") -> Any:
    return json.loads((DATA / name / file).read_text())


@pytest.mark.parametrize("name", SETS)
def test_expected_numbers_of_real_data(evaluate: Evaluate, name: str) -> None:
    expected, folder = stored(name), DATA / name
    wanted: list[Any] = ["accuracy", "balanced_accuracy", "cohen_kappa", "matthews_corrcoef"]
    wanted += ["log_loss", "brier_score", "roc_auc", "mean_roc_auc", "average_precision"]
    wanted += [{"expected_calibration_error": {"bins": bins}} for bins in (10, 15)]
    wanted += [{"top_k_accuracy": {"k": k, "ties": "last_listed"}} for k in (3, 5)]
    wanted += [
        {kind: {"average": average}}
        for kind in ("precision", "recall", "f1")
        for average in ("macro", "micro", "weighted")
    ]
    data = {
        "ground_truth": str(folder / "groundtruth.csv"),
        "predictions": {"model": str(folder / "predictions.csv")},
    }
    result = evaluate(data, [*wanted, "confusion_matrix"])
    found = {
        "accuracy": value(result, "accuracy"),
        "balanced_accuracy": value(result, "balanced_accuracy"),
        "cohen_kappa": value(result, "cohen_kappa"),
        "mcc": value(result, "matthews_corrcoef"),
        "log_loss_row_normalised_probs": value(result, "log_loss"),
        "brier_multiclass_sum": value(result, "brier_score"),
        "confusion_matrix_rows_gt_cols_pred": result["tables"][0]["matrix"],
        "rows": result["data"]["samples"],
    }
    for row in result["metrics"]:
        metric, label, parameters = row["metric"], row["label"], row["parameters"]
        if metric == "expected_calibration_error":
            kind = {"value": "ece", "maximum": "mce"}[row["output"]]
            found[f"{kind}_top_label_{parameters['bins']}_equal_width_bins"] = row["value"]
        if metric == "top_k_accuracy" and f"top{parameters['k']}_accuracy" in expected:
            found[f"top{parameters['k']}_accuracy"] = row["value"]
        if metric in ("precision", "recall", "f1"):
            if label is None:
                found.setdefault(parameters["average"], {})[metric] = row["value"]
            else:
                own = found.setdefault("per_class", {}).setdefault(label, {})
                own[metric], own["support"] = row["value"], row["n"]
        if metric == "roc_auc" and "roc_auc_ovr_per_class" in expected:
            found.setdefault("roc_auc_ovr_per_class", {})[label] = row["value"]
        if label == "benign" and metric in ("roc_auc", "average_precision"):
            found[f"{metric}_positive_benign"] = row["value"]
    about = {"tool", "model", "prediction_rule", "note"}
    # That mean is of rows divided by their sums, which makes and breaks ties.
    assert expected.keys() - about - found.keys() <= {"roc_auc_ovr_macro"}
    for key, number in found.items():
        _assert_near(number, expected[key], key)


def _assert_near(found: Any, expected: Any, name: str) -> None:
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), name
        for key in expected:
            _assert_near(found[key], expected[key], f"{name}.{key}")
    elif isinstance(expected, list):
        assert found == expected, name
    else:
        # Calibration was stored with six digits of its maximum.
        within = 1e-6 if name.startswith("mce") else 1e-9
        assert found == near(expected, within), name


def test_expected_numbers_of_people(evaluate: Evaluate) -> None:
    name = "human-edge-16"
    expected = stored(name)
    data = {"samples": {"model": str(DATA / name / "labels.csv")}}
    wanted = ["accuracy", "cohen_kappa", "precision", "recall", "f1", "confusion_matrix"]
    result = evaluate(data, wanted, slices=["metadata.subject"])
    assert value(result, "accuracy") == near(expected["accuracy"], 1e-9)
    assert value(result, "cohen_kappa") == near(expected["cohen_kappa_labels_incl_na"], 1e-9)
    for person, right in expected["accuracy_by_subject"].items():
        found = value(result, "accuracy", slice=f"metadata.subject={person}")
        assert found == near(right, 1e-9)
    (table,) = (one for one in result["tables"] if one["slice"] is None)
    order = [table["labels"].index(label) for label in expected["labels"]]
    matrix = np.array(table["matrix"])[np.ix_(order, order)]
    assert matrix.tolist() == expected["confusion_matrix_rows_gt_cols_pred"]
    for label, row in expected["per_class"].items():
        for kind in ("precision", "recall", "f1"):
            assert value(result, kind, label) == near(row[kind], 1e-9)


def test_counts_that_valor_lite_has_too(evaluate: Evaluate) -> None:
    name = "valor-lite-60"
    golden = stored(name, "golden-valor-lite.json")
    levels = [0.1, 0.35, 0.6, 0.9]
    wanted: list[Any] = [
        {metric: {"score_threshold": level, "hardmax": hardmax}}
        for level in levels
        for hardmax in (True, False)
        for metric in ("counts", "confusion_matrix")
    ]
    wanted += [{"detailed_pr_curve": {"score_thresholds": levels}}, "roc_auc", "mean_roc_auc"]
    path = str(DATA / name / "samples.jsonl")
    result = evaluate({"samples": {"model": path}}, wanted)
    assert value(result, "mean_roc_auc") == near(golden["mean_roc_auc"])
    for label, area in golden["roc_auc"].items():
        assert value(result, "roc_auc", label) == near(area)
    curves = {
        one["label"]: one["points"]
        for one in result["curves"]
        if one["metric"] == "detailed_pr_curve"
    }
    for one in golden["counts"]:
        at = {"score_threshold": one["score_threshold"], "hardmax": one["hardmax"]}
        counts = {
            row["output"]: row["value"]
            for row in result["metrics"]
            if row["metric"] == "counts"
            and row["label"] == one["label"]
            and row["parameters"] == at
        }
        # valor-lite counts a false negative once for each wrong label without hardmax.
        names = ("tp", "fp", "fn") if one["hardmax"] else ("tp", "fp")
        assert {kind: counts[kind] for kind in names} == {kind: one[kind] for kind in names}
    for one in golden["confusion"]:
        at = {"score_threshold": one["score_threshold"], "hardmax": one["hardmax"]}
        (table,) = (row for row in result["tables"] if at.items() <= row["parameters"].items())
        for row, label in enumerate(table["labels"]):
            mine = dict(zip(table["labels"], table["matrix"][row], strict=True))
            assert {name: count for name, count in mine.items() if count} == one["matrix"][label]
            unmatched = table["unmatched_ground_truths"][row]
            assert unmatched == one["unmatched"][label]
            if not one["hardmax"]:
                level = levels.index(one["score_threshold"])
                assert curves[label]["fn_no_predictions"][level] == unmatched
