"""Make pairs of response and reference: make_texts.py FOLDER [--pairs N]

Seeded, synthetic: words drawn as often as Zipf's law has it; a reference is its response with a
third of its words drawn anew and some left out. `SHAPES` are those of one-sentence summaries, of
summaries of news in three lines, and of long answers.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

SHAPES = {"sentences": (1, 20), "summaries": (3, 18), "answers": (1, 150)}
"""By name of the file: lines of a text, and words of a line on average."""

VOCABULARY = 30_000
LETTERS = np.array(list("etaoinshrdlucmfwypvbgk"))


def main() -> None:
    """Write a file for each shape."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", type=int, default=10_000)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for shape in SHAPES:
        write(options.folder / f"{shape}.jsonl", shape, options.pairs)


def write(path: Path, shape: str, pairs: int) -> None:
    """Write pairs of texts of a shape, one a line."""
    rng = np.random.default_rng(0)
    words = np.array(
        ["".join(rng.choice(LETTERS, length)) for length in rng.integers(2, 10, VOCABULARY)]
    )
    chance = 1 / np.arange(1, VOCABULARY + 1)
    chance /= chance.sum()
    lines, length = SHAPES[shape]
    with path.open("w", encoding="utf-8") as file:
        for number in range(pairs):
            response, reference = [], []
            for _ in range(lines):
                line = rng.choice(VOCABULARY, max(int(rng.normal(length, length / 4)), 1), p=chance)
                drawn = rng.choice(VOCABULARY, len(line), p=chance)
                other = np.where(rng.random(len(line)) < 1 / 3, drawn, line)
                response.append(_sentence(words[line]))
                reference.append(_sentence(words[other[rng.random(len(line)) < 0.9]]))
            row = {
                "sample_id": f"{number:06}",
                "response": "\n".join(response),
                "references": ["\n".join(reference)],
            }
            file.write(json.dumps(row) + "\n")


def _sentence(words: np.ndarray) -> str:
    return " ".join(words).capitalize() + "."


if __name__ == "__main__":
    main()
