"""What tokens cost."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from valor_cli.models.litellm import endpoints as prices
from valor_cli.models.litellm.endpoints import price_of
from valor_cli.models.requests import Price
from valor_cli.models.settings import JudgeSettings

NEAR = "http://127.0.0.1:8000/v1"


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of a few models in place of litellm's."""
    facts = {
        "gpt-9": ("openai", 2e-06, 8e-06),
        "mistral/large": ("mistral", 1e-06, 3e-06),
        "ollama/small": ("ollama", 0.0, 0.0),
        "picture-1": ("openai", None, None),
        "claude-9": ("vertex_ai-anthropic_models", 1e-06, 2e-06),
    }
    found = {
        name: {
            "litellm_provider": provider,
            "input_cost_per_token": each_in,
            "output_cost_per_token": each_out,
        }
        for name, (provider, each_in, each_out) in facts.items()
    }
    monkeypatch.setattr(prices, "_listed", lambda: found)


@pytest.mark.usefixtures("listed")
@pytest.mark.parametrize(
    ("settings", "price"),
    [
        # 2e-06 US dollars a token are 2 for a million.
        ({"model": "openai/gpt-9"}, Price(2.0, 8.0)),
        ({"model": "gpt-9"}, Price(2.0, 8.0)),
        ({"model": "mistral/large"}, Price(1.0, 3.0)),
        ({"model": "vertex_ai/claude-9"}, Price(1.0, 2.0)),
        ({"model": "ollama/small"}, Price(0.0, 0.0)),
        ({"model": "azure/gpt-9"}, None),
        ({"model": "openai/picture-1"}, None),
        ({"model": "openai/unheard-of"}, None),
        ({"model": "unheard-of", "api_base": NEAR}, None),
        ({"model": "gpt-9", "api_base": NEAR}, Price(2.0, 8.0)),
        ({"model": "gpt-9", "price": {"input_usd": 0.1, "output_usd": 0.2}}, Price(0.1, 0.2)),
        ({"model": "x", "price": {"input_usd": 0.0, "output_usd": 0.0}}, Price(0.0, 0.0)),
    ],
)
def test_prices(settings: dict[str, Any], price: Price | None) -> None:
    found = price_of(JudgeSettings(**settings))
    assert found == (None if price is None else pytest.approx(price))


def test_the_list_of_the_package_is_read_without_importing_it() -> None:
    program = """
import sys
from valor_cli.models.litellm.endpoints import litellm_model_info, price_of
from valor_cli.models.settings import JudgeSettings
price = price_of(JudgeSettings(model="openai/gpt-4o-mini"))
assert price.input > 0 and price.output > price.input, price
assert litellm_model_info("openai/gpt-4o-mini")["supports_response_schema"]
assert "litellm" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_no_package_no_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prices, "package_folder", lambda name: None)
    prices._listed.cache_clear()
    assert price_of(JudgeSettings(model="openai/gpt-4o-mini")) is None
    prices._listed.cache_clear()
