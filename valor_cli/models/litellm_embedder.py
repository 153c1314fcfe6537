"""Texts in; vectors of any provider's model, or of a server of one's own, out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valor_cli.models import litellm_client
from valor_cli.models.backoff import Backoff
from valor_cli.models.embedder_settings import EmbedderSettings
from valor_cli.models.endpoints import Endpoint
from valor_cli.models.identity import ModelIdentity
from valor_cli.models.judge import Busy, NoAnswer, Passing, Unanswerable
from valor_cli.models.litellm_faults import explained, fault

_AT_A_TIME = 64
"""Texts in a request; providers take 96 and more."""
_CONNECT_S = 10.0


class LitellmEmbedder:
    """A model of vectors that litellm asks, again where a failure may pass."""

    def __init__(self, settings: EmbedderSettings) -> None:
        """Nothing is imported or asked yet.

        Raises:
            ValorError: litellm is not installed, or the settings cannot be used.
        """
        litellm_client.check_installed()
        self._settings = settings
        self._backoff = Backoff()
        self._endpoint = Endpoint(
            "embedder",
            settings.model or "",
            settings.api_base,
            settings.api_key_env,
            settings.timeout_s,
            _CONNECT_S,
        )
        self.name = settings.model or settings.backend
        self.remote = not self._endpoint.near
        self.identity = ModelIdentity(self.name)
        self.keeps = f"{settings.model} {self._endpoint.url or ''}"
        self.longest = None

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """(texts, dimensions) the vector of each.

        Raises:
            NoAnswer: None could be had.
            ConfigError: None ever will: a wrong key, an unknown model.
        """
        # A text that stands twice is sent once.
        distinct = list(dict.fromkeys(texts))
        parts = [distinct[at : at + _AT_A_TIME] for at in range(0, len(distinct), _AT_A_TIME)]
        vectors = [vector for part in parts for vector in await self._embedded(part)]
        if len({len(vector) for vector in vectors}) > 1:
            raise NoAnswer("the vectors are of different lengths")
        places = {text: at for at, text in enumerate(distinct)}
        if not texts:
            return np.empty((0, 0))
        return np.array(vectors, np.float64)[[places[text] for text in texts]]

    async def _embedded(self, texts: list[str]) -> list[list[float]]:
        """The vectors of some texts, asked for until they are had."""
        tries = 0
        while True:
            try:
                return await self._asked(texts)
            except Unanswerable as error:
                raise NoAnswer(str(error)) from None
            except (Busy, Passing) as error:
                if tries == self._settings.max_retries:
                    raise NoAnswer(f"{error}, after {tries + 1} tries") from None
                after_s = error.after_s
            tries += 1
            await asyncio.sleep(self._backoff.wait(tries, after_s))

    async def _asked(self, texts: list[str]) -> list[list[float]]:
        import httpx

        litellm = litellm_client.opened(self)
        given: dict[str, Any] = {
            "api_base": self._settings.api_base,
            "api_key": self._endpoint.key(litellm),
        }
        try:
            async with asyncio.timeout(_CONNECT_S + self._settings.timeout_s):
                response = await litellm.aembedding(
                    model=self._endpoint.called(litellm),
                    input=texts,
                    timeout=httpx.Timeout(self._settings.timeout_s, connect=_CONNECT_S),
                    num_retries=0,
                    max_retries=0,
                    encoding_format="float",
                    drop_params=True,
                    **{name: value for name, value in given.items() if value is not None},
                )
        except Exception as error:  # providers raise anything; `fault` tells them apart
            raise explained(fault(error), self._endpoint, litellm, texts) from None
        return _vectors(response, len(texts))

    def cut(self, texts: Sequence[str]) -> int:
        """None that could be known of: providers refuse what is too long, or cut it silently."""
        return 0

    async def close(self) -> None:
        """Close its connections, unless others of the run still use them."""
        await litellm_client.closed(self)


def _vectors(response: Any, wanted: int) -> list[list[float]]:
    """The vectors in the order of the texts, which `index` tells."""
    data = getattr(response, "data", None)
    try:
        found = {int(each["index"]): each["embedding"] for each in data or ()}
        vectors = [[float(number) for number in found[at]] for at in range(wanted)]
    except (KeyError, TypeError, ValueError):
        raise Passing("the reply is no list of vectors") from None
    if len(found) != wanted or not all(np.isfinite(vector).all() for vector in vectors):
        raise Passing("the reply is no list of vectors")
    return vectors
