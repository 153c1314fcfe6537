"""`valor report`: a run rendered again."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from pathlib import Path

import pytest
from lxml import etree
from PIL import Image

from tests.cli.conftest import ROOT, Valor
from tests.program import invoke
from tests.reports.check_runs import checked_run
from tests.reports.task_runs import classified
from valor_cli import catalogue, pipeline
from valor_cli.config import load_config
from valor_cli.errors import ConfigError
from valor_cli.reports.run_files import read_run
from valor_cli.reports.writer import IMAGES, content_of, write_reports

CONFIGS = sorted((ROOT / "configs").glob("*.yaml"))
LONG = {"object_detection", "object_detection_nightly", "text_generation_models"}
"""Those whose runs take longest."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a run of two classifiers, as `valor evaluate` left it."""
    out = tmp_path / "run"
    write_reports(classified(("forest", "bayes")), out, ["json", "markdown", "html"])
    return out


@pytest.mark.parametrize(
    "config",
    [pytest.param(path, marks=pytest.mark.slow) if path.stem in LONG else path for path in CONFIGS],
    ids=lambda path: path.stem,
)
def test_a_run_is_rendered_again_to_the_byte(config: Path, tmp_path: Path) -> None:
    plan = pipeline.make_plan(load_config(config, catalogue, ["interval.resamples=5"]))
    result = pipeline.evaluate(plan, command="valor evaluate", limit=20)
    write_reports(result, tmp_path, ["json"])
    again = read_run(str(tmp_path))
    for name in ("markdown", "html", "junit", "csv", "json"):
        assert content_of(again, name) == content_of(result, name), name


def test_without_options_it_prints_and_writes_nothing(valor: Valor, folder: Path) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    done = valor("report", folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("DONE  no gates set")
    assert "forest" in done.stdout
    assert done.stdout.rstrip().endswith("run/results.json")
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_formats_into_the_folder_of_the_run(valor: Valor, folder: Path) -> None:
    old = (folder / "report.md").read_bytes()
    results = (folder / "results.json").read_bytes()
    (folder / "report.md").write_text("stale")
    done = valor("report", folder / "results.json", "--format", "markdown,csv,junit")
    assert (done.returncode, done.stderr) == (0, "")
    files = [folder / name for name in ("report.md", "results.csv", "junit.xml")]
    assert done.stdout.split() == list(map(str, files))
    assert files[0].read_bytes() == old
    rows = list(csv.DictReader(io.StringIO(files[1].read_text(), newline="")))
    assert len(rows) == len(json.loads(results)["metrics"])
    assert etree.parse(files[2]).getroot().tag == "testsuites"
    assert (folder / "results.json").read_bytes() == results
    assert valor("report", folder, "--format", "json").returncode == 2


def test_another_folder_gets_all_of_it(valor: Valor, folder: Path, tmp_path: Path) -> None:
    done = valor("report", folder, "--out", tmp_path / "plain")
    assert done.returncode == 0, done.stderr
    assert sorted(os.listdir(tmp_path / "plain")) == ["report.html", "report.md"]
    done = valor("report", folder, "--format", "json", "--out", tmp_path / "copy")
    assert done.returncode == 0, done.stderr
    for name in os.listdir(tmp_path / "copy"):
        assert (tmp_path / "copy" / name).read_bytes() == (folder / name).read_bytes()
    # by whatever name: what is read is not written
    (tmp_path / "link").symlink_to(folder)
    done = valor("report", folder, "--format", "json,csv", "--out", tmp_path / "link")
    assert done.returncode == 2
    assert "results.json is the input" in done.stderr


def test_reports_do_not_mix_with_those_of_another_run(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    write_reports(classified(("forest",)), other, ["json", "html"])
    before = {path.name: path.read_bytes() for path in other.iterdir()}
    command = ["report", str(folder), "--format", "html", "--out", str(other)]
    done = invoke(command)
    assert isinstance(done.exception, ConfigError)
    assert "belongs to another run" in str(done.exception)
    assert {path.name: path.read_bytes() for path in other.iterdir()} == before
    # Where no run lies, pages of an earlier rendering go.
    pages = tmp_path / "pages"
    for form, name in (("html,junit", "report.html"), ("markdown", "report.md")):
        done = invoke([*command[:3], form, "--out", str(pages)])
        assert done.exit_code == 0, done.output
        assert (pages / name).is_file()
    assert [path.name for path in pages.iterdir()] == ["report.md"]


def test_a_failed_gate_is_no_failure_of_the_report(valor: Valor, tmp_path: Path) -> None:
    write_reports(checked_run(), tmp_path, ["json"])
    done = valor("report", tmp_path, "--format", "junit", "--out", "-")
    assert (done.returncode, done.stderr) == (0, "")
    assert etree.fromstring(done.stdout.encode()).get("failures") == "2"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "results.json: no such file"),
        ("[1, 2]", "not a results.json of valor: it has no schema_version"),
        ('{"schema_version": 99}', "schema version 99; this valor reads 1"),
        ("half", "results.json:"),
    ],
)
def test_what_cannot_be_read_is_told(
    valor: Valor, folder: Path, content: str | None, told: str
) -> None:
    file = folder / "results.json"
    whole = file.read_text()
    file.unlink()
    if content is not None:
        file.write_text(whole[: len(whole) // 2] if content == "half" else content)
    done = valor("report", folder, "--format", "markdown")
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert ("not JSON" in done.stderr) == (content == "half")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--format", "htm"], "no report format 'htm' (did you mean 'html'?)"),
        (["--format", "csv,markdown", "--out", "-"], "--out - prints one of json, markdown"),
        (["--format", "html", "--out", ""], "expected a folder"),
        (["--chart", "pr_curve"], "--chart needs an output file"),
        (["--chart", "roc_curve", "-o", "a.gif"], "a chart is .svg or .png"),
        (["--chart", "roc_curv", "-o", "a.svg"], "did you mean 'roc_curve'?"),
        (["--chart", "roc_curve", "-o", "a.svg", "--out", "b"], "cannot be combined with --chart"),
        (["--label", "cat"], "--label: needs --chart"),
    ],
)
def test_options_that_cannot_be(valor: Valor, folder: Path, options: list[str], told: str) -> None:
    done = valor("report", folder, *options, cwd=folder)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "a.svg").exists()


