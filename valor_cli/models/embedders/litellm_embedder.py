"""Embed texts with a provider's or a self-hosted model through litellm."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from valor_cli.models.litellm import client as litellm_client
from valor_cli.models.litellm.endpoints import Endpoint
from valor_cli.models.litellm.faults import explained, fault
from valor_cli.models.protocols import ModelIdentity
from valor_cli.models.requests import (
    NoAnswer,
    PermanentError,
    RateLimited,
    Stopped,
    TransientError,
)
from valor_cli.models.scheduler import event_loop
from valor_cli.models.scheduler.retries import Backoff
from valor_cli.models.scheduler.stop import Stop
from valor_cli.models.settings import EmbedderSettings

T = TypeVar("T")

_AT_A_TIME = 64
"""Texts in a request; providers take 96 and more."""
_CONNECT_S = 10.0


class LitellmEmbedder:
    """An embedder that calls litellm and retries transient failures."""

    def __init__(self, settings: EmbedderSettings, stop: Stop) -> None:
        """Initialise without loading anything.

        Args:
            settings: Whom to ask.
            stop: Asked between requests; what is under way gets its grace.

        Raises:
            ValorError: litellm is not installed, or the settings cannot be used.
        """
        litellm_client.check_installed()
        self._settings = settings
        self._stop = stop
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
        self.keeps = _key(settings, self._endpoint)
        self.longest = None

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """(texts, dimensions) the vector of each.

        Raises:
            NoAnswer: None could be had.
            Stopped: The run ends.
            ConfigError: None ever will: a wrong key, an unknown model.
        """
        # A text that stands twice is sent once.
        distinct = list(dict.fromkeys(texts))
        size = self._settings.batch_size or _AT_A_TIME
        vectors: list[list[float]] = []
        for at in range(0, len(distinct), size):
            part = [self._settings.prompt + text for text in distinct[at : at + size]]
            vectors += await self._unless_stopped(self._embedded(part))
        if len({len(vector) for vector in vectors}) > 1:
            raise NoAnswer("the vectors are of different lengths")
        places = {text: at for at, text in enumerate(distinct)}
        if not texts:
            return np.empty((0, 0))
        return np.array(vectors, np.float64)[[places[text] for text in texts]]

    async def _unless_stopped(self, asking: Coroutine[Any, Any, T]) -> T:
        """The result of a request; once the run stops, it has some seconds left."""
        loop = asyncio.get_running_loop()
        task = loop.create_task(asking)

        def grace() -> None:
            # Handlers of signals run while the loop waits: only this wakes it.
            loop.call_soon_threadsafe(lambda: loop.call_later(event_loop.GRACE_S, task.cancel))

        self._stop.callbacks.append(grace)
        try:
            if self._stop.reason is not None:
                task.cancel()
            return await task
        except asyncio.CancelledError:
            outer = asyncio.current_task()
            if self._stop.reason is None or (outer is not None and outer.cancelling()):
                raise
            raise Stopped(self._stop.reason) from None
        finally:
            self._stop.callbacks.remove(grace)

    async def _embedded(self, texts: list[str]) -> list[list[float]]:
        """Request vectors until they are received."""
        tries = 0
        while True:
            try:
                return await self._asked(texts)
            except PermanentError as error:
                raise NoAnswer(str(error)) from None
            except (RateLimited, TransientError) as error:
                if tries == self._settings.max_retries:
                    raise NoAnswer(f"{error}, after {tries + 1} tries") from None
                after_s = error.after_s
            tries += 1
            await asyncio.sleep(self._backoff.wait(tries, after_s))
            if self._stop.reason is not None:
                raise Stopped(self._stop.reason)

    async def _asked(self, texts: list[str]) -> list[list[float]]:
        litellm = litellm_client.opened(self)
        key = self._endpoint.key(litellm)
        try:
            response = await litellm_client.requested(
                litellm,
                "aembedding",
                self._endpoint,
                {"input": texts, "api_key": key, "encoding_format": "float"},
            )
        except Exception as error:  # providers raise anything; `fault` tells them apart
            raise explained(fault(error), self._endpoint, litellm, texts) from None
        return _vectors(response, len(texts))

    def cut(self, texts: Sequence[str]) -> int:
        """Unknown: providers reject long texts, or truncate them silently."""
        return 0

    async def close(self) -> None:
        """Close its connections, unless others of the run still use them."""
        await litellm_client.closed(self)


def _key(settings: EmbedderSettings, endpoint: Endpoint) -> str:
    """What its vectors are kept under; of the address, which may hold keys, only the hash."""
    told = json.dumps([settings.model, endpoint.url, settings.prompt])
    digest = hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()
    return f"litellm {settings.model} {endpoint.shown} {digest[:16]}"


def _vectors(response: Any, wanted: int) -> list[list[float]]:
    """The vectors in text order, by `index`."""
    data = getattr(response, "data", None)
    try:
        found = {int(each["index"]): each["embedding"] for each in data or ()}
        vectors = [[float(number) for number in found[at]] for at in range(wanted)]
    except (KeyError, TypeError, ValueError):
        raise TransientError("the reply is not a list of vectors") from None
    if len(found) != wanted or not all(np.isfinite(vector).all() for vector in vectors):
        raise TransientError("the reply is not a list of vectors")
    return vectors
