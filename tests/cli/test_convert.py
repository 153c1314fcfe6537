"""`valor convert` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Shell, Valor


def test_a_file(valor: Valor, project: Path) -> None:
    done = valor("convert", "gt.json", "gt.csv", cwd=project)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert done.stderr == (
        "warning: CSV holds no metadata: 'weather' of 2 images is lost\n"
        "warning: CSV holds no category ids: 2 are lost\n"
        "wrote 2 ground truths of 2 images to gt.csv (csv)\n"
    )
    assert (project / "gt.csv").read_text() == (
        "image_id,label,x,y,width,height,id,area\n"
        "1,cat,0.0,0.0,10.0,10.0,1,100.0\n"
        "2,dog,5.0,5.0,10.0,10.0,2,100.0\n"
    )


def test_warnings_stand_on_stderr(valor: Valor, project: Path) -> None:
    done = valor(
        "convert", "dt.json", "-", "--to", "jsonl", "--ground-truth", "gt.json", cwd=project
    )
    assert [json.loads(line)["image_id"] for line in done.stdout.splitlines()] == [1, 2]
    *warnings, last = done.stderr.splitlines()
    assert all(line.startswith("warning: ") for line in warnings)
    assert last == "wrote 2 detections of 2 images to standard output (jsonl)"


def test_a_pipe(shell: Shell, project: Path) -> None:
    done = shell(
        "set -o pipefail; valor convert gt.json - --to jsonl 2>&- "
        "| valor convert - gt2.json --from jsonl --role ground_truth",
        project,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads((project / "gt2.json").read_text())
    assert [each["name"] for each in document["categories"]] == ["cat", "dog"]
    assert [each["bbox"] for each in document["annotations"]] == [[0, 0, 10, 10], [5, 5, 10, 10]]


def test_nothing_is_replaced_unasked(valor: Valor, project: Path) -> None:
    before = (project / "dt.json").read_text()
    done = valor("convert", "gt.json", "dt.json", cwd=project)
    assert done.returncode == 2
    assert done.stderr == "error: dt.json: exists already\nreplace it with --force\n"
    assert (project / "dt.json").read_text() == before
    assert valor("convert", "gt.json", "dt.json", "--force", cwd=project).returncode == 0
    assert (project / "dt.json").read_text() != before


def test_what_cannot_be(valor: Valor, project: Path) -> None:
    unknown = valor("convert", "gt.json", "out", "--to", "cocoo", cwd=project)
    assert unknown.returncode == 2
    assert "--to: no format 'cocoo' (did you mean 'coco'?)" in unknown.stderr
    missing = valor("convert", "no.json", "out.csv", cwd=project)
    assert missing.returncode == 2
    assert "no.json: no such file" in missing.stderr
    nowhere = valor("convert", "gt.json", "no/out.csv", cwd=project)
    assert nowhere.returncode == 2
    assert "there is no folder 'no'; make it first" in nowhere.stderr
    for done in (unknown, missing, nowhere):
        assert done.stdout == ""
        assert "Traceback" not in done.stderr


def test_hints_name_options(valor: Valor, project: Path) -> None:
    document = json.loads((project / "gt.json").read_text())
    document["annotations"][0]["bbox"][2] = -1
    (project / "bad.json").write_text(json.dumps(document))
    done = valor("convert", "bad.json", "out.csv", cwd=project)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0].startswith("error: bad.json: annotations[0].bbox[2]: ")
    assert "set --on-invalid skip to leave them out" in done.stderr
    assert not (project / "out.csv").exists()
    skipped = valor("convert", "bad.json", "out.csv", "--on-invalid", "skip", cwd=project)
    assert skipped.returncode == 0
    assert "warning: bad.json: left out as invalid: 1 of 2 rows\n" in skipped.stderr
