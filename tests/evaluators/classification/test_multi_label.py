"""Runs on samples with several labels: every form of files, and what such runs refuse."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import valor_cli
from tests.oracles import classification_forms as forms
from tests.oracles.label_sets import Sample, matrices, positives, random_samples
from valor_cli.errors import ConfigError, DataError
from valor_cli.evaluators.classification.load.recognition import HEAD
from valor_cli.results import RunResult

NAMES = ("cat", "dog", "cow", "owl", "fox", "elk")
Rows = Sequence[Mapping[str, Any]]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def as_csv(rows: Rows) -> bytes:
    return forms.table([list(rows[0]), *(list(row.values()) for row in rows)]).encode()


def as_jsonl(rows: Rows) -> bytes:
    return forms.lines(rows).encode()


def as_parquet(rows: Rows) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), file, row_group_size=16)
    return file.getvalue()


def truths(samples: Sequence[Sample], form: Callable[[list[str]], Any]) -> Rows:
    return [
        {
            "sample_id": f"s{at}",
            "labels": form([NAMES[one] for one in sample.truth]),
            "half": at % 2,
        }
        for at, sample in enumerate(samples)
    ]


def objects(samples: Sequence[Sample]) -> Rows:
    return [
        {
            "sample_id": f"s{at}",
            "predictions": {NAMES[label]: score for label, score in one.listed.items()},
        }
        for at, one in enumerate(samples)
    ]


def bare(samples: Sequence[Sample], form: Callable[[list[str]], Any]) -> Rows:
    """The labels that score at least 0.5."""
    return [
        {
            "sample_id": f"s{at}",
            "prediction": form(
                [NAMES[label] for label, score in one.listed.items() if score >= 0.5]
            ),
        }
        for at, one in enumerate(samples)
    ]


def run(files: Mapping[str, bytes], data: Mapping[str, Any], **config: Any) -> RunResult:
    for name, content in files.items():
        Path(name).write_bytes(content)
    jobs = config.pop("jobs", 1)
    baseline = config.pop("baseline", None)
    config = {"task": "classification", "data": data, **config}
    return valor_cli.evaluate(config, jobs=jobs, baseline=baseline)


def error(files: Mapping[str, bytes], data: Mapping[str, Any], **config: Any) -> list[str]:
    with pytest.raises((ConfigError, DataError)) as caught:
        run(files, data, **config)
    return str(caught.value).split("\n")


def numbers(found: RunResult) -> list[Any]:
    rows = [(one.metric, one.output, one.label, one.slice, one.value) for one in found.metrics]
    return [rows, found.curves, found.data, found.warnings]


def value(found: RunResult, metric: str) -> float | None:
    (own,) = [
        one.value
        for one in found.metrics
        if (one.metric, one.label, one.slice) == (metric, None, None)
    ]
    return own


SAMPLES = random_samples(0, partial=True)
LISTS = as_jsonl(truths(SAMPLES, list))
SCORES = as_jsonl(objects(SAMPLES))
METRICS = [
    *("subset_accuracy", "hamming_loss", "counts", "precision", "recall", "f1", "jaccard"),
    *("roc_auc", "mean_roc_auc", "average_precision", "pr_curve"),
]
FORMS: Mapping[str, tuple[bytes, Mapping[str, Any]]] = {
    "gt.jsonl": (LISTS, {}),
    "gt.json": (json.dumps(truths(SAMPLES, list)).encode(), {}),
    "gt.parquet": (as_parquet(truths(SAMPLES, list)), {}),
    "lists.csv": (as_csv(truths(SAMPLES, json.dumps)), {"multi_label": True}),
    "cells.csv": (as_csv(truths(SAMPLES, ";".join)), {"multi_label": {"separator": ";"}}),
    "cells.parquet": (as_parquet(truths(SAMPLES, "|".join)), {"multi_label": {"separator": "|"}}),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("pieces", [None, "600"])
def test_every_form_of_ground_truth(
    form: str, pieces: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = run(
        {"gt.jsonl": LISTS, "p.jsonl": SCORES},
        {"ground_truth": "gt.jsonl", "predictions": "p.jsonl"},
        metrics=METRICS,
    )
    assert value(expected, "hamming_loss") is not None
    if pieces is not None:
        monkeypatch.setenv("VALOR_PIECE_BYTES", pieces)
    content, data = FORMS[form]
    files = {form: content, "p.jsonl": SCORES}
    inputs = {"ground_truth": form, "predictions": "p.jsonl", **data}
    assert numbers(run(files, inputs, metrics=METRICS)) == numbers(expected)


@pytest.mark.parametrize(
    ("name", "content", "data"),
    [
        ("p.jsonl", as_jsonl(bare(SAMPLES, list)), {}),
        ("p.parquet", as_parquet(bare(SAMPLES, list)), {}),
        ("p.csv", as_csv(bare(SAMPLES, json.dumps)), {}),
        ("p.csv", as_csv(bare(SAMPLES, "|".join)), {"multi_label": {"separator": "|"}}),
    ],
)
def test_every_form_of_bare_labels(name: str, content: bytes, data: Mapping[str, Any]) -> None:
    data = {"ground_truth": "gt.jsonl", "predictions": {"m": name}, **data}
    found = run({"gt.jsonl": LISTS, name: content}, data)
    expected = run(
        {"scores.jsonl": SCORES},
        {"ground_truth": "gt.jsonl", "predictions": {"m": "scores.jsonl"}},
    )
    for metric in ("subset_accuracy", "hamming_loss", "precision", "recall", "f1"):
        assert value(found, metric) == value(expected, metric)


def test_the_default_metrics_decide_every_label_at_one_half() -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    data = {"ground_truth": "gt.jsonl", "predictions": "p.jsonl"}
    found = run({"gt.jsonl": LISTS, "p.jsonl": SCORES}, data)
    assert [name for name, _ in found.primary][:2] == ["subset_accuracy", "f1"]
    assert {one.metric for one in found.metrics} == {
        *("subset_accuracy", "hamming_loss", "precision", "recall", "f1", "counts"),
        *("roc_auc", "mean_roc_auc", "label_set_scores"),
    }
    (row,) = [one for one in found.metrics if one.metric == "f1" and one.label is None]
    assert row.parameters["hardmax"] is False
    assert row.parameters["score_threshold"] == 0.5
    truth, score = matrices(SAMPLES, len(NAMES))
    expected = sklearn.f1_score(truth, positives(score, 0.5), average="macro", zero_division=0.0)
    assert row.value == pytest.approx(expected, abs=1e-12)


def test_several_processes_slices_intervals_gates_and_a_baseline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    worse = [one._replace(listed={}) for one in SAMPLES[:20]] + SAMPLES[20:]
    files = {"gt.jsonl": LISTS, "p.jsonl": SCORES, "q.jsonl": as_jsonl(objects(worse))}
    config: dict[str, Any] = {
        "data": {"ground_truth": "gt.jsonl", "predictions": {"m": "q.jsonl", "n": "p.jsonl"}},
        "slices": ["metadata.half"],
        "interval": {"resamples": 20},
        "gates": [
            {"metric": "hamming_loss", "max": 1.0},
            {"metric": "f1", "label": "cat", "min": 1},
        ],
    }
    before = run(files, {**config["data"], "predictions": {"m": "p.jsonl", "n": "p.jsonl"}})
    whole = run(files, baseline=before, **config)
    monkeypatch.setenv("VALOR_PIECE_BYTES", "600")
    pieces = run(files, baseline=before, jobs=2, **config)
    assert numbers(whole) == numbers(pieces)
    assert [gate.status for gate in whole.gates] == ["passed", "passed", "failed", "failed"]
    assert {one.slice for one in whole.metrics} == {None, "metadata.half=0", "metadata.half=1"}
    (row,) = [
        one
        for one in whole.metrics
        if (one.metric, one.model, one.label, one.slice) == ("hamming_loss", "n", None, None)
    ]
    assert row.interval is not None
    assert row.value is not None
    assert row.interval[0] < row.value < row.interval[1]


def test_merged_labels_have_the_highest_of_their_scores() -> None:
    data = {"ground_truth": "gt.jsonl", "predictions": "p.jsonl"}
    files = {"gt.jsonl": LISTS, "p.jsonl": SCORES}
    found = run(files, data, label_map={"cat": "dog"}, metrics=["hamming_loss", "mean_roc_auc"])
    sklearn = pytest.importorskip("sklearn.metrics")
    truth, score = matrices(SAMPLES, len(NAMES))
    truth[:, 1] |= truth[:, 0]
    score[:, 1] = np.maximum(score[:, 0], score[:, 1])
    expected = sklearn.hamming_loss(truth[:, 1:], positives(score[:, 1:], 0.5))
    assert value(found, "hamming_loss") == pytest.approx(expected, abs=1e-12)
    expected = sklearn.roc_auc_score(truth[:, 1:], score[:, 1:])
    assert value(found, "mean_roc_auc") == pytest.approx(expected, abs=1e-12)


def test_a_filter_keeps_samples_that_have_any_of_its_labels() -> None:
    data = {"ground_truth": "gt.jsonl", "predictions": "p.jsonl"}
    found = run({"gt.jsonl": LISTS, "p.jsonl": SCORES}, data, filter={"label": ["cat", "fox"]})
    kept = [one for one in SAMPLES if {0, 4} & set(one.truth)]
    assert found.data["samples"] == len(kept)
    truth, score = matrices(kept, len(NAMES))
    exact = (truth == positives(score, 0.5)).all(axis=1).mean()
    assert value(found, "subset_accuracy") == pytest.approx(exact, abs=1e-12)


def test_classes_that_nothing_lists_are_decisions_too() -> None:
    data = {"ground_truth": "gt.jsonl", "predictions": "p.jsonl"}
    files = {"gt.jsonl": LISTS, "p.jsonl": SCORES}
    some = value(run(files, data), "hamming_loss") or 0
    found = run(files, {**data, "classes": [*NAMES, "yak", "emu"]})
    assert value(found, "hamming_loss") == pytest.approx(some * 6 / 8, abs=1e-12)
    assert found.data["labels"] == 8


KEYED = as_jsonl(
    [
        {
            "sample_id": "a",
            "label": {"colour": ["red", "blue"], "shape": []},
            "predictions": {"colour": ["red"], "shape": {"round": 0.2}},
        },
        {
            "sample_id": "b",
            "label": {"colour": ["red"], "shape": ["round"]},
            "predictions": {"colour": ["red", "blue"], "shape": {"round": 0.7}},
        },
    ]
)


def test_label_keys_have_sets_of_their_own() -> None:
    found = run({"k.jsonl": KEYED}, {"samples": "k.jsonl"}, metrics=["hamming_loss"])
    values = {one.parameters["label_key"]: one.value for one in found.metrics}
    assert values == {"colour": 0.5, "shape": 0.0}


def test_models_whose_files_hold_both_sides_have_the_same_sets() -> None:
    first = '{"sample_id":"a","label":["x","y"],"predictions":["x"]}\n'
    other, wrong = first.replace('"x","y"', '"y","x"'), first.replace('"x","y"', '"y"')
    data = {"samples": {"a": "a.jsonl", "b": "b.jsonl"}}
    files = {"a.jsonl": first.encode(), "b.jsonl": other.encode()}
    assert {one.value for one in run(files, data, metrics=["hamming_loss"]).metrics} == {0.5}
    assert error({**files, "b.jsonl": wrong.encode()}, data)[0] == (
        "b.jsonl:1: label: the true label of sample 'a' is ['y'] here and ['x', 'y'] in a.jsonl:1"
    )


def test_a_sample_without_a_prediction_has_no_label() -> None:
    files = {
        "gt.jsonl": b'{"sample_id":"a","labels":["x"]}\n{"sample_id":"b","labels":[]}\n',
        "p.jsonl": b'{"sample_id":"a","prediction":["x"]}\n',
    }
    found = run(files, {"ground_truth": "gt.jsonl", "predictions": "p.jsonl"})
    assert value(found, "subset_accuracy") == 1.0
    assert list(found.warnings) == [
        "samples without a prediction of p, counted as no label: 1 ('b')"
    ]


HINT = (
    "Metrics of sets of labels: counts, precision, recall, f1, jaccard, subset_accuracy, "
    "hamming_loss, roc_auc, mean_roc_auc, average_precision, pr_curve, label_set_scores."
)
SETS = "and these have sets of labels"
HARDMAX = "has `hardmax: true`, with which at most one label per sample is positive, " + SETS


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (
            {"metrics": ["counts", "accuracy", "log_loss"]},
            [
                f"config: metrics.1: accuracy needs one label per sample, {SETS}",
                f"config: metrics.2: log_loss needs one label per sample, {SETS}",
                HINT,
            ],
        ),
        (
            {"metrics": [{"f1": {"hardmax": True}}]},
            [
                f"config: metrics.0: f1 {HARDMAX}",
                "Leave `hardmax` out: each label is a decision of its own.",
            ],
        ),
        (
            {"metrics": ["f1", {"f1": {"score_threshold": 0.5}}]},
            ["config: metrics.1: the same metric with the same parameters as metrics.0"],
        ),
        (
            {"gates": [{"metric": "cohen_kappa", "min": 0.5}]},
            [f"config: gates: cohen_kappa needs one label per sample, {SETS}", HINT],
        ),
    ],
)
def test_what_needs_one_label_is_refused(config: Mapping[str, Any], expected: list[str]) -> None:
    data = {"ground_truth": "gt.jsonl", "predictions": "p.jsonl"}
    assert error({"gt.jsonl": LISTS, "p.jsonl": SCORES}, data, **config) == expected


SINGLE = {
    "gt.csv": b"sample_id,label\na,x\nb,y\n",
    "p.csv": b"sample_id,prediction,score\na,x,0.75\nb,x,0.5\n",
}
APART = {"ground_truth": "gt.csv", "predictions": "p.csv"}


@pytest.mark.parametrize("metric", ["subset_accuracy", "hamming_loss"])
def test_what_needs_sets_is_refused_of_one_label_a_sample(metric: str) -> None:
    found = error(SINGLE, APART, metrics=[metric])
    needs = "needs samples with sets of labels, and these have one label each"
    assert found[0] == f"config: metrics.0: {metric} {needs}"
    assert "`multi_label: true` under `data:`" in found[1]


def test_single_labels_may_be_sets_of_one() -> None:
    found = run(SINGLE, {**APART, "multi_label": True}, metrics=["subset_accuracy", "hamming_loss"])
    assert [value(found, name) for name in ("subset_accuracy", "hamming_loss")] == [0.5, 0.5]


def test_cells_that_look_like_lists_are_warned_of() -> None:
    files = {**SINGLE, "gt.csv": b'sample_id,label\na,"[""x"",""y""]"\nb,y\n'}
    found = run(files, APART)
    assert (
        'labels that look like lists, such as ["x","y"]: if samples have several labels, write '
        "`multi_label: true` under `data:`" in found.warnings
    )


@pytest.mark.parametrize("separator", ["", "||", "é", "\t"])
def test_a_separator_is_a_character(separator: str) -> None:
    data = {**APART, "multi_label": {"separator": separator}}
    assert error(SINGLE, data) == [
        "config: data.multi_label.separator: expected one character of ASCII, as |, found "
        + repr(separator)
    ]


@pytest.mark.parametrize(
    ("name", "text", "several"),
    [
        ("gt.jsonl", '{"id": 1, "label": ["a"]}\n', True),
        ("gt.jsonl", '{"id": 1, "label": "a"}\n{"id": 2, "label": []}\n', True),
        ("gt.jsonl", '{"id": 1, "label": "a"}\n', False),
        ("gt.jsonl", '{"id": 1, "label": {"k": ["a"], "l": "b"}}\n', True),
        ("gt.jsonl", '{"id": 1, "label": {"k": "a"}, "tags": ["b"]}\n', False),
        ("gt.json", '[{"id": 1, "label": ["a"]}]', True),
        ("gt.json", '[{"id": 1, "tags": ["b"], "label": "a"}]', False),
        pytest.param(
            "gt.json",
            '[{"id": 1, "label": ["a"]}, {"id": 2, "note": "' + "é" * HEAD + '", "label": []}]',
            True,
            id="what is looked at ends inside a character",
        ),
        ("gt.csv", 'id,label\n1,"[""a""]"\n', False),
    ],
)
def test_recognised_by_the_first_samples(name: str, text: str, *, several: bool) -> None:
    files = {name: text.encode(), "p.jsonl": b'{"id": 1, "prediction": "a"}\n'}
    if "{" in text and '"k"' in text:
        files["p.jsonl"] = b'{"id": 1, "prediction": {"k": "a"}}\n'
    data = {"ground_truth": name, "predictions": "p.jsonl"}
    message = error(files, data, metrics=["accuracy" if several else "subset_accuracy"])[0]
    assert ("these have sets of labels" if several else "these have one label each") in message


def test_lists_may_be_ruled_out() -> None:
    files = {
        "gt.jsonl": b'{"id": 1, "label": ["a"]}\n',
        "p.jsonl": b'{"id": 1, "prediction": "a"}\n',
    }
    data = {"ground_truth": "gt.jsonl", "predictions": "p.jsonl", "multi_label": False}
    assert error(files, data)[0] == (
        "gt.jsonl:1: label: expected a label, found a list; if samples have several labels, write "
        "`multi_label: true` under `data:`"
    )
