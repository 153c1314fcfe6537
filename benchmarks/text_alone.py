"""ROUGE of valor alone, in a process of its own: text_alone.py FILE

Reads JSON lines and prints JSON: the mean F1 of all four kinds, and the CPU seconds that they take,
texts being in memory by then.
"""

from __future__ import annotations

import json
import sys
import time

from valor_cli.evaluators.samples.evidence import measure_samples
from valor_cli.evaluators.text_generation import TEXT_GENERATION
from valor_cli.metric import Call, Metric, NoOptions, Selection

KINDS = ("rouge_1", "rouge_2", "rouge_l", "rouge_lsum")


def main() -> None:
    """Evaluate the file named on the command line."""
    metrics = {metric.name: metric for metric in TEXT_GENERATION.metrics}
    inputs = TEXT_GENERATION.inputs.model_validate({"samples": sys.argv[1]})
    needs = frozenset(metrics["rouge_l"].needs)
    loaded = TEXT_GENERATION.load(inputs, NoOptions(), Selection(needs=needs))
    (dataset,) = loaded.datasets.values()
    calls = tuple(_call(metrics[name]) for name in KINDS)
    started = time.process_time()
    evidence = measure_samples(dataset, calls)
    found = {call.metric.name: call.findings(evidence).values[0].value for call in calls}
    print(json.dumps({"cpu_s": time.process_time() - started, "f1": found}))


def _call(metric: Metric) -> Call:
    return Call(metric, {one.name: one.default for one in metric.parameters})


if __name__ == "__main__":
    main()
