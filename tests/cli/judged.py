"""What a command said and did, held against what it should."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.conftest import Valor


def refused(done: Any, *messages: str, folder: Path | None = None) -> None:
    """Exit 2 with these messages, nothing on standard output, no traceback, nothing written."""
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    for message in messages:
        assert message in done.stderr
    if folder is not None:
        assert not (folder / "out").exists()


def result_of(done: Any) -> Any:
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert done.stderr == ""
    return json.loads(done.stdout)


def complaints(valor: Valor, folder: Path, count: int) -> list[str]:
    """What `valor validate` says of 0.yaml, 1.yaml …, a text for each; one process for all."""
    done = valor("validate", *(f"{number}.yaml" for number in range(count)), cwd=folder)
    refused(done)
    found = done.stderr.split("error: ")[1:]
    assert len(found) == count, done.stderr
    return found
