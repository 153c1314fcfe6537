"""What holds for all tests: the same examples, a cache of their own, signals heard, no secrets."""

from __future__ import annotations

import gc
import shutil
import signal
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import settings

from valor_cli import masking
from valor_cli.models.embedders import onnx_model
from valor_cli.models.files.packaged import _MINILM_PACKAGE

settings.register_profile("same", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("same")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
OPTIONS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync "
)

# In the background a shell has them ignore it, and with them every process that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Leave tests and modules, millions of objects that stay, out of every garbage collection."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session", autouse=True)
def reply_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache of judges' replies that the tests have for themselves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VALOR_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def packaged_embedder() -> Iterator[None]:
    """The packaged embedder is loaded once in a process; others each time, as files may change."""
    load = onnx_model._session
    load_once = cache(load)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            onnx_model,
            "_session",
            lambda path: (load_once if path.parent.name == _MINILM_PACKAGE else load)(path),
        )
        yield


def pytest_runtest_teardown() -> None:
    """Forget secrets: what one test keeps would be masked in what the next one reads."""
    masking._KEPT.clear()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The one browser of a process, which reaches this machine alone; skips where there is none."""
    if not CHROMIUM:
        pytest.skip("needs chromium: make test-browser")
    from playwright.sync_api import sync_playwright

    rules = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=CHROMIUM, args=[*OPTIONS.split(), rules])
        yield browser
        browser.close()