def test_an_unwritable_folder(valor: Valor, folder: Path) -> None:
    (folder / "taken").touch()
    done = valor("report", folder, "--format", "csv", "--out", folder / "taken")
    assert done.returncode == 2
    assert "taken: cannot be written" in done.stderr


def test_charts(valor: Valor, folder: Path) -> None:
    listed = valor("report", folder, "--chart", "list").stdout
    names = [line.split()[0] for line in listed.splitlines()]
    assert {"leaderboard", "roc_curve", "reliability"} <= set(names)
    assert "error_breakdown" not in names
    done = valor("report", folder, "--chart", "roc_curve", "-o", folder / "charts" / "roc.svg")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == str(folder / "charts" / "roc.svg")
    drawn = (folder / "charts" / "roc.svg").read_bytes()
    assert etree.fromstring(drawn).tag == "{http://www.w3.org/2000/svg}svg"
    printed = valor("report", folder, "--chart", "roc_curve", "-o", "-")
    assert printed.stdout.strip().encode() == drawn.strip()
    done = valor("report", folder, "--chart", "leaderboard", "-o", "l.png", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "l.png").read_bytes().startswith(b"\x89PNG\r\n")


@pytest.mark.slow
def test_copies_of_images_are_shown_again(valor: Valor, tmp_path: Path) -> None:
    config = {
        "task": "object_detection",
        "data": {"ground_truth": "truth.jsonl", "predictions": "truth.jsonl", "images": "images"},
        "metrics": [{"confusion_matrix": {"score_threshold": 0.5}}],
        "report": {"out": "run", "formats": ["json", "html"], "images": "folder"},
    }
    one = {"label": "cat", "box": [1, 1, 4, 4], "score": 0.9}
    truth = {"image_id": 1, "file_name": "a.jpg", "width": 9, "height": 9, "objects": [one]}
    (tmp_path / "truth.jsonl").write_text(json.dumps(truth))
    (tmp_path / "c.yaml").write_text(json.dumps(config))
    (tmp_path / "images").mkdir()
    Image.new("RGB", (9, 9)).save(tmp_path / "images" / "a.jpg")
    assert valor("evaluate", "c.yaml", cwd=tmp_path).stderr == ""
    (copy,) = (tmp_path / "run" / IMAGES).iterdir()
    for out in ("run", "again"):
        assert valor("report", "run", "--format", "html", "--out", out, cwd=tmp_path).stderr == ""
        page = (tmp_path / out / "report.html").read_text()
        url = f"{IMAGES}/{copy.name}"
        assert (url if out == "run" else f"../run/{url}") in page
    assert copy.exists()


def test_the_examples_of_the_help_run(valor: Valor, tmp_path: Path) -> None:
    for name in ("configs", "sample_data"):
        (tmp_path / name).symlink_to(ROOT / name)
    lines = re.findall(r"^    valor (.+)$", valor("report", "--help").stdout, re.MULTILINE)
    assert [line.split()[0] for line in lines] == ["evaluate", *["report"] * 4]
    fewer = ["--set", "interval.resamples=2", "--out", "reports/object_detection"]
    for line in lines:
        more = fewer if line.startswith("evaluate") else []
        done = valor(*line.split(), *more, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), line
    assert sorted(os.listdir(tmp_path / "again")) == ["junit.xml", "report.html", "results.csv"]
    assert (tmp_path / "curves.svg").read_text().startswith("<svg")
