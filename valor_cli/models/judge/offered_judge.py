"""A judge that an installed package offers by an entry point."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from valor_cli.entry_points import JUDGES, offered, one_line
from valor_cli.errors import ConfigError, Problem, ValorError
from valor_cli.models.requests import (
    Judge,
    PermanentError,
    Price,
    RateLimited,
    Reply,
    Request,
    TransientError,
)
from valor_cli.models.settings import JudgeSettings

_PLACE = "judge.backend"


class OfferedJudge(Judge):
    """The judge that the package's function makes of the settings.

    Its `answer` returns a `Reply` or a text. The other attributes of a `Judge` may be missing: then
    it is taken to be remote, to be asked at the same time, and to be worth keeping replies of.
    """

    def __init__(self, settings: JudgeSettings) -> None:
        """Import the function and call it.

        Raises:
            UnknownNameError: No package offers the judge.
            ConfigError: The function fails.
        """
        self.name, self._backend = settings.called, settings.backend
        try:
            self._judge: Any = offered(JUDGES, settings.backend, _PLACE).load()(settings)
        except ValorError:
            raise
        except (Exception, SystemExit) as error:  # whatever a package does, it is no judge
            message = f"{settings.backend} cannot be used: {one_line(error)}"
            raise ConfigError(Problem(_PLACE, message)) from None
        if not inspect.iscoroutinefunction(getattr(self._judge, "answer", None)):
            message = f"{settings.backend} has no `async def answer(request)`"
            raise ConfigError(Problem(_PLACE, message))
        self.remote = bool(getattr(self._judge, "remote", True))
        self.in_order = bool(getattr(self._judge, "in_order", False))
        self.keeps = bool(getattr(self._judge, "keeps", True))
        own: Price | None = getattr(self._judge, "price", None)
        self.price = own if settings.price is None else settings.price.price
        asked = {"model", "api_base", "temperature", "seed", "max_tokens", "parameters"}
        self.identity: Mapping[str, Any] = {
            "backend": settings.backend,
            **settings.model_dump(mode="json", include=asked),
            **getattr(self._judge, "identity", {}),
        }

    async def answer(self, request: Request) -> Reply:
        """Ask once; an exception that says nothing of the request's fate is for good.

        Raises:
            RateLimited, TransientError, PermanentError, ValorError: As `Judge.answer`.
        """
        try:
            reply = await self._judge.answer(request)
        except (RateLimited, TransientError, PermanentError, ValorError):
            raise
        except Exception as error:
            raise PermanentError(f"{self._backend}: {one_line(error)}") from None
        if isinstance(reply, str):
            reply = Reply(reply)
        if not isinstance(reply, Reply):
            message = f"{self._backend} replied with {type(reply).__name__}, not a Reply or a text"
            raise PermanentError(message)
        return reply

    async def close(self) -> None:
        """Close what the judge holds, if it says how."""
        if inspect.iscoroutinefunction(close := getattr(self._judge, "close", None)):
            await close()
