"""Translate litellm errors into retryable and final ones."""

from __future__ import annotations

import email.utils
import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from valor_cli.errors import ConfigError, MissingExtraError, Problem, ValorError, printable
from valor_cli.kernels.secrets.credentials import find_credentials
from valor_cli.models.litellm.endpoints import Endpoint
from valor_cli.models.requests import PermanentError, RateLimited, TransientError

_LONGEST = 200
_ECHO = 24
"""So many characters of a prompt in a server's words are no accident."""

_QUOTA = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
_THIS_REQUEST = {
    "content_filter",
    "content_policy_violation",
    "context_length_exceeded",
    "exceed_context_size_error",
    "string_above_max_length",
}
_FORM_WORDS = ("response_format", "json_schema", "json_object", "grammar", "structured output")

Explained = RateLimited | TransientError | PermanentError | ValorError


class Fault(Struct, frozen=True):
    """Facts about a failed request.

    Attributes:
        status: Of HTTP, or what litellm takes for it; None: there was no reply.
        real: Whether a server said so.
        codes: What the body calls the error.
        words: What the body says, unmasked.
        headers: Of the reply.
        chain: The error and what it came of.
    """

    status: int | None
    real: bool
    codes: frozenset[str]
    words: str
    headers: Mapping[str, str]
    chain: tuple[BaseException, ...]

    @property
    def kinds(self) -> set[str]:
        """Class names of all errors in the chain."""
        return {kind.__name__ for error in self.chain for kind in type(error).__mro__}

    @property
    def of_this_request(self) -> bool:
        """Whether the failure is limited to this request."""
        if self.status in (401, 403, 404, 429):
            return False
        told = {"ContextWindowExceededError", "ContentPolicyViolationError"} & self.kinds
        return bool(told or self.codes & _THIS_REQUEST) or self.status == 413

    @property
    def of_the_form(self) -> bool:
        """Whether the failure may be due to the reply format."""
        if self.of_this_request or not self.real:
            return False
        if self.status in (400, 422):
            return True
        words = self.words.lower()
        return self.status in (500, 501) and any(each in words for each in _FORM_WORDS)


def fault(error: BaseException) -> Fault:
    """Extract the facts from a litellm error."""
    chain = tuple(_chain(error))
    response = _response(chain)
    if response is None:
        return Fault(_status(error), False, frozenset(), "", {}, chain)
    said = _error_object(response)
    codes = frozenset(str(said[key]) for key in ("code", "type") if said.get(key) is not None)
    words = said.get("message") or said.get("detail") or said.get("error") or ""
    return Fault(response.status_code, True, codes, str(words), response.headers, chain)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _response(chain: Sequence[BaseException]) -> Any:
    """The server's own reply; litellm's errors carry replies that it made up."""
    for error in chain:
        if not type(error).__module__.startswith("litellm"):
            response = getattr(error, "response", None)
            if response is not None and hasattr(response, "status_code"):
                return response
    return None


def _status(error: BaseException) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _error_object(response: Any) -> Mapping[str, Any]:
    try:
        body = json.loads(response.content)
    except Exception:  # the body is whatever a broken server sent, or was never read
        return {}
    inner = body.get("error", body) if isinstance(body, dict) else {}
    return inner if isinstance(inner, dict) else {"message": inner}


def explained(found: Fault, endpoint: Endpoint, litellm: Any, texts: Sequence[str]) -> Explained:
    """The exception to raise for a failed request.

    Args:
        found: What is known of it.
        endpoint: Whom it went to.
        litellm: The package.
        texts: What was sent: no message may repeat it.
    """
    status = found.status
    if found.of_this_request:
        return PermanentError(f"{_why(found)}{_quoted(found, endpoint, texts)}")
    if not found.real:
        return _without_reply(found, endpoint, litellm)
    if status in (401, 403):
        return _key_refused(endpoint, litellm, f"the endpoint refused the key ({status})")
    after_s = retry_after(found.headers)
    quoted = _quoted(found, endpoint, texts)
    if status == 429:
        if found.codes & _QUOTA:
            return _config(endpoint, f"the account has no quota left (429){quoted}")
        return RateLimited("the endpoint is busy (429)", after_s)
    if status in (408, 409, 425) or status is None or status >= 500:
        return TransientError(f"the endpoint failed ({status}){quoted}", after_s)
    if status == 404:
        message = f"the endpoint has no model {endpoint.model}, or is not at this address (404)"
        hint = "check `model:` and `api_base:`; many servers want an address that ends in /v1"
        return _config(endpoint, f"{message}{quoted}", hint)
    form = any(word in found.words.lower() for word in _FORM_WORDS)
    hint = "`structured: auto` asks for the form that the endpoint understands" if form else ""
    return _config(endpoint, f"the endpoint refused the request ({status}){quoted}", hint)


