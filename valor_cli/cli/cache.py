"""`valor cache`: show and clear cached replies, embeddings and converted models."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from valor_cli.cli.options import TextOrJson
from valor_cli.cli.output import say
from valor_cli.errors import Problem, ValorError

if TYPE_CHECKING:
    from pathlib import Path

    from msgspec import Struct

    from valor_cli.models.embedders.vector_store import ModelKept, VectorsInfo
    from valor_cli.models.store import JudgeKept, StoreInfo

cache = typer.Typer(
    name="cache",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="""Show or delete cached replies of judges, vectors and models.

    The cache is in $VALOR_CACHE_DIR, else $XDG_CACHE_HOME/valor, else ~/.cache/valor.

    \b
    Example:
      valor cache info
    """,
)
Kind = Literal["replies", "vectors", "models"]
_HASH = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{52}\b")
_SINGULAR = {"replies": "reply", "runs": "run", "vectors": "vector", "models": "model"}


@cache.command()
def info(format_: TextOrJson = "text") -> None:
    """Show what is cached, by model and date.

    \b
    Example:
      valor cache info
    """
    from valor_cli.models.embedders.vector_store import FILE, VectorsInfo, info_of_vectors
    from valor_cli.models.files.gguf import converted_models
    from valor_cli.models.store import Store, StoreInfo
    from valor_cli.models.store_file import store_path

    path, of_vectors = store_path(), store_path(FILE)
    if _is_there(path):
        with Store(path) as store:
            kept = store.info()
    else:
        kept = StoreInfo(path)
    vectors = info_of_vectors(of_vectors) if _is_there(of_vectors) else VectorsInfo(of_vectors)
    models = converted_models()
    if format_ == "json":
        say(_json({**_facts(kept), "vectors": _facts(vectors), "models": _facts(models)}))
        return
    lines = [*_told(kept), *_told_of_vectors(vectors)]
    if models.models:
        count = _count(models.models, "model")
        lines.append(f"{models.path}: {count} converted from GGUF files, {_size(models.bytes)}")
    say("\n".join(lines))


@cache.command()
def clear(
    older_than_days: Annotated[
        float | None,
        typer.Option(
            "--older-than-days",
            metavar="DAYS",
            min=0,
            help="Only entries older than this. Omitted: all.",
        ),
    ] = None,
    only: Annotated[
        Kind | None,
        typer.Option(
            "--only", help="What to delete. Omitted: all. Replies cost money to request again."
        ),
    ] = None,
    format_: TextOrJson = "text",
) -> None:
    """Delete what is cached; interrupted runs can then not be resumed.

    \b
    Example:
      valor cache clear --older-than-days 30
    """
    from valor_cli.models.embedders.vector_store import FILE, VectorsRemoved, clear_vectors
    from valor_cli.models.files.gguf import FOLDER, Converted, clear_converted
    from valor_cli.models.store import Removed, Store
    from valor_cli.models.store_file import store_path

    path, of_vectors = store_path(), store_path(FILE)
    replies, vectors = Removed(), VectorsRemoved()
    models = Converted(path.parent / FOLDER)
    if only in (None, "replies") and _is_there(path):
        with Store(path) as store:
            replies = store.clear(older_than_days)
    if only in (None, "vectors") and _is_there(of_vectors):
        vectors = clear_vectors(of_vectors, older_than_days)
    if only in (None, "models"):
        models = clear_converted(older_than_days)
    gone = {
        "replies": (path, _facts(replies)),
        "vectors": (of_vectors, _facts(vectors)),
        "models": (models.path, {"models": models.models, "bytes": models.bytes}),
    }
    if format_ == "json":
        facts = {kind: {"path": str(at), "removed": own} for kind, (at, own) in gone.items()}
        say(_json({**facts.pop("replies"), **facts}))
        return
    if only is None and not models.models:
        del gone["models"]
    say("\n".join(_gone(*own) for kind, own in gone.items() if only in (None, kind)))


def _gone(path: Path, removed: Mapping[str, int]) -> str:
    """What was removed: "removed 2 replies, 1 run, 8.2 kB"."""
    *kinds, size = removed.items()
    if not any(number for _, number in kinds):
        return f"{path}: nothing to remove"
    told = ", ".join(_count(number, _SINGULAR[kind]) for kind, number in kinds)
    return f"{path}: removed {told}, {_size(size[1])}"


def _is_there(path: Path) -> bool:
    """Whether there is a file; an unreadable one does not count as an empty cache.

    Raises:
        ValorError: It cannot be read.
    """
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        problem = Problem(str(path), f"cannot be used: {error.strerror or error}")
        raise ValorError(problem, hint="name another folder with VALOR_CACHE_DIR") from error
    return True


def _facts(kept: Struct) -> dict[str, Any]:
    """A record as JSON has it."""
    from msgspec.structs import asdict

    return {name: _fact(name, value) for name, value in asdict(kept).items()}


def _fact(name: str, value: Any) -> Any:
    if name in ("oldest", "newest"):
        return _time(value)
    if isinstance(value, tuple):
        return [_facts(one) for one in value]
    return value if isinstance(value, int) else str(value)


def _told(kept: StoreInfo) -> list[str]:
    if not kept.replies and not kept.runs:
        return [f"{kept.path}: empty"]
    groups = [(one.judge or "(no name)", one.replies, one) for one in kept.judges]
    return [
        *_listed(kept, _count(kept.replies, "reply"), groups),
        f"{_count(kept.runs, 'run')} in the ledger, {kept.unfinished:,} unfinished",
    ]


def _told_of_vectors(kept: VectorsInfo) -> list[str]:
    if not kept.models:
        return [f"{kept.path}: empty"]
    # Of a hash its first digits tell one model from another.
    groups = [(_HASH.sub(r"\1", one.model), one.vectors, one) for one in kept.models]
    return _listed(kept, _count(kept.vectors, "vector"), groups)


def _listed(
    kept: StoreInfo | VectorsInfo,
    count: str,
    groups: Sequence[tuple[str, int, JudgeKept | ModelKept]],
) -> list[str]:
    """How much is kept, then a line for each judge or model."""
    width = max((len(name) for name, *_ in groups), default=0)
    return [
        f"{kept.path}: {count}, {_size(kept.bytes)}",
        *(
            f"  {name:<{width}}  {number:>9,}  {_time(one.oldest)} to {_time(one.newest)}"
            for name, number, one in groups
        ),
    ]


def _json(facts: dict[str, Any]) -> str:
    import json

    return json.dumps(facts, indent=2, allow_nan=False)


def _time(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _count(number: int, one: str) -> str:
    many = f"{one[:-1]}ies" if one.endswith("y") else f"{one}s"
    return f"{number:,} {one if number == 1 else many}"


def _size(number: int) -> str:
    if number < 1_000_000:
        return f"{number / 1e3:.1f} kB"
    return f"{number / 1e6:,.1f} MB"
