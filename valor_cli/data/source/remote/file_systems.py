"""Return the fsspec file system for a URL, imported on first use."""

from __future__ import annotations

import logging
import os
from typing import Any, Final

from valor_cli.data.source.remote.faults import error_of, fault_of
from valor_cli.errors import DataError, MissingExtraError, Problem, did_you_mean
from valor_cli.extras import extra
from valor_cli.paths import scheme_of

EXTRA: Final = "cloud"

CONNECT_S: Final = 15.0
"""Connection timeout in seconds."""

SILENCE_S: Final = 60.0
"""Read timeout in seconds."""

_PACKAGES: Final = {
    "s3": ("s3fs",),
    "s3a": ("s3fs",),
    "gs": ("gcsfs",),
    "gcs": ("gcsfs",),
    "http": ("aiohttp",),
    "https": ("aiohttp",),
}
_NO_STORES: Final = frozenset(
    {"asynclocal", "async_wrapper", "asyncwrapper", "file", "local", "git", "generic", "data"}
    | {"blockcache", "cached", "filecache", "simplecache", "dir", "reference", "dask", "pyscript"}
    | {"zip", "tar", "libarchive", "jupyter", "jlab", "wandb", "dvc"}
)
"""What fsspec calls file systems, and is this machine or wraps another one."""

_LOUD: Final = ("fsspec", "gcsfs", "s3fs", "aiobotocore", "botocore", "google.auth")


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
    for package in _PACKAGES.get(scheme, ()):
        extra(package, EXTRA, url)
    _quiet(url)
    try:
        fsspec.get_filesystem_class(scheme)
    except ImportError as error:
        problem = Problem(url, f"needs a package that is not installed ({error})")
        raise MissingExtraError(problem, hint="pip install that package") from None
    if scheme in ("http", "https"):
        return _web(fsspec), url
    if "::" in url:
        raise DataError(Problem(url, "'::' joins several stores, which is not supported"))
    if scheme in ("s3", "s3a", "gs", "gcs") and "@" in url.split("://")[1].split("/")[0]:
        raise DataError(
            Problem(url, "a bucket has no name and password before it"),
            hint="Credentials come from the environment.",
        )
    try:
        store, path = fsspec.core.url_to_fs(url, **_settings(scheme))
    except Exception as error:  # of any package beneath; some connect at once
        raise error_of(url, fault_of(error, url)) from error
    if scheme in ("s3", "s3a"):
        store.retries = 1
    return store, str(path)


def _settings(scheme: str) -> dict[str, Any]:
    """Every request is tried once here: whoever reads tries again, from where it stands."""
    settings: dict[str, Any] = {"use_listings_cache": False}
    if scheme in ("s3", "s3a"):
        settings["config_kwargs"] = {
            "connect_timeout": CONNECT_S,
            "read_timeout": SILENCE_S,
            "retries": {"total_max_attempts": 1, "mode": "standard"},
        }
    return settings


def _web(fsspec: Any) -> Any:
    """The file system of web servers. Stored bytes come as they are, compressed ones too."""
    aiohttp = extra("aiohttp", EXTRA, "https")
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S, sock_read=SILENCE_S)
    return fsspec.filesystem(
        "https",
        client_kwargs={
            "auto_decompress": False,
            # A signature is of the address as it is written.
            "requote_redirect_url": False,
            "timeout": timeout,
            # Proxies of the environment, and the passwords in ~/.netrc.
            "trust_env": True,
        },
    )


def _quiet(url: str) -> None:
    """What the packages log is not for users: it may hold addresses with signatures in them."""
    for name in _LOUD:
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
    # Connections that are open when a run ends are no news.
    loop = extra("fsspec.asyn", EXTRA, url).get_loop()
    loop.set_exception_handler(lambda loop, context: None)
