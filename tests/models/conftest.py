"""A key for endpoints that tests ask, and none of a provider's."""

from __future__ import annotations

import pytest

from tests.models.server import KEY


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_KEY", KEY)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
