"""Where the calibrated thresholds of `evaluators/embedding/calibrated.py` come from.

Every metric is computed for samples that people judged, or that are right or wrong by how they were
made; its threshold is the value that tells both kinds apart best (balanced accuracy), rounded to
0.05. Not a timed benchmark; run it by hand when a model or a metric changes:

    python benchmarks/thresholds.py DATA [--embedder '{backend: onnx, model: minilm-int8}']

DATA is a folder with rag/begin-wow-dev, rag/qa-eval-nq and rag/clapnq-extractive as the projects
publish them, one JSON object a line: BEGIN (google/BEGIN-dataset, knowledge-grounded replies and
whether they are attributable), QA-Eval (wangcunxiang/QA-Eval, answers and whether they are right),
ClapNQ (primeqa/clapnq, questions and the passage that answers them).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Study(NamedTuple):
    """Samples of which it is known whether they are good, and the metrics that should tell."""

    name: str
    metrics: tuple[str, ...]
    samples: Sequence[Mapping[str, Any]]
    good: Mapping[str, bool]


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSONL file."""
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def attributable(data: Path) -> Study:
    """Replies and the knowledge they were to rest on; generic ones say nothing of it."""
    samples, good = [], {}
    for row in rows(data / "rag" / "begin-wow-dev" / "responses.jsonl"):
        label = row["human_label"]
        if label in ("Fully attributable", "Not fully attributable"):
            good[row["id"]] = label == "Fully attributable"
            samples.append(
                {"sample_id": row["id"], "response": row["answer"], "contexts": row["contexts"]}
            )
    return Study("BEGIN", ("groundedness_semantic",), samples, good)


def correct(data: Path) -> Study:
    """Answers beside the right ones."""
    samples, good = [], {}
    for row in rows(data / "rag" / "qa-eval-nq" / "responses.jsonl"):
        if row["prediction"].strip():
            good[row["id"]] = row["human_correct"]
            samples.append(
                {
                    "sample_id": row["id"],
                    "response": row["prediction"],
                    "references": row["references"],
                }
            )
    metrics = (
        "semantic_similarity",
        "sentence_similarity",
        "answer_accuracy_semantic",
        "bertscore",
    )
    return Study("QA-Eval", metrics, samples, good)


def relevant(data: Path) -> Study:
    """Questions with the passage that answers them, and with the passage of the next question."""
    found = list(rows(data / "rag" / "clapnq-extractive" / "responses.jsonl"))
    passages = [row["contexts"][0]["text"] for row in found]
    samples, good = [], {}
    for at, row in enumerate(found):
        for kind, passage in (("own", passages[at]), ("other", passages[at - 1])):
            name = f"{row['question']} {kind}"
            good[name] = kind == "own"
            samples.append(
                {
                    "sample_id": name,
                    "user_input": row["question"],
                    "response": passage,
                    "contexts": [passage],
                }
            )
    return Study("ClapNQ", ("context_relevancy_soft", "answer_relevancy_sentence"), samples, good)


def values_of(study: Study, embedder: str) -> dict[str, dict[str, float]]:
    """By metric and sample, what `valor evaluate` finds."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        lines = [json.dumps(sample) for sample in study.samples]
        (place / "samples.jsonl").write_text("\n".join(lines), encoding="utf-8")
        (place / "run.yaml").write_text(
            "task: text_generation\ndata: {samples: samples.jsonl}\n"
            f"embedder: {embedder}\nmetrics: [{', '.join(study.metrics)}]\n"
            "report: {out: out, formats: [json]}\n",
            encoding="utf-8",
        )
        command = [sys.executable, "-m", "valor_cli", "evaluate", "-q", str(place / "run.yaml")]
        subprocess.run(command, check=True)
        found: dict[str, dict[str, float]] = {name: {} for name in study.metrics}
        for row in rows(place / "out" / "samples.jsonl"):
            for name, said in row["metrics"].items():
                if said["value"] is not None:
                    found[name][row["sample_id"]] = said["value"]
    return found


def balanced(values: np.ndarray, good: np.ndarray, threshold: float) -> float:
    """Mean of the parts of good and of bad samples that stand on their side of it."""
    passed = values >= threshold
    return float((passed[good].mean() + (~passed[~good]).mean()) / 2)


def main() -> None:
    """Print the best threshold of every metric, and how well it and 0.75 tell."""
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("data", type=Path)
    arguments.add_argument("--embedder", default="{backend: onnx, model: minilm-int8}")
    asked = arguments.parse_args()
    for study in (attributable(asked.data), correct(asked.data), relevant(asked.data)):
        for name, own in values_of(study, asked.embedder).items():
            values = np.array(list(own.values()))
            good = np.array([study.good[one] for one in own])
            tried = np.round(np.arange(0.05, 1.0, 0.05), 2)
            scores = [balanced(values, good, one) for one in tried]
            best = int(np.argmax(scores))
            print(
                f"{name:28} {study.name:8} n={len(values):5} best {tried[best]:.2f}: "
                f"{scores[best]:.3f}; at 0.75: {balanced(values, good, 0.75):.3f}; "
                f"medians {np.median(values[good]):.3f} and {np.median(values[~good]):.3f}"
            )


if __name__ == "__main__":
    main()
