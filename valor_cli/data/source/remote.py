"""Read files of web servers and object stores, and list the files of stores, through fsspec.

Connections, listings, patterns and ranges of bytes are those of fsspec's file systems. Not used are

- the files that they open: blocks of one size are too large for a look at the first bytes or too
  small to read fast, and a file that changes meanwhile is no error;
- the HTTP files: they follow a redirect to any host;
- the retries: they begin anew, where here a transfer goes on with the byte that comes next.

The length stated by a server decides where a file ends: a shorter body is not the end. Redirect
hosts, size and time of a file on the web are limited by environment variables, because every
command and every process of a run reads inputs.
"""

from __future__ import annotations

import asyncio
import io
import logging
import os
import re
import socket
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from time import monotonic, sleep
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

from valor_cli.data.source.compression import bound
from valor_cli.errors import (
    DataError,
    MissingExtraError,
    Problem,
    UnreachableError,
    ValorError,
    did_you_mean,
)
from valor_cli.extras import extra
from valor_cli.masking import without_secrets
from valor_cli.paths import bare, is_web, scheme_of
from valor_cli.results.run import REDIRECTED

T = TypeVar("T")

SIZE: Final = "VALOR_HTTP_GIB"
SECONDS: Final = "VALOR_HTTP_S"
HOSTS: Final = "VALOR_HTTP_HOSTS"
"""Environment variables: GiB of a file, seconds for all of it, and hosts to follow to (a,b)."""

GIB: Final = 64.0
MOST_S: Final = 3600.0

CONNECT_S: Final = 15.0
SILENCE_S: Final = 60.0
"""Seconds in which a server must answer at first, and after that send more."""

TRIES: Final = 5
"""Maximum attempts for the same byte."""

FIRST_WAIT_S: Final = 0.2
"""Before the second try; twice as long before each further one."""

FIRST: Final = 1 << 19
LARGEST: Final = 1 << 23
"""Bytes of the first request, which may be all that is looked at, and of those far into an object.
Stores send 8 MiB about as fast as they send anything; smaller ones wait more than they send."""

_GROWTH: Final = 4
_AHEAD: Final = 2
"""Requests that are under way; with the block that is worked on, 24 MiB of an object."""

_BUFFER: Final = 1 << 18
_LONGEST_WAIT_S: Final = 30
_MOST_REDIRECTS: Final = 10
_RANGE: Final = re.compile(r"bytes (\d+)-\d*(?:/(\d+))?")
_MARKS: Final = ("ETag", "etag", "generation", "LastModified", "mtime", "size")

_EXTRA: Final = "cloud"
_PROTOCOLS: Final = {"s3a": "s3", "gcs": "gs", "http": "https"}
"""Other names of a scheme."""

_PACKAGES: Final = {"s3": "s3fs", "gs": "gcsfs", "https": "aiohttp"}
_LOUD: Final = ("fsspec", "gcsfs", "s3fs", "aiobotocore", "botocore", "google.auth")
_NO_STORES: Final = frozenset(
    {"asynclocal", "async_wrapper", "asyncwrapper", "file", "local", "git", "generic", "data"}
    | {"blockcache", "cached", "filecache", "simplecache", "dir", "reference", "dask", "pyscript"}
    | {"zip", "tar", "libarchive", "jupyter", "jlab", "wandb", "dvc"}
)
"""What fsspec calls file systems, and is this machine or wraps another one."""

_CREDENTIALS: Final = {
    "s3": "S3 reads AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (with AWS_SESSION_TOKEN where they "
    "are temporary), or the profile AWS_PROFILE of ~/.aws. Another server than Amazon's is named "
    "by AWS_ENDPOINT_URL; a public bucket is read with FSSPEC_S3_ANON=true.",
    "gs": "Google Cloud Storage reads GOOGLE_APPLICATION_CREDENTIALS (a file with a key), or what "
    "`gcloud auth application-default login` keeps; a public bucket is read with "
    "FSSPEC_GS_TOKEN=anon.",
    "https": "A signed URL may have expired. A name and a password stand before the host, as "
    "${NAME}:${PASSWORD}@host, or in ~/.netrc.",
}
_CERTIFICATES: Final = (
    "A certificate of your own authority is named by SSL_CERT_FILE, for S3 by AWS_CA_BUNDLE."
)

