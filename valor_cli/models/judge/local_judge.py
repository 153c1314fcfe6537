"""Judge that runs a GGUF model on this machine with llama.cpp."""

from __future__ import annotations

import asyncio
import hashlib
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from valor_cli.errors import ConfigError, Problem
from valor_cli.extras import extra
from valor_cli.models.judge.litellm_judge import LitellmJudge
from valor_cli.models.litellm import client as litellm_client
from valor_cli.models.requests import Judge, Price, Reply, Request
from valor_cli.models.settings import JudgeSettings, PriceSettings

WANTED = "backend: local"
_MAGIC = b"GGUF"
_MOST_AT_A_TIME = 4
_CONTEXT = 8192
"""Tokens of a prompt and its reply."""
_ENDS = 1 << 20


class LocalJudge(Judge):
    """llama.cpp's server inside this process, on loopback, started with the first request."""

    keeps = True
    price: Price | None = Price(0.0, 0.0)

    def __init__(self, settings: JudgeSettings) -> None:
        """Initialise without loading anything.

        Raises:
            ValorError: The file is none of a model, or a package is not installed.
        """
        path = Path(settings.model or "")
        litellm_client.check_installed()
        self._server_package = extra("xllamacpp", "local", WANTED)
        self._settings = settings
        self._path = path
        self._server: Any = None
        self._asked: LitellmJudge | None = None
        self._starting = asyncio.Lock()
        self.name = settings.called
        self.identity: Mapping[str, Any] = {
            "backend": "local",
            "model": _fingerprint(path),
            "temperature": settings.temperature,
            "seed": settings.seed,
            "max_tokens": settings.max_tokens,
            "parameters": settings.parameters,
            "structured": settings.structured,
        }

    async def answer(self, request: Request) -> Reply:
        """Make one attempt. Raises as `LitellmJudge.answer` does."""
        async with self._starting:
            if self._asked is None:
                self._asked = await asyncio.to_thread(self._started)
        return await self._asked.answer(request)

    def _started(self) -> LitellmJudge:
        key = secrets.token_hex(16)
        parameters = self._server_package.CommonParams()
        parameters.model.path = str(self._path)
        parameters.model_alias = {"local"}
        parameters.n_parallel = min(self._settings.concurrency, _MOST_AT_A_TIME)
        parameters.n_ctx = _CONTEXT * parameters.n_parallel
        # Its threads wait for one another: where all cores are theirs and one is taken, as by
        # those who ask, two were measured to be eight times as slow as one.
        for threads in (parameters.cpuparams, parameters.cpuparams_batch):
            threads.n_threads = max(1, (os.cpu_count() or 1) // 2)
            threads.poll = 0
        # Prompts are nobody else's business: no log, no page, no list of what is being read.
        parameters.verbosity = -1
        parameters.ui = False
        parameters.endpoint_slots = False
        parameters.offline = True
        parameters.api_keys = [key]
        try:
            self._server = self._server_package.Server(parameters)
        except RuntimeError:
            problem = Problem(str(self._path), "llama.cpp cannot load this model")
            raise ConfigError(problem, hint="check that the file is whole, and fits") from None
        asked = self._settings.model_copy(
            update={
                "backend": "litellm",
                "model": "openai/local",
                "api_base": f"{self._server.listening_address}/v1",
                "api_key_env": None,
                "price": PriceSettings(input_usd=0.0, output_usd=0.0),
            }
        )
        return LitellmJudge(asked, key=key)

    async def close(self) -> None:
        """Stop the server."""
        if self._asked is not None:
            await self._asked.close()
        self._asked = None
        # It ends when nobody holds it.
        self._server = None
        # A lock belongs to the loop that it was used in.
        self._starting = asyncio.Lock()


def _fingerprint(path: Path) -> str:
    """The name, the length and the SHA-256 of both ends of a file: all of it may take minutes.

    Raises:
        ConfigError: It is not a GGUF file.
    """
    try:
        with path.open("rb") as file:
            first = file.read(_ENDS)
            length = file.seek(0, os.SEEK_END)
            file.seek(max(0, length - _ENDS))
            last = file.read()
    except OSError as error:
        problem = Problem("judge.model", f"{path}: {error.strerror or error}")
        raise ConfigError(problem, hint="`model:` is the path of a GGUF file") from None
    if not first.startswith(_MAGIC):
        problem = Problem("judge.model", f"{path} is not a GGUF file")
        raise ConfigError(problem, hint="`model:` is the path of a GGUF file")
    digest = hashlib.sha256(first + last).hexdigest()
    return f"{path.name} {length} {digest}"
