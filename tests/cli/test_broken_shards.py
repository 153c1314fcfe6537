"""A broken file among a hundred, as a user meets it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from tests.cli.conftest import Valor, read_run

CONFIG = """\
task: classification
metrics: [accuracy]
data: {samples: shards/*}
"""
SKIP = ("--set", "data.on_invalid=skip")


def shards(folder: Path) -> None:
    """Of 300 samples, three a file, each third is predicted wrong; three files are broken.

    One is cut off, one has no text, and one has a row that is wrong.
    """
    (folder / "shards").mkdir()
    (folder / "run.yaml").write_text(CONFIG)
    for at in range(100):
        rows = (
            {"sample_id": f"{at}-{row}", "label": "cat", "prediction": "dog" if row == 2 else "cat"}
            for row in range(3)
        )
        text = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
        (folder / f"shards/{at:02}.jsonl.gz").write_bytes(gzip.compress(text, mtime=0))
    whole = (folder / "shards/17.jsonl.gz").read_bytes()
    (folder / "shards/17.jsonl.gz").write_bytes(whole[:-9])
    (folder / "shards/42.jsonl.gz").write_bytes(b"")
    text = gzip.decompress((folder / "shards/80.jsonl.gz").read_bytes()).replace(b'"80-1"', b"[]")
    (folder / "shards/80.jsonl.gz").write_bytes(gzip.compress(text, mtime=0))


def test_all_that_is_broken_is_told_at_once(valor: Valor, tmp_path: Path) -> None:
    shards(tmp_path)
    done = valor("evaluate", "run.yaml", "--out", "out", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    lines = done.stderr.split("\n")
    assert lines[0].startswith("error: shards/17.jsonl.gz: the gzip file is damaged or cut off (")
    assert lines[1].strip() == "shards/42.jsonl.gz: the file is empty"
    assert lines[2].strip().startswith("shards/80.jsonl.gz:2: sample_id: expected ")
    assert lines[3].strip() == "These are in 3 of the 100 files of shards/*."
    assert lines[4].strip().startswith("Fix these files, or set `on_invalid: skip` under `data:`")
    assert not (tmp_path / "out").exists()


def test_the_others_are_not_lost(valor: Valor, tmp_path: Path) -> None:
    shards(tmp_path)
    done = valor("evaluate", "run.yaml", "--out", "out", *SKIP, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = read_run(tmp_path / "out").result
    # 98 files; of one of them the second row is left out, which was right.
    assert result["data"]["samples"] == 98 * 3 - 1
    assert result["metrics"][0]["value"] == (98 * 2 - 1) / (98 * 3 - 1)
    start = "left out: 2 of 100 files: shards/17.jsonl.gz: the gzip file is damaged or cut off ("
    assert result["warnings"][0].startswith(start)
    assert "; shards/42.jsonl.gz: the file is empty" in result["warnings"][0]
    files = {file["path"]: file for file in result["run"]["inputs"]}
    assert len(files) == 100
    assert files["shards/42.jsonl.gz"]["left_out"] == "the file is empty"
    assert files["shards/42.jsonl.gz"]["rows"] is None
    assert files["shards/80.jsonl.gz"]["skipped"] == 1
    assert "left out: 2 of 100 files" in done.stdout
    report = (tmp_path / "out/report.html").read_text()
    assert "left out: 2 of 100 files" in report
    assert report.count(">left out<") == 2
