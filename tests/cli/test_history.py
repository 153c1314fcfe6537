"""`valor history`: many runs of one config, from their files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Valor
from tests.oracles.nights import night, written

NIGHTS = (night(1, 10, gate=0.5), night(2, 11, gate=0.5), night(3, 2, gate=0.5))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    written(tmp_path / "nightly", *NIGHTS)
    return tmp_path


def test_a_terminal_names_the_first_bad_run(valor: Valor, folder: Path) -> None:
    done = valor("history", "nightly", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    first, *rest = done.stdout.splitlines()
    assert first == "FIRST BAD RUN  2026-03-03 02:30 · night-2"
    # Nine of twelve samples turn wrong: p = 2 / 2^9.
    told = " ".join(" ".join(rest).split())
    assert "1 gate failed; 1 value worse than the run before" in told
    assert "last run 2026-03-03 02:30: ✗ failed, 1 bad value" in told
    (line,) = (one for one in done.stdout.splitlines() if one.startswith("exact_match"))
    assert re.search("██▁ +0.167  ≥ 0.500 ✗", line)
    assert "−0.750 ✗ worse, p 0.004" in line
    assert list(folder.iterdir()) == [folder / "nightly"]


def test_files(valor: Valor, folder: Path) -> None:
    done = valor("history", "nightly", "--out", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (folder / "out").iterdir()} == {
        "history.json",
        "history.md",
        "history.html",
    }
    assert "Report  out/history.json" in done.stdout
    told = json.loads((folder / "out" / "history.json").read_text())
    assert [run["path"] for run in told["runs"]] == [f"nightly/night-{at}" for at in range(3)]
    assert told["first_bad"] == 2
    # Rows are flat but for their parameters, and all have the same keys.
    assert len({tuple(row) for row in told["rows"]}) == 1
    nested = {key for row in told["rows"] for key, one in row.items() if isinstance(one, dict)}
    assert nested == {"parameters"}
    # Those of an earlier history would pass for this one's.
    assert valor("history", "nightly", "--out", "out", "--format", "json", cwd=folder).stdout
    assert [path.name for path in (folder / "out").iterdir()] == ["history.json"]
    assert valor("history", "nightly", "--out", "out", "-q", cwd=folder).stdout == ""


def test_one_report_is_printed(valor: Valor, folder: Path) -> None:
    told = json.loads(valor("history", "nightly", "--format", "json", cwd=folder).stdout)
    again = valor("history", "nightly", "--format", "json", "--out", "-", cwd=folder).stdout
    assert told == json.loads(again)
    shown = valor("history", "nightly", "--format", "markdown", cwd=folder).stdout
    assert shown.startswith("## ✗ FIRST BAD RUN")
    few = valor("history", "nightly", "--last", "2", "--format", "json", cwd=folder).stdout
    assert len(json.loads(few)["runs"]) == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["none"], "none: no such file"),
        (["nightly", "--format", "html"], "html is a file"),
        (["nightly", "--format", "json,markdown"], "several formats are files"),
        (["nightly", "--format", "htm", "--out", "x"], "did you mean 'html'"),
        (["nightly", "--out", ""], "expected a folder"),
        (["nightly", "--metric", "exact_mach"], "did you mean 'exact_match'"),
        (["nightly", "--model", "n"], "no run has 'n'"),
        (["nightly", "--explore", "night-0", "night-2"], "--explore: html shows samples"),
        (["nightly", "--out", "x", "--explore", "night-0", "nigt-2"], "did you mean 'night-2'"),
    ],
)
def test_what_cannot_be_shown(valor: Valor, folder: Path, arguments: list[str], told: str) -> None:
    done = valor("history", *arguments, cwd=folder)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert list(folder.iterdir()) == [folder / "nightly"]


@pytest.mark.parametrize(
    ("asked", "shown", "told"),
    [
        ([], ["night-1", "night-2"], ", the run before the first bad one and that"),
        (["--explore", "night-0", "night-2"], ["night-0", "night-2"], ""),
        (["--explore", "nightly/night-2", "night-1"], ["night-2", "night-1"], ""),
    ],
)
def test_samples_of_two_runs(
    valor: Valor, folder: Path, asked: list[str], shown: list[str], told: str
) -> None:
    done = valor("history", "nightly", "--out", "out", *asked, cwd=folder)
    assert done.returncode == 0, done.stderr
    page = (folder / "out" / "history.html").read_text()
    assert f"{' and '.join(shown)}{told}<" in page
    models = re.search(r'"models":\[([^]]*)\]', page)
    assert models is not None
    assert re.findall(r'"(night-.) ', models[1]) == shown


def test_a_name_of_two_runs(valor: Valor, folder: Path) -> None:
    written(folder / "again", night(4, 3))
    runs = ["nightly", "again", "--out", "out", "--explore"]
    done = valor("history", *runs, "night-0", "night-2", cwd=folder)
    assert done.returncode == 2
    assert "--explore: 2 runs are called 'night-0'" in done.stderr
    done = valor("history", *runs, "nightly/night-0", "again/night-0", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "1 and 4<" in (folder / "out" / "history.html").read_text()


def test_runs_of_two_tasks(valor: Valor, folder: Path) -> None:
    written(folder / "other", night(4, 3, task="classification"))
    done = valor("history", "nightly", "other", cwd=folder)
    assert done.returncode == 2
    assert "other/night-0: a run of classification; nightly/night-0 is one of" in done.stderr
