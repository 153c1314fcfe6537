"""A call that fails, or an interrupt, at any point of a run: a message, and whole files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.program import ROOT

HERE = Path(__file__).parent
RUNS = int(os.environ.get("FAULT_RUNS", "8"))
"""Faults of a kind in each task; 0: at every call there is."""

DATA = ROOT / "sample_data"
REPORT = "report: {out: out, formats: [json, markdown, html]}\n"
CASES = {
    "classification": (
        "task: classification\n"
        "data: {ground_truth: DATA/ground_truth.csv,"
        " predictions: {a: DATA/naive_bayes.csv, b: DATA/random_forest.csv}}\n"
        "metrics: [accuracy, f1, confusion_matrix]\n"
        "interval: {method: bootstrap, resamples: 20}\n"
    ),
    "object_detection": (
        "task: object_detection\n"
        "data: {ground_truth: DATA/ground_truth.json, predictions: {a: DATA/small.json},"
        " images: DATA/images}\n"
        "metrics: [coco, confusion_matrix: {score_threshold: 0.5}]\n"
    ),
    "instance_segmentation": (
        "task: instance_segmentation\n"
        "data: {ground_truth: DATA/ground_truth.json, predictions: {a: DATA/watershed.json}}\n"
        "metrics: [coco]\n"
    ),
    "semantic_segmentation": (
        "task: semantic_segmentation\n"
        "data: {ground_truth: DATA/ground_truth, predictions: {a: DATA/shifted},"
        " labels: DATA/classes.json}\n"
        "metrics: [mean_iou, image_scores]\n"
    ),
    "text_generation": (
        "task: text_generation\n"
        "data: {samples: DATA/answers.jsonl}\n"
        "metrics: [rouge_l, exact_match, pii_leakage, text_matching]\n"
    ),
    "judge": (
        "task: text_generation\n"
        "data: {samples: DATA/rag.jsonl}\n"
        "judge: {backend: replay, cassette: DATA/rag_judge.cassette.jsonl}\n"
        "metrics: [context_relevance, faithfulness]\n"
    ),
    "processes": (
        "task: object_detection\n"
        "data: {ground_truth: DATA/ground_truth.json, predictions: {a: DATA/small.json}}\n"
        "metrics: [average_precision]\n"
    ),
}
DATA_OF = {"judge": "text_generation", "processes": "object_detection"}
OPTIONS = {"processes": ["--jobs", "2"]}


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """faults.c, compiled."""
    compiler = shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("needs Linux and gcc")
    made = tmp_path_factory.mktemp("shim") / "faults.so"
    command = [compiler, "-O1", "-fno-builtin", "-shared", "-fPIC", "-o", made, HERE / "faults.c"]
    subprocess.run(command, check=True)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["io", "memory", "array", "interrupt"])
@pytest.mark.parametrize("case", CASES)
def test_a_fault_ends_a_run_with_a_message_and_whole_files(
    shim: Path, tmp_path: Path, case: str, kind: str
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    data = DATA / DATA_OF.get(case, case)
    (folder / "run.yaml").write_text(CASES[case].replace("DATA", str(data)) + REPORT)
    (folder / "options").write_text(json.dumps(OPTIONS.get(case, []) + ["--limit", "3"]))
    (folder / "tmp").mkdir()
    environment = {
        **os.environ,
        "LD_PRELOAD": str(shim),
        "PYTHONPATH": str(ROOT),
        "TMPDIR": str(folder / "tmp"),
        "VALOR_CACHE_DIR": str(folder / "cache"),
    }
    done = subprocess.run(
        [sys.executable, HERE / "runs.py", folder, str(RUNS or sys.maxsize), "0", kind],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *wrong, last = map(json.loads, done.stdout.splitlines())
    assert last["runs"] > 0
    assert not wrong, json.dumps(wrong, indent=1)
