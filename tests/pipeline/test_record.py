"""What a run records: the commit of its config; and gates beside metrics that show objects."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from valor_cli import catalogue, pipeline
from valor_cli.config import load_config
from valor_cli.pipeline.record import commit_of

FIRST, SECOND = "1" * 40, "2" * 40


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / ".git" / "refs" / "heads").mkdir(parents=True)
    (tmp_path / "configs").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"HEAD": FIRST}, FIRST),
        ({"HEAD": "ref: refs/heads/main\n", "refs/heads/main": f"{FIRST}\n"}, FIRST),
        (
            {"HEAD": "ref: refs/heads/a/b", "packed-refs": f"# pack\n{SECOND} refs/heads/a/b\n"},
            SECOND,
        ),
        ({"HEAD": "ref: refs/heads/none"}, None),
        ({"HEAD": "ref: refs/../../../secret"}, None),
        ({"HEAD": "ref: refs/heads/main", "refs/heads/main": "a secret"}, None),
        ({"HEAD": "\x00\xff"}, None),
        ({}, None),
    ],
)
def test_a_commit(repository: Path, files: dict[str, str], found: str | None) -> None:
    for name, text in files.items():
        path = repository / ".git" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert commit_of(repository / "configs") == found


def test_a_worktree(repository: Path) -> None:
    inside = repository / ".git" / "worktrees" / "w"
    inside.mkdir(parents=True)
    (inside / "HEAD").write_text("ref: refs/heads/side\n")
    (inside / "commondir").write_text("../..\n")
    (repository / ".git" / "refs" / "heads" / "side").write_text(SECOND)
    (repository / "w").mkdir()
    (repository / "w" / ".git").write_text(f"gitdir: {inside}\n")
    assert commit_of(repository / "w") == SECOND


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_as_git_says_it(tmp_path: Path) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    for command in (["init", "-q"], [*who, "commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True, env=environment)
    said = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert commit_of(tmp_path) == said.stdout.strip()


@pytest.mark.parametrize("metric", ["confusion_matrix", "error_breakdown", "image_scores"])
def test_a_gate_beside_a_metric_that_shows_objects(tmp_path: Path, metric: str) -> None:
    # The first image's only object is the last of the file: its row is none of the first image's
    # shard, from which the shape of the result is found.
    box = [0, 0, 10, 10]
    annotations = [
        {"id": at, "image_id": image, "category_id": 1, "bbox": box, "area": 100, "iscrowd": 0}
        for at, image in enumerate((3, 2, 1), 1)
    ]
    truth = {
        "images": [{"id": image, "width": 20, "height": 20} for image in (1, 2, 3)],
        "annotations": annotations,
        "categories": [{"id": 1, "name": "cat"}],
    }
    found = [{"image_id": 1, "category_id": 1, "bbox": [9, 9, 5, 5], "score": 0.9}]
    (tmp_path / "gt.json").write_text(json.dumps(truth))
    (tmp_path / "dt.json").write_text(json.dumps(found))
    path = tmp_path / "run.yaml"
    path.write_text(
        "task: object_detection\ndata: {ground_truth: gt.json, predictions: dt.json}\n"
        f"metrics: [recall, {metric}]\n"
        "gates: [{metric: recall, label: cat, min: 0}]\n"
    )
    plan = pipeline.make_plan(load_config(path, catalogue))
    result = pipeline.evaluate(plan, command="valor")
    assert [gate.status for gate in result.gates] == ["passed"]
    shown = {ref.id for example in result.examples for ref in example.objects}
    assert 3 in shown
