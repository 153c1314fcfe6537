"""What holds for all tests: the same examples, a cache of their own, signals heard, no secrets."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from valor_cli import masking

settings.register_profile("same", derandomize=True, deadline=None)
settings.load_profile("same")

# In the background a shell has them ignore it, and with them every process that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache of judges' replies that the tests have for themselves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VALOR_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


def pytest_runtest_teardown() -> None:
    """Forget secrets: what one test keeps would be masked in what the next one reads."""
    masking._KEPT.clear()
