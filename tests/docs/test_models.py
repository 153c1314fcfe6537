"""docs/models.md: the thresholds it lists are those that are used."""

from __future__ import annotations

import re

from tests.docs.pages import text_of
from valor_cli.evaluators.embedding.calibrated_thresholds import (
    CALIBRATED,
    MINILM_FAMILY,
    SEEDS_MODEL,
)

PAGE = text_of("docs/models.md")
ROW = re.compile(r"^\| (?:`(\w+)` of )?`(\w+)`[\w ]* \| ([\d.]+) \| ([\d.]+) \|", re.MULTILINE)


def test_the_thresholds_are_those_that_are_used() -> None:
    told = {
        (metric, parameter or "threshold"): (float(minilm), float(seeds))
        for parameter, metric, minilm, seeds in ROW.findall(PAGE)
    }
    used = {
        (metric, name): (families[MINILM_FAMILY][name], families[SEEDS_MODEL][name])
        for metric, families in CALIBRATED.items()
        for name in families[SEEDS_MODEL]
    }
    assert told == used
