"""Selected units say what they say where they are all that there is: every wing of vision."""

from __future__ import annotations

import pytest

from tests.evaluators.test_every_evidence_merges import (
    PLACES,
    Place,
    assert_alike,
    called,
    whole_of,
)
from tests.evaluators.wing_data import evidence_of

OF_VISION = [place for place in PLACES if place[0] != "text_generation"]


@pytest.mark.parametrize("place", OF_VISION, ids=called)
def test_selected_units_are_those_of_the_dataset(place: Place) -> None:
    whole = whole_of(place)
    alone = evidence_of(whole.wing, whole.calls, whole.data.shard(whole.units))
    assert_alike(whole, whole.selected, alone, whole.said_of_selected)
