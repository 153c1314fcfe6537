"""BLEU and chrF against sacrebleu and NLTK: whole processes, in rotation, medians and ratios.

    python -m venv peers && peers/bin/pip install -r benchmarks/requirements.txt
    python benchmarks/bleu.py --peers peers/bin/python

Every command reads one file. valor finds corpus BLEU, chrF and sentence BLEU of up to 1, 2, 3 and 4
words, with its three reports and the values of every sample; sacrebleu finds corpus BLEU and chrF,
NLTK sentence BLEU of the four orders. Below each table stands the CPU time of the metrics alone,
from texts in memory on, in the same rounds. The CPU ratios are the figures to trust.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from make_texts import SHAPES
from rotation import Cost, print_table, rotate

HERE = Path(__file__).parent
VALOR = "valor"
ALONE = "metrics alone"
PEERS = ("sacrebleu", "nltk")
METRICS = ("corpus_bleu", "chrf", "bleu_1", "bleu_2", "bleu_3", "bleu_4")


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
        for peer in PEERS:
            _compare(alone, costs.get(peer, []), peer)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", help="python of an environment that has sacrebleu and nltk")
    parser.add_argument("--data", type=Path, default=Path("benchmarks/data/text"))
    parser.add_argument("--out", type=Path, help="folder of the reports; omitted: that of the data")
    parser.add_argument("--shapes", nargs="+", choices=tuple(SHAPES), default=("sentences",))
    parser.add_argument("--pairs", type=int, default=10_000, help="of data made anew")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    options.out = options.out or options.data
    options.out.mkdir(parents=True, exist_ok=True)
    return options


def _commands(options: argparse.Namespace, shape: str) -> dict[str, list[str]]:
    path, config = (options.data / f"{shape}.jsonl").resolve(), options.out / f"{shape}-bleu.yaml"
    config.write_text(
        f"task: text_generation\ndata: {{samples: {path}}}\nmetrics: [{', '.join(METRICS)}]\n"
        f"report: {{out: {shape}-bleu-report}}\n"
    )
    commands = {
        VALOR: [sys.executable, "-m", "valor_cli", "evaluate", "-q", str(config)],
        ALONE: [sys.executable, str(HERE / "bleu_alone.py"), str(path)],
    }
    if options.peers:
        script = str(HERE / "bleu_peers.py")
        commands |= {peer: [options.peers, script, peer, str(path)] for peer in PEERS}
    return commands


def _compare(ours: list[Cost], theirs: list[Cost], peer: str) -> None:
    """CPU time from texts in memory to values, and the values, of what both tools find."""
    told: list[tuple[dict[str, Any], dict[str, Any]]] = [
        (json.loads(one.printed), json.loads(other.printed))
        for one, other in zip(ours, theirs, strict=False)
    ]
    for name in told[0][1] if told else ():
        spent = [(one[name]["cpu_s"], other[name]["cpu_s"]) for one, other in told]
        valor, other, ratio = (
            statistics.median(column)
            for column in zip(*((one, two, two / one) for one, two in spent), strict=True)
        )
        pairs = zip(told[0][0][name]["values"], told[0][1][name]["values"], strict=True)
        worst = max(abs(one - two) for one, two in pairs)
        print(
            f"{name} alone: {VALOR} {valor:.3f} s, {peer} {other:.2f} s, ratio {ratio:.1f}; "
            f"largest difference {worst:.1e}"
        )


if __name__ == "__main__":
    main()
