"""`valor cache`: what the cache of judges' replies holds, and forgetting it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from valor_cli.cli.output import say
from valor_cli.errors import Problem, ValorError

if TYPE_CHECKING:
    from pathlib import Path

    from valor_cli.models.store_report import StoreInfo

cache = typer.Typer(
    name="cache",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="""Show or forget kept replies of judges.

    \b
    They lie in $VALOR_CACHE_DIR, else $XDG_CACHE_HOME/valor, else ~/.cache/valor.

    \b
    Example:
      valor cache info
    """,
)
Format = Annotated[Literal["text", "json"], typer.Option("--format", help="How to print.")]


@cache.command()
def info(format_: Format = "text") -> None:
    """Show how many replies are kept, of whom, since when.

    \b
    Example:
      valor cache info
    """
    from valor_cli.models.store import Store
    from valor_cli.models.store_file import store_path
    from valor_cli.models.store_report import StoreInfo

    path = store_path()
    if _is_there(path):
        with Store.open(path) as store:
            kept = store.info()
    else:
        kept = StoreInfo(path)
    say(_json(_facts(kept)) if format_ == "json" else _told(kept))


@cache.command()
def clear(
    older_than_days: Annotated[
        float | None,
        typer.Option(
            "--older-than-days", metavar="DAYS", min=0, help="Only what is older. Omitted: all."
        ),
    ] = None,
    format_: Format = "text",
) -> None:
    """Forget replies, and what the ledger knows of runs; these cannot be resumed then.

    \b
    Example:
      valor cache clear --older-than-days 30
    """
    from valor_cli.models.store import Store
    from valor_cli.models.store_file import store_path
    from valor_cli.models.store_report import Removed

    path = store_path()
    removed = Removed()
    if _is_there(path):
        with Store.open(path) as store:
            removed = store.clear(older_than_days)
    if format_ == "json":
        numbers = {"replies": removed.replies, "runs": removed.runs, "bytes": removed.bytes}
        say(_json({"path": str(path), "removed": numbers}))
    elif removed.replies or removed.runs:
        what = f"{_count(removed.replies, 'reply', 'replies')}, {_count(removed.runs, 'run')}"
        say(f"{path}: removed {what}, {_size(removed.bytes)}")
    else:
        say(f"{path}: nothing to remove")


def _is_there(path: Path) -> bool:
    """Whether there is a file; one that must not be looked at is no empty cache.

    Raises:
        ValorError: It cannot be told.
    """
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        problem = Problem(str(path), f"cannot be used: {error.strerror or error}")
        raise ValorError(problem, hint="name another folder with VALOR_CACHE_DIR") from error
    return True


def _facts(kept: StoreInfo) -> dict[str, Any]:
    return {
        "path": str(kept.path),
        "replies": kept.replies,
        "bytes": kept.bytes,
        "oldest": _time(kept.oldest),
        "newest": _time(kept.newest),
        "judges": [
            {
                "judge": one.judge,
                "replies": one.replies,
                "oldest": _time(one.oldest),
                "newest": _time(one.newest),
            }
            for one in kept.judges
        ],
        "runs": kept.runs,
        "unfinished": kept.unfinished,
    }


def _told(kept: StoreInfo) -> str:
    if not kept.replies and not kept.runs:
        return f"{kept.path}: empty"
    lines = [f"{kept.path}: {_count(kept.replies, 'reply', 'replies')}, {_size(kept.bytes)}"]
    names = [one.judge or "(no name)" for one in kept.judges]
    width = max(map(len, names), default=0)
    lines += [
        f"  {name:<{width}}  {one.replies:>9,}  {_time(one.oldest)} to {_time(one.newest)}"
        for name, one in zip(names, kept.judges, strict=True)
    ]
    lines.append(f"{_count(kept.runs, 'run')} in the ledger, {kept.unfinished:,} unfinished")
    return "\n".join(lines)


def _json(facts: dict[str, Any]) -> str:
    import json

    return json.dumps(facts, indent=2, allow_nan=False)


def _time(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _size(number: int) -> str:
    if number < 1_000_000:
        return f"{number / 1e3:.1f} kB"
    return f"{number / 1e6:,.1f} MB"
