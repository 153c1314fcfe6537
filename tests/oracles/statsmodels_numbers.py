"""What statsmodels says of p-values, pairs and proportions; run where statsmodels is installed:

python -m tests.oracles.statsmodels_numbers > tests/golden/statistics/statsmodels.json
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from typing import Any

FAMILIES = (
    [0.01, 0.04, 0.03, 0.005],
    [0.05],
    [0.2, 0.2, 0.2],
    [0.0, 1.0, 0.5, 0.001, 0.001, 0.02],
    [0.9, 0.8, 0.001, 0.3, 0.0499, 0.0001, 0.012],
)

PAIRS = (
    *((0, 0), (0, 1), (1, 0), (3, 3), (0, 5), (0, 6), (10, 2), (25, 40), (121, 59)),
    *((500, 430), (7000, 7300), (0, 900)),
)

RATES = (
    *((0, 1), (1, 1), (0, 10), (10, 10), (3, 10), (29, 30), (50, 100), (1, 1000)),
    *((9_999, 10_000), (123_456, 1_000_000)),
)

LEVELS = (0.5, 0.9, 0.95, 0.99)


def ask() -> dict[str, Any]:
    """Holm's p-values, McNemar's exact test and Wilson's intervals."""
    from statsmodels.stats.contingency_tables import mcnemar
    from statsmodels.stats.multitest import multipletests
    from statsmodels.stats.proportion import proportion_confint

    return {
        "tool": "statsmodels",
        "version": version("statsmodels"),
        "command": "python -m tests.oracles.statsmodels_numbers",
        "holm": [
            {"p": p, "adjusted": multipletests(p, method="holm")[1].tolist()} for p in FAMILIES
        ],
        "mcnemar": [
            {"wins": wins, "losses": losses, "p": float(mcnemar([[7, wins], [losses, 9]]).pvalue)}
            for wins, losses in PAIRS
        ],
        "wilson": [
            {
                "successes": successes,
                "n": n,
                "level": level,
                "interval": [
                    float(end)
                    for end in proportion_confint(successes, n, 1 - level, method="wilson")
                ],
            }
            for successes, n in RATES
            for level in LEVELS
        ],
    }


if __name__ == "__main__":
    json.dump(ask(), sys.stdout, indent=1)
    sys.stdout.write("\n")
