"""Settings of the process that make a short run shorter; for the program, not for the package."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from types import ModuleType
from typing import Any, Final

from valor_cli.cli.late_methods import compile_late

YOUNG_OBJECTS: Final = 200_000
"""New objects between two looks of the garbage collector. Python's 700 make it walk the imported
modules over and over: 30 ms of a run's half second. Cycles, what it is there for, are rare here."""

_PLUGINS: Final = "pydantic.plugin._loader"


def quicken() -> None:
    """Before numpy and pydantic are imported."""
    gc.set_threshold(YOUNG_OBJECTS)
    # numpy starts a thread per core that no kernel here uses: half the time of its import.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Even told that there are no plugins, pydantic imports what reads the metadata of packages, and
    # with it email, sockets, zip and csv: 10 ms.
    sys.modules.setdefault(_PLUGINS, _NoPlugins(_PLUGINS))
    compile_late()


def leave_at_once() -> None:
    """Before the process ends: spare it the collector's last look at all there is, 35 ms."""
    gc.freeze()


class _NoPlugins(ModuleType):
    """In place of pydantic's own module; whoever asks for more than the plugins gets that one."""

    @staticmethod
    def get_plugins() -> tuple[()]:
        return ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        sys.modules.pop(_PLUGINS, None)
        return getattr(importlib.import_module(_PLUGINS), name)
