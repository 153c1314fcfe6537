"""`valor cache`: show and clear cached replies, embeddings and converted models."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from valor_cli.cli.output import say
from valor_cli.errors import Problem, ValorError

if TYPE_CHECKING:
    from pathlib import Path

    from valor_cli.models.embedders.vector_store import VectorsInfo, VectorsRemoved
    from valor_cli.models.files.gguf import Converted
    from valor_cli.models.store import Removed, StoreInfo

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
Format = Annotated[Literal["text", "json"], typer.Option("--format", help="How to print.")]
Kind = Literal["replies", "vectors", "models"]
_HASH = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{52}\b")


@cache.command()
def info(format_: Format = "text") -> None:
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
        facts = {"vectors": _facts_of_vectors(vectors), "models": _facts_of_models(models)}
        say(_json({**_facts(kept), **facts}))
        return
    lines = [_told(kept), _told_of_vectors(vectors)]
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
    format_: Format = "text",
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
    removed, vectors = Removed(), VectorsRemoved()
    models = Converted(path.parent / FOLDER)
    if only in (None, "replies") and _is_there(path):
        with Store(path) as store:
            removed = store.clear(older_than_days)
    if only in (None, "vectors") and _is_there(of_vectors):
        vectors = clear_vectors(of_vectors, older_than_days)
    if only in (None, "models"):
        models = clear_converted(older_than_days)
    if format_ == "json":
        numbers = {"replies": removed.replies, "runs": removed.runs, "bytes": removed.bytes}
        more = {"vectors": vectors.vectors, "bytes": vectors.bytes}
        told = {"path": str(of_vectors), "removed": more}
        gone = {"models": models.models, "bytes": models.bytes}
        facts = {"vectors": told, "models": {"path": str(models.path), "removed": gone}}
        say(_json({"path": str(path), "removed": numbers, **facts}))
        return
    lines = {
        "replies": f"{path}: {_gone(removed)}",
        "vectors": f"{of_vectors}: {_gone_vectors(vectors)}",
    }
    if only is not None or models.models:
        lines["models"] = f"{models.path}: {_gone_models(models)}"
    say("\n".join(line for kind, line in lines.items() if only in (None, kind)))


def _gone(removed: Removed) -> str:
    if not removed.replies and not removed.runs:
        return "nothing to remove"
    replies = _count(removed.replies, "reply", "replies")
    return f"removed {replies}, {_count(removed.runs, 'run')}, {_size(removed.bytes)}"


def _gone_vectors(removed: VectorsRemoved) -> str:
    if not removed.vectors:
        return "nothing to remove"
    return f"removed {_count(removed.vectors, 'vector')}, {_size(removed.bytes)}"


def _gone_models(removed: Converted) -> str:
    if not removed.models:
        return "nothing to remove"
    return f"removed {_count(removed.models, 'model')}, {_size(removed.bytes)}"


def _facts_of_models(kept: Converted) -> dict[str, Any]:
    return {"path": str(kept.path), "models": kept.models, "bytes": kept.bytes}


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


def _facts_of_vectors(kept: VectorsInfo) -> dict[str, Any]:
    return {
        "path": str(kept.path),
        "vectors": kept.vectors,
        "bytes": kept.bytes,
        "oldest": _time(kept.oldest),
        "newest": _time(kept.newest),
        "models": [
            {
                "model": one.model,
                "dimensions": one.dimensions,
                "vectors": one.vectors,
                "oldest": _time(one.oldest),
                "newest": _time(one.newest),
            }
            for one in kept.models
        ],
    }


def _told_of_vectors(kept: VectorsInfo) -> str:
    if not kept.models:
        return f"{kept.path}: empty"
    lines = [f"{kept.path}: {_count(kept.vectors, 'vector')}, {_size(kept.bytes)}"]
    # Of a hash its first digits tell one model from another.
    names = [_HASH.sub(r"\1", one.model) for one in kept.models]
    width = max(map(len, names))
    lines += [
        f"  {name:<{width}}  {one.vectors:>9,}  {_time(one.oldest)} to {_time(one.newest)}"
        for name, one in zip(names, kept.models, strict=True)
    ]
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
