"""Runs that look for the parts of the data that models do worst at."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from valor_cli import catalogue, pipeline
from valor_cli.config import load_config
from valor_cli.errors import ConfigError, DataError
from valor_cli.results import RunResult


def evaluated(folder: Path, config: str, jobs: int = 1) -> RunResult:
    path = folder / "run.yaml"
    path.write_text(config)
    plan = pipeline.make_plan(load_config(path, catalogue))
    return pipeline.evaluate(plan, command="valor", jobs=jobs)


def classified(folder: Path, *, seed: int = 0, shuffled: bool = False) -> None:
    """400 samples of two classes; `good` is right on most, `bad` not in the rain at the rear."""
    rng = np.random.default_rng(seed)
    camera = rng.choice(["front", "rear"], 400).tolist()
    weather = rng.choice(["rain", "sun", "fog"], 400).tolist()
    age = rng.integers(20, 900, 400).tolist()
    label = rng.choice(["cat", "dog"], 400).tolist()
    right = {"good": rng.random(400) < 0.9, "bad": rng.random(400) < 0.9}
    for at in range(400):
        if camera[at] == "rear" and weather[at] == "rain":
            right["bad"][at] = rng.random() < 0.3
    order = rng.permutation(400) if shuffled else np.arange(400)
    truth = [f"{at},{label[at]},{camera[at]},{weather[at]},{age[at]}" for at in order]
    (folder / "gt.csv").write_text("\n".join(["id,label,camera,weather,age", *truth]) + "\n")
    for model, own in right.items():
        rows = []
        for at in order:
            cat = 0.8 if (label[at] == "cat") == own[at] else 0.2
            rows.append(f"{at},{cat},{1 - cat:.1f}")
        (folder / f"{model}.csv").write_text("\n".join(["id,cat,dog", *rows]) + "\n")


DATA = "data: {ground_truth: gt.csv, predictions: {good: good.csv, bad: bad.csv}}\n"
START = f"task: classification\n{DATA}metrics: [accuracy]\n"
PAIR = "metadata.camera=rear & metadata.weather=rain"


@pytest.mark.parametrize(
    "text", ["auto", "[{auto: {columns: [metadata.camera, metadata.weather]}}]"]
)
def test_a_bad_pair_is_found_and_every_metric_has_rows_of_it(tmp_path: Path, text: str) -> None:
    classified(tmp_path)
    result = evaluated(tmp_path, f"{START}slices: {text}\ninterval: {{resamples: 20}}\n")
    good, bad = result.searches
    assert (good.model, good.found) == ("good", ())
    assert (bad.metric, bad.output, bad.min_size, bad.level) == (
        "sample_scores",
        "correct",
        30,
        0.95,
    )
    assert [one.slice for one in bad.found] == [PAIR]
    columns = ["metadata.age", "metadata.camera", "metadata.weather"]
    assert list(bad.columns) == columns if text == "auto" else columns[1:]
    found = bad.found[0]
    rows = [row for row in result.metrics if row.slice == PAIR and row.label is None]
    assert {(row.metric, row.model) for row in rows if row.metric == "accuracy"} == {
        ("accuracy", "good"),
        ("accuracy", "bad"),
    }
    (own,) = [row for row in rows if (row.metric, row.model) == ("accuracy", "bad")]
    assert own.value == pytest.approx(found.value)
    assert (own.n, own.interval is not None) == (found.n, True)
    told = [one for one in result.insights if one.kind == "worst_slice"]
    assert [one.models for one in told] == [["good"], ["bad"]]
    assert told[0].message.startswith("good: no slice is clearly worse by sample_scores correct")
    assert told[1].message.startswith(
        f"bad: {PAIR}: sample_scores correct {found.value:.3f} against"
    )


def test_units_that_are_drawn_together_are_no_proof_each(tmp_path: Path) -> None:
    """In the rain the model is bad at the rear alone: of two cameras that is one."""
    classified(tmp_path)
    rain = "slices: [{auto: {columns: [metadata.weather]}}]\n"
    for interval, found in (
        ("", ["metadata.weather=rain"]),
        ("interval: {resamples: 5, group: metadata.camera}\n", []),
    ):
        bad = evaluated(tmp_path, START + rain + interval).searches[1]
        assert [one.slice for one in bad.found] == found
        assert bad.searched == 3
    everything = "slices: auto\ninterval: {resamples: 5, group: metadata.camera}\n"
    result = evaluated(tmp_path, START + everything)
    assert list(result.searches[1].columns) == ["metadata.age", "metadata.weather"]
    # What compares this run with another draws them together, too.
    assert {tuple(sorted(set(one.groups or ()))) for one in result.samples} == {("front", "rear")}


def test_a_listed_slice_comes_first_and_stands_once(tmp_path: Path) -> None:
    classified(tmp_path)
    text = "slices: [{metadata.weather: [sun]}, {auto: {depth: 1}}]\n"
    gate = "gates: [{metric: accuracy, slice: metadata.weather=sun, min: 0}]\n"
    result = evaluated(tmp_path, START + text + gate)
    slices = list(dict.fromkeys(row.slice for row in result.metrics))
    assert slices[:2] == [None, "metadata.weather=sun"]
    assert {one.slice for search in result.searches for one in search.found} <= set(slices)
    gate = gate.replace("sun", "rain")
    with pytest.raises(ConfigError, match=r"no slice 'metadata\.weather=rain'"):
        evaluated(tmp_path, START + text + gate)


def test_the_same_bytes_for_any_jobs_and_order(tmp_path: Path) -> None:
    found = []
    for name, shuffled, jobs in (("a", False, 1), ("b", False, 2), ("c", True, 1)):
        folder = tmp_path / name
        folder.mkdir()
        classified(folder, shuffled=shuffled)
        result = evaluated(folder, f"{START}slices: auto\n", jobs)
        rows = sorted(repr(row) for row in result.metrics)
        found.append((repr(result.searches), rows, [one.message for one in result.insights]))
    assert found[0] == found[1]
    assert found[0] == found[2]


def test_without_metadata_and_without_values_of_samples(tmp_path: Path) -> None:
    classified(tmp_path)
    path = tmp_path / "gt.csv"
    path.write_text("\n".join(",".join(one.split(",")[:2]) for one in path.read_text().split("\n")))
    result = evaluated(tmp_path, f"{START}slices: auto\n")
    assert "slices: auto: the data has no metadata to look at" in result.warnings
    assert [(one.searched, one.columns) for one in result.searches] == [(0, ()), (0, ())]
    assert not [one for one in result.insights if one.kind == "worst_slice"]


def test_a_column_that_is_not_there(tmp_path: Path) -> None:
    classified(tmp_path)
    with pytest.raises(DataError, match="weathr"):
        evaluated(tmp_path, START + "slices: [{auto: {columns: [metadata.weathr]}}]\n")


def test_scores_that_are_no_probabilities_are_searched_too(tmp_path: Path) -> None:
    classified(tmp_path)
    for model in ("good", "bad"):
        path = tmp_path / f"{model}.csv"
        path.write_text(path.read_text().replace("0.8", "8").replace("0.2", "-2"))
    bad = evaluated(tmp_path, f"{START}slices: auto\n").searches[1]
    assert [one.slice for one in bad.found] == [PAIR]
    assert bad.parameters["probabilities"] is False


def test_a_value_that_reads_like_two_conditions(tmp_path: Path) -> None:
    classified(tmp_path)
    path = tmp_path / "gt.csv"
    head, first, *rest = path.read_text().splitlines()
    # The listed slice of the one sample has the name that the pair would have.
    cells = first.split(",")
    cells[2] = PAIR.removeprefix("metadata.camera=")
    path.write_text("\n".join([head, ",".join(cells), *rest]) + "\n")
    result = evaluated(tmp_path, f"{START}slices: [metadata.camera, auto]\n")
    assert PAIR not in [one.slice for one in result.searches[1].found]
    assert {row.n for row in result.metrics if (row.slice, row.metric) == (PAIR, "accuracy")} == {1}


def of_text(folder: Path, rows: Sequence[dict[str, Any]]) -> str:
    (folder / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return "task: text_generation\ndata: {samples: s.jsonl}\nmetrics: [exact_match, rouge_l]\n"


def test_texts_by_their_groups(tmp_path: Path) -> None:
    rows = [
        {
            "sample_id": at,
            "question": "q",
            "answer": "yes" if at % 7 and at % 4 else "no",
            "reference": "yes",
            "language": "de" if at % 4 == 0 else "en",
            "group": f"g{at // 2}",
        }
        for at in range(200)
    ]
    result = evaluated(tmp_path, of_text(tmp_path, rows) + "slices: auto\n")
    (search,) = result.searches
    assert (search.metric, search.output) == ("rouge_l", "f1")
    assert [(one.slice, one.n) for one in search.found] == [("metadata.language=de", 50)]
    assert list(search.columns) == ["metadata.language"]


def test_what_only_some_files_of_models_have_is_looked_at(tmp_path: Path) -> None:
    rows = [
        {"sample_id": at, "question": "q", "answer": "yes", "reference": "yes"} for at in range(80)
    ]
    config = of_text(
        tmp_path, [row | {"kind": "x" if row["sample_id"] % 2 else "y"} for row in rows]
    )  # type: ignore[operator]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = config.replace("samples: s.jsonl", "samples: {a: s.jsonl, b: t.jsonl}")
    result = evaluated(tmp_path, config + "slices: auto\n")
    assert [(one.searched, list(one.columns)) for one in result.searches] == [
        (2, ["metadata.kind"])
    ] * 2
    (told,) = [one for one in result.insights if one.kind == "worst_slice"]
    assert told.message == "no slice is clearly worse by rouge_l f1 (2 slices searched)"
    assert told.models == ["a", "b"]
