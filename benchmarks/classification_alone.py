"""The metrics of valor alone, in a process of their own: classification_alone.py FILE

Reads a file and prints JSON: the CPU seconds, evidence included, that ROC AUC takes, that the
confusion matrix takes, and that both take together.
"""

from __future__ import annotations

import json
import sys
import time

from valor_cli.evaluators.classification import CLASSIFICATION
from valor_cli.metric import NoOptions, Selection

FIRST, SECOND = "roc_auc", "confusion_matrix"


def main() -> None:
    """Evaluate the file named on the command line."""
    inputs = CLASSIFICATION.inputs.model_validate({"samples": sys.argv[1]})
    (dataset,) = CLASSIFICATION.load(inputs, NoOptions(), Selection()).datasets.values()
    (wing,) = CLASSIFICATION.wings
    metrics = {metric.name: metric for metric in wing.metrics}

    def spent(*asked: str) -> list[float]:
        """CPU seconds since columns in memory, after each metric."""
        started, found = time.process_time(), []
        evidence = wing.evidence(dataset, wing.plan([], ()))
        for name in asked:
            metrics[name].compute(evidence)
            found.append(time.process_time() - started)
        return found

    first, both = spent(FIRST, SECOND)
    (second,) = spent(SECOND)
    print(json.dumps({FIRST: first, SECOND: second, f"{FIRST} and {SECOND}": both}))


if __name__ == "__main__":
    main()
