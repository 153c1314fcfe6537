"""Numbers of classification from files to results.json, against scikit-learn and plain loops."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.conftest import ROOT, Evaluate, Run
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

sklearn = pytest.importorskip("sklearn.metrics")

TASK = "classification"
DATA = ROOT / "tests" / "real_data" / "classification"
LABELS = list("abcdef")
THRESHOLDS: list[truth.Threshold] = [0.0, 0.3, {"a": 0.5, "d": 0.2}]

near: Callable[..., Any] = partial(pytest.approx, abs=1e-9, rel=0)


def said(run: Run) -> str:
    """All but what may differ between two runs."""
    return json.dumps({**run.result, "run": None})


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
    samples = random_samples(seed, partial=partial, digits=(1, 2, None)[seed % 3], count=30)
    labels = truth.labels_of(samples) if partial else LABELS
    calls = every_call([THRESHOLDS[seed % 3]])
    data = {**COMPLETE, **PARTIAL}[form](tmp_path, samples, labels)
    result = evaluate(data, metrics(calls), slices=["metadata.place"]).result
    assert_same(found_rows(result), expected_rows(samples, labels, calls))
    for place in ("north", "south", "east")[: seed % 4]:
        some = [one for one in samples if one.place == place]
        found = found_rows(result, part=f"metadata.place={place}")
        assert_same(found, expected_rows(some, labels, calls))
    assert result["data"] == {"samples": 30, "labels": len(labels)}


@pytest.mark.parametrize("form", ["long csv", "pairs json with truth"])
def test_the_order_of_rows_says_nothing(evaluate: Evaluate, tmp_path: Path, form: str) -> None:
    samples = random_samples(32, partial=True, count=30, digits=None)
    config = {"slices": ["metadata.place"], "interval": {"resamples": 2}}
    found = set()
    for order in (samples, sorted(samples), samples[::-1]):
        data = {**PARTIAL[form](tmp_path, order, LABELS), "classes": LABELS}
        found.add(said(evaluate(data, metrics(every_call([0.2])), **config)))
    assert len(found) == 1


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
    result = evaluate(data, [name for name, _ in calls]).result
    assert_same(found_rows(result), expected_rows(samples, LABELS, calls))


@pytest.mark.parametrize("partial", [False, True])
def test_roc_curves_are_scikit_learns(evaluate: Evaluate, tmp_path: Path, partial: bool) -> None:
    samples = random_samples(42, partial=partial, digits=2, count=80)
    run = evaluate(forms.objects_jsonl(tmp_path, samples, LABELS), ["roc_auc"])
    curves = {one["label"]: one["points"] for one in run.result["curves"]}
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
        assert run.value("roc_auc", label=label) == near(sklearn.auc(rates[0], rates[1]))


# ---- samples that random ones are not


def some(*rows: tuple[str, Mapping[str, float]]) -> list[Sample]:
    """Samples of true labels and scores."""
    return [Sample(str(at), label, tuple(own.items())) for at, (label, own) in enumerate(rows)]


def below_zero(*, partial: bool) -> list[Sample]:
    """Scores as a network gives them before the softmax. Some row has one above 0, or none has."""
    rng = np.random.default_rng(61)
    samples = []
    for at in range(50):
        score = rng.normal(-1 if at % 2 else 0, 1.5, 5).round(1)
        kept = rng.permutation(5)[: rng.integers(1, 6)] if partial else range(5)
        listed = tuple((LABELS[label], float(score[label])) for label in kept)
        if max(score for _, score in listed) != 0:
            samples.append(Sample(f"{at}", LABELS[int(rng.integers(0, 4))], listed))
    return samples


def every_average(names: Sequence[str], **more: Any) -> list[Call]:
    """Metrics of decisions by all ways to average them."""
    at = {"score_threshold": 0.0, "hardmax": True, **more}
    return [(name, {**at, "average": how}) for name in names for how in ("macro", "weighted")]


SPECIAL: dict[str, tuple[list[Sample], list[Call]]] = {
    # a ties throughout, b has no score, c has no ground truth.
    "undefined areas": (
        some(
            ("a", {"a": 0.5, "b": 0.0, "c": 0.5}),
            ("b", {"a": 0.5, "b": 0.0, "c": 0.1}),
            ("b", {"a": 0.5, "b": 0.0, "c": 0.2}),
        ),
        RANKING,
    ),
    "one label alone": (some(("a", {"a": 0.5, "b": 0.5}), ("a", {"a": 0.2, "b": 0.8})), RANKING),
    # Four bins: (0, .25], (.25, .5], (.5, .75], (.75, 1].
    "edges of bins": (
        some(
            ("a", {"a": 0.25, "b": 0.25, "c": 0.25, "d": 0.25}),
            ("a", {"a": 0.5, "b": 0.25, "c": 0.25, "d": 0.0}),
            ("b", {"a": 0.75, "b": 0.25, "c": 0.0, "d": 0.0}),
            ("c", {"a": 0.0, "b": 0.0, "c": 1.0, "d": 0.0}),
            ("d", {"a": 0.0, "b": 0.0, "c": 0.0, "d": 0.0}),
        ),
        PROBABILITIES,
    ),
    # 0.999 and 1.001 are rounding and divided away; 0.8 and 1.2 are not, unless asked for.
    "sums beside 1": (
        some(
            ("a", {"a": 0.599, "b": 0.4}),
            ("b", {"a": 0.5, "b": 0.501}),
            ("a", {"a": 0.6, "b": 0.2}),
            ("b", {"a": 0.8, "b": 0.4}),
            ("b", {"a": 0.0, "b": 0.0}),
        ),
        PROBABILITIES,
    ),
    # b is never predicted, c is never true; d is listed and never positive: no average sees it.
    "labels of one side": (
        some(("a", {"a": 1.0, "d": 0.0}), ("a", {"c": 1.0}), ("b", {"a": 1.0})),
        [
            *every_average(["recall"]),
            *every_average(["precision", "f1"], zero_division=0.0),
        ],
    ),
    # Nothing reaches the threshold: precision and F1 are 0/0 and follow zero_division.
    "nothing over nothing": (
        some(("a", {"a": 0.5}), ("b", {"a": 0.5})),
        [
            *every_average(["recall"], score_threshold=0.75),
            *every_average(["precision", "f1"], score_threshold=0.75, zero_division=0.5),
            *TOP[:4],
        ],
    ),
    "all alike": (some(("a", {"a": 0.5})), TOP[:4]),
    # At -1 b's score passes, a's 0 never does.
    "a negative threshold": (some(("a", {"a": 0.0, "b": -0.5})), CURVES),
    "below zero": (
        below_zero(partial=False),
        [*TOP, *decided([0.0, -1.5, {"b": -2.0}]), *RANKING, *CURVES],
    ),
    "below zero, partial": (
        below_zero(partial=True),
        [*TOP, *decided([0.0, -1.5, {"b": -2.0}]), *RANKING, *CURVES],
    ),
}


@pytest.mark.parametrize("case", SPECIAL)
def test_samples_that_random_ones_are_not(evaluate: Evaluate, tmp_path: Path, case: str) -> None:
    samples, calls = SPECIAL[case]
    labels = truth.labels_of(samples)
    result = evaluate(forms.pairs_csv(tmp_path, samples, labels), metrics(calls)).result
    full = [written_out(one, labels) if case.startswith("below") else one for one in samples]
    assert_same(found_rows(result), expected_rows(full, labels, calls))
    told = [one for one in result["warnings"] if "do not sum to 1 as probabilities do: 2" in one]
    assert bool(told) == (case == "sums beside 1")


def written_out(one: Sample, labels: Sequence[str]) -> Sample:
    """With the 0 of labels that are not listed; not of the true one, which is then never found."""
    others = [name for name in labels if name not in {*dict(one.listed), one.truth}]
    return one._replace(listed=(*one.listed, *((name, 0.0) for name in others)))


@pytest.mark.parametrize("bins", [5, 10, 20, 35])
def test_a_fifth_is_the_upper_end_of_its_bin(evaluate: Evaluate, tmp_path: Path, bins: int) -> None:
    data = forms.objects_jsonl(tmp_path, some(("a", {"a": 0.2, "b": 0.1})), list("ab"))
    result = evaluate(data, [{"expected_calibration_error": {"bins": bins}}]).result
    assert result["curves"][0]["points"]["n"].index(1) == bins // 5 - 1


def test_labels_without_scores(evaluate: Evaluate, tmp_path: Path) -> None:
    rng = np.random.default_rng(71)
    true = [LABELS[at] for at in rng.integers(0, 5, 90)]
    answered = [LABELS[at] if at < 6 else "" for at in rng.integers(0, 7, 90)]
    rows = [(f"s{at}", *pair) for at, pair in enumerate(zip(true, answered, strict=True))]
    forms.store(tmp_path / "both.csv", forms.table([("id", "actual", "predicted"), *rows]))
    samples = [
        Sample(name, label, ((answer, 1.0),) if answer else ()) for name, label, answer in rows
    ]
    calls = every_call([0.0, 1.0])
    both = evaluate({"samples": {"model": "both.csv"}}, metrics(calls)).result
    assert_same(found_rows(both), expected_rows(samples, truth.labels_of(samples), calls))
    silent = answered.count("")
    assert [one for one in both["warnings"] if one.endswith(f"counted as wrong: {silent}")]
    # The same as JSONL in two files, of which one says null or nothing at all of the silent ones.
    forms.truth_csv(tmp_path / "truth.csv", samples)
    null = [{"id": name, "pred": answer or None} for name, _, answer in rows]
    for told in (null, [row for row in null if row["pred"]]):
        forms.store(tmp_path / "found.jsonl", forms.lines(told))
        data = {"ground_truth": "truth.csv", "predictions": {"model": "found.jsonl"}}
        apart = evaluate(data, metrics(calls)).result
        assert found_rows(apart) == found_rows(both)
        assert f"counted as wrong: {silent}" in apart["warnings"][0]


# ---- parts of the data


MERGED = {"b": "x", "e": "x", "a": "d"}


def merged(one: Sample) -> Sample:
    """Labels that share a name, their scores added."""
    scores: dict[str, float] = {}
    for label, score in one.listed:
        name = MERGED.get(label, label)
        scores[name] = scores.get(name, 0.0) + score
    new = MERGED.get(one.truth, one.truth)
    return one._replace(truth=new, listed=tuple(scores.items()))


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("chosen", ["place", "limit", "label", "merged"])
def test_chosen_samples_are_those_alone(
    evaluate: Evaluate, tmp_path: Path, chosen: str, partial: bool
) -> None:
    samples = random_samples(84, partial=partial, digits=2)
    labels, calls = LABELS, every_call([0.3, {"d": 0.6}])
    expected: list[Sample] = list(samples)
    options: tuple[object, ...] = ()
    config: dict[str, Any] = {}
    if chosen == "place":
        config["filter"] = {"metadata.place": "north"}
        expected = [one for one in samples if one.place == "north"]
    elif chosen == "limit":
        # The first of the file, not by name.
        options, expected = ("--limit", 7), samples[:7]
    elif chosen == "label":
        config["filter"] = {"label": ["b", "d"]}
        expected = [one for one in samples if one.truth in "bd"]
    else:
        config["label_map"], labels = MERGED, ["d", "x", "c", "f"]
        expected = [merged(one) for one in samples]
    form = forms.objects_jsonl if partial else forms.wide_csv
    data = {**form(tmp_path, samples, LABELS), "classes": LABELS}
    result = evaluate(data, metrics(calls), *options, **config).result
    labels = truth.labels_of(expected) if chosen == "label" and partial else labels
    assert_same(found_rows(result), expected_rows(expected, labels, calls))


def test_each_model_is_evaluated_alone(evaluate: Evaluate, tmp_path: Path) -> None:
    calls = every_call([0.3])
    models = {
        f"m{seed}": random_samples(seed, partial=seed % 2 == 1, digits=2, count=30)
        for seed in (85, 86)
    }
    true = {one.id: one for one in models["m85"]}
    files = {}
    for name, samples in models.items():
        text = forms.lines({"id": one.id, "probs": dict(one.listed)} for one in samples)
        files[name] = forms.store(tmp_path / f"{name}.jsonl", text)
    data = {"ground_truth": forms.truth_csv(tmp_path / "truth.csv", list(true.values()))}
    config = {"slices": ["metadata.place"], "interval": {"resamples": 2}}
    together = evaluate({**data, "predictions": files}, metrics(calls), **config).result
    assert together["models"] == list(models)
    for name, path in files.items():
        alone = evaluate({**data, "predictions": {name: path}}, metrics(calls), **config).result
        assert [one for one in together["metrics"] if one["model"] == name] == alone["metrics"]
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
    result = evaluate(write(tmp_path, keyed), metrics(calls)).result
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
    result = evaluate(data, metrics(calls)).result
    for key, samples in keyed.items():
        expected = expected_rows(samples, list(KEYS[key]), calls, key)
        assert_same(found_rows(result, key=key), expected)


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
        run = evaluate(data, ["accuracy", {"recall": at}], gates=list(gates), code=code)
        return [(one["value"], one["status"]) for one in run.result["gates"]]

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
    run = evaluate(data, [*wanted, "confusion_matrix"])
    names = {"mcc": "matthews_corrcoef", "log_loss_row_normalised_probs": "log_loss"}
    names |= {"brier_multiclass_sum": "brier_score"}
    names |= {one: one for one in ("accuracy", "balanced_accuracy", "cohen_kappa")}
    found = {key: run.value(name) for key, name in names.items()}
    found["confusion_matrix_rows_gt_cols_pred"] = run.result["tables"][0]["matrix"]
    found["rows"] = run.result["data"]["samples"]
    for row in run.result["metrics"]:
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
        assert found == near(expected, abs=within), name


def test_expected_numbers_of_people(evaluate: Evaluate) -> None:
    name = "human-edge-16"
    expected = stored(name)
    data = {"samples": {"model": str(DATA / name / "labels.csv")}}
    wanted = ["accuracy", "cohen_kappa", "precision", "recall", "f1", "confusion_matrix"]
    run = evaluate(data, wanted, slices=["metadata.subject"])
    assert run.value("accuracy") == near(expected["accuracy"])
    assert run.value("cohen_kappa") == near(expected["cohen_kappa_labels_incl_na"])
    for person, right in expected["accuracy_by_subject"].items():
        assert run.value("accuracy", slice=f"metadata.subject={person}") == near(right)
    (table,) = (one for one in run.result["tables"] if one["slice"] is None)
    order = [table["labels"].index(label) for label in expected["labels"]]
    matrix = np.array(table["matrix"])[np.ix_(order, order)]
    assert matrix.tolist() == expected["confusion_matrix_rows_gt_cols_pred"]
    for label, row in expected["per_class"].items():
        for kind in ("precision", "recall", "f1"):
            assert run.value(kind, label=label) == near(row[kind])


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
    run = evaluate({"samples": {"model": path}}, wanted)
    result = run.result
    assert run.value("mean_roc_auc") == near(golden["mean_roc_auc"])
    for label, area in golden["roc_auc"].items():
        assert run.value("roc_auc", label=label) == near(area)
    curves = {
        one["label"]: one["points"]
        for one in result["curves"]
        if one["metric"] == "detailed_pr_curve"
    }
    for one in golden["counts"]:
        at = {"score_threshold": one["score_threshold"], "hardmax": one["hardmax"]}
        counts = {
            row["output"]: row["value"]
            for row in run.rows("counts", label=one["label"])
            if row["parameters"] == at
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
