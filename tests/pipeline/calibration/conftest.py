"""Calibrations whose intervals are of few resamples: how many there are, no test here is about."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from valor_cli.pipeline.calibration import annotators, thresholds
from valor_cli.statistics import agreement


@pytest.fixture(scope="module", autouse=True)
def few_resamples() -> Iterator[None]:
    """100 in place of 1,000."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (agreement, annotators, thresholds):
            patch.setattr(module, "RESAMPLES", 100)
        yield
