"""Embed texts with a provider's or a self-hosted model through litellm."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from valor_cli.models.litellm import client as litellm_client
from valor_cli.models.litellm.endpoints import Endpoint, price_of
from valor_cli.models.litellm.faults import explained, fault
from valor_cli.models.protocols import Embedder, ModelIdentity
from valor_cli.models.requests import (
    Judge,
    Message,
    NoAnswer,
    Purpose,
    Reply,
    Request,
    Stop,
    Stopped,
    TransientError,
)
from valor_cli.models.scheduler import event_loop
from valor_cli.models.scheduler.calls import Calls
from valor_cli.models.settings import EmbedderSettings, JudgeSettings
from valor_cli.results import EMBEDDINGS

T = TypeVar("T")

_AT_A_TIME = 64
"""Texts in a request; providers take 96 and more."""
_CONNECT_S = 10.0


class LitellmEmbedder(Embedder):
    """An embedder that calls litellm.

    Attributes:
        calls: Its requests, scheduled, retried and counted as those of a judge.
        at_a_time: Texts of a request.
    """

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
        endpoint = Endpoint(
            "embedder",
            settings.model or "",
            settings.api_base,
            settings.api_key_env,
            settings.timeout_s,
            _CONNECT_S,
        )
        self._backend = _Backend(settings, endpoint)
        limits = JudgeSettings(
            model=endpoint.model,
            timeout_s=_CONNECT_S + settings.timeout_s,
            max_retries=settings.max_retries,
            budget_usd=settings.budget_usd,
        )
        # Vectors are no tokens.
        limits = limits.model_copy(update={"max_tokens": 0})
        self.calls = Calls(self._backend, limits, stop, role="embedder")
        self.name = self._backend.name
        self.remote = self._backend.remote
        self.identity = ModelIdentity(self.name)
        self.keeps = _key(settings, endpoint)
        self.at_a_time = settings.batch_size or _AT_A_TIME

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """(texts, dimensions) the vector of each.

        Raises:
            NoAnswer: None could be had.
            Stopped: The run ends.
            ValorError: None ever will: a wrong key, an unknown model, an endpoint that is gone.
        """
        if not texts:
            return np.empty((0, 0))
        # A text that stands twice is sent once.
        places = {text: at for at, text in enumerate(dict.fromkeys(texts))}
        asked = [self._settings.prompt + text for text in places]
        vectors = await self._unless_stopped(self._embedded(asked))
        if len({len(vector) for vector in vectors}) > 1:
            raise NoAnswer("the vectors are of different lengths")
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

    async def _embedded(self, texts: Sequence[str]) -> list[Any]:
        """The vectors of texts, a request for each batch."""
        vectors: list[Any] = []
        for at in range(0, len(texts), self.at_a_time):
            asked = tuple(Message("user", text) for text in texts[at : at + self.at_a_time])
            called = await self.calls.ask(Request(asked, purpose=Purpose(EMBEDDINGS)))
            if isinstance(called.reply, _Batch):
                vectors += called.reply.vectors
        return vectors

    async def close(self) -> None:
        """Close its connections, unless others of the run still use them."""
        await self._backend.close()


@dataclass(frozen=True, slots=True)
class _Batch(Reply):
    """The vectors of a batch, in the order of its texts."""

    vectors: tuple[list[float], ...] = ()


class _Backend(Judge):
    """The endpoint, asked as a judge is: once a batch. Single vectors are kept, not batches."""

    def __init__(self, settings: EmbedderSettings, endpoint: Endpoint) -> None:
        self.name = settings.called
        self.remote = not endpoint.near
        self.price = price_of(settings)
        self._endpoint = endpoint

    async def answer(self, request: Request) -> Reply:
        """Send a batch. Raises as `Judge.answer`."""
        texts = [message.content for message in request.messages]
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
        # litellm says 0 where the server said nothing.
        tokens = getattr(getattr(response, "usage", None), "prompt_tokens", None) or None
        return _Batch(
            "",
            tokens_in=tokens,
            tokens_out=None if tokens is None else 0,
            vectors=tuple(_vectors(response, len(texts))),
        )

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
