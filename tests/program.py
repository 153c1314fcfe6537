"""The program in this process: arguments in; what it prints and its exit code out."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from valor_cli.cli import app

ROOT = Path(__file__).parents[1]

READ_AT_START = ("PYTHON", "VALOR_KERNEL", "LC_", "LANG", "TZ", "TMPDIR", "_VALOR_COMPLETE")
"""How the variables begin that take effect only where a process starts."""

Done = subprocess.CompletedProcess[str]


def run(*arguments: object, cwd: Path, environment: Mapping[str, str] | None = None) -> Done:
    """Run `valor` here: no terminal, nothing to read, no colour, warnings are errors.

    Args:
        arguments: Of the command line.
        cwd: The folder it runs in.
        environment: The whole of its variables; None: those of the tests.
    """
    asked = ["valor", *map(str, arguments)]
    out, err = (_Stream(errors="strict"), _Stream(errors="backslashreplace"))
    with (
        _state(asked, cwd, os.environ if environment is None else environment),
        open(os.devnull, encoding="utf-8") as nothing,
    ):
        sys.stdin, sys.stdout, sys.stderr = nothing, out, err
        try:
            app._run()
        except SystemExit as end:
            code = end.code
    if isinstance(code, str):
        print(code, file=err)
    returned = code if isinstance(code, int) else 0 if code is None else 1
    return subprocess.CompletedProcess(asked, returned, out.text(), err.text())


def invoke(arguments: Sequence[str], **options: Any) -> Any:
    """Run a command of `valor` here by Typer's runner, which keeps the exception of a bug."""
    return CliRunner().invoke(app._called(arguments), arguments, **options)


def run_process(
    *arguments: object,
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    stdin: str | None = None,
) -> Done:
    """Run `valor` as a process of its own, in the same way."""
    given = os.environ if environment is None else environment
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "valor_cli", *map(str, arguments)],
        cwd=cwd,
        stdin=subprocess.DEVNULL if stdin is None else None,
        input=stdin,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
        check=False,
        env={**given, "PYTHONPATH": given.get("PYTHONPATH", str(ROOT))},
    )


def plain(line: str) -> list[str]:
    """The arguments of a line `valor …` that asks the shell for nothing else; empty: it does."""
    if not line.startswith("valor ") or set("$`*?~#\\\n") & set(line):
        return []
    words = list(shlex.shlex(line, posix=True, punctuation_chars=True))
    if any(set(word) <= set("();<>|&") for word in words):
        return []
    return shlex.split(line)[1:]


class _Stream(TextIOWrapper):
    """A standard stream that is a pipe."""

    def __init__(self, errors: str) -> None:
        self._bytes = BytesIO()
        super().__init__(self._bytes, encoding="utf-8", errors=errors)

    def text(self) -> str:
        """What was written so far."""
        self.flush()
        return self._bytes.getvalue().decode(errors="replace").replace("\r\n", "\n")


@contextmanager
def _state(argv: list[str], cwd: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """What belongs to the process, as a new one has it; and after that as it was."""
    signals = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    before = dict(os.environ), Path.cwd(), sys.argv, sys.stdin, sys.stdout, sys.stderr
    environment = dict(environment)
    try:
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(cwd)
        sys.argv = argv
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            # litellm ignores it from its import on, which may have been in an earlier run.
            warnings.filterwarnings("ignore", "Item .* is using the `ReadOnly` qualifier")
            yield
    finally:
        variables, folder, sys.argv, sys.stdin, sys.stdout, sys.stderr = before
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(variables)
        for number, handler in signals.items():
            signal.signal(number, handler)
