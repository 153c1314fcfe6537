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


def test_pydantic_looks_for_no_plugins() -> None:
    program = (
        "import sys\n"
        "from valor_cli.cli.quick_start import quicken\n"
        "quicken()\n"
        "from pydantic import TypeAdapter\n"
        "print(TypeAdapter(int).validate_python('7'))\n"
        "print(*{'csv', 'email', 'socket', 'zipfile', 'importlib.metadata'} & set(sys.modules))\n"
    )
    assert said(program) == ["7"]


def test_a_run_on_boxes_with_all_reports_imports_what_it_needs(project: Path) -> None:
    program = (
        "import sys\n"
        f"sys.argv = ['valor', 'evaluate', {str(project / 'run.yaml')!r}, '-q']\n"
        "from valor_cli.cli.app import main\n"
        "try: main()\n"
        "except SystemExit as end: print(end.code)\n"
        "print(*{'PIL', 'csv', 'xml', 'shapely', 'pycocotools', 'numpy.ma', 'rich', 'zstandard',\n"
        "        'valor_cli.readers.object_rows', 'valor_cli.pipeline.streaming',\n"
        "        'valor_cli.pipeline.calibrate', 'valor_cli.pipeline.estimate'}\n"
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


def test_a_run_compiles_of_the_classes_what_it_uses(project: Path) -> None:
    program = (
        "import sys\n"
        f"sys.argv = ['valor', 'evaluate', {str(project / 'run.yaml')!r}, '-q']\n"
        "from valor_cli.cli.app import main\n"
        "try: main()\n"
        "except SystemExit as end: print(end.code)\n"
        "classes = {\n"
        "    one for name, module in list(sys.modules.items()) if name.startswith('valor_cli')\n"
        "    for one in vars(module).values()\n"
        "    if isinstance(one, type) and '__dataclass_fields__' in vars(one)\n"
        "    and one.__module__.startswith('valor_cli')\n"
        "}\n"
        "def waits(one, name):\n"
        "    code = getattr(vars(one).get(name), '__code__', None)\n"
        "    return code is not None and code.co_name == 'stand_in'\n"
        "made = [one for one in classes if not waits(one, '__init__')]\n"
        "compared = [one for one in classes if not waits(one, '__setattr__')]\n"
        "print(len(made) < 0.6 * len(classes), len(compared) < 0.1 * len(classes))\n"
    )
    assert said(program) == ["0", "True", "True"]


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


def test_who_asks_for_more_gets_pydantic_s_own() -> None:
    program = (
        "import importlib, sys\n"
        "from valor_cli.cli.quick_start import quicken\n"
        "quicken()\n"
        "import pydantic.plugin\n"
        "loader = importlib.import_module('pydantic.plugin._loader')\n"
        "print(len(tuple(loader.get_plugins())), loader.PYDANTIC_ENTRY_POINT_GROUP)\n"
        "print(hasattr(loader, '__file__'), hasattr(sys.modules[loader.__name__], '__file__'))\n"
    )
    assert said(program) == ["0", "pydantic", "False", "True"]


def test_what_was_set_before_stays() -> None:
    program = (
        "import os\n"
        "os.environ['OPENBLAS_NUM_THREADS'] = '3'\n"
        "import pydantic.plugin._loader as own\n"
        "from valor_cli.cli.quick_start import quicken\n"
        "quicken()\n"
        "import sys\n"
        "print(os.environ['OPENBLAS_NUM_THREADS'], sys.modules[own.__name__] is own)\n"
    )
    assert said(program) == ["3", "True"]


def test_the_collector_still_looks_now_and_then() -> None:
    program = (
        "import gc\n"
        "from valor_cli.cli.quick_start import leave_at_once, quicken\n"
        "quicken()\n"
        "looks = []\n"
        "gc.callbacks.append(lambda phase, facts: looks.append(phase))\n"
        "kept = [[] for _ in range(450_000)]\n"
        "gc.callbacks.clear()\n"
        "leave_at_once()\n"
        "print(looks.count('stop'), gc.get_freeze_count() > 450_000)\n"
    )
    assert said(program) == ["2", "True"]
