"""What was loaded comes in; the parts that tests look at go out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from valor_cli.metric import Loaded
from valor_cli.results import Scalar


def metadata_of(loaded: Loaded[Any]) -> Mapping[str, Sequence[Scalar]]:
    """The metadata of the units, which all models have in common."""
    first, *others = loaded.metadata.values()
    assert all(one == first for one in others)
    return first
