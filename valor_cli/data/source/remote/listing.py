"""List the files of an object store that match a pattern or lie in a folder."""

from __future__ import annotations

from typing import Any, Final

from valor_cli.data.source.remote.faults import RemoteError
from valor_cli.data.source.remote.file_systems import store_of
from valor_cli.data.source.remote.files import retried
from valor_cli.data.source.remote.object_store import call_store
from valor_cli.errors import DataError, Problem
from valor_cli.paths import bare, is_web

_NO_LISTING: Final = "a web server cannot list files; name one file, or use an object store"
_MARKS: Final = "*?["


def matching(url: str) -> list[str]:
    """Sorted files of a store that match a pattern; the URL itself if it is a file.

    As on a disk, names with a dot before them are left to patterns that have one there.

    Raises:
        DataError: It is a web server, which lists nothing.
        UnreachableError: The store cannot be asked.
    """
    if is_web(url):
        if "*" in bare(url):
            raise DataError(Problem(url, _NO_LISTING))
        return [url]
    store, path = store_of(url)
    if _kind(store, path, url) == "file":
        return [url]
    found = retried(lambda: call_store(lambda: store.glob(path, detail=True), url), url)
    files = [name for name, what in found.items() if what.get("type") == "file"]
    start = _literal(path)
    hidden = any(part.startswith(".") for part in path[len(start) :].split("/"))
    kept = [one for one in files if hidden or not _is_hidden(one[len(start) :])]
    return [_literal(url) + one[len(start) :] for one in sorted(kept) if not one.endswith("/")]


def kind_of(url: str) -> str:
    """What a URL names: "file", "directory", or "" if nothing exists there.

    Raises:
        UnreachableError: The store cannot be asked.
    """
    if is_web(url):
        # Web servers know no folders; what is wrong with a file is found where it is read.
        return "file"
    store, path = store_of(url)
    return _kind(store, path, url)


def files_in(url: str) -> list[str]:
    """Sorted files in a store's folder and its subfolders, relative to it, without hidden ones.

    Raises:
        DataError: There is no such folder.
        UnreachableError: The store cannot be asked.
    """
    if is_web(url):
        raise DataError(Problem(url, _NO_LISTING))
    store, path = store_of(url)
    found = retried(lambda: call_store(lambda: store.find(path, detail=True), url), url)
    start = path.rstrip("/") + "/"
    if path.rstrip("/") in found:
        raise DataError(Problem(url, "this is a file; a folder is needed"))
    names = [one[len(start) :] for one, what in found.items() if what.get("type") == "file"]
    if not names:
        raise DataError(Problem(url, "no such folder, or there is nothing in it"))
    return sorted(one for one in names if one and not one.endswith("/") and not _is_hidden(one))


def _kind(store: Any, path: str, url: str) -> str:
    """What a name is: "file", "directory", or "" where nothing has it."""

    def look() -> str:
        try:
            return str(call_store(lambda: store.info(path), url).get("type", ""))
        except RemoteError as error:
            if error.fault.absent:
                return ""
            raise

    return retried(look, url)


def _literal(pattern: str) -> str:
    """The folder part of a pattern, without wildcards."""
    first = min(at for mark in _MARKS if (at := f"{pattern}{mark}".find(mark)) >= 0)
    return pattern[: pattern.rfind("/", 0, first) + 1]


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") for part in name.split("/"))