# Errors by the names of their classes and bases: packages that are not installed raise none.
_NO_CREDENTIALS: Final = frozenset(
    {"NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError", "SSOError"}
    | {"ProfileNotFound", "TokenRetrievalError", "DefaultCredentialsError", "RefreshError"}
)
_CUT: Final = frozenset(
    {"ConnectionError", "ClientConnectionError", "ClientPayloadError", "HTTPClientError"}
    | {"IncompleteRead", "RequestException", "ResponseParserError"}
)
_IS_FOLDER: Final = "this is a folder; name a file in it"
_STATUS: Final = {"ClientResponseError": "status", "HttpError": "code"}
"""Where errors of aiohttp and gcsfs keep the status of an answer; others have more of that name."""

_TRANSIENT: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_BUSY: Final = frozenset({"SlowDown", "ServiceUnavailable", "InternalError", "RequestTimeout"})


def open_url(url: str) -> io.BufferedReader:
    """A remote file for reading and seeking. Sequential reads are one transfer.

    What goes wrong is an error that names the URL, less what is secret in it: a `DataError` where
    there is no such file, else an `UnreachableError`. Transfers that are cut off are resumed and
    temporary refusals retried.
    """
    return io.BufferedReader(_file(url), _BUFFER)


def content_of(url: str, most: int) -> bytes:
    """All bytes of a file.

    Args:
        url: The file.
        most: How many bytes it may have.

    Raises:
        DataError: There is no such file, or it is larger.
        UnreachableError: It cannot be read.
    """
    with _file(url) as file:
        length = file.known_length()
        wanted = most if length is None else min(most, length)
        content = io.BufferedReader(file, _BUFFER).read(wanted + 1)
    if max(length or 0, len(content)) > most:
        found = f"{length:,} bytes" if length is not None else f"more than {most:,} bytes"
        raise DataError(Problem(url, f"the file has {found}; at most {most:,} are read"))
    return content


def _file(url: str) -> _RemoteFile:
    return _WebFile(url) if is_web(url) else _StoredObject(url)


