"""Inputs that memory or time is not enough for, and ends that no command expects."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from math import cos, sin, tau
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Valor, configured, refused, written
from valor_cli.cli import app
from valor_cli.data.source import files

DATA = {"ground_truth": "gt.jsonl", "predictions": "dt.jsonl"}


@pytest.mark.parametrize(
    "error",
    [
        MemoryError,
        lambda: RuntimeError("std::bad_alloc"),
        lambda: SystemError("error return without exception set"),
    ],
)
@pytest.mark.parametrize("broken", ["gt.jsonl", "dt.jsonl"])
def test_no_memory_is_told_with_the_file(
    error: Callable[[], Exception],
    broken: str,
    valor: Valor,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    row = {"image_id": "1", "objects": [{"label": "a", "box": [0, 0, 1, 1], "score": 1}]}
    for name in DATA.values():
        written(tmp_path / name, [row])
    configured(tmp_path, "object_detection", DATA)
    whole = files.TextSource.chunks

    def chunks(self: files.TextSource, size: int = files.CHUNK) -> object:
        if self.path == broken:
            raise error()
        return whole(self, size)

    monkeypatch.setattr(files.TextSource, "chunks", chunks)
    done = valor("evaluate", "run.yaml", cwd=tmp_path)
    refused(done, "shards/*.jsonl")
    assert done.stderr.startswith(f"error: {broken}: out of memory\n")


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ("evaluate run.yaml", "or set `geometry: mask`"),
        ("evaluate run.yaml --set geometry=rotated_box", "or set `geometry: mask`"),
        ("convert gt.jsonl gt.json", "or convert to masks"),
    ],
)
def test_a_polygon_that_would_take_too_long_is_named(
    command: str, hint: str, valor: Valor, tmp_path: Path
) -> None:
    star = [100 * of(tau * 50 * at / 101) for at in range(101) for of in (cos, sin)]
    square: list[Any] = [0, 0, 9, 0, 9, 9]
    for name, polygon in (("gt.jsonl", star), ("dt.jsonl", square)):
        rows = [
            {"image_id": at, "objects": [{"label": "a", "polygon": [one], "score": 1}]}
            for at, one in enumerate((square, polygon))
        ]
        written(tmp_path / name, rows)
    configured(tmp_path, "instance_segmentation", DATA)
    done = valor(*command.split(), cwd=tmp_path)
    refused(done)
    said = "error: gt.jsonl:2: polygon: too many of its edges cross, or lie beside"
    assert done.stderr.startswith(said)
    assert done.stderr.endswith(f"{hint}\n")


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (
            OSError(5, "Input/output error", "report.css"),
            2,
            (
                "error: report.css: the system says: Input/output error\n"
                "check the disk and its permissions, then run it again\n"
            ),
        ),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (TypeError("not JSON serializable"), 130, "interrupted\n"),  # as orjson hides one
    ],
)
def test_what_happens_before_a_command_and_in_libraries_is_told_without_a_traceback(
    error: BaseException,
    code: int,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def broken() -> None:
        raise error from KeyboardInterrupt() if isinstance(error, TypeError) else None

    monkeypatch.setattr(app, "check_kernel", broken)
    monkeypatch.setattr(app, "configure_startup", lambda: None)
    monkeypatch.setattr(app, "exit_quickly", lambda: None)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    with pytest.raises(SystemExit) as ended:
        app.main()
    assert (ended.value.code, capsys.readouterr().err) == (code, told)
