"""Import litellm without logging or network access of its own, and close its connections."""

from __future__ import annotations

import asyncio
import functools
import importlib
import importlib.metadata
import logging
import os
import re
import warnings
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType, ModuleType
from typing import Any

from valor_cli.errors import MissingExtraError, Problem
from valor_cli.extras import extra
from valor_cli.models.litellm.endpoints import Endpoint

WANTED = "backend: litellm"
_INSTALL = "pip install --upgrade 'valor-cli[judge]'"
_OLDEST, _TOO_NEW = (1, 83, 14), (2, 0, 0)
MALICIOUS = ("1.82.7", "1.82.8")
"""Releases that send away what they find."""

_ENVIRONMENT = {
    # Each of these lists is fetched from a server unless its copy in the package is asked for.
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_LOCAL_BLOG_POSTS": "True",
    "LITELLM_LOCAL_POLICY_TEMPLATES": "True",
    "LITELLM_LOCAL_AUTOROUTER_PRESETS": "True",
    # In any other mode it reads a file `.env` of the current folder or of one above.
    "LITELLM_MODE": "PRODUCTION",
    "LITELLM_LOG": "CRITICAL",
    "LITELLM_MODIFY_PARAMS": "",
    "USE_LITELLM_PROXY": "False",
    # As many requests at a time as `concurrency:` may say.
    "AIOHTTP_CONNECTOR_LIMIT_PER_HOST": "1000",
}

_SWITCHES: dict[str, Any] = {
    "telemetry": False,
    "set_verbose": False,
    "suppress_debug_info": True,
    "redact_messages_in_exceptions": True,
    "turn_off_message_logging": True,
    "log_raw_request_response": False,
    "disable_hf_tokenizer_download": True,
    "use_litellm_proxy": False,
    "cache": None,
    "num_retries": None,
    # Its embedding takes 0 tries for none given, and this many in their place.
    "DEFAULT_MAX_RETRIES": 0,
    "fallbacks": None,
    "model_fallbacks": None,
}

_CALLBACKS = (
    "callbacks",
    "input_callback",
    "success_callback",
    "failure_callback",
    "service_callback",
    "_async_input_callback",
    "_async_success_callback",
    "_async_failure_callback",
)

_NEAR = ("localhost", "127.0.0.1", "::1")


def check_installed() -> None:
    """Reject a litellm that is missing, too old, too new or malicious, without importing it.

    Raises:
        MissingExtraError: It is one of these.
    """
    try:
        version = importlib.metadata.version("litellm")
    except importlib.metadata.PackageNotFoundError:
        missing = Problem(WANTED, "needs the package litellm, which is not installed")
        raise MissingExtraError(missing, hint="pip install 'valor-cli[judge]'") from None
    found = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", version)
    parts = tuple(int(part or 0) for part in found.groups()) if found else (0, 0, 0)
    if ".".join(map(str, parts)) in MALICIOUS:
        message = f"litellm {version} is a malicious release that steals keys; it is not imported"
        hint = f"{_INSTALL}, and change every key and password this machine could read"
        raise MissingExtraError(Problem(WANTED, message), hint=hint)
    if not _OLDEST <= parts < _TOO_NEW:
        message = f"needs litellm 1.83.14 or newer, below 2; litellm {version} is installed"
        raise MissingExtraError(Problem(WANTED, message), hint=_INSTALL)


@functools.cache
def _imported() -> ModuleType:
    check_installed()
    os.environ.update(_ENVIRONMENT)
    for name in ("NO_PROXY", "no_proxy"):
        said = [each for each in os.environ.get(name, "").split(",") if each]
        # A proxy for the world outside cannot reach this machine's own servers.
        os.environ[name] = ",".join(dict.fromkeys([*said, *_NEAR]))
    litellm = extra("litellm", "judge", WANTED)
    for name, value in _SWITCHES.items():
        setattr(litellm, name, value)
    for name in _CALLBACKS:
        setattr(litellm, name, [])
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "openai", "httpcore"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    # Replies of an unusual form make the client warn, with the reply's text, and go on.
    warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)
    # It makes a coroutine in a thread; who is cancelled meanwhile never gets to await it.
    never = r"coroutine '[\w.]*(completion|embedding)[\w.]*' was never awaited"
    warnings.filterwarnings("ignore", never, RuntimeWarning)
    return litellm


class _Connections:
    """Who has connections open, and in which loop; litellm keeps them for all of a process."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self.users: set[int] = set()


_OPEN = _Connections()


def opened(user: object) -> Any:
    """Import litellm for a caller that will call `closed` in the same loop."""
    litellm = _imported()
    loop = asyncio.get_running_loop()
    if _OPEN.loop is not loop:
        # A loop may get the address of one that has ended, which is what clients are found by.
        _forget(litellm)
        _OPEN.loop = loop
        _OPEN.users.clear()
    _OPEN.users.add(id(user))
    _unlogged()
    return litellm


def _unlogged() -> None:
    """Spare the call the records that litellm makes for callbacks, of which there are none."""
    with suppress(ImportError):  # older versions have no such switch
        context = importlib.import_module("litellm._internal_context")
        context.is_internal_call.set(True)


async def closed(user: object) -> None:
    """Close connections when the last user is done."""
    if id(user) not in _OPEN.users:
        return
    _OPEN.users.discard(id(user))
    if _OPEN.users:
        return
    litellm = _imported()
    with suppress(ImportError, AttributeError):
        logging_worker = importlib.import_module("litellm.litellm_core_utils.logging_worker")
        await logging_worker.GLOBAL_LOGGING_WORKER.clear_queue()
        await logging_worker.GLOBAL_LOGGING_WORKER.stop()
    await litellm.close_litellm_async_clients()
    _forget(litellm)
    _OPEN.loop = None
    # Transports close in the next turn of the loop.
    await asyncio.sleep(0)


def _forget(litellm: Any) -> None:
    litellm.in_memory_llm_clients_cache.flush_cache()


async def requested(
    litellm: Any,
    call: str,
    endpoint: Endpoint,
    arguments: Mapping[str, Any],
    parameters: Mapping[str, Any] = MappingProxyType({}),
) -> Any:
    """The response to one request, sent once.

    Args:
        litellm: The package.
        call: Its function.
        endpoint: Whom it goes to.
        arguments: Of the function; those that are None are left out.
        parameters: Further ones, as they are.

    Raises:
        Exception: Whatever the provider's client raises; `fault` tells them apart.
    """
    import httpx

    given = {name: value for name, value in arguments.items() if value is not None}
    if endpoint.api_base is not None:
        given["api_base"] = endpoint.api_base
    # A server that sends a byte now and then never meets the time-out of a read.
    async with asyncio.timeout(endpoint.connect_timeout_s + endpoint.timeout_s):
        return await getattr(litellm, call)(
            model=endpoint.called(litellm),
            timeout=httpx.Timeout(endpoint.timeout_s, connect=endpoint.connect_timeout_s),
            num_retries=0,
            max_retries=0,
            drop_params=True,
            **given,
            **parameters,
        )
