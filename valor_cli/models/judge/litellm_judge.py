"""Judge that calls any provider or self-hosted server through litellm."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from valor_cli.errors import ConfigError, Problem
from valor_cli.models.litellm import client as litellm_client
from valor_cli.models.litellm.endpoints import Endpoint, litellm_model_info, price_of
from valor_cli.models.litellm.faults import Fault, explained, fault
from valor_cli.models.requests import Judge, Price, Reply, Request, TransientError
from valor_cli.models.settings import JudgeSettings

Form = Literal["json_schema", "json_object", "none"]
_FORMS: tuple[Form, ...] = ("json_schema", "json_object", "none")

_SET_ELSEWHERE = {
    "model": "model",
    "api_base": "api_base",
    "base_url": "api_base",
    "api_key": "api_key_env",
    "temperature": "temperature",
    "seed": "seed",
    "max_tokens": "max_tokens",
    "timeout": "timeout_s",
    "num_retries": "max_retries",
    "max_retries": "max_retries",
    "response_format": "structured",
}
_OURS = {"messages", "stream", "n", "tools", "client", "fallbacks", "mock_response", "callbacks"}
_MOST_PROBABLE = 20
"""Tokens at each place that OpenAI's API tells the probabilities of, at most."""
_HEADERS = {"extra_headers", "headers", "default_headers"}


class LitellmJudge(Judge):
    """A judge that calls litellm.

    It is asked once a request: tries again are the business of `Calls`.
    """

    keeps = True

    def __init__(
        self, settings: JudgeSettings, *, place: str = "judge", key: str | None = None
    ) -> None:
        """Initialise without loading anything.

        Args:
            settings: Whom to ask, and how.
            place: Of the settings in the config, for messages.
            key: In place of one from the environment.

        Raises:
            ValorError: litellm is not installed, or the settings cannot be used.
        """
        litellm_client.check_installed()
        _check_parameters(settings.parameters, place)
        headers = [settings.parameters[name] for name in _HEADERS & settings.parameters.keys()]
        self._settings = settings
        self._key = key
        self._endpoint = Endpoint(
            place,
            settings.model or "",
            settings.api_base,
            settings.api_key_env,
            settings.timeout_s,
            settings.connect_timeout_s,
            tuple(str(value) for each in headers for value in dict(each).values()),
        )
        self._form: Form | None = None if settings.structured == "auto" else settings.structured
        self._tells_scores = True
        self.name = settings.called
        self.remote = not self._endpoint.near
        self.price: Price | None = price_of(settings)
        self.identity: Mapping[str, Any] = {
            "backend": "litellm",
            "model": settings.model,
            "api_base": self._endpoint.url,
            "temperature": settings.temperature,
            "seed": settings.seed,
            "max_tokens": settings.max_tokens,
            "parameters": {
                name: value for name, value in settings.parameters.items() if name not in _HEADERS
            },
            "structured": settings.structured,
        }

    async def answer(self, request: Request) -> Reply:
        """Send a request; repeated only if the server does not support the reply format.

        Raises:
            RateLimited: It asks to come back later.
            TransientError: It failed in a way that may pass.
            PermanentError: It will never answer this request.
            ConfigError: It will never answer any: a wrong key, an unknown model.
        """
        litellm = litellm_client.opened(self)
        key = self._key or self._endpoint.key(litellm)
        refused: Fault | None = None
        ways = [
            (form, bool(request.scores) and self._tells_scores)
            for form in self._forms(litellm, request)
        ]
        # A server that knows no probabilities may refuse what asks for them.
        ways += [(form, False) for form, scored in ways if scored]
        for form, scored in ways:
            try:
                response = await self._asked(litellm, request, form, key, scored=scored)
            except Exception as error:  # providers raise anything; `fault` tells them apart
                found = fault(error)
            else:
                if refused is not None:
                    self._form = form
                    self._tells_scores &= scored or not request.scores
                return _reply(response, self._settings, self.price, request.scores)
            if not found.of_the_form:
                break
            refused = refused or found
        else:
            found = refused or found
        texts = [message.content for message in request.messages]
        raise explained(found, self._endpoint, litellm, texts)

    def _forms(self, litellm: Any, request: Request) -> Iterator[Form]:
        """How to ask for the reply's form: as the server is known to understand, then simpler."""
        if request.schema is None:
            yield "none"
            return
        if self._settings.structured != "auto":
            yield self._settings.structured
            return
        if self._form is None:
            self._form = _understood(litellm, self._endpoint)
        yield from _FORMS[_FORMS.index(self._form) :]

    async def _asked(
        self, litellm: Any, request: Request, form: Form, key: str | None, *, scored: bool
    ) -> Any:
        settings = self._settings
        arguments = {
            "messages": [message._asdict() for message in request.messages],
            "temperature": settings.temperature,
            "seed": settings.seed,
            "max_tokens": settings.max_tokens,
            "api_key": key,
            "response_format": _response_format(request, form),
            "tools": [dict(tool) for tool in request.tools] or None,
            # Else it imports a package of yet another protocol to look for tools of its own.
            "_skip_mcp_handler": True if request.tools else None,
            "stream": False,
            "logprobs": scored or None,
            "top_logprobs": _MOST_PROBABLE if scored else None,
        }
        arguments = {
            name: one for name, one in arguments.items() if name not in settings.parameters
        }
        return await litellm_client.requested(
            litellm, "acompletion", self._endpoint, arguments, settings.parameters
        )

    async def close(self) -> None:
        """Close its connections, unless others of the run still use them."""
        await litellm_client.closed(self)


