"""What statsmodels said, out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PATH = Path(__file__).parents[1] / "golden" / "statistics" / "statsmodels.json"


def stored(name: str) -> list[dict[str, Any]]:
    """The cases of one kind (`tests.oracles.statsmodels_numbers`)."""
    cases: list[dict[str, Any]] = json.loads(PATH.read_text(encoding="utf-8"))[name]
    assert cases
    return cases
