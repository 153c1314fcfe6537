"""Where names are broken on a terminal."""

from __future__ import annotations

import pytest

from valor_cli.reports.render.fitting import folded


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("sensitive_data_leakage pass ↑", 14, ["sensitive_", "data_leakage ", "pass ↑"]),
        ("logistic_regression", 14, ["logistic_", "regression"]),
        ("metadata.time_s=[0.945, 1.5]", 20, ["metadata.time_s=", "[0.945, 1.5]"]),
        ("llama-3.1-405b is", 14, ["llama-3.1-405b ", "is"]),
        # A word that is too long is cut; what fits stays whole.
        ("incomprehensible", 6, ["incomp", "rehens", "ible"]),
        ("accuracy ↑", 10, ["accuracy ↑"]),
    ],
)
def test_names_are_broken_between_their_words(text: str, width: int, lines: list[str]) -> None:
    assert folded(text, width) == lines
