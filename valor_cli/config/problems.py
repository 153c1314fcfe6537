"""Collect the problems of one config and raise them as one error."""

from __future__ import annotations

import re
from typing import TypeAlias

from msgspec import Struct

from valor_cli.errors import ConfigError, Problem, printable

TreePath: TypeAlias = tuple[str | int, ...]

LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


class Position(Struct, frozen=True, order=True):
    """A line and a column, both counted from 1."""

    line: int
    column: int

    @classmethod
    def after(cls, text: str) -> Position:
        """The position of the character after this text."""
        lines = LINE_BREAK.split(text)
        return cls(len(lines), len(lines[-1]) + 1)


NOWHERE = Position(0, 0)
"""The position of everything in a config given as a mapping, not as a file."""


class Problems:
    """Problems of a config file and its overrides."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._found: list[tuple[Position | None, Problem]] = []

    def __len__(self) -> int:
        return len(self._found)

    def note(self, at: Position | None, path: TreePath, message: str) -> None:
        """Record a problem at a place in the file, or of an override if `at` is None."""
        self._found.append((at, Problem(place(self._file, at, path), message)))

    def error(self) -> ConfigError:
        """All problems as one error, without duplicates, in file order, overrides last."""
        ordered = sorted(self._found, key=lambda found: (found[0] is None, found[0] or ()))
        return ConfigError(tuple(dict.fromkeys(problem for _, problem in ordered)))


def place(file: str, at: Position | None, path: TreePath) -> str:
    """`file:line:column: dotted.path`; `--set dotted.path` for an override."""
    if at is None:
        return f"--set {dotted(path)}" if path else "--set"
    words = f": {dotted(path)}" if path else ""
    lines = "" if at is NOWHERE else f":{at.line}:{at.column}"
    return f"{on_one_line(file, 1000)}{lines}{words}"


def dotted(path: TreePath) -> str:
    """A path as shown in messages, `metrics.1.iou_thresholds`."""
    return ".".join(on_one_line(str(part)) for part in path)


def quoted(text: str) -> str:
    """A user's text on one line, quoted, shortened, control characters escaped."""
    return f"'{on_one_line(text)}'"


def on_one_line(text: str, longest: int = 60) -> str:
    """Text on one line without control characters, shortened."""
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    return printable(cut)
