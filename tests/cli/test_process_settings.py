"""What makes a short run shorter changes nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from valor_cli.cli.app import COMMANDS, _called, app


def said(program: str) -> list[str]:
    """What a process of its own prints; a fault of its end fails too."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True
    )
    assert not done.stderr
    return done.stdout.split()


def test_a_run_on_boxes_with_all_reports_imports_what_it_needs(project: Path) -> None:
    program = (
        "import sys\n"
        f"sys.argv = ['valor', 'evaluate', {str(project / 'run.yaml')!r}, '-q']\n"
        "from valor_cli.cli.app import main\n"
        "try: main()\n"
        "except SystemExit as end: print(end.code)\n"
        "print(*{'PIL', 'xml', 'shapely', 'pycocotools', 'numpy.ma', 'rich', 'zstandard',\n"
        "        'valor_cli.data.formats.jsonl.objects', 'valor_cli.pipeline.streaming',\n"
        "        'valor_cli.pipeline.calibration.calibrate', 'valor_cli.pipeline.estimate'}\n"
        "      & set(sys.modules))\n"
    )
    assert said(program) == ["0"]


def test_the_summary_needs_no_names_of_emoji(project: Path) -> None:
    program = (
        "import sys\n"
        f"sys.argv = ['valor', 'evaluate', {str(project / 'run.yaml')!r}]\n"
        "from valor_cli.cli.app import main\n"
        "try: main()\n"
        "except SystemExit as end: print('\\nend', end.code)\n"
        "print('rich.console' in sys.modules, 'rich._emoji_codes' in sys.modules)\n"
    )
    assert said(program)[-4:] == ["end", "0", "True", "False"]


def test_one_command_is_read_where_one_is_called() -> None:
    for name in ("evaluate", "compare", "doctor"):
        (only,) = _called([name, "--help"]).registered_commands
        assert only.callback is not None
        assert only.callback.__name__ == name
    for arguments in ([], ["--help"], ["--no-color", "evaluate"], ["cache", "info"], ["evalute"]):
        assert _called(arguments) is app


@pytest.mark.parametrize("command", [one.__name__ for one in COMMANDS])
def test_a_command_says_the_same_alone_and_among_all(command: str) -> None:
    for option in ("--help", "--not-an-option"):
        alone, among = (
            CliRunner().invoke(program, [command, option], prog_name="valor").output
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
