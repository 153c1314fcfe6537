"""ROUGE against rouge-score: whole processes, in rotation, medians and ratios.

    python -m venv peers && peers/bin/pip install -r benchmarks/requirements.txt
    python benchmarks/text.py --peers peers/bin/python

Every command reads one file and finds ROUGE-1, -2, -L and -Lsum, valor with its three reports and
the values of every sample. Below each table stands the CPU time of the metrics alone, from texts in
memory on, in the same rounds. The CPU ratios are the figures to trust.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

from make_texts import SHAPES
from rotation import Cost, print_table, rotate

HERE = Path(__file__).parent
VALOR = "valor"
PEER = "rouge-score"
ALONE = "metrics alone"
METRICS = ("rouge_1", "rouge_2", "rouge_l", "rouge_lsum")


def main() -> None:
    """Make the data, run the rotation, print the tables."""
    options = _options()
    if not all((options.data / f"{shape}.jsonl").exists() for shape in options.shapes):
        make = [sys.executable, str(HERE / "make_texts.py"), str(options.data)]
        subprocess.run([*make, "--pairs", str(options.pairs)], check=True)
    for shape in options.shapes:
        print(f"\n{shape}: {options.rounds} rounds")
        costs = rotate(_commands(options, shape), options.rounds)
        alone = costs.pop(ALONE)
        print_table(costs)
        if PEER in costs:
            _compare(alone, costs[PEER])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", help="python of an environment that has rouge-score")
    parser.add_argument("--data", type=Path, default=Path("benchmarks/data/text"))
    parser.add_argument("--out", type=Path, help="folder of the reports; omitted: that of the data")
    parser.add_argument("--shapes", nargs="+", choices=tuple(SHAPES), default=tuple(SHAPES))
    parser.add_argument("--pairs", type=int, default=10_000, help="of data made anew")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    options.out = options.out or options.data
    options.out.mkdir(parents=True, exist_ok=True)
    return options


def _commands(options: argparse.Namespace, shape: str) -> dict[str, list[str]]:
    path, config = (options.data / f"{shape}.jsonl").resolve(), options.out / f"{shape}.yaml"
    config.write_text(
        f"task: text_generation\ndata: {{samples: {path}}}\nmetrics: [{', '.join(METRICS)}]\n"
        f"report: {{out: {shape}-report}}\n"
    )
    commands = {
        VALOR: [sys.executable, "-m", "valor_cli", "evaluate", "-q", str(config)],
        ALONE: [sys.executable, str(HERE / "text_alone.py"), str(path)],
    }
    if options.peers:
        commands[PEER] = [options.peers, str(HERE / "text_peers.py"), str(path)]
    return commands


def _compare(ours: list[Cost], theirs: list[Cost]) -> None:
    """CPU time from texts in memory to values, and the values, of both tools."""
    told = [
        (json.loads(one.printed), json.loads(other.printed))
        for one, other in zip(ours, theirs, strict=True)
    ]
    spent = [(one["cpu_s"], other["cpu_s"]) for one, other in told]
    valor, peer, ratio = (
        statistics.median(column)
        for column in zip(*((one, other, other / one) for one, other in spent), strict=True)
    )
    print(f"alone: {VALOR} {valor:.3f} s, {PEER} {peer:.2f} s, ratio {ratio:.1f}")
    one, other = told[0]
    worst = max(abs(one["f1"][name] - other["f1"][name]) for name in METRICS)
    print(f"largest difference of mean F1: {worst:.1e}")


if __name__ == "__main__":
    main()
