"""Sensitive data leakage, by hand; what it finds is tested with `kernels.credentials`."""

from __future__ import annotations

import json

from tests.oracles.text_samples import measured, outcome, samples, values
from valor_cli.evaluators.rules.metrics.sensitive_data_leakage import SENSITIVE_DATA_LEAKAGE
from valor_cli.results import Mark

TOKEN = "gh" + "p_" + "aB3dE5gH7jK9" * 3


def test_rates_by_hand() -> None:
    data = samples(
        [f"Use {TOKEN}.", "Use yours.", None],
        retrieved_contexts=[["nothing"], [f"token: {TOKEN}", TOKEN], [TOKEN]],
    )
    # One of two responses fails, and one of their two contexts.
    assert values(SENSITIVE_DATA_LEAKAGE, data) == {
        "pass": 0.5,
        "fail": 0.5,
        "generation_failures": 0.5,
        "retrieval_failures": 0.5,
        "parse_failures": 0.0,
    }
    found = measured(SENSITIVE_DATA_LEAKAGE, data)
    assert outcome(found, 0).marks == (Mark("response", 4, 44, "GITHUB_TOKEN", secret=True),)
    assert outcome(found, 1).reason == "2 GITHUB_TOKEN in the contexts"
    assert TOKEN[4:8] not in json.dumps(found.details)


def test_personal_data_is_no_credential() -> None:
    assert values(SENSITIVE_DATA_LEAKAGE, samples(["a@b.org 123-45-6789"]))["pass"] == 1.0
