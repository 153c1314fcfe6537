"""How many samples a CPU second each metric of text looks at: text_each.py FILE …

Reads JSON lines with `response` and `references` and prints a line for each metric that these
serve: microseconds a sample and samples a second, of its measure alone, of the first 2,000, the
best of three rounds. What several metrics of a run share, such as words, is made anew for each.
"""

from __future__ import annotations

import sys
import time
from typing import Any, get_args

from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators.samples.outcomes import Texts
from valor_cli.evaluators.text_generation import TEXT_GENERATION
from valor_cli.kernels.secrets.personal_entities import Entity
from valor_cli.metric import Metric, NoOptions, Selection

GIVEN: dict[str, dict[str, Any]] = {
    "text_matching": {"condition": '("Rio" OR "rio") AND regexp("15,?969 [Mm]il") AND NOT "Real"'},
    "pii_leakage": {"entities": get_args(Entity)},
    "language_consistency": {"language": "en"},
}
LEFT_OUT = {"self_consistency", "step_alignment", "agent_sanity", "llm_classification", "ter"}
"""What needs questions, contexts, files or labels; and TER, whose search is sacrebleu's own."""
ROUNDS = 3
SAMPLES = 2_000


def main() -> None:
    """Measure the files named on the command line."""
    for path in sys.argv[1:]:
        inputs = TEXT_GENERATION.inputs.model_validate({"samples": path})
        selection = Selection(limit=SAMPLES, needs=frozenset({"response", "references"}))
        loaded = TEXT_GENERATION.load(inputs, NoOptions(), selection)
        (dataset,) = loaded.datasets.values()
        print(f"{path}: {dataset.unit_count:,} samples")
        for metric in TEXT_GENERATION.metrics:
            if metric.name not in LEFT_OUT:
                spent = min(_spent(metric, dataset) for _ in range(ROUNDS)) / dataset.unit_count
                print(f"  {metric.name:24} {spent * 1e6:8.1f} µs {1 / spent:10,.0f} a second")


def _spent(metric: Metric[Any], dataset: TextDataset) -> float:
    parameters = {one.name: one.default for one in metric.parameters}
    assert metric.measure is not None
    started = time.process_time()
    metric.measure(Texts(dataset), **parameters | GIVEN.get(metric.name, {}))
    return time.process_time() - started


if __name__ == "__main__":
    main()
