"""`valor compare`: two runs and the models of one, from their files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Valor, written

CONFIG = """\
task: text_generation
data: {samples: samples.jsonl}
metrics: [exact_match, token_f1]
report: {formats: [json]}
"""


def _evaluated(valor: Valor, folder: Path, name: str, right: dict[str, int], count: int) -> None:
    """A run of `count` samples, of which each model answers the first `right` ones."""
    lines = [
        {
            "sample_id": f"s{at}",
            "model": model,
            "user_input": f"question {at}",
            "response": f"answer {at}" if at < known else "no idea at all",
            "reference": f"answer {at}",
        }
        for model, known in right.items()
        for at in range(count)
    ]
    written(folder / "samples.jsonl", lines)
    (folder / "run.yaml").write_text(CONFIG)
    done = valor("evaluate", "run.yaml", "--out", name, "-q", cwd=folder)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compared")


@pytest.fixture
def runs(valor: Valor, folder: Path) -> Path:
    """A folder with the runs `before` and `after` of one model, and `both` of two."""
    if not (folder / "both").exists():
        _evaluated(valor, folder, "before", {"m": 40}, 50)
        _evaluated(valor, folder, "after", {"m": 20}, 50)
        _evaluated(valor, folder, "both", {"weak": 20, "strong": 40}, 50)
    return folder


def test_a_worse_run_fails_where_that_is_asked(valor: Valor, runs: Path) -> None:
    """20 of 50 samples turn from right to wrong and none the other way: p = 2 · 0.5^20."""
    done = valor(*("compare", "before", "after", "--fail-on-worse", "--out", "out/here"), cwd=runs)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("WORSE  2 of 2 headline values\n")
    assert "s20" in done.stdout
    assert sorted(path.name for path in (runs / "out/here").iterdir()) == [
        "compared.html", "compared.json", "compared.md",
    ]  # fmt: skip
    found = json.loads((runs / "out/here/compared.json").read_text())
    exact = next(row for row in found["comparisons"] if row["metric"] == "exact_match")
    assert (exact["value"], exact["other_value"]) == (0.4, 0.8)
    assert (exact["wins"], exact["losses"], exact["ties"]) == (0, 20, 30)
    assert exact["p"] == pytest.approx(2 * 0.5**20)
    assert found["worse"] is True
    assert "<b>answer 20</b>" in (runs / "out/here/compared.md").read_text()


def test_the_other_way_round_nothing_fails(valor: Valor, runs: Path) -> None:
    done = valor("compare", "after/results.json", "before", "--fail-on-worse", "-q", cwd=runs)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_models_of_one_run_as_json(valor: Valor, runs: Path) -> None:
    done = valor("compare", "both", "--out", "-", cwd=runs)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["pairs"] == [["strong", "weak"]]
    assert {row["verdict"] for row in found["comparisons"] if row["p_adjusted"]} == {"better"}
    chosen = valor("compare", "before", "both", "--model", "weak=m", "--out", "-", cwd=runs)
    assert json.loads(chosen.stdout)["pairs"] == [["weak", "m"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("before", "nowhere"), "nowhere: no such file"),
        (("before",), "one model alone"),
        (("before", "both"), "no model has the same name in both"),
        (("before", "after", "--model", "m"), "--model: expected B=A, found 'm'"),
        (("before", "after", "--format", "html"), "--format: files need a folder"),
        (("before", "after", "--out", "x", "--format", "htm"), "(did you mean 'html'?)"),
        (("before", "after", "--out", "-", "--format", "html"), "prints json only"),
    ],
)
def test_what_cannot_be_compared_is_told(
    valor: Valor, runs: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = valor("compare", *arguments, cwd=runs)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert not (runs / "x").exists()


def test_nothing_to_compare_is_no_proof_that_nothing_is_worse(
    valor: Valor, runs: Path, tmp_path: Path
) -> None:
    whole = json.loads((runs / "before" / "results.json").read_bytes())
    whole |= {"metrics": [], "coverage": [], "examples": []}
    (tmp_path / "results.json").write_text(json.dumps(whole))
    done = valor("compare", "before", tmp_path, "--fail-on-worse", cwd=runs, GITHUB_ACTIONS="true")
    assert done.returncode == 2
    assert "--fail-on-worse: the runs have no value in common" in done.stderr
    # Nor is a value that lies lower, and that nothing is there to test.
    whole = json.loads((runs / "after" / "results.json").read_bytes())
    (tmp_path / "results.json").write_text(json.dumps(whole))
    untested = valor("compare", "before", tmp_path, "--fail-on-worse", cwd=runs)
    assert untested.returncode == 2
    assert (
        "--fail-on-worse: exact_match 0.800 → 0.400 was not tested: no mean of" in untested.stderr
    )
    # In GitHub Actions what stands in the summary is no command, whatever samples are called.
    first, second, *_, last = done.stdout.splitlines()
    assert first == f"::stop-commands::{last.strip(':')}"
    assert second.startswith("NOTHING TO COMPARE")


def test_a_run_without_its_samples_is_compared_by_its_values(
    valor: Valor, runs: Path, tmp_path: Path
) -> None:
    shutil.copy(runs / "before" / "results.json", tmp_path / "results.json")
    done = valor("compare", tmp_path, "after", cwd=runs)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("NOT TESTED  2 of 2 headline values\n")
