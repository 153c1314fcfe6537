"""What holds for all tests: the same examples in each run, and a cache of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None)
settings.load_profile("same")


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache of judges' replies that the tests have for themselves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VALOR_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
