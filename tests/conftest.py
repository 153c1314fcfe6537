"""What holds for all tests: no reply of a judge is kept where a user's are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache of judges' replies that the tests have for themselves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VALOR_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