def _without_reply(found: Fault, endpoint: Endpoint, litellm: Any) -> Explained:
    """For requests that no whole reply of HTTP with an error status came to."""
    kinds = found.kinds
    for error in found.chain:
        if isinstance(error, ImportError):
            message = f"the provider of {endpoint.model} needs the package {error.name}"
            problem = Problem(endpoint.place, f"{message}, which is not installed")
            return MissingExtraError(problem, hint=f"pip install {error.name}")
    if "TimeoutError" in kinds or "Timeout" in kinds:
        return TransientError(f"no reply within {endpoint.timeout_s:g} s")
    if "ConnectError" in kinds or "ConnectTimeout" in kinds:
        return TransientError(f"no connection to {endpoint.shown}")
    if "JSONDecodeError" in kinds:
        return TransientError("the reply is not a complete JSON document")
    if kinds & {"TransportError", "ClientConnectionError"}:
        return TransientError("the connection broke before the reply was complete")
    if found.status == 429:
        return RateLimited("the endpoint is busy")
    return _never_sent(found, endpoint, litellm) or TransientError(
        "the reply is not a chat completion"
    )


def _never_sent(found: Fault, endpoint: Endpoint, litellm: Any) -> ValorError | None:
    """For requests that litellm refused itself, and errors in replies of status 200."""
    told = " ".join(str(error) for error in found.chain)
    if "LLM Provider NOT provided" in told:
        message = f"litellm has no provider for the model {endpoint.model}"
        hint = "write provider/model, as in openai/gpt-4o-mini, or give `api_base:`"
        return _config(endpoint, message, hint)
    if "credentials encoded in URL" in told:
        hint = "a header of your own goes under `parameters:`, as extra_headers: {NAME: value}"
        return _config(endpoint, "a name and password in `api_base:` do not go with a key", hint)
    if "API_KEY" in told or "credentials" in told.lower():
        return _key_refused(endpoint, litellm, "there is no key")
    if found.status in (401, 403):
        return _key_refused(endpoint, litellm, "there is no key, or the endpoint refused it")
    if found.status in (400, 404, 422):
        return _config(endpoint, "the request was refused", "check `model:` and `parameters:`")
    if "unexpected keyword argument" in told:
        hint = "what only some servers know goes under `extra_body:`"
        return _config(
            endpoint, "`parameters:` has one that the provider's API does not have", hint
        )
    return None


def _key_refused(endpoint: Endpoint, litellm: Any, message: str) -> ConfigError:
    return _config(endpoint, message, _about_key(endpoint, litellm))


def _about_key(endpoint: Endpoint, litellm: Any) -> str:
    if endpoint.api_key_env is not None:
        return f"check the key in the environment variable {endpoint.api_key_env}"
    if endpoint.near:
        return "name the environment variable that holds its key with `api_key_env:`"
    lacking = litellm.validate_environment(endpoint.called(litellm)).get("missing_keys")
    if lacking and endpoint.api_base is None:
        return f"set the environment variables {', '.join(lacking)}, or give `api_key_env:`"
    variable = endpoint.key_variable(litellm)
    return f"check the key in the environment variable {variable}, or give `api_key_env:`"


def _config(endpoint: Endpoint, message: str, hint: str = "") -> ConfigError:
    return ConfigError(Problem(f"{endpoint.place} ({endpoint.model})", message), hint=hint)


def _why(found: Fault) -> str:
    if "ContentPolicyViolationError" in found.kinds or found.codes & {
        "content_filter",
        "content_policy_violation",
    }:
        return "the provider's filter refused the request"
    return "the request is too long for the model"


def _quoted(found: Fault, endpoint: Endpoint, texts: Sequence[str]) -> str:
    """The server's message: shortened, one line, without keys and request texts."""
    words = safe_message(found.words, tuple(endpoint.secrets()), texts)
    return f": {words}" if words else ""


def safe_message(words: str, secrets: Sequence[str], texts: Sequence[str]) -> str:
    """A server's message if it may be shown; empty if it repeats what was sent."""
    words = " ".join(words[: 20 * _LONGEST].split())
    for secret in secrets:
        words = words.replace(secret, "…")
    for span in reversed(find_credentials(words)):
        words = f"{words[: span.start]}…{words[span.end :]}"
    words = printable(words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…")
    sent = [" ".join(text.split()) for text in texts]
    if any(words[at : at + _ECHO] in text for at in range(len(words) - _ECHO + 1) for text in sent):
        return ""
    # Short texts are repeated whole.
    repeated = any(len(text) >= _ECHO // 3 and text in words for text in sent)
    return "" if repeated else words[:_LONGEST]


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The delay in seconds that a server asks for; None if it gives none."""
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        said = headers.get(name)
        if said is None:
            continue
        try:
            after_s = float(said) * unit
        except ValueError:
            after_s = _until(said)
        if math.isfinite(after_s):
            return max(0.0, after_s)
    return None


def _until(date: str) -> float:
    try:
        return email.utils.parsedate_to_datetime(date).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return math.nan