def _check_parameters(parameters: Mapping[str, Any], place: str) -> None:
    for name in parameters:
        where = f"{place}.parameters.{name}"
        if name in _SET_ELSEWHERE:
            raise ConfigError(Problem(where, f"is set with `{place}.{_SET_ELSEWHERE[name]}:`"))
        if name in _OURS:
            raise ConfigError(Problem(where, "is set by valor"))
        if name in _HEADERS and not isinstance(parameters[name], dict):
            raise ConfigError(Problem(where, "a mapping of names to values is needed"))


def _understood(litellm: Any, endpoint: Endpoint) -> Form:
    if endpoint.api_base is not None or litellm_model_info(endpoint.model).get(
        "supports_response_schema"
    ):
        return "json_schema"
    supported = litellm.get_supported_openai_params(endpoint.called(litellm)) or ()
    return "json_object" if "response_format" in supported else "none"


def _response_format(request: Request, form: Form) -> dict[str, Any] | None:
    if request.schema is None or form == "none":
        return None
    if form == "json_object":
        return {"type": "json_object"}
    schema = {"name": request.schema_name, "schema": dict(request.schema), "strict": True}
    return {"type": "json_schema", "json_schema": schema}


def _scores(choice: Any, wanted: Sequence[str]) -> Mapping[str, float] | None:
    """The probabilities of the last token that is one of some; see `Reply.scores`."""
    tokens = getattr(getattr(choice, "logprobs", None), "content", None)
    if not wanted or not tokens:
        return None
    for token in reversed(tokens):
        written = token.token.strip()
        if written in wanted:
            found = dict.fromkeys([written], 0.0)
            for one in token.top_logprobs or [token]:
                if (text := one.token.strip()) in wanted:
                    found[text] = found.get(text, 0.0) + math.exp(min(one.logprob, 0.0))
            return found
    return {}


def _reply(
    response: Any, settings: JudgeSettings, price: Price | None, scores: Sequence[str] = ()
) -> Reply:
    choices = getattr(response, "choices", None)
    if not choices:
        raise TransientError("the reply has no choices")
    message, finish = choices[0].message, choices[0].finish_reason
    # litellm keeps what OpenAI's API has beyond its own record under another name.
    extras = getattr(message, "provider_specific_fields", None) or {}
    refusal = getattr(message, "refusal", None) or extras.get("refusal")
    tokens_in, tokens_out = _tokens(getattr(response, "usage", None))
    text = _text(message.content)
    return Reply(
        text or (refusal if isinstance(refusal, str) else ""),
        refused=bool(refusal) or finish == "content_filter",
        cut=finish == "length",
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost_usd=_cost(response, settings, price, tokens_in, tokens_out),
        model=getattr(response, "model", None),
        scores=_scores(choices[0], scores),
    )


def _text(content: str | Sequence[Any] | None) -> str:
    """The text of a reply; some providers send it in parts."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = (part.get("text") for part in content if isinstance(part, Mapping))
    return "".join(part for part in parts if isinstance(part, str))


def _tokens(usage: Any) -> tuple[int | None, int | None]:
    tokens_in, tokens_out = (
        getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens")
    )
    # litellm says 0 of both where the server said nothing; no prompt has none.
    if not tokens_in and not tokens_out:
        return None, None
    return tokens_in, tokens_out


def _cost(
    response: Any,
    settings: JudgeSettings,
    price: Price | None,
    tokens_in: int | None,
    tokens_out: int | None,
) -> float | None:
    """US dollars; litellm's own figure knows of cached tokens, which are cheaper."""
    if price is None:
        return None
    if price == Price(0.0, 0.0):
        return 0.0
    if tokens_in is None or tokens_out is None:
        return None
    figure = getattr(response, "_hidden_params", {}).get("response_cost")
    if settings.price is None and isinstance(figure, float) and figure > 0:
        return figure
    return price.of(tokens_in, tokens_out)
