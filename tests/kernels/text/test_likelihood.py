"""How unlikely tokens are together, by hand."""

from __future__ import annotations

import math

import numpy as np

from valor_cli.kernels.text.likelihood import negative_log_likelihood


def test_by_hand() -> None:
    found = negative_log_likelihood(np.array([-0.5, -1.25, -0.25]))
    assert found == (2.0, 3)
    assert found is not None
    assert found.mean == 2 / 3


def test_sure_tokens_are_no_surprise_and_its_zero_has_no_sign() -> None:
    found = negative_log_likelihood(np.array([0.0, 5e-7]))
    assert found == (0.0, 2)
    assert found is not None
    assert math.copysign(1, found.mean) == 1


def test_nothing_scored() -> None:
    assert negative_log_likelihood(np.array([])) is None


def test_an_impossible_token_is_not_finite() -> None:
    found = negative_log_likelihood(np.array([-math.inf, -1.0]))
    assert found is not None
    assert found.mean == math.inf


def test_what_is_no_number_stays_none() -> None:
    found = negative_log_likelihood(np.array([math.nan, -1.0]))
    assert found is not None
    assert math.isnan(found.mean)


def test_what_no_number_can_hold_is_not_finite() -> None:
    found = negative_log_likelihood(np.array([-1e308, -1e308]))
    assert found is not None
    assert found.mean == math.inf
