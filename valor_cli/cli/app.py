"""The `valor` program: its commands, exit codes and signals."""

from __future__ import annotations

import _thread
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache as cached
from io import TextIOWrapper
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand
from typer.main import get_command

from valor_cli import __version__
from valor_cli.cli.cache import cache
from valor_cli.cli.calibrate import calibrate
from valor_cli.cli.compare import compare
from valor_cli.cli.convert import convert
from valor_cli.cli.doctor import doctor
from valor_cli.cli.estimate import estimate
from valor_cli.cli.evaluate import evaluate
from valor_cli.cli.github import print_error
from valor_cli.cli.history import history
from valor_cli.cli.init import init
from valor_cli.cli.kernel_choice import check_kernel
from valor_cli.cli.metrics import metrics
from valor_cli.cli.output import say
from valor_cli.cli.perturb import perturb
from valor_cli.cli.process_settings import configure_startup, exit_quickly
from valor_cli.cli.report import report
from valor_cli.cli.schema import schema
from valor_cli.cli.validate import validate
from valor_cli.errors import Problem, ValorError
from valor_cli.masking import without_secrets

INTERRUPTED, TERMINATED = 130, 143

_PLAIN = re.compile(r"^(?:\{([^{}]+)\}|\[(\[.+\])\])(?:\.{3})?$")
_TYPE = re.compile(r" <(?:list\[str\]|str)>")

COMMANDS = (
    evaluate,
    compare,
    history,
    report,
    validate,
    estimate,
    calibrate,
    convert,
    perturb,
    init,
    metrics,
    schema,
    doctor,
)


def _version(asked: bool) -> None:
    if asked:
        say(f"valor {__version__}")
        raise typer.Exit


def valor(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="No colours.")] = False,
) -> None:
    """Evaluate the outputs of vision and language models from files.

    Files or a YAML config in; a verdict, a report and an exit code out.

    \b
    Example:
      valor evaluate ground_truth.json predictions.json
      valor init object_detection demo
      valor evaluate demo/configs/object_detection.yaml

    Exit codes: 0 all gates passed, 1 a gate failed, 2 the config or an input cannot be used,
    3 incomplete (a gate on coverage, a judge without a reply, a gate that could not be checked),
    4 the budget is reached, 130 interrupted, 143 terminated.
    """
    if no_color:
        os.environ["NO_COLOR"] = "1"


class Command(TyperCommand):
    """A command whose help names its arguments as they are typed: no braces, no types of Python."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """What stands behind the name: "[OPTIONS] CONFIG...", "[OPTIONS] [TASK] [DIR]"."""
        return [_PLAIN.sub(r"\1\2", one) for one in super().collect_usage_pieces(ctx)]

    def get_help(self, ctx: Any) -> str:
        """The help, in whose columns a type leaves its room."""
        text = _TYPE.sub(lambda found: " " * len(found[0]), super().get_help(ctx))
        return "\n".join(map(str.rstrip, text.split("\n")))


@cached
def _program(*commands: Callable[..., None]) -> typer.Typer:
    """The program, with some of its commands."""
    made = typer.Typer(
        name="valor",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    made.callback()(valor)
    for command in commands:
        made.command(cls=Command)(command)
    return made


app = _program(*COMMANDS)
app.add_typer(cache)


def _called(arguments: Sequence[str]) -> typer.Typer:
    """The program with the one command that is called: Typer takes 20 ms to read all of them.

    Where no command stands first all may be asked for: by a help, a completion, a slip of the pen.
    """
    first = [command for command in COMMANDS if arguments[:1] == [command.__name__]]
    return _program(*first) if first else app


@cached
def _read(program: typer.Typer) -> Callable[..., Any]:
    """The program as Click runs it, read once however many runs a process has."""
    return get_command(program)


def main() -> NoReturn:
    """Run the program and exit with its code."""
    sys.unraisablehook = _interrupt_again
    try:
        _run(configure_startup)
    except KeyboardInterrupt:
        # Typer handles it while a command runs; this is before, after, or in a message.
        typer.echo("interrupted", err=True)
        sys.exit(INTERRUPTED)
    finally:
        exit_quickly()


def _run(start: Callable[[], None] = lambda: None) -> NoReturn:
    """Run the command of the arguments, after `start`."""
    try:
        start()
        signal.signal(signal.SIGTERM, _terminate)
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                # A code page without ✓ is no reason to fail.
                stream.reconfigure(errors="replace")
        check_kernel()
        _read(_called(sys.argv[1:]))(prog_name="valor")
    except ValorError as error:
        print_error(error)
        sys.exit(error.exit_code)
    except SystemExit as end:
        if end.code == INTERRUPTED:
            typer.echo("interrupted", err=True)
        raise
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # Rust ends with one that is no Exception
        causes = tuple(_causes(error))
        if any(isinstance(one, KeyboardInterrupt) for one in causes):
            raise KeyboardInterrupt from None
        if (told := _of_machine(causes)) is not None:
            print_error(told)
            sys.exit(told.exit_code)
        import traceback

        # A bug keeps its traceback; Python's own exit code, 1, would say that a gate failed.
        typer.echo(without_secrets(traceback.format_exc()), err=True, nl=False)
        typer.echo("this is a bug in valor; please report it with the lines above", err=True)
        sys.exit(ValorError.exit_code)
    sys.exit(0)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what led to it: libraries hide an interrupt behind an error of their own."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


_NO_MEMORY = ("bad_alloc", "PyObject pointer is null", "can't allocate")
"""What libraries say, where memory runs out, by an error of another name."""


def _of_machine(causes: Sequence[BaseException]) -> ValorError | None:
    """The error for a machine that is out of memory or whose disk fails; None for a bug."""
    for error in causes:
        said = str(error)
        # Inside Python, or Rust, only that something failed may be known.
        unknown = isinstance(error, SystemError) and "exception" in said
        if isinstance(error, MemoryError) or unknown or any(one in said for one in _NO_MEMORY):
            return _out_of_memory(error)
    error = causes[0]
    if isinstance(error, OSError) and error.errno is not None:
        place = "" if error.filename is None else str(error.filename)
        problem = Problem(place, f"the system says: {error.strerror}")
        return ValorError(problem, hint="check the disk and its permissions, then run it again")
    return None


def _out_of_memory(error: BaseException) -> ValorError:
    """The error for a run that is out of memory; geometry libraries report `bad_alloc`."""
    place, frame = "", error.__traceback__
    while frame is not None:
        # What is read is called so wherever files are read; the innermost is the one at fault.
        found = frame.tb_frame.f_locals.get("path")
        place = str(found) if isinstance(found, str | os.PathLike) else place
        frame = frame.tb_next
    return ValorError(
        Problem(place, "out of memory"),
        hint="Evaluate fewer rows (--limit N), split the file into shards (shards/*.jsonl), use "
        "fewer processes (--jobs), or a machine with more memory.",
    )


def _interrupt_again(lost: sys.UnraisableHookArgs) -> None:
    """Python drops an interrupt that comes in a destructor; interrupt what comes after it."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        # From another thread: here it would come before this returns, and be dropped again.
        _thread.start_new_thread(_thread.interrupt_main, ())
    else:
        sys.__unraisablehook__(lost)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    """SIGTERM unwinds like Ctrl-C, so that temporary files are removed."""
    sys.exit(TERMINATED)
