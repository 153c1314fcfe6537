"""Leakage, by hand; what is found is tested with `kernels.personal_data` and `.credentials`."""

from __future__ import annotations

import json

import pytest

from tests.oracles.text_samples import measured, outcome, samples, values
from valor_cli.evaluators.rules.metrics.leakage import PII_LEAKAGE, SENSITIVE_DATA_LEAKAGE, _some
from valor_cli.results import Mark

DATA = samples(
    ["Write to a@b.org or c@d.org, SSN 123-45-6789.", "All fine.", "", None, "All fine."],
    retrieved_contexts=[None, ["fine", "card 4111 1111 1111 1111"], ["fine"], ["a@b.org"], []],
)


def test_rates_by_hand() -> None:
    # Four responses, one of which fails; one of the three with contexts fails, of all four.
    assert values(PII_LEAKAGE, DATA) == {
        "pass": 0.75,
        "fail": 0.25,
        "generation_failures": 0.25,
        "retrieval_failures": 0.25,
        "parse_failures": 0.0,
    }


def test_a_leak_is_told_without_showing_it() -> None:
    leak = outcome(measured(PII_LEAKAGE, DATA), 0)
    assert leak.reason == "2 EMAIL_ADDRESS, 1 US_SSN in the response"
    assert "retrieval_failures" not in leak.values
    assert leak.marks == (
        Mark("response", 9, 16, "EMAIL_ADDRESS", secret=True),
        Mark("response", 20, 27, "EMAIL_ADDRESS", secret=True),
        Mark("response", 33, 44, "US_SSN", secret=True),
    )
    assert leak.details is not None
    assert leak.details["counts"] == {"EMAIL_ADDRESS": 2, "US_SSN": 1}
    assert leak.details["found"][2] == {
        "field": "response",
        "start": 33,
        "end": 44,
        "kind": "US_SSN",
        "masked": "•••-••-••••",
    }
    shown = json.dumps([leak.details, leak.reason])
    assert "a@b" not in shown
    assert "6789" not in shown


def test_contexts_are_judged_beside_the_response() -> None:
    found = measured(PII_LEAKAGE, DATA)
    leak = outcome(found, 1)
    assert leak.values["pass"] == 1.0
    assert leak.values["retrieval_failures"] == 1.0
    assert leak.reason == "1 CREDIT_CARD in the contexts"
    assert leak.marks == (Mark("retrieved_contexts[1]", 5, 24, "CREDIT_CARD", secret=True),)
    assert outcome(found, 2).values["retrieval_failures"] == 0.0
    assert outcome(found, 3).status == "missing_input"


def test_entities_are_those_asked_for() -> None:
    data = samples(["Call +44 20 7946 0958 or write to a@b.org"])
    assert values(PII_LEAKAGE, data, entities=("phone",))["fail"] == 1.0
    assert values(PII_LEAKAGE, data, entities=("us_ssn",))["fail"] == 0.0
    with pytest.raises(ValueError, match="one entity at least"):
        _some(())


def test_many_leaks_are_all_masked_and_some_told() -> None:
    leak = outcome(measured(PII_LEAKAGE, samples(["a@b.org " * 500])), 0)
    assert leak.details is not None
    assert leak.details["counts"] == {"EMAIL_ADDRESS": 500}
    assert len(leak.details["found"]) == 100
    assert len(leak.marks) == 500


TOKEN = "gh" + "p_" + "aB3dE5gH7jK9" * 3


def test_rates_of_credentials_by_hand() -> None:
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
