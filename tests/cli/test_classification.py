"""Classification as a hostile user runs it: odd files, odd names, odd places."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Evaluate, Valor, configured, read_run, refused, written

TASK = "classification"
GROUND_TRUTH = "sample_id,label,camera\na,cat,1\nb,dog,2\nc,cat,2\n"
WIDE = "sample_id,cat,dog\na,0.75,0.25\nb,0.25,0.75\nc,0.1,0.9\n"
DATA = {"ground_truth": "gt.csv", "predictions": "pr.csv"}
SKIP = {**DATA, "on_invalid": "skip"}
ACCURACY = 2 / 3
"""a and b are right, c is not."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three samples, of which the model has two right."""
    (tmp_path / "gt.csv").write_text(GROUND_TRUTH)
    (tmp_path / "pr.csv").write_text(WIDE)
    configured(tmp_path, TASK, DATA)
    return tmp_path


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(lambda text: "\ufeff" + text, id="byte order mark"),
        pytest.param(lambda text: text.replace("\n", "\r\n"), id="crlf"),
        pytest.param(lambda text: text.replace("\n", "\r"), id="cr"),
        pytest.param(lambda text: text.replace("\n", "\n\n\n"), id="empty lines"),
        pytest.param(lambda text: text.rstrip("\n"), id="no last line end"),
        pytest.param(lambda text: text.replace(",", ";"), id="semicolons"),
        pytest.param(lambda text: text.replace(",", "\t"), id="tabs"),
    ],
)
def test_files_of_other_tools(evaluate: Evaluate, folder: Path, written: Any) -> None:
    (folder / "gt.csv").write_text(written(GROUND_TRUTH), newline="")
    (folder / "pr.csv").write_text(written(WIDE), newline="")
    run = evaluate(DATA)
    assert run.value("accuracy") == ACCURACY
    assert run.result["warnings"] == []


@pytest.mark.parametrize(
    ("score", "accuracy"),
    # 0.111… is below dog's 0.25.
    [("0." + "1" * 400, ACCURACY - 1 / 3), ("1e308", ACCURACY), ("1.5", ACCURACY)],
)
def test_odd_numbers_are_read(
    evaluate: Evaluate, folder: Path, score: str, accuracy: float
) -> None:
    (folder / "pr.csv").write_text(WIDE.replace("0.75", score, 1))
    run = evaluate(DATA, ["accuracy"])
    assert run.value("accuracy") == accuracy
    told = [one for one in run.result["warnings"] if one.startswith("scores of pr outside 0..1: 1")]
    assert bool(told) == (score[0] == "1")


def test_a_threshold_may_name_a_label_that_the_filter_leaves_no_row_of(
    evaluate: Evaluate, folder: Path
) -> None:
    (folder / "long.csv").write_text("sample_id,prediction,score\na,cat,0.75\nb,dog,0.5\n")
    run = evaluate(
        {**DATA, "predictions": "long.csv"},
        [{"counts": {"score_threshold": {"cat": 0.5, "dog": 0.9}}}],
        filter={"sample_id": ["a"]},
    )
    counted = {row["output"]: row["value"] for row in run.rows("counts", label="cat")}
    assert counted == {"tp": 1, "fp": 0, "fn": 0, "tn": 0}


def test_ids_on_one_side_only(evaluate: Evaluate, valor: Valor, folder: Path) -> None:
    (folder / "gt.csv").write_text(GROUND_TRUTH + "".join(f"g{i},cat,1\n" for i in range(7)))
    (folder / "pr.csv").write_text(WIDE + "".join(f"p{i},1,0\n" for i in range(30)))
    done = valor("evaluate", "run.yaml", cwd=folder)
    refused(done, "pr.csv:5: sample_id: no sample 'p0' in gt.csv", "… and 10 more problems")
    assert "look like 'a', 'b', 'c'" in done.stderr
    run = evaluate(SKIP)
    one_side, other_side = sorted(run.result["warnings"])
    assert one_side == (
        "pr.csv: left out, for gt.csv does not have their sample: 30 of 33 rows "
        "('p0', 'p1', 'p10' …); sample ids of the ground truth look like 'a', 'b', 'c'"
    )
    assert "without a prediction of pr, counted as wrong: 7 ('g0', " in other_side
    assert run.value("accuracy") == 2 / 10
    assert [one["skipped"] for one in run.result["run"]["inputs"]] == [0, 30]


