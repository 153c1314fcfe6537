"""Print answers to stdout and messages to stderr; colour only on a terminal."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from io import StringIO
from typing import TYPE_CHECKING, TextIO

import typer

from valor_cli.errors import Problem, ValorError
from valor_cli.masking import masked_bytes, without_kept, without_secrets

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress as Bar

_COLUMN = re.compile(r" *(?:\S+ {2,}|[*•] \S+ {2,})?")
"""The beginning of a line up to its second column, or up to its words."""

SILENT_S = 1.0
"""Work shorter than this shows no progress."""


def command_line() -> str:
    """The command line, for the record."""
    return shlex.join(["valor", *sys.argv[1:]])


def say(answer: str | bytes, *, end: str = "\n") -> None:
    """Print an answer to stdout; a closed pipe is not an error.

    Raises:
        ValorError: The answer cannot be written (a full disk).
    """
    if sys.stdout is None:
        return  # closed by the caller
    answer = masked_bytes(answer) if isinstance(answer, bytes) else without_kept(answer)
    try:
        if isinstance(answer, bytes):
            sys.stdout.flush()
            sys.stdout.buffer.write(answer)
        else:
            typer.echo(answer + end, nl=False)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
    except OSError as error:
        _drop_output()
        raise ValorError(Problem("standard output", error.strerror or str(error))) from None


def _drop_output() -> None:
    """Discard buffered output, on which the interpreter would fail at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def width_of(stream: TextIO | None) -> int | None:
    """The columns of a terminal; None where a stream is none."""
    return shutil.get_terminal_size().columns if stream is not None and stream.isatty() else None


def folded(text: str, stream: TextIO | None = None) -> str:
    """Text whose lines are folded between words to the width of a terminal, and there alone.

    What follows is indented like the words behind the last wide gap of the line's beginning.

    Args:
        text: Any number of lines.
        stream: Where it goes; None: standard output.
    """
    width = width_of(stream or sys.stdout)
    if width is None:
        return text
    return "\n".join(map(partial(_folded, width), text.split("\n")))


def _folded(width: int, line: str) -> str:
    if len(line) <= width:
        return line
    found = _COLUMN.match(line)
    indent = min(found.end() if found else 0, width // 2)
    lines = textwrap.wrap(
        line[indent:], width - indent, break_long_words=False, break_on_hyphens=False
    )
    return line[:indent] + f"\n{' ' * indent}".join(lines)


def to_terminal(answer: RenderableType) -> None:
    """Print a rich renderable to stdout, plain if it is not a terminal."""
    from rich.console import Console
    from rich.measure import Measurement

    # No text is meant to hold emoji by name, and the list of them alone takes 3 ms to import.
    out = Console(file=sys.stdout, emoji=False)
    text = StringIO()
    # A pipe has no width of its own; and no digit of a table may be cut off to make it fit.
    width = out.width if out.is_terminal else max(out.width, 100)
    width = max(width, Measurement.get(out, out.options.update(width=1_000), answer).minimum)
    console = Console(
        file=text,
        force_terminal=out.is_terminal,
        color_system=out.color_system,  # type: ignore[arg-type]  # rich's own name of it
        no_color=out.no_color,
        width=width,
        highlight=False,
        emoji=False,
    )
    console.print(answer)
    say(text.getvalue(), end="")


def warn(text: str) -> None:
    """Print a warning to stderr."""
    typer.echo(folded(without_secrets(f"warning: {text}"), sys.stderr), err=True)


class Messages:
    """Verbosity, and the progress of long work."""

    def __init__(self, *, quiet: bool, verbose: bool) -> None:
        self.quiet = quiet
        self.verbose = verbose

    def say(self, text: str) -> None:
        """Print a plain line."""
        if not self.quiet:
            say(text)

    def tell(self, text: str) -> None:
        """Print a plain line beside the answer, on stderr."""
        if not self.quiet:
            typer.echo(folded(without_secrets(text), sys.stderr), err=True)

    @contextmanager
    def progress(self) -> Iterator[_Stages]:
        """Show progress; yields a function that reports the stage."""
        stages = _Stages(
            shown=not self.quiet and sys.stderr is not None and sys.stderr.isatty(),
            timed=self.verbose and not self.quiet,
        )
        try:
            yield stages
        finally:
            stages.stop()


class _Stages:
    """Shows a progress bar on a terminal after a second of work, and times stages."""

    def __init__(self, *, shown: bool, timed: bool) -> None:
        self.shown = shown
        self.timed = timed
        self.started = self.since = time.perf_counter()
        self.stage = ""
        self.bar: Bar | None = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.perf_counter()
        if stage != self.stage:
            self._tell(now)
            self.stage, self.since = stage, now
        if self.shown and now - self.started > SILENT_S:
            self._draw(stage, done, total)

    def _draw(self, stage: str, done: int, total: int) -> None:
        if self.bar is None:
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                Progress,
                TextColumn,
                TimeRemainingColumn,
            )

            self.bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[rate]}"),
                TextColumn("{task.fields[memory]}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self.bar.start()
        rate = f"{done / (time.perf_counter() - self.since):,.0f}/s" if total and done else ""
        if not self.bar.tasks or self.bar.tasks[-1].description != stage:
            for task in self.bar.task_ids:
                self.bar.remove_task(task)
            self.bar.add_task(stage, rate="", memory="")
        self.bar.update(
            self.bar.task_ids[-1],
            completed=done,
            total=total or None,
            rate=rate,
            memory=memory_in_use(),
        )

    def _tell(self, now: float) -> None:
        if self.timed and self.stage:
            told = (f"{now - self.since:.2f} s", memory_in_use())
            typer.echo(f"{self.stage}: {', '.join(filter(None, told))}", err=True)

    def stop(self) -> None:
        """Take the bar away."""
        self._tell(time.perf_counter())
        if self.bar is not None:
            self.bar.stop()


def memory_in_use() -> str:
    """Current memory use of this process, "212 MB"; its peak or empty if unknown."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            used = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        if sys.platform == "win32":
            return ""
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        # The one number has two units.
        used = most if sys.platform == "darwin" else most * 1024
    return f"{used / 1e6:,.0f} MB"
