"""BLEU and chrF of valor alone, in a process of their own: bleu_alone.py FILE

Reads JSON lines and prints JSON: of corpus BLEU, of chrF, and of sentence BLEU of four orders, the
values, and the CPU seconds that they take, texts being in memory and sacrebleu imported by then.
"""

from __future__ import annotations

import json
import sys
import time

import sacrebleu  # noqa: F401

from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators.samples.evidence import measure_samples
from valor_cli.evaluators.text_generation import TEXT_GENERATION
from valor_cli.metric import Call, NoOptions, Selection

METRICS = {metric.name: metric for metric in TEXT_GENERATION.metrics}
ASKED = {
    "corpus_bleu": ("corpus_bleu",),
    "chrf": ("chrf",),
    "sentence_bleu": ("bleu_1", "bleu_2", "bleu_3", "bleu_4"),
}


def main() -> None:
    """Evaluate the file named on the command line."""
    inputs = TEXT_GENERATION.inputs.model_validate({"samples": sys.argv[1]})
    needs = frozenset(METRICS["bleu"].needs)
    loaded = TEXT_GENERATION.load(inputs, NoOptions(), Selection(needs=needs))
    (dataset,) = loaded.datasets.values()
    print(json.dumps({name: _found(dataset, asked) for name, asked in ASKED.items()}))


def _found(dataset: TextDataset, names: tuple[str, ...]) -> dict[str, object]:
    calls = tuple(
        Call(METRICS[name], {one.name: one.default for one in METRICS[name].parameters})
        for name in names
    )
    started = time.process_time()
    evidence = measure_samples(dataset, calls)
    values = [call.findings(evidence).values[0].value for call in calls]
    return {"values": values, "cpu_s": time.process_time() - started}


if __name__ == "__main__":
    main()
