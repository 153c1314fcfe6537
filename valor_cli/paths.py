"""Resolve the paths and URLs of a config, relative to the config's folder.

A URL is not a path: it is kept as written, and files next to it are located by its slashes.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Annotated
from urllib.parse import quote, unquote

from pydantic import AfterValidator, BaseModel, ValidationInfo

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_AUTHORITY = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")
_QUERY = re.compile(r"[?#].*", re.DOTALL)
_VERSION = re.compile(r"\?(versionId|generation)=[^/]*\Z", re.IGNORECASE)
_WEB = ("http", "https")


class Url(str):
    """A URL that a config names as an input, as opposed to a text that looks like one."""

    __slots__ = ()


def scheme_of(path: str) -> str | None:
    """The scheme before "://", in lower case; None if the path is not a URL."""
    found = _SCHEME.match(path)
    return None if found is None else found[1].lower()


def is_url(path: str) -> bool:
    """Whether a path is a URL; `C:\\x` and `a:b.json` are none."""
    return _SCHEME.match(path) is not None


def is_web(path: str) -> bool:
    """Whether a path is a URL of a web server, which answers for single files and lists none."""
    return scheme_of(path) in _WEB


def bare(path: str) -> str:
    """A path without its URL query, with %20 decoded."""
    if not is_url(path):
        return path
    return unquote(_QUERY.sub("", path)) if is_web(path) else _VERSION.sub("", path)


def stem_source(path: str) -> str:
    """The last part of a path without its query; empty for a URL without a path."""
    return posixpath.basename(_AUTHORITY.sub("", bare(path)).rstrip("/"))


def own_folder(path: str) -> str:
    """The folder of an input, to which the paths in it are relative."""
    if not is_url(path):
        return os.path.dirname(path)
    plain = _QUERY.sub("", path) if is_web(path) else _VERSION.sub("", path)
    root = _AUTHORITY.match(plain)
    start = root.end() if root else 0
    cut = plain.rfind("/", start)
    return plain[: max(cut, start)]


def beside(folder: str, name: str) -> str:
    """The path of a file named in another file, relative to that file's folder.

    A named file must be where the naming file is: data on this machine names no URL, data
    in a store or on a server no file of this machine and nothing in other places.

    Raises:
        ValueError: It names a file elsewhere; the message says which.
    """
    if not is_url(folder):
        if is_url(name):
            raise ValueError("a file on this machine cannot name a URL; name files beside it")
        return os.path.join(folder, name)
    root = _AUTHORITY.match(folder)
    if is_url(name) and root is not None and name.startswith(root[0] + "/"):
        return name
    if is_url(name):
        raise ValueError("a file behind a URL can name only files on its own server")
    if name.startswith(("/", "~")) or re.match(r"[A-Za-z]:[\\/]", name):
        raise ValueError("a file behind a URL cannot name a file of this machine")
    start = root.end() if root else 0
    name = quote(name) if is_web(folder) else name
    inside = posixpath.normpath(posixpath.join("/", folder[start:].lstrip("/"), name))
    depth = posixpath.normpath(posixpath.join(folder[start:].strip("/") or ".", name))
    if depth.startswith(".."):
        raise ValueError("this path leads out of the store")
    return folder[:start] + inside


def urls_in(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """The URLs among the inputs in a part of a config, with their keys.

    Args:
        value: A block of the config, or anything in it.
        path: Names that lead to it.
    """
    if isinstance(value, Url):
        yield path, value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from urls_in(getattr(value, name), (*path, name))
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from urls_in(inner, (*path, str(name)))


def _resolve(path: str, info: ValidationInfo) -> str:
    """The path from the current folder; `-` (standard input) and URLs stay as they are."""
    if not path:
        raise ValueError("expected a path, found an empty text")
    if is_url(path):
        return _checked(path)
    folder = (info.context or {}).get("folder")
    if path == "-" or folder is None:
        return path
    return from_folder(folder, path)


def _checked(url: str) -> str:
    """A URL; that of a file on this machine as its path.

    Raises:
        ValueError: It is not a valid URL, so its secrets could not be masked.
    """
    scheme, rest = url.split("://", 1)
    if scheme.lower() == "file":
        if not rest.startswith("/"):
            raise ValueError("a file on this machine is file:///folder/name, or a path")
        return unquote(rest)
    host = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if re.search(r"\s", rest if is_web(url) else host):
        raise ValueError("this URL contains a space; write %20")
    if not host:
        raise ValueError("this URL names no server and no bucket after '://'")
    if is_web(url) and "@" not in host and re.match(r"[^/]*:(?!\d*(?:[/?#]|\Z)).*@", rest):
        raise ValueError("the password in this URL must be percent-encoded (/ is %2F)")
    return Url(url)


def _local(path: str, info: ValidationInfo) -> str:
    if is_url(path) and scheme_of(path) != "file":
        raise ValueError("expected a file on this machine, found a URL")
    return _resolve(path, info)


def from_folder(folder: str | os.PathLike[str], path: str) -> str:
    """A path relative to a folder, made relative to the current one; `~` is the user's home."""
    joined_path = os.path.join(folder, os.path.expanduser(path))
    tidy = os.path.normpath(joined_path)
    # Behind a link, `..` is another folder than the text suggests.
    return tidy if os.path.realpath(tidy) == os.path.realpath(joined_path) else joined_path


InputPath = Annotated[str, AfterValidator(_resolve)]
"""A path or a URL in a `data:` block; the validation context names the config's `folder`."""

LocalPath = Annotated[str, AfterValidator(_local)]
"""A path in a config that cannot be a URL."""
