"""List the files of a folder and read their text."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence

from valor_cli.data.shapes.objects.object_file import Role
from valor_cli.data.source.files import TextSource
from valor_cli.data.source.inputs import extension_of
from valor_cli.errors import DataError, Problem
from valor_cli.paths import is_url


def is_folder(path: str) -> bool:
    """Whether a path is a folder, local or in an object store.

    A name with an extension is taken for that of a file there, and the store is not asked.

    Raises:
        DataError: A store cannot be asked.
    """
    if is_url(path):
        return not extension_of(path) and _kind_of(path) == "directory"
    return os.path.isdir(path)


def is_file(path: str) -> bool:
    """Whether a path is a file, local or in an object store.

    Raises:
        DataError: A store cannot be asked.
    """
    return _kind_of(path) == "file" if is_url(path) else os.path.isfile(path)


def _kind_of(url: str) -> str:
    from valor_cli.data.source.stores import kind_of

    return kind_of(url)


def files_under(folder: str, endings: str | tuple[str, ...]) -> list[str]:
    """Sorted paths of files with a suffix in a folder and its subfolders, without hidden ones.

    The folder may be one of an object store. Links to folders are followed, each folder once; those
    that lead to where they stand are not.

    Raises:
        DataError: It is no folder, or cannot be read.
    """
    if is_url(folder):
        from valor_cli.data.source.stores import files_in

        return [name for name in files_in(folder) if name.lower().endswith(endings)]
    if not os.path.isdir(folder):
        known = "this is a file; a folder is needed" if os.path.exists(folder) else "no such folder"
        raise DataError(Problem(folder, known))
    found: list[str] = []
    start = os.path.realpath(folder)
    seen: set[str] = set()
    for at, folders, names in os.walk(folder, onerror=_refuse, followlinks=True):
        real = os.path.realpath(at)
        if real in seen or (real != start and os.path.commonpath([real, start]) == real):
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        inside = os.path.relpath(at, folder)
        for name in names:
            if name.lower().endswith(endings) and not name.startswith("."):
                found.append(os.path.normpath(os.path.join(inside, name)))
    return sorted(found)


def ending_in(files: Iterable[str], ending: str) -> list[str]:
    """Those of some files that have a suffix, as `files_under` finds them."""
    return [name for name in files if name.lower().endswith(ending)]


def without_extension(name: str) -> str:
    """The path of a file in its folder as a name: with slashes, without extension."""
    return os.path.splitext(name)[0].replace(os.sep, "/")


def _refuse(error: OSError) -> None:
    raise DataError(Problem(str(error.filename), f"cannot be read: {error.strerror}"))


def no_metadata(path: str, role: Role, metadata: Sequence[str]) -> None:
    """Reject a request for metadata in a format without any.

    Raises:
        DataError: Ground truth should have metadata.
    """
    if metadata and role == "ground_truth":
        names = ", ".join(f"'{name}'" for name in metadata)
        raise DataError(
            Problem(path, f"this format has no image metadata, so no {names}"),
            hint="Give metadata in COCO JSON, JSONL or CSV.",
        )


def text_of(path: str, *, may_be_empty: bool = True) -> tuple[str, str]:
    """The text of a file and the SHA-256 of its bytes.

    Raises:
        DataError: It cannot be read, is no UTF-8 text, or is empty and may not be.
    """
    source = TextSource(path)
    try:
        text = source.whole()
    except DataError:
        if source.is_empty and may_be_empty:
            return "", hashlib.sha256().hexdigest()
        raise
    return text.decode(), source.sha256


def digest_of(files: Mapping[str, str]) -> str:
    """SHA-256 of a folder, as by `sha256sum FILES | sha256sum` in it with sorted names.

    Args:
        files: Name in the folder to the sha256 of the content.
    """
    listing = "".join(f"{digest}  {name}\n" for name, digest in sorted(files.items()))
    return hashlib.sha256(listing.encode("utf-8", "surrogateescape")).hexdigest()
