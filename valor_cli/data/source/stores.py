"""Open and list object stores and web servers through the file systems of fsspec."""

from __future__ import annotations

import logging
import os
import re
from typing import Any, Final

from valor_cli.data.source.store_errors import protocol_of, retried, translated
from valor_cli.errors import DataError, MissingExtraError, Problem, did_you_mean
from valor_cli.extras import extra
from valor_cli.paths import bare, is_web, scheme_of

EXTRA: Final = "cloud"

CONNECT_S: Final = 15.0
SILENCE_S: Final = 60.0
"""Seconds in which a server must answer at first, and after that send more."""

_PACKAGES: Final = {"s3": "s3fs", "gs": "gcsfs", "https": "aiohttp"}
_LOUD: Final = ("fsspec", "gcsfs", "s3fs", "aiobotocore", "botocore", "google.auth")
_NO_STORES: Final = frozenset(
    {"asynclocal", "async_wrapper", "asyncwrapper", "file", "local", "git", "generic", "data"}
    | {"blockcache", "cached", "filecache", "simplecache", "dir", "reference", "dask", "pyscript"}
    | {"zip", "tar", "libarchive", "jupyter", "jlab", "wandb", "dvc"}
)
"""What fsspec calls file systems, and is this machine or wraps another one."""


def matching(url: str) -> list[str]:
    """Sorted files of a store that match a pattern; the URL itself if it is a file.

    As on a disk, names with a dot before them are left to patterns that have one there.

    Raises:
        DataError: It is a web server, which lists nothing.
        UnreachableError: The store cannot be asked.
    """
    if is_web(url) and "*" in bare(url):
        raise _no_listing(url)
    if kind_of(url) == "file":
        return [url]
    store, path = store_of(url)
    found = retried(lambda: store.glob(path, detail=True), url)
    start = len(_literal(path))
    hidden = _is_hidden(path[start:])
    files = sorted(name for name, what in found.items() if what.get("type") == "file")
    kept = [name for name in files if hidden or not _is_hidden(name[start:])]
    return [_literal(url) + name[start:] for name in kept if not name.endswith("/")]


def kind_of(url: str) -> str:
    """What a URL names: "file", "directory", or "" if nothing exists there.

    Raises:
        UnreachableError: The store cannot be asked.
    """
    if is_web(url):
        # Web servers know no folders; what is wrong with a file is found where it is read.
        return "file"
    store, path = store_of(url)
    try:
        return str(retried(lambda: store.info(path), url).get("type", ""))
    except DataError:
        return ""


def files_in(url: str) -> list[str]:
    """Sorted files in a store's folder and its subfolders, relative to it, without hidden ones.

    Raises:
        DataError: There is no such folder.
        UnreachableError: The store cannot be asked.
    """
    if is_web(url):
        raise _no_listing(url)
    store, path = store_of(url)
    found = retried(lambda: store.find(path, detail=True), url)
    folder = path.rstrip("/")
    if folder in found:
        raise DataError(Problem(url, "this is a file; a folder is needed"))
    start = len(folder) + 1
    names = [name[start:] for name, what in found.items() if what.get("type") == "file"]
    if not names:
        raise DataError(Problem(url, "no such folder, or there is nothing in it"))
    return sorted(one for one in names if one and not one.endswith("/") and not _is_hidden(one))


def _no_listing(url: str) -> DataError:
    message = "a web server cannot list files; name one file, or use an object store"
    return DataError(Problem(url, message))


def _literal(pattern: str) -> str:
    """The folder part of a pattern, without wildcards."""
    folder, slash, _ = re.split(r"[*?[]", pattern, maxsplit=1)[0].rpartition("/")
    return folder + slash


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") for part in name.split("/"))


def store_of(url: str) -> tuple[Any, str]:
    """The file system of a URL, and its path in it.

    Raises:
        DataError: There is no such scheme, or the URL is not of the form that it has.
        UnreachableError: The store cannot be asked.
        MissingExtraError: The package that speaks to the store is not installed.
    """
    scheme = scheme_of(url) or ""
    url = scheme + url[len(scheme) :]
    fsspec = extra("fsspec", EXTRA, url)
    known = [one for one in fsspec.available_protocols() if one not in _NO_STORES]
    if scheme not in known:
        message = f"there is no scheme '{scheme}://'{did_you_mean(scheme, known)}"
        hint = "Inputs are paths, or URLs of s3://, gs://, https:// and what else fsspec reads."
        raise DataError(Problem(url, message), hint=hint)
    # Without it, gcsfs asks in another protocol what kind of bucket it is, and waits for minutes
    # where that does not get through.
    os.environ.setdefault("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
    protocol = protocol_of(url)
    if protocol in _PACKAGES:
        extra(_PACKAGES[protocol], EXTRA, url)
    _quiet(url)
    try:
        fsspec.get_filesystem_class(scheme)
    except ImportError as error:
        problem = Problem(url, f"needs a package that is not installed ({error})")
        raise MissingExtraError(problem, hint="pip install that package") from None
    if protocol == "https":
        return fsspec.filesystem("https", client_kwargs=_web_settings(url)), url
    if "::" in url:
        raise DataError(Problem(url, "'::' joins several stores, which is not supported"))
    if protocol in ("s3", "gs") and "@" in url.split("://")[1].split("/")[0]:
        raise DataError(
            Problem(url, "a bucket has no name and password before it"),
            hint="Credentials come from the environment.",
        )
    # Every request is tried once here: whoever reads tries again, from where it stands.
    settings: dict[str, Any] = {"use_listings_cache": False}
    if protocol == "s3":
        settings["config_kwargs"] = {
            "connect_timeout": CONNECT_S,
            "read_timeout": SILENCE_S,
            "retries": {"total_max_attempts": 1, "mode": "standard"},
        }
    # Some connect at once.
    store, path = translated(lambda: fsspec.core.url_to_fs(url, **settings), url)
    if protocol == "s3":
        store.retries = 1
    return store, str(path)


def _web_settings(url: str) -> dict[str, Any]:
    timeout = extra("aiohttp", EXTRA, url).ClientTimeout
    return {
        # Stored bytes come as they are, compressed ones too.
        "auto_decompress": False,
        # A signature is of the address as it is written.
        "requote_redirect_url": False,
        "timeout": timeout(total=None, sock_connect=CONNECT_S, sock_read=SILENCE_S),
        # Proxies of the environment, and the passwords in ~/.netrc.
        "trust_env": True,
    }


def _quiet(url: str) -> None:
    """What the packages log is not for users: it may hold addresses with signatures in them."""
    for name in _LOUD:
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
    # Connections that are open when a run ends are no news.
    loop = extra("fsspec.asyn", EXTRA, url).get_loop()
    loop.set_exception_handler(lambda loop, context: None)
