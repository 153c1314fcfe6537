"""Token prices of a judge, from the config or litellm's list."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

from valor_cli.extras import package_folder
from valor_cli.models.protocols.judge import Price
from valor_cli.models.settings.judges import JudgeSettings

_LIST = "model_prices_and_context_window_backup.json"


def price_of(settings: JudgeSettings) -> Price | None:
    """The token price of a judge; None if unknown.

    The list lies in the installed package litellm; it is read, and the package is not imported.
    """
    if settings.price is not None:
        return settings.price.price
    facts = litellm_model_info(settings.model or "")
    each_in, each_out = facts.get("input_cost_per_token"), facts.get("output_cost_per_token")
    if not isinstance(each_in, int | float) or not isinstance(each_out, int | float):
        return None
    return Price(each_in * 1e6, each_out * 1e6)


def litellm_model_info(model: str) -> Mapping[str, Any]:
    """The entry of a model in litellm's list, with or without its provider."""
    listed = _listed()
    if model in listed:
        return listed[model]
    provider, slash, name = model.partition("/")
    facts = listed.get(name, {}) if slash else {}
    # The list has "gpt-4o" of openai, and it has the same name of others under their prefix.
    return facts if str(facts.get("litellm_provider", "")).startswith(provider) else {}


@functools.cache
def _listed() -> Mapping[str, Mapping[str, Any]]:
    folder = package_folder("litellm")
    if folder is None or not (folder / _LIST).is_file():
        return {}
    listed: dict[str, dict[str, Any]] = json.loads((folder / _LIST).read_bytes())
    listed.pop("sample_spec", None)
    return listed
