"""Labels and scores against scikit-learn: whole processes, in rotation, medians and ratios.

    python -m venv peers && peers/bin/pip install -r benchmarks/requirements.txt
    python benchmarks/classification.py --peers peers/bin/python

Every command reads one file and finds ROC AUC of each label and the confusion matrix, valor with
its three reports. Below each table stands the CPU time of the metrics alone, from columns in memory
on, in the same rounds; valor's holds evidence, curves and examples. Of 1,000 labels scikit-learn
computes the ROC AUC of 20 and its time is scaled up. The CPU ratios are the figures to trust.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from rotation import Cost, print_table, rotate

HERE = Path(__file__).parent
VALOR = "valor"
PEER = "scikit-learn"
ALONE = "metrics alone"
METRICS = ("roc_auc", "mean_roc_auc", "confusion_matrix")
FILES = ("dense.csv", "topk.csv", "topk.jsonl")


def main() -> None:
    """Make the data, run the rotation, print the tables."""
    options = _options()
    if not all((options.data / name).exists() for name in options.files):
        make = [sys.executable, str(HERE / "make_classification.py"), str(options.data)]
        subprocess.run([*make, "--rows", str(options.rows)], check=True)
    for name in options.files:
        print(f"\n{name}: {options.rounds} rounds")
        costs = rotate(_commands(options, name), options.rounds)
        alone = costs.pop(ALONE, None)
        print_table(costs)
        if alone is not None:
            _print_alone(alone, costs[PEER])
            _check_equal(options.out / f"{name}-report", json.loads(costs[PEER][0].printed))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", help="python of an environment that has scikit-learn")
    parser.add_argument("--data", type=Path, default=Path("benchmarks/data/classification"))
    parser.add_argument("--out", type=Path, help="folder of the reports; omitted: that of the data")
    parser.add_argument("--files", nargs="+", choices=FILES, default=FILES)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of data made anew")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    options.out = options.out or options.data
    options.out.mkdir(parents=True, exist_ok=True)
    return options


def _commands(options: argparse.Namespace, name: str) -> dict[str, list[str]]:
    path, config = (options.data / name).resolve(), options.out / f"{name}.yaml"
    metrics = ", ".join(METRICS)
    config.write_text(
        f"task: classification\ndata: {{samples: {path}}}\nmetrics: [{metrics}]\n"
        f"report: {{out: {name}-report}}\n"
    )
    commands = {VALOR: [sys.executable, "-m", "valor_cli", "evaluate", "-q", str(config)]}
    if options.peers:
        commands[PEER] = [options.peers, str(HERE / "classification_peers.py"), str(path)]
        commands[ALONE] = [sys.executable, str(HERE / "classification_alone.py"), str(path)]
    return commands


def _print_alone(ours: list[Cost], theirs: list[Cost]) -> None:
    """CPU time from columns in memory to numbers, of both tools in each round."""
    told = [
        (json.loads(one.printed), json.loads(other.printed))
        for one, other in zip(ours, theirs, strict=True)
    ]
    for name in told[0][0]:
        spent = [
            (one[name], sum(other[f"{metric}_cpu_s"] for metric in name.split(" and ")))
            for one, other in told
        ]
        valor, peer, ratio = (
            statistics.median(column)
            for column in zip(*((one, other, other / one) for one, other in spent), strict=True)
        )
        print(f"{name} alone: {VALOR} {valor:.3f} s, {PEER} {peer:.2f} s, ratio {ratio:.1f}")


def _check_equal(report: Path, theirs: dict[str, Any]) -> None:
    """The numbers are the same, or the times compare different work."""
    found = json.loads((report / "results.json").read_text())
    ours = {row["label"]: row["value"] for row in found["metrics"] if row["metric"] == "roc_auc"}
    worst = max(abs(ours[label] - value) for label, value in theirs["roc_auc"].items())
    (table,) = found["tables"]
    right = sum(row[at] for at, row in enumerate(table["matrix"]))
    same = "the same" if right == theirs["right"] else f"{right:,} and {theirs['right']:,}"
    print(f"largest difference of ROC AUC: {worst:.1e}; rows on the diagonal: {same}")


if __name__ == "__main__":
    main()
