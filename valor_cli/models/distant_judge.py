"""Requests in; replies out that a worker of a cluster fetched, from where it stands.

A worker carries out one attempt. Tries again, limits, budget, cache and cassette are this
process's business, as for a judge that is asked from here. Keys are the worker's own: from the
environment of its process, and what would send one there from here is refused.
"""

from __future__ import annotations

import re
import socket
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias, TypeVar
from urllib.parse import urlsplit

from valor_cli.errors import ConfigError, Problem, ValorError
from valor_cli.kernels.credentials import find_credentials
from valor_cli.models import litellm_client
from valor_cli.models.attempt import Lost, Said, attempted
from valor_cli.models.judge import Price, Reply, Request
from valor_cli.models.litellm_judge import LitellmJudge
from valor_cli.models.settings import JudgeSettings

T = TypeVar("T")
R = TypeVar("R")

Path: TypeAlias = tuple[str | int, ...]
"""Where something stands in settings."""

KEYS_THERE: Final = (
    "workers have keys from their own environment: set the variable there, and name it with\n"
    "`api_key_env:`"
)

_SECRET: Final = frozenset(
    {"apikey", "auth", "authorization", "cookie", "credential", "credentials", "key", "password"}
    | {"secret", "token"}
)
"""Words in names of what nobody else may know."""

_HARMLESS: Final = frozenset({"prompt_cache_key"})


class Elsewhere(Protocol):
    """The processes of a cluster; functions stand in modules, what they take can be pickled."""

    async def one(self, function: Callable[[T], Awaitable[R]], task: T) -> R:
        """What a function gives in one of them, called once.

        Raises:
            ConnectionError: The process was lost; it may have got far.
            ClusterError: There is none.
        """

    async def all(self, function: Callable[[T], Awaitable[None]], task: T) -> None:
        """Call a function in all of them that can be reached."""


@dataclass(frozen=True, slots=True)
class Errand:
    """An attempt for a worker.

    Attributes:
        judge: Tells the judges of a worker apart: those of each run have their own.
        settings: Of the judge.
        request: What is asked.
    """

    judge: str
    settings: JudgeSettings
    request: Request


class DistantJudge:
    """A judge that workers of a cluster ask."""

    in_order = False
    keeps = True
    remote = True

    def __init__(self, near: LitellmJudge, settings: JudgeSettings, workers: Elsewhere) -> None:
        """Nothing is asked yet.

        Args:
            near: The same judge, asked from here.
            settings: What it was made of.
            workers: Who asks.
        """
        self.name = near.name
        # Replies do not depend on who carries them: they are kept as those asked for from here.
        self.identity: Mapping[str, Any] = near.identity
        self.price: Price | None = near.price
        self._settings = settings
        self._workers = workers
        self._called = uuid.uuid4().hex

    async def answer(self, request: Request) -> Reply:
        """Have a worker ask once. Raises as `LitellmJudge.answer`, and what `Elsewhere.one` does.

        Raises:
            Lost: The worker went away meanwhile.
        """
        try:
            said = await self._workers.one(
                carried_out, Errand(self._called, self._settings, request)
            )
        except ConnectionError as error:
            raise Lost("the worker that asked was lost") from error
        if isinstance(said, Reply):
            return said
        raise said

    async def close(self) -> None:
        """Let the workers close their connections."""
        await self._workers.all(closed, self._called)


_JUDGES: Final[dict[str, LitellmJudge]] = {}
"""Of this process, where it is a worker."""


async def carried_out(errand: Errand) -> Said:
    """What came of an attempt; of a worker."""
    try:
        judge = _JUDGES.get(errand.judge)
        if judge is None:
            judge = _JUDGES[errand.judge] = LitellmJudge(errand.settings)
        # It is imported before the clock of the reply runs.
        litellm_client.opened(judge)
        said = await attempted(judge, errand.request, errand.settings.timeout_s)
    except ValorError as error:
        said = error
    return _located(said) if isinstance(said, ValorError) else said


async def closed(judge: str) -> None:
    """Give back what a judge holds; of a worker."""
    found = _JUDGES.pop(judge, None)
    if found is not None:
        await found.close()


def _located(error: ValorError) -> ValorError:
    """An error that says which machine it is about."""
    where = f"on the worker's machine {socket.gethostname()}"
    problems = [Problem(one.place, f"{one.message} ({where})") for one in error.problems]
    return type(error)(problems, total=error.total, hint=error.hint)


def check_no_keys(settings: JudgeSettings) -> None:
    """Refuse settings that hold what must not travel, whoever made them.

    Raises:
        ConfigError: They do; says where, not what.
    """
    problems = [Problem(".".join(map(str, path)), told) for path, told in keys_of(settings)]
    if problems:
        raise ConfigError(problems, hint=KEYS_THERE)


def keys_of(settings: JudgeSettings) -> Iterator[tuple[Path, str]]:
    """Where settings hold what must not travel, and what is said of it."""
    if settings.api_base is not None and "@" in urlsplit(settings.api_base).netloc:
        yield ("api_base",), "has a name or password, and would be sent"
    for path in _keys_in(settings.parameters):
        yield ("parameters", *path), "looks like a key, and would be sent"


def _keys_in(value: Any, path: Path = ()) -> Iterator[Path]:
    """Where keys stand in parameters."""
    if isinstance(value, Mapping):
        for name, one in value.items():
            yield from _keys_in(one, (*path, name))
    elif isinstance(value, list | tuple):
        for number, one in enumerate(value):
            yield from _keys_in(one, (*path, number))
    elif isinstance(value, str) and (_is_secret(path) or find_credentials(value)):
        yield path


def _is_secret(path: Path) -> bool:
    """Whether a name in a path says that no one else may know what stands there."""
    return any(
        name not in _HARMLESS and _SECRET & set(re.split(r"[^a-z]+", name))
        for name in (str(part).lower() for part in path)
    )
