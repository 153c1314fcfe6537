"""What is said of texts that are not there."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from valor_cli.evaluators.missing_inputs import Field, missing_input


@pytest.mark.parametrize(
    ("field", "texts", "reason"),
    [
        ("response", None, "no response"),
        ("response", "", "the response is empty"),
        ("user_input", " \n\u3000", "the user_input is empty"),
        ("references", (), "no reference"),
        ("references", ("", " "), "the references are empty"),
        ("retrieved_contexts", None, "no retrieved contexts"),
        ("retrieved_contexts", (), "the retrieved contexts are empty"),
        ("retrieved_contexts", ("\t",), "the retrieved contexts are empty"),
    ],
)
def test_what_is_not_there(field: Field, texts: str | Sequence[str] | None, reason: str) -> None:
    lack = missing_input(field, texts)
    assert lack is not None
    assert (lack.status, lack.reason) == ("missing_input", reason)


def test_one_text_that_says_something_is_enough() -> None:
    assert missing_input("response", "a") is None
    assert missing_input("references", ("", "a")) is None
