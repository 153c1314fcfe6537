"""Resolve the endpoint, API key and prices of a remote model."""

from __future__ import annotations

import functools
import ipaddress
import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from valor_cli.errors import ConfigError, Problem
from valor_cli.extras import package_folder
from valor_cli.models.requests import Price
from valor_cli.models.settings import EmbedderSettings, JudgeSettings

_SECRET_NAME = re.compile("KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_SHORTEST_SECRET = 8
_NO_KEY = "none"


class Endpoint(Struct, frozen=True):
    """Endpoint of a remote model.

    Attributes:
        place: Of its block in the config, for messages: "judge".
        model: As the config names it.
        api_base: URL of its server; None: the provider's own.
        api_key_env: Environment variable that holds the key; None: the provider's usual.
        timeout_s, connect_timeout_s: How long it may take, to reply and to be reached.
        headers: Values of headers of the user's own, which are never told.
    """

    place: str
    model: str
    api_base: str | None
    api_key_env: str | None
    timeout_s: float
    connect_timeout_s: float
    headers: tuple[str, ...] = ()

    @property
    def near(self) -> bool:
        """Whether it is on this machine."""
        return self.api_base is not None and is_loopback(self.api_base)

    @property
    def url(self) -> str | None:
        """Its address without user name and password."""
        if self.api_base is None:
            return None
        parts = urlsplit(self.api_base)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()

    @property
    def shown(self) -> str:
        """Its address for messages, without the query, which may hold a key."""
        return "the endpoint" if self.url is None else re.split("[?#]", self.url)[0]

    def called(self, litellm: Any) -> str:
        """The model with its provider; self-hosted servers are assumed to speak OpenAI's API."""
        provider, slash, _ = self.model.partition("/")
        if self.api_base is None or (slash and provider in litellm.provider_list):
            return self.model
        return f"openai/{self.model}"

    def key_variable(self, litellm: Any) -> str:
        """The environment variable of the key."""
        if self.api_key_env is not None:
            return self.api_key_env
        provider, slash, _ = self.called(litellm).partition("/")
        return f"{provider.upper()}_API_KEY" if slash else "OPENAI_API_KEY"

    def key(self, litellm: Any) -> str | None:
        """The key; None if litellm reads the provider's usual variable.

        Raises:
            ConfigError: The variable that the config names is not set.
        """
        if self.api_key_env is not None:
            key = os.environ.get(self.api_key_env, "").strip()
            if not key:
                message = f"the environment variable {self.api_key_env} is not set"
                where = f"{self.place}.api_key_env"
                raise ConfigError(Problem(where, message), hint=f"export {self.api_key_env}=…")
            return key
        if self.api_base is None:
            return None
        # The key of a provider far away is no business of a server on this machine.
        key = "" if self.near else os.environ.get(self.key_variable(litellm), "").strip()
        return key or _NO_KEY

    def secrets(self) -> Iterator[str]:
        """Secrets that no message may contain, longest first."""
        found = {value for name, value in os.environ.items() if _SECRET_NAME.search(name)}
        found.update(self.headers)
        if self.api_key_env is not None:
            found.add(os.environ.get(self.api_key_env, ""))
        if self.api_base is not None and "@" in self.api_base:
            found.add(urlsplit(self.api_base).netloc.rpartition("@")[0])
        long_enough = (each for each in found if len(each.strip()) >= _SHORTEST_SECRET)
        yield from sorted(map(str.strip, long_enough), key=len, reverse=True)


def is_loopback(url: str) -> bool:
    """Whether an address is one of this machine's own."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


_LIST = "model_prices_and_context_window_backup.json"


def price_of(settings: JudgeSettings | EmbedderSettings) -> Price | None:
    """The token price of a model; None if unknown.

    The list lies in the installed package litellm; it is read, and the package is not imported.
    """
    if settings.price is not None:
        return settings.price.price
    facts = litellm_model_info(settings.model or "")
    each_in, each_out = facts.get("input_cost_per_token"), facts.get("output_cost_per_token")
    if not isinstance(each_in, int | float) or not isinstance(each_out, int | float):
        return None
    return Price(each_in * 1e6, each_out * 1e6)


def litellm_model_info(model: str) -> Mapping[str, Any]:
    """The entry of a model in litellm's list, with or without its provider."""
    listed = _listed()
    if model in listed:
        return listed[model]
    provider, slash, name = model.partition("/")
    facts = listed.get(name, {}) if slash else {}
    # The list has "gpt-4o" of openai, and it has the same name of others under their prefix.
    return facts if str(facts.get("litellm_provider", "")).startswith(provider) else {}


@functools.cache
def _listed() -> Mapping[str, Mapping[str, Any]]:
    folder = package_folder("litellm")
    if folder is None or not (folder / _LIST).is_file():
        return {}
    listed: dict[str, dict[str, Any]] = json.loads((folder / _LIST).read_bytes())
    listed.pop("sample_spec", None)
    return listed
