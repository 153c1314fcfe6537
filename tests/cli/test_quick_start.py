"""What makes a short run shorter changes nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


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
        "        'valor_cli.readers.object_rows', 'valor_cli.pipeline.streaming'}\n"
        "      & set(sys.modules))\n"
    )
    assert said(program) == ["0"]


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