def test_invalid_rows_can_be_left_out_and_are_counted(evaluate: Evaluate, folder: Path) -> None:
    (folder / "gt.csv").write_text(GROUND_TRUTH + "a,dog,1\nd,,1\n")
    (folder / "pr.csv").write_text(WIDE + "a,0,1\nb,nan,1\n")
    run = evaluate(SKIP)
    assert run.result["warnings"] == [
        "gt.csv: left out as invalid: 2 of 5 rows",
        "pr.csv: left out as invalid: 2 of 5 rows",
    ]
    assert run.value("accuracy") == ACCURACY


def test_a_huge_id_is_shown_shortened(valor: Valor, folder: Path) -> None:
    (folder / "pr.csv").write_text(WIDE + "x" * 100_000 + ",0,1\n")
    done = valor("evaluate", "run.yaml", cwd=folder)
    refused(done, "pr.csv:5: sample_id: no sample 'xxx")
    assert len(done.stderr) < 2_000


EVIL = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "a|b",
    "`code`",
    "[x](javascript:alert(1))",
    "\x1b[31mred",
    "\x07bell",
    "\u202elive",
    "line\nbreak",
    "--> </style>",
    "חתול",
    "😀",
    "null",
    "=1+1",
]


def test_nothing_in_a_name_is_obeyed(valor: Valor, folder: Path) -> None:
    turned = EVIL[1:] + EVIL[:1]
    written(
        folder / "gt.jsonl",
        [{"sample_id": f"{one}#", "label": one, "camera": one} for one in EVIL],
    )
    written(
        folder / "pr.jsonl",
        [
            {"sample_id": f"{one}#", "predictions": {other: 0.9, one: 0.1}}
            for one, other in zip(EVIL, turned, strict=True)
        ],
    )
    models = dict.fromkeys((EVIL[0], EVIL[5]), "pr.jsonl")
    configured(
        folder,
        TASK,
        {"ground_truth": "gt.jsonl", "predictions": models},
        ["accuracy", "recall", "confusion_matrix", "detailed_pr_curve"],
        slices=["metadata.camera"],
    )
    done = valor("evaluate", "run.yaml", "-v", cwd=folder)
    assert done.returncode == 0, done.stderr
    markdown = (folder / "out" / "report.md").read_text()
    html = (folder / "out" / "report.html").read_text()
    for text in (done.stdout, done.stderr, markdown):
        assert not set(text) & {"\x1b", "\x07", "\u202e"}
    assert "<script>alert" not in html + markdown
    assert "<img src=x" not in html + markdown
    assert "](javascript:" not in markdown.replace("\\](", "")
    assert "--> </style>" not in html
    values = read_run(folder / "out").result["metrics"]
    assert {row["label"] for row in values} == {None, *EVIL}
    (folder / "pr.jsonl").write_text(json.dumps({"sample_id": EVIL[5], "predictions": {}}) + "\n")
    done = valor("evaluate", "run.yaml", cwd=folder)
    assert done.returncode == 2
    assert "no sample '\\x1b[31mred'" in done.stderr


@pytest.mark.parametrize("options", [["--limit", "1"], ["--jobs", "3", "--limit", "1"]])
@pytest.mark.usefixtures("folder")
def test_a_single_sample(evaluate: Evaluate, options: list[str]) -> None:
    run = evaluate(DATA, None, *options)
    assert (run.value("accuracy"), run.result["data"]["samples"]) == (1, 1)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(valor: Valor, folder: Path) -> None:
    (folder / "out").mkdir(mode=0o500)
    done = valor("evaluate", "run.yaml", cwd=folder)
    assert done.returncode == 2
    assert "out/results.json: cannot be written: Permission denied" in done.stderr
    assert list((folder / "out").iterdir()) == []
