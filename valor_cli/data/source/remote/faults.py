"""Describe errors of remote reads, and decide whether to retry.

The packages of the object stores are not imported here: errors are recognised by class name, since
packages that are not installed raise none.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from msgspec import Struct

from valor_cli.errors import DataError, Problem, UnreachableError
from valor_cli.masking import without_secrets
from valor_cli.paths import is_web, scheme_of

_MOST_CAUSES: Final = 8
_LONGEST: Final = 200

_NO_CREDENTIALS: Final = frozenset(
    {"NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError", "SSOError"}
    | {"ProfileNotFound", "TokenRetrievalError", "DefaultCredentialsError", "RefreshError"}
)
_TLS: Final = frozenset({"SSLError", "ClientSSLError", "SSLCertVerificationError"})
_SILENT: Final = frozenset(
    {"TimeoutError", "FSTimeoutError", "ConnectTimeoutError", "ReadTimeoutError", "Timeout"}
)
_CUT: Final = frozenset(
    {"ConnectionError", "ClientConnectionError", "ClientPayloadError", "HTTPClientError"}
    | {"IncompleteRead", "ResponseStreamingError", "ConnectionClosedError", "RequestException"}
    | {"ServerDisconnectedError", "EndpointConnectionError", "ResponseParserError"}
)
_STATUS: Final = {"ClientResponseError": "status", "HttpError": "code"}
"""Where errors of aiohttp and gcsfs keep the status of an answer; others have more of that name."""

_TRANSIENT: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_BUSY: Final = frozenset({"SlowDown", "ServiceUnavailable", "InternalError", "RequestTimeout"})

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
_KINDS: Final = {"s3a": "s3", "gcs": "gs", "http": "https"}
_CERTIFICATES: Final = (
    "A certificate of your own authority is named by SSL_CERT_FILE, for S3 by AWS_CA_BUNDLE."
)


class Fault(Struct, frozen=True):
    """A fault of a file behind a URL.

    Attributes:
        message: What and how.
        hint: The next step.
        transient: Whether it may go well when it is tried again.
        wait_s: Seconds that the server asks to wait before that.
        absent: Whether all that is wrong is that there is no such file; a folder is none.
    """

    message: str
    hint: str = ""
    transient: bool = False
    wait_s: float = 0.0
    absent: bool = False


class RemoteError(Exception):
    """A fault, raised for the caller that decides whether to retry."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        super().__init__(fault.message)


def error_of(url: str, fault: Fault) -> DataError | UnreachableError:
    """The user's error for a fault; a missing file is treated like a damaged one."""
    kind = DataError if fault.absent else UnreachableError
    return kind(Problem(url, fault.message), hint=fault.hint)


def credentials_of(url: str) -> str:
    """Where a store's credentials come from; empty for unknown stores."""
    scheme = scheme_of(url) or ""
    return _CREDENTIALS.get(_KINDS.get(scheme, scheme), "")


def status_fault(status: int, url: str, code: str = "", wait_s: float = 0.0) -> Fault:
    """The fault that an HTTP status stands for.

    Args:
        status: Of HTTP.
        url: What was asked for.
        code: A store's own word for it.
        wait_s: Seconds that the server asks to wait.
    """
    said = f"{status} {code}" if code and code != str(status) else str(status)
    who = "the server" if is_web(url) else "the store"
    if code in ("NoSuchBucket", "InvalidBucketName"):
        return Fault(f"there is no bucket '{urlsplit(url).netloc}'")
    if status == 401:
        return Fault(f"{who} asks for credentials ({said})", credentials_of(url))
    if status == 403:
        return Fault(f"{who} refuses access ({said})", credentials_of(url))
    if status in (404, 410):
        return Fault(f"no such file ({who} answers {said})", absent=True)
    if status in _TRANSIENT or code in _BUSY:
        return Fault(f"{who} answers {said}", transient=True, wait_s=wait_s)
    return Fault(f"cannot be read: {who} answers {said}")


def fault_of(error: BaseException, url: str) -> Fault:
    """The fault that an error of a store's package stands for."""
    chain = list(_chain(error))
    names = {kind.__name__ for one in chain for kind in type(one).__mro__}
    if names & _NO_CREDENTIALS:
        return Fault("no credentials were found for this store", credentials_of(url))
    if names & _TLS:
        return Fault(f"TLS with this server fails{_reason(chain)}", _CERTIFICATES)
    status, code = _answer(chain)
    if status:
        return status_fault(status, url, code)
    if "PermissionError" in names or str(error).startswith("Forbidden"):
        return status_fault(403, url)
    if "FileNotFoundError" in names:
        return Fault("no such file", absent=True)
    if "IsADirectoryError" in names:
        return Fault("this is a folder; name a file in it", absent=True)
    if "ParamValidationError" in names:
        return Fault(f"'{urlsplit(url).netloc}' is not a valid bucket name")
    return _of_connection(chain, names, url)


def _of_connection(chain: list[BaseException], names: set[str], url: str) -> Fault:
    """Where no answer came, or none that could be read."""
    unknown = next((one for one in chain if isinstance(one, socket.gaierror)), None)
    host = urlsplit(url).hostname if is_web(url) else None
    if unknown is not None or "ClientConnectorDNSError" in names:
        again = unknown is not None and unknown.errno == socket.EAI_AGAIN
        message = f"there is no server '{host}': its name is not known"
        if not host:
            message = "the server of this store cannot be found; is there a network?"
        return Fault(message, transient=again)
    if names & _SILENT:
        return Fault("the server did not answer in time", transient=True)
    if names & {"InvalidURL", "InvalidUrlClientError"}:
        return Fault("not a valid URL")
    if names & _CUT:
        refused = any(isinstance(one, ConnectionRefusedError) for one in chain)
        message = (
            "nothing answers there (connection refused)" if refused else "the connection failed"
        )
        return Fault(message, transient=True)
    error = chain[0]
    message = _scrubbed(f"{type(error).__name__}: {error}", url)
    return Fault(f"cannot be read ({message})")


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error, and those that it came from."""
    seen = 0
    found: BaseException | None = error
    while found is not None and seen < _MOST_CAUSES:
        yield found
        inner = getattr(found, "kwargs", None)
        within = inner.get("error") if isinstance(inner, dict) else None
        if isinstance(within, BaseException) and within is not found:
            yield within
        found = found.__cause__ or found.__context__
        seen += 1


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
    for one in chain:
        message = getattr(one, "verify_message", None) or getattr(one, "reason", None)
        if isinstance(message, str) and message:
            return f" ({message.replace('_', ' ').lower()})"
    return ""


def _scrubbed(text: str, url: str) -> str:
    """The words of a package, without what is secret in the URL."""
    parts = urlsplit(url)
    secrets = [value for _, value in parse_qsl(parts.query)]
    secrets += re.split("[:@]", parts.netloc.rpartition("@")[0])
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        for form in {secret, unquote(secret)}:
            text = text.replace(form, "…")
    return without_secrets(" ".join(text.split()))[:_LONGEST]
