"""What of a judge's settings must not travel to workers."""

from __future__ import annotations

from typing import Any

import pytest

from valor_cli.errors import ConfigError
from valor_cli.models.distant_judge import check_no_keys, keys_of
from valor_cli.models.settings import JudgeSettings

KEY = "sk-" + "5d1f0a7b3c9e48d2" * 2


def _settings(**more: Any) -> JudgeSettings:
    return JudgeSettings.model_validate({"model": "openai/x", "distribute": True, **more})


@pytest.mark.parametrize(
    ("parameters", "path"),
    [
        ({"api_key": "x"}, ("api_key",)),
        ({"extra_headers": {"Authorization": "x"}}, ("extra_headers", "Authorization")),
        ({"extra_body": {"auth": [{"who": "x"}]}}, ("extra_body", "auth", 0, "who")),
        # By its name it could be anything.
        ({"user": KEY}, ("user",)),
    ],
)
def test_parameters_that_hold_keys(parameters: dict[str, Any], path: tuple[str | int, ...]) -> None:
    settings = _settings(parameters=parameters)
    assert [at for at, _ in keys_of(settings)] == [("parameters", *path)]
    with pytest.raises(ConfigError) as caught:
        check_no_keys(settings)
    assert caught.value.problems[0].place == ".".join(map(str, ("parameters", *path)))
    assert KEY not in str(caught.value)
    assert "api_key_env" in caught.value.hint


def test_parameters_that_hold_none() -> None:
    check_no_keys(
        _settings(
            api_base="http://127.0.0.1:9/v1",
            parameters={"prompt_cache_key": "mine", "max_completion_tokens": 5, "top_p": 0.5},
        )
    )
