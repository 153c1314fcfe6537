"""Call functions of fsspec and its packages: their errors in the user's words, and tries again."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator
from time import sleep
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

from valor_cli.errors import DataError, Problem, UnreachableError, ValorError
from valor_cli.masking import without_secrets
from valor_cli.paths import is_web, scheme_of

T = TypeVar("T")

TRIES: Final = 5
"""Maximum attempts for the same byte."""

FIRST_WAIT_S: Final = 0.2
"""Before the second try; twice as long before each further one."""

IS_FOLDER: Final = "this is a folder; name a file in it"

_PROTOCOLS: Final = {"s3a": "s3", "gcs": "gs", "http": "https"}
"""Other names of a scheme."""

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


class TransientError(UnreachableError):
    """A fault that may pass.

    Attributes:
        wait_s: Seconds that the server asks to wait.
    """

    wait_s = 0.0


_NO_CREDENTIALS: Final = "no credentials were found for this store"
_NO_BUCKET: Final = "not a valid bucket name"
_NO_TLS: Final = "TLS with this server fails"
_NO_SERVER: Final = "the server of this store cannot be found; is there a network?"
_CUT: Final = "the connection failed"
_FAULTS: Final[tuple[tuple[str, type[ValorError], str], ...]] = (
    ("NoCredentialsError PartialCredentialsError SSOError", UnreachableError, _NO_CREDENTIALS),
    ("CredentialRetrievalError TokenRetrievalError", UnreachableError, _NO_CREDENTIALS),
    ("ProfileNotFound DefaultCredentialsError RefreshError", UnreachableError, _NO_CREDENTIALS),
    ("SSLError ClientSSLError", UnreachableError, _NO_TLS),
    ("FileNotFoundError", DataError, "no such file"),
    ("IsADirectoryError", DataError, IS_FOLDER),
    ("ParamValidationError", UnreachableError, _NO_BUCKET),
    ("gaierror ClientConnectorDNSError", UnreachableError, _NO_SERVER),
    ("TimeoutError Timeout", TransientError, "the server did not answer in time"),
    ("InvalidURL", UnreachableError, "not a valid URL"),
    ("ConnectionRefusedError", TransientError, "nothing answers there (connection refused)"),
    ("ConnectionError ClientConnectionError HTTPClientError", TransientError, _CUT),
    ("ClientPayloadError IncompleteRead ResponseParserError", TransientError, _CUT),
    ("RequestException", TransientError, _CUT),
)
"""Errors by the names of their classes and bases: packages that are not installed raise none."""

_STATUS: Final = {"ClientResponseError": "status", "HttpError": "code"}
"""Where errors of aiohttp and gcsfs keep the status of an answer; others have more of that name."""

_TRANSIENT: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_BUSY: Final = frozenset({"SlowDown", "ServiceUnavailable", "InternalError", "RequestTimeout"})


def protocol_of(url: str) -> str:
    """The scheme of a URL, by one name: s3a is s3."""
    scheme = scheme_of(url) or ""
    return _PROTOCOLS.get(scheme, scheme)


def retried(function: Callable[[], T], url: str) -> T:
    """Call a function of a store, again after faults that may pass.

    Raises:
        DataError: There is no such file.
        UnreachableError: Any other fault of the packages beneath.
    """
    # gcsfs tries six times on its own, half a minute long.
    tries = min(TRIES, 2) if protocol_of(url) == "gs" else TRIES
    tried = 0
    while True:
        try:
            return translated(function, url)
        except TransientError as error:
            tried += 1
            if tried == tries:
                message = f"{error.problems[0].message}; it was tried {tries} times"
                raise UnreachableError(Problem(url, message)) from error
            sleep(max(FIRST_WAIT_S * 2 ** (tried - 1), error.wait_s))


def translated(function: Callable[[], T], url: str) -> T:
    """Call a function; errors of the packages beneath become those of the user."""
    try:
        return function()
    except ValorError:
        raise
    except Exception as error:  # of any package beneath
        raise _error_of(error, url) from error


def status_error(status: int, url: str, code: str = "") -> ValorError:
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
        message, hint = f"{who} {refusal} ({said})", _CREDENTIALS.get(protocol_of(url), "")
    elif status in (404, 410):
        # A missing file is treated like a damaged one.
        kind, message = DataError, f"no such file ({who} answers {said})"
    elif status in _TRANSIENT or code in _BUSY:
        kind, message = TransientError, f"{who} answers {said}"
    else:
        message = f"cannot be read: {who} answers {said}"
    return kind(Problem(url, message), hint=hint)


def _error_of(error: BaseException, url: str) -> ValorError:
    """The user's error for one of a store's package."""
    chain = list(_chain(error))
    names = {kind.__name__ for one in chain for kind in type(one).__mro__}
    status, code = _answer(chain)
    kind: type[ValorError] = UnreachableError
    message = f"cannot be read ({_scrubbed(f'{type(error).__name__}: {error}', url)})"
    for known, own, said in _FAULTS:
        if not names.isdisjoint(known.split()):
            kind, message = own, said
            break
    if message == _NO_CREDENTIALS:
        return kind(Problem(url, message), hint=_CREDENTIALS.get(protocol_of(url), ""))
    if message == _NO_TLS:
        return kind(Problem(url, f"{message}{_reason(chain)}"), hint=_CERTIFICATES)
    if status or "PermissionError" in names or str(error).startswith("Forbidden"):
        return status_error(status or 403, url, code)
    if message == _NO_BUCKET:
        message = f"'{urlsplit(url).netloc}' is {message}"
    elif message == _NO_SERVER:
        if is_web(url):
            message = f"there is no server '{urlsplit(url).hostname}': its name is not known"
        numbers = [one.errno for one in chain if isinstance(one, socket.gaierror)]
        kind = TransientError if socket.EAI_AGAIN in numbers[:1] else kind
    return kind(Problem(url, message))


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error and its causes."""
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
