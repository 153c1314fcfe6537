"""`valor evaluate` without a config."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Valor, read_run

DATA = ROOT / "sample_data"
COCO = DATA / "object_detection"
CLASSES = DATA / "classification"
LABELS = [CLASSES / "ground_truth.csv", CLASSES / "naive_bayes.csv"]


def test_two_files(valor: Valor, tmp_path: Path) -> None:
    truth, large = COCO / "ground_truth.json", COCO / "large.json"
    done = valor("evaluate", truth, large, "--out", tmp_path / "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = "object detection · COCO and COCO results · joined by image id · ground truth: "
    assert done.stderr.startswith(f"{told}{truth}")
    # The detector's published COCO number on these 100 images, by pycocotools.
    found = read_run(tmp_path / "out").value("coco", output="AP")
    assert found == pytest.approx(0.3469581862666092, abs=1e-12)


def test_metrics_and_gates_by_the_names_of_the_field(valor: Valor, tmp_path: Path) -> None:
    files = [COCO / "ground_truth.json", COCO / "large.json"]
    asked = ["--metric", "mAP@[.50:.95]", "-m", "{f1: {score_threshold: 0.3}}"]
    gates = ["--gate", "AP >= 0.3", "--gate", "mAP50 >= 99%", "--gate", "recall[person] >= 0.1"]
    done = valor("evaluate", *files, *asked, *gates, "--out", tmp_path, "--format", "json")
    assert done.returncode == 1
    assert done.stdout.startswith("FAILED  1 of 3 gates")
    found = read_run(tmp_path).value("mean_average_precision_over_ious")
    assert found == pytest.approx(0.34696, abs=1e-5)


def test_calibration_and_confident_errors_are_there_by_default(
    valor: Valor, tmp_path: Path
) -> None:
    done = valor("evaluate", *LABELS, "--out", tmp_path / "probabilities")
    assert "ECE ↓" in done.stdout
    assert "**Confident errors**" in (tmp_path / "probabilities" / "report.md").read_text()
    assert "  values of every sample  --metric sample_scores\n" in done.stderr
    logits = tmp_path / "logits.csv"
    logits.write_text("id,cat,dog\n1,2.5,-1\n2,-3,4\n")
    truth = tmp_path / "truth.csv"
    truth.write_text("id,label\n1,cat\n2,cat\n")
    done = valor("evaluate", truth, logits, "--out", tmp_path / "logits")
    assert (done.returncode, "ECE" in done.stdout) == (0, False)
    asked = valor("evaluate", *LABELS, "-m", "accuracy", "--out", tmp_path / "asked")
    assert "Not computed" not in asked.stderr


SQUAD = {
    "data": [
        {
            "title": "Cats",
            "paragraphs": [
                {
                    "context": "Tom sat.",
                    "qas": [
                        {"id": one, "question": "Who?", "answers": [{"text": "Tom"}]}
                        for one in ("q1", "q2")
                    ],
                }
            ],
        }
    ]
}
ANSWERS = {"q2": "Tom", "q1": "Jerry"}


@pytest.mark.parametrize("indent", [None, 1], ids=["one line", "indented"])
@pytest.mark.parametrize("piped", ["squad", "answers"])
def test_a_document_on_standard_input(
    valor: Valor, tmp_path: Path, piped: str, indent: int | None
) -> None:
    sides = {"squad": SQUAD, "answers": ANSWERS}
    paths = {name: "-" if name == piped else f"{name}.json" for name in sides}
    for name, document in sides.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    done = valor(
        *("evaluate", paths["squad"], paths["answers"], "-m", "exact_match", "--out", "out"),
        cwd=tmp_path,
        stdin=json.dumps(sides[piped], indent=indent),
    )
    assert done.returncode == 0, done.stderr
    # One of both answers is right.
    assert read_run(tmp_path / "out").value("exact_match") == 0.5


@pytest.mark.parametrize(
    "rows",
    [
        '{"id": "a", "response": "x", "reference": "x"}\n',
        '{"id": "a", "response": "x", "reference": "x"}\n{"id": "b", "response": "x"}\n',
        '[{"id": "a", "response": "x", "reference": "x"}]',
        "id,response,reference\na,x,x\n",
    ],
)
def test_rows_on_standard_input(valor: Valor, tmp_path: Path, rows: str) -> None:
    done = valor("evaluate", "-", "-m", "exact_match", "--out", "out", cwd=tmp_path, stdin=rows)
    assert done.returncode == 0, done.stderr
    assert read_run(tmp_path / "out").value("exact_match") == 1


def test_the_config_is_written_and_says_the_same(valor: Valor, tmp_path: Path) -> None:
    answers = DATA / "text_generation" / "answers.jsonl"
    out = ["--out", tmp_path / "one", "--format", "json"]
    saved = tmp_path / "configs" / "own.yaml"
    asked = ["evaluate", answers, "-m", "exact_match", "--gate", "exact_match >= 0"]
    done = valor(*asked, *out, "--save-config", saved)
    assert done.returncode == 0, done.stderr
    assert f"wrote {saved}: valor evaluate {saved}" in done.stderr
    again = valor("evaluate", saved, "--out", tmp_path / "two", "--format", "json")
    assert again.returncode == 0, again.stderr
    one, two = (read_run(tmp_path / name).result["metrics"] for name in ("one", "two"))
    assert one == two
    refused = valor(*asked, *out, "--save-config", saved)
    assert refused.returncode == 2
    assert f"{saved}: exists already" in refused.stderr


def test_a_saved_config_names_what_else_there_is(valor: Valor, tmp_path: Path) -> None:
    files = [COCO / "ground_truth.json", COCO / "small.json", COCO / "large.json"]
    saved = tmp_path / "own.yaml"
    done = valor("evaluate", *files, "--dry-run", "--save-config", saved)
    assert done.returncode == 0, done.stderr
    text = saved.read_text()
    for part in ("task: object_detection", "# metrics:", "#   - coco", "# gates:", "interval:"):
        assert part in text
    assert valor("validate", saved).returncode == 0


def test_a_config_for_files_of_ones_own(valor: Valor, tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    for name in ("ground_truth.json", "large.json"):
        (tmp_path / name).write_bytes((COCO / name).read_bytes())
    done = valor("init", "--from", "ground_truth.json", "large.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "next: valor evaluate object_detection.yaml"
    text = (tmp_path / "object_detection.yaml").read_text()
    assert "  images: images\n" in text
    assert valor("validate", "object_detection.yaml", cwd=tmp_path).returncode == 0
    again = valor("init", "--from", "ground_truth.json", "large.json", cwd=tmp_path)
    assert again.returncode == 2
    assert "object_detection.yaml: exists already" in again.stderr
    for wrong in (["init", "classification", ".", "more"], ["init", "--out", "x.yaml"]):
        assert valor(*wrong, cwd=tmp_path).returncode == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["configs/classification.yaml", "--gate", "f1 >= 1"],
            "--gate: is for files without",
        ),
        (["configs/classification.yaml", "sample_data"], "sample_data: no YAML config, but config"),
        ([COCO / "large.json"], "read as predictions: objects in images"),
        ([COCO / "large.json", "--task", "boxes"], "no task 'boxes'"),
        ([COCO / "ground_truth.json", COCO / "large.json", "--gate", "f > 1"], "expected a gate"),
        (
            [COCO / "ground_truth.json", COCO / "large.json", "-m", "{f1"],
            "--metric: expected",
        ),
        ([DATA / "text_generation" / "answers.jsonl", "-m", "GEval"], "is a metric of deepeval"),
        (["none.json", "other.json"], "none.json: no such file"),
        # There is no config to set a key in.
        ([*LABELS, "-m", "acc"], "--metric: unknown metric 'acc' (did you mean 'accuracy'?)"),
        ([*LABELS, "-m", "rouge_l"], "--metric: 'rouge_l' is a metric of text_generation, not of"),
        ([*LABELS, "--gate", "recall[x] >= 1"], "--gate: no label 'x'"),
        (
            [DATA / "text_generation" / "answers.jsonl", "-m", "faithfulness"],
            "--set 'judge={backend: litellm, model: openai/gpt-4o-mini}'",
        ),
    ],
)
def test_what_cannot_be_used(valor: Valor, arguments: list[object], message: str) -> None:
    done = valor("evaluate", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
