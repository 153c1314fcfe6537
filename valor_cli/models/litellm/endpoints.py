"""Resolve the endpoint and API key of a remote model."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from valor_cli.errors import ConfigError, Problem

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


def is_address(url: str) -> bool:
    """Whether the text is a valid server address."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
