"""What makes a short run shorter changes nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.cli.conftest import ROOT, configured, written
from valor_cli.cli.app import COMMANDS, _called, app

CALL = (
    "import sys\n"
    "sys.argv = ['valor', *{arguments}]\n"
    "from valor_cli.cli.app import main\n"
    "try: main()\n"
    "except SystemExit as end: assert not end.code, end.code\n"
)


def said(program: str, cwd: Path = ROOT) -> list[str]:
    """What a process of its own prints; a fault of its end fails too."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=True,
    )
    assert not done.stderr
    return done.stdout.split()


HEAVY = {"pandas", "sklearn", "torch", "pyarrow", "litellm", "shapely", "pycocotools", "scipy"}
MODELS = {"onnxruntime", "tokenizers", "torch", "transformers", "safetensors"}
BASE = {"numpy", "pydantic", "yaml", "jinja2", "msgspec", "orjson"}
JSON = ("evaluate", "run.yaml", "-q", "--format", "json")
REPORTS = ("evaluate", "run.yaml", "-q")
UNUSED: dict[str, tuple[tuple[str, ...], Any, set[str]]] = {
    "help": (("--help",), None, HEAVY | BASE),
    "boxes": (JSON, "mAP", HEAVY | {"jinja2", "rich", "multiprocessing", "asyncio"}),
    "all reports of boxes": (
        REPORTS,
        "coco",
        {
            *("PIL", "xml", "shapely", "pycocotools", "numpy.ma", "rich", "backports"),
            *("valor_cli.data.formats.json.object_writer", "valor_cli.pipeline.streaming"),
            *("valor_cli.pipeline.calibration.calibrate", "valor_cli.pipeline.estimate"),
        },
    ),
    "texts": (JSON, "rouge_l", MODELS | {"sqlite3", "asyncio"}),
    "personal data": (JSON, "pii_leakage", {"asyncio", "sqlite3", "valor_cli.models.session"}),
    "steps": (JSON, {"step_alignment": {"similarity": "edit"}}, MODELS),
    "log-probabilities": (JSON, {"perplexity": {"logprobs": "data"}}, MODELS),
    "a scripted judge": (
        JSON,
        "contact_information",
        {"litellm", "httpx", "openai", "aiohttp"},
    ),
}
"""Arguments, the metric that is asked for, and modules that are not imported."""


@pytest.mark.parametrize("name", UNUSED)
def test_runs_import_no_more_than_they_need(project: Path, name: str) -> None:
    arguments, metric, unused = UNUSED[name]
    task, data = "object_detection", {"ground_truth": "gt.json", "predictions": "dt.json"}
    if name not in ("help", "boxes", "all reports of boxes"):
        one = {"id": "a", "answer": "1. It is.", "reference": "It is.", "contexts": ["1. It is."]}
        written(project / "samples.jsonl", [{**one, "token_logprobs": [-0.5]}])
        task, data = "text_generation", {"samples": "samples.jsonl"}
    written(project / "replies.jsonl", [{"reply": {"verdict": "absent"}}])
    judge = {"backend": "scripted", "replies": "replies.jsonl"}
    more = {"judge": judge} if name == "a scripted judge" else {}
    configured(project, task, data, [metric], **more)
    program = f"{CALL.format(arguments=list(arguments))}print('end', *{unused} & set(sys.modules))"
    assert said(program, project)[-1] == "end"


def test_the_summary_needs_no_names_of_emoji(project: Path) -> None:
    modules = "print('rich.console' in sys.modules, 'rich._emoji_codes' in sys.modules)"
    program = f"{CALL.format(arguments=['evaluate', 'run.yaml'])}{modules}"
    assert said(program, project)[-2:] == ["True", "False"]


def test_one_command_is_read_where_one_is_called() -> None:
    for name in ("evaluate", "compare", "doctor"):
        (only,) = _called([name, "--help"]).registered_commands
        assert only.callback is not None
        assert only.callback.__name__ == name
    for arguments in ([], ["--help"], ["--no-color", "evaluate"], ["cache", "info"], ["evalute"]):
        assert _called(arguments) is app


@pytest.mark.parametrize("command", [one.__name__ for one in COMMANDS])
def test_a_command_says_the_same_alone_and_among_all(command: str) -> None:
    alone, among = (
        CliRunner().invoke(program, [command, "--help"], prog_name="valor").output
        for program in (_called([command]), app)
    )
    assert alone == among
    assert f"valor {command}" in alone


def test_what_was_set_before_stays() -> None:
    program = (
        "import os\n"
        "os.environ |= {'OPENBLAS_NUM_THREADS': '3', 'PYDANTIC_DISABLE_PLUGINS': 'none'}\n"
        "from valor_cli.cli.process_settings import configure_startup\n"
        "configure_startup()\n"
        "print(os.environ['OPENBLAS_NUM_THREADS'], os.environ['PYDANTIC_DISABLE_PLUGINS'])\n"
    )
    assert said(program) == ["3", "none"]


def test_the_collector_still_looks_now_and_then() -> None:
    program = (
        "import gc\n"
        "from valor_cli.cli.process_settings import configure_startup, exit_quickly\n"
        "configure_startup()\n"
        "looks = []\n"
        "gc.callbacks.append(lambda phase, facts: looks.append(phase))\n"
        "kept = [[] for _ in range(450_000)]\n"
        "gc.callbacks.clear()\n"
        "exit_quickly()\n"
        "print(looks.count('stop'), gc.get_freeze_count() > 450_000)\n"
    )
    assert said(program) == ["2", "True"]
