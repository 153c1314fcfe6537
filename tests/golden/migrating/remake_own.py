"""Make own.json: what lm-evaluation-harness and torchmetrics say of docs/moving-metrics.md.

    python -m tests.golden.migrating.remake_own lm_eval
    python -m tests.golden.migrating.remake_own torchmetrics

Each needs its tool alone (lm_eval 0.4; torchmetrics 1.9), and keeps what the other one said.
"""

from __future__ import annotations

import csv
import json
import sys
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.docs.pages import blocks

STORED = Path(__file__).with_name("own.json")
DATA = Path(__file__).parents[3] / "sample_data/classification"


def of_lm_eval() -> dict[str, Any]:
    """The values of the page's `process_results` in a task of the harness, with canned answers."""
    import lm_eval
    from lm_eval.api.model import LM

    files = {one.path: one.text for one in blocks("docs/moving-metrics.md") if one.path}
    rows = [json.loads(line) for line in files["moved.jsonl"].splitlines()]
    docs = [{"question": row["question"], "answer": row["reference"]} for row in rows]
    answers = {row["question"]: row["response"] for row in rows}
    names: dict[str, Any] = {}
    # The harness has no valor: the function stands above its decorator.
    code = files["from_lm_eval.py"].replace("import valor_cli", "").partition("@valor_cli")[0]
    exec(code, names)  # noqa: S102 - a page of this repository

    class Canned(LM):
        def generate_until(self, requests: Any, **_: Any) -> list[str]:
            return [answers[one.args[0]] for one in requests]

        def loglikelihood(self, requests: Any, **_: Any) -> Any:
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    with TemporaryDirectory() as folder:
        path = Path(folder, "docs.jsonl")
        path.write_text("".join(json.dumps(one) + "\n" for one in docs), encoding="utf-8")
        task = {
            "task": "moved",
            "dataset_path": "json",
            "dataset_kwargs": {"data_files": {"test": str(path)}, "cache_dir": folder},
            "test_split": "test",
            "output_type": "generate_until",
            "doc_to_text": "{{question}}",
            "doc_to_target": "{{answer}}",
            "process_results": names["process_results"],
            "metric_list": [
                {"metric": name, "aggregation": "mean", "higher_is_better": True}
                for name in ("f1", "exact")
            ],
        }
        found = lm_eval.simple_evaluate(model=Canned(), tasks=[task], bootstrap_iters=0)
    told = found["results"]["moved"]
    return {"version": version("lm_eval"), **{one: told[f"{one},none"] for one in ("f1", "exact")}}


def of_torchmetrics() -> dict[str, Any]:
    """The Matthews correlation coefficient of the classifiers of the sample data."""
    import torch
    from torchmetrics.classification import MulticlassMatthewsCorrCoef

    with open(DATA / "ground_truth.csv", encoding="utf-8") as file:
        truth = {row["id"]: row["label"] for row in csv.DictReader(file)}
    values = {}
    for model in ("random_forest", "naive_bayes"):
        with open(DATA / f"{model}.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        labels = [name for name in rows[0] if name != "id"]
        scores = torch.tensor([[float(row[name]) for name in labels] for row in rows])
        right = torch.tensor([labels.index(truth[row["id"]]) for row in rows])
        metric = MulticlassMatthewsCorrCoef(num_classes=len(labels))
        metric.update(scores, right)
        values[model] = metric.compute().item()
    return {"version": version("torchmetrics"), **values}


def main(tool: str) -> None:
    """Store what a tool says."""
    kept = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    kept[tool] = of_lm_eval() if tool == "lm_eval" else of_torchmetrics()
    STORED.write_text(json.dumps(kept, indent=2, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
