"""What valor-lite says of samples in a JSONL file; run where valor-lite 0.39 is installed:

python -m tests.oracles.valor_lite_classification SAMPLES.jsonl > golden-valor-lite.json
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

LEVELS = [0.1, 0.35, 0.6, 0.9]


def ask(path: Path) -> dict[str, Any]:
    """Counts and confusion at each threshold, and areas under ROC curves.

    Every sample lists every label with a score above 0: on such lists its definitions are ours,
    but for false negatives without hardmax.
    """
    from valor_lite.classification import Classification, Loader, MetricType

    samples = [json.loads(line) for line in path.read_text().splitlines()]
    loader = Loader.in_memory()
    loader.add_data(
        [
            Classification(
                uid=one["sample_id"],
                groundtruth=one["label"],
                predictions=list(one["predictions"]),
                scores=list(one["predictions"].values()),
            )
            for one in samples
        ]
    )
    evaluator = loader.finalize()
    areas = evaluator.compute_rocauc()
    found: dict[str, Any] = {
        "tool": {"valor-lite": version("valor-lite")},
        "roc_auc": {one.parameters["label"]: one.value for one in areas[MetricType.ROCAUC]},
        "mean_roc_auc": areas[MetricType.mROCAUC][0].value,
        "counts": [],
        "confusion": [],
    }
    for hardmax in (True, False):
        # In any other order, or several in one call, a threshold keeps what a higher one hid.
        for level in LEVELS:
            asked = {"score_thresholds": [level], "hardmax": hardmax}
            for one in evaluator.compute_precision_recall(**asked)[MetricType.Counts]:
                own = {key: one.value[key] for key in ("tp", "fp", "fn")}
                at = {"score_threshold": level, "hardmax": hardmax}
                found["counts"].append({**at, "label": one.parameters["label"], **own})
            (table,) = evaluator.compute_confusion_matrix(**asked)
            found["confusion"].append(
                {
                    "score_threshold": level,
                    "hardmax": hardmax,
                    "matrix": {
                        true: {name: count for name, count in row.items() if count}
                        for true, row in table.value["confusion_matrix"].items()
                    },
                    "unmatched": table.value["unmatched_ground_truths"],
                }
            )
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(ask(Path(sys.argv[1])), indent=1) + "\n")