class _RemoteFile(io.RawIOBase):
    """A remote file: what servers and stores have in common.

    A seek outside of the block that was received starts a new transfer.

    Attributes:
        length: In bytes; None before any were read, or where the server does not say.
    """

    def __init__(self, url: str) -> None:
        super().__init__()
        self.length: int | None = None
        self._url = url
        self._store, self._path = store_of(url)
        self._mark: tuple[object, ...] | None = None
        self._at = 0
        self._rest = memoryview(b"")
        self._blocks: Generator[bytes, None, None] | None = None

    def _blocks_from(self, start: int) -> Generator[bytes, None, None]:
        """The bytes from an offset to the end; errors of the packages are not translated."""
        raise NotImplementedError

    def known_length(self) -> int | None:
        """The length; None where the server does not say."""
        if self.length is None and not self._at and not self._rest:
            self._rest = memoryview(_retried(self._next, self._url))
        return self.length

    def readable(self) -> bool:
        """Always true."""
        return True

    def seekable(self) -> bool:
        """Always true."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Choose the next byte to read; nothing is requested until it is read."""
        if whence == io.SEEK_CUR:
            offset += self._at
        elif whence == io.SEEK_END:
            length = self.known_length()
            if length is None:
                message = "the server does not say how long this file is"
                raise DataError(Problem(self._url, message))
            offset += length
        ahead = offset - self._at
        if 0 <= ahead <= len(self._rest):
            self._rest = self._rest[ahead:]
        else:
            self._drop()
            self._rest = memoryview(b"")
        self._at = offset
        return offset

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, or some of it; 0 at the end."""
        block = self._rest or memoryview(_retried(self._next, self._url))
        part = block[: len(buffer)]
        buffer[: len(part)] = part
        self._rest = block[len(part) :]
        self._at += len(part)
        return len(part)

    def close(self) -> None:
        """Close the connection."""
        self._drop()
        super().close()

    def _next(self) -> bytes:
        """The next block; none at the end. After an error, the next call asks for it again."""
        if self._blocks is None:
            self._blocks = self._blocks_from(self._at)
        try:
            block = next(self._blocks, b"")
            if not block and self._at < (self.length or 0):
                raise self._cut_off(self._at)
        except BaseException:
            self._drop()
            raise
        return block

    def _drop(self) -> None:
        if self._blocks is not None:
            self._blocks.close()
            self._blocks = None

    def _error(self, message: str, hint: str = "") -> UnreachableError:
        return UnreachableError(Problem(self._url, message), hint=hint)

    def _changed(self) -> UnreachableError:
        return self._error("the file changed while it was read; run again when it is complete")

    def _cut_off(self, at: int) -> UnreachableError:
        message = f"cut off: {at:,} of {self.length or 0:,} bytes came"
        return _TransientError(Problem(self._url, message))


class _WebFile(_RemoteFile):
    """A file on a web server.

    One answer is read from its beginning to its end; where it is cut, the rest is asked for.
    """

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._most = bound(SIZE, GIB) * 2**30
        self._most_s = bound(SECONDS, MOST_S)
        self._begun = monotonic()

    def _blocks_from(self, start: int) -> Generator[bytes, None, None]:
        loop = self._store.loop
        sync = extra("fsspec.asyn", _EXTRA, self._url).sync
        answer = sync(loop, self._answer, start)
        try:
            skipped = start if answer.status == 200 else 0
            at = start - skipped
            while block := sync(loop, answer.content.read, _BUFFER):
                at += len(block)
                self._check_bounds(at)
                kept = block[skipped:]
                skipped -= len(block) - len(kept)
                if kept:
                    yield kept
        finally:
            # The connection cannot be reused while a body is unread.
            loop.call_soon_threadsafe(answer.close)

    async def _answer(self, start: int) -> Any:
        """The answer to one request, with the file behind it."""
        session = await self._store.set_session()
        headers = {"Accept-Encoding": "identity"}
        if start:
            headers["Range"] = f"bytes={start}-"
        make = extra("yarl", _EXTRA, self._url).URL
        first = address = make(self._url, encoded=self._url.isascii())
        for _ in range(_MOST_REDIRECTS + 1):
            answer = await session.get(
                address, headers=headers, read_bufsize=_BUFFER, allow_redirects=False
            )
            location = answer.headers.get("Location")
            if answer.status not in (301, 302, 303, 307, 308) or location is None:
                break
            answer.close()
            address = self._followed(address, make(location, encoded=location.isascii()))
        else:
            raise self._error("too many redirects")
        try:
            self._check(answer, start)
        except BaseException:
            answer.close()
            raise
        if address != first:
            REDIRECTED[self._url] = str(address)
        return answer

    def _followed(self, address: Any, location: Any) -> Any:
        """The address that an answer sends to.

        Raises:
            UnreachableError: It is of another host, and not of one that may be followed to.
        """
        found = address.join(location)
        if found.scheme not in ("http", "https"):
            raise self._error(f"the server redirects to '{found.scheme}:', which is not read")
        allowed = {one.strip().lower() for one in os.environ.get(HOSTS, "").split(",")}
        if found.host != address.host and (found.host or "").lower() not in allowed:
            message = f"the server redirects to another host, '{found.host}'"
            hint = f"If that is intended, set {HOSTS}={found.host} in the environment."
            raise self._error(message, hint)
        return found

    def _check(self, answer: Any, start: int) -> None:
        """See that an answer holds the file that was begun, from the offset or from its start."""
        headers = answer.headers
        if answer.status == 416 and start:
            raise self._changed()
        if answer.status not in (200, 206):
            error = _status_error(answer.status, self._url)
            if isinstance(error, _TransientError):
                error.wait_s = min(_number(headers.get("Retry-After")) or 0, _LONGEST_WAIT_S)
            raise error
        length = _number(headers.get("Content-Length"))
        if answer.status == 206:
            part = _RANGE.match(headers.get("Content-Range", ""))
            if part is None or int(part[1]) != start:
                message = "the server sends another part of the file than was asked for"
                raise self._error(message)
            length = _number(part[2])
        mark = headers.get("ETag"), headers.get("Last-Modified")
        known = self.length is not None and length is not None
        if self._mark not in (None, mark) or (known and length != self.length):
            raise self._changed()
        self._mark = mark
        self.length = length if self.length is None else self.length
        self._check_bounds(length or 0)

    def _check_bounds(self, size: int) -> None:
        """See that a file is not too large, nor too slow.

        Raises:
            UnreachableError: It is.
        """
        if size > self._most:
            message = f"the file has more than {self._most / 2**30:g} GiB"
            raise self._error(message, f"Set {SIZE} in the environment to more.")
        if monotonic() - self._begun > self._most_s:
            message = f"the file took longer than {self._most_s:g} s"
            hint = f"Set {SECONDS} in the environment to more, or copy the file here first."
            raise self._error(message, hint)


def _number(said: str | None) -> int | None:
    """A number of a header; None if it is something else, as a date."""
    return int(said) if said and said.isascii() and said.isdecimal() else None


class _StoredObject(_RemoteFile):
    """An object of an object store. The next blocks are asked for ahead."""

    def _blocks_from(self, start: int) -> Generator[bytes, None, None]:
        if self._mark is None:
            self._mark, self.length = self._look()
        if self.length is None:
            with self._store.open(self._path, "rb") as file:
                file.seek(start)
                while block := file.read(LARGEST):
                    yield block
            return
        at = asked = start
        size = FIRST
        waiting: deque[tuple[int, Future[bytes]]] = deque()
        try:
            while at < self.length:
                # The first may be all that is looked at; what follows is asked for ahead.
                ahead = _AHEAD if at > start and self._store.async_impl else 0
                while asked < self.length and len(waiting) <= ahead:
                    end = min(asked + size, self.length)
                    waiting.append((end, self._asked(asked, end)))
                    asked, size = end, min(size * _GROWTH, LARGEST)
                end, request = waiting.popleft()
                block = bytes(request.result())
                if len(block) > end - at:
                    raise self._changed()
                if len(block) < end - at:
                    raise self._cut_off(at + len(block))
                at = end
                yield block
        finally:
            for _, request in waiting:
                request.cancel()
        if at > start + FIRST and self._look()[0] != self._mark:
            raise self._changed()

    def _look(self) -> tuple[tuple[object, ...], int | None]:
        """What tells the object from another of its name, and its length."""
        found = self._store.info(self._path)
        if found.get("type") == "directory":
            raise DataError(Problem(self._url, _IS_FOLDER))
        size = found.get("size")
        return tuple(str(found.get(one)) for one in _MARKS), None if size is None else int(size)

    def _asked(self, begin: int, end: int) -> Future[bytes]:
        """A request for some bytes.

        The last one asks for a byte more than there should be, to see that there is none.
        """
        end += end == self.length
        if self._store.async_impl:
            coming = self._store._cat_file(self._path, start=begin, end=end)
            return asyncio.run_coroutine_threadsafe(coming, self._store.loop)
        done: Future[bytes] = Future()
        done.set_result(self._store.cat_file(self._path, start=begin, end=end))
        return done


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
    found = _retried(lambda: store.glob(path, detail=True), url)
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
        return str(_retried(lambda: store.info(path), url).get("type", ""))
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
    found = _retried(lambda: store.find(path, detail=True), url)
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
    fsspec = extra("fsspec", _EXTRA, url)
    known = [one for one in fsspec.available_protocols() if one not in _NO_STORES]
    if scheme not in known:
        message = f"there is no scheme '{scheme}://'{did_you_mean(scheme, known)}"
        hint = "Inputs are paths, or URLs of s3://, gs://, https:// and what else fsspec reads."
        raise DataError(Problem(url, message), hint=hint)
    # Without it, gcsfs asks in another protocol what kind of bucket it is, and waits for minutes
    # where that does not get through.
    os.environ.setdefault("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
    protocol = _protocol(url)
    if protocol in _PACKAGES:
        extra(_PACKAGES[protocol], _EXTRA, url)
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
    store, path = _translated(lambda: fsspec.core.url_to_fs(url, **settings), url)
    if protocol == "s3":
        store.retries = 1
    return store, str(path)


def _protocol(url: str) -> str:
    """The scheme of a URL: one of those that mean the same."""
    scheme = scheme_of(url) or ""
    return _PROTOCOLS.get(scheme, scheme)


def _web_settings(url: str) -> dict[str, Any]:
    timeout = extra("aiohttp", _EXTRA, url).ClientTimeout
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
    loop = extra("fsspec.asyn", _EXTRA, url).get_loop()
    loop.set_exception_handler(lambda loop, context: None)


class _TransientError(UnreachableError):
    """A fault that may pass.

    Attributes:
        wait_s: Seconds that the server asks to wait.
    """

    wait_s = 0.0


def _retried(function: Callable[[], T], url: str) -> T:
    """Call a function of a store, again after faults that may pass.

    Raises:
        DataError: There is no such file.
        UnreachableError: Any other fault of the packages beneath.
    """
    # gcsfs tries six times on its own, half a minute long.
    tries = min(TRIES, 2) if _protocol(url) == "gs" else TRIES
    tried = 0
    while True:
        try:
            return _translated(function, url)
        except _TransientError as error:
            tried += 1
            if tried == tries:
                message = f"{error.problems[0].message}; it was tried {tries} times"
                raise UnreachableError(Problem(url, message)) from error
            sleep(max(FIRST_WAIT_S * 2 ** (tried - 1), error.wait_s))


def _translated(function: Callable[[], T], url: str) -> T:
    """Call a function; errors of the packages beneath become those of the user."""
    try:
        return function()
    except ValorError:
        raise
    except Exception as error:  # of any package beneath
        raise _error_of(error, url) from error


def _status_error(status: int, url: str, code: str = "") -> ValorError:
    """The error of an answer without the file.

    Args:
        status: Of HTTP.
        url: What was asked for.
        code: A store's own word for it.
    """
    kind: type[ValorError] = UnreachableError
    hint = ""
    said = f"{status} {code}" if code and code != str(status) else str(status)
    who = "the server" if is_web(url) else "the store"
    if code in ("NoSuchBucket", "InvalidBucketName"):
        message = f"there is no bucket '{urlsplit(url).netloc}'"
    elif status in (401, 403):
        refusal = "asks for credentials" if status == 401 else "refuses access"
        message, hint = f"{who} {refusal} ({said})", _CREDENTIALS.get(_protocol(url), "")
    elif status in (404, 410):
        # A missing file is treated like a damaged one.
        kind, message = DataError, f"no such file ({who} answers {said})"
    elif status in _TRANSIENT or code in _BUSY:
        kind, message = _TransientError, f"{who} answers {said}"
    else:
        message = f"cannot be read: {who} answers {said}"
    return kind(Problem(url, message), hint=hint)


def _error_of(error: BaseException, url: str) -> ValorError:
    """The user's error for one of a store's package."""
    chain = list(_chain(error))
    names = {kind.__name__ for one in chain for kind in type(one).__mro__}
    status, code = _answer(chain)
    kind: type[ValorError] = UnreachableError
    hint = ""
    if names & _NO_CREDENTIALS:
        message = "no credentials were found for this store"
        hint = _CREDENTIALS.get(_protocol(url), "")
    elif names & {"SSLError", "ClientSSLError"}:
        message, hint = f"TLS with this server fails{_reason(chain)}", _CERTIFICATES
    elif status:
        return _status_error(status, url, code)
    elif "PermissionError" in names or str(error).startswith("Forbidden"):
        return _status_error(403, url)
    elif "FileNotFoundError" in names:
        kind, message = DataError, "no such file"
    elif "IsADirectoryError" in names:
        kind, message = DataError, _IS_FOLDER
    elif "ParamValidationError" in names:
        message = f"'{urlsplit(url).netloc}' is not a valid bucket name"
    elif names & {"gaierror", "ClientConnectorDNSError"}:
        message = "the server of this store cannot be found; is there a network?"
        if is_web(url):
            message = f"there is no server '{urlsplit(url).hostname}': its name is not known"
        numbers = [one.errno for one in chain if isinstance(one, socket.gaierror)]
        kind = _TransientError if socket.EAI_AGAIN in numbers[:1] else kind
    elif names & {"TimeoutError", "Timeout"}:
        kind, message = _TransientError, "the server did not answer in time"
    elif "InvalidURL" in names:
        message = "not a valid URL"
    elif "ConnectionRefusedError" in names:
        kind, message = _TransientError, "nothing answers there (connection refused)"
    elif names & _CUT:
        kind, message = _TransientError, "the connection failed"
    else:
        message = f"cannot be read ({_scrubbed(f'{type(error).__name__}: {error}', url)})"
    return kind(Problem(url, message), hint=hint)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error, and those that it came from."""
    found: BaseException | None = error
    for _ in range(8):
        if found is None:
            return
        yield found
        inner = getattr(found, "kwargs", None)
        within = inner.get("error") if isinstance(inner, dict) else None
        if isinstance(within, BaseException):
            yield within
        found = found.__cause__ or found.__context__


def _answer(chain: list[BaseException]) -> tuple[int, str]:
    """The status of the answer, and the store's own word; 0 if there was none."""
    for one in chain:
        response: Any = getattr(one, "response", None)
        if isinstance(response, dict):
            message = response.get("Error", {})
            status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
            return int(status), str(message.get("Code", ""))
        said = str(getattr(one, _STATUS.get(type(one).__name__, ""), ""))
        if said.isdecimal():
            return int(said), ""
    return 0, ""


def _reason(chain: list[BaseException]) -> str:
    """Why the certificate is rejected, in the words of OpenSSL."""
    said = (getattr(one, "verify_message", None) or getattr(one, "reason", None) for one in chain)
    reason = next((one for one in said if isinstance(one, str) and one), "")
    return f" ({reason.replace('_', ' ').lower()})" if reason else ""


def _scrubbed(text: str, url: str) -> str:
    """The words of a package, without what is secret in the URL."""
    parts = urlsplit(url)
    secrets = [value for _, value in parse_qsl(parts.query)]
    secrets += re.split("[:@]", parts.netloc.rpartition("@")[0])
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        for form in {secret, unquote(secret)}:
            text = text.replace(form, "…")
    return without_secrets(" ".join(text.split()))[:200]
