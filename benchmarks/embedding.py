"""Embedding against a bare loop over onnxruntime: whole processes, in rotation, medians and ratios.

    python benchmarks/embedding.py [--texts FILE] [--count 10000] [--rounds 3]

The bare loop is what a user's script would be: `encode_batch`, sort by length, batches of 32, run
with onnxruntime's own settings, mean of the tokens. valor is the embedder alone, and as a run has
it: distinct texts, in parts, with progress. Both take the packaged MiniLM. Texts are the lines of a
file, or else drawn: words of the tokenizer's vocabulary, the commoner the likelier, 18 a sentence
on average. The time is from texts in memory, model loaded, to vectors.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rotation import print_table, rotate

from valor_cli.models.files.packaged import MINILM_LONGEST, MINILM_TOKENIZER, minilm_file

WORDS = 18
BATCH = 32
COMPARED = 50
BARE, EMBEDDER, RUN = "bare loop", "valor, embedder", "valor, as in a run"

Vectors = NDArray[np.floating[Any]]


def main() -> None:
    """Run the rotation and print the table; or, as its child, run one tool."""
    options = _options()
    if options.only:
        _measure(TOOLS[options.only], _texts(options))
        return
    given = ["--count", str(options.count)]
    if options.texts:
        given += ["--texts", str(options.texts)]
    command = [sys.executable, str(Path(__file__)), *given, "--only"]
    costs = rotate({name: [*command, name] for name in TOOLS}, options.rounds)
    print_table(costs)
    found = {name: [json.loads(one.printed) for one in runs] for name, runs in costs.items()}
    for name in (EMBEDDER, RUN):
        _compare(name, found[name], found[BARE])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=Path, help="one a line; omitted: drawn")
    parser.add_argument("--count", type=int, default=10_000, help="of texts")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help=argparse.SUPPRESS)
    return parser.parse_args()


def _texts(options: argparse.Namespace) -> list[str]:
    """Distinct texts."""
    if options.texts:
        lines = options.texts.read_text(encoding="utf-8").splitlines()
        return list(dict.fromkeys(filter(None, map(str.strip, lines))))[: options.count]
    rng = np.random.default_rng(0)
    known = json.loads(MINILM_TOKENIZER.read_bytes())["model"]["vocab"]
    words = np.array([word for word in known if word.isascii() and word.isalpha()])
    chance = 1 / np.arange(1, len(words) + 1)
    chance /= chance.sum()
    lengths = np.maximum(rng.normal(WORDS, WORDS / 2, options.count).astype(int), 3)
    return [" ".join(rng.choice(words, length, p=chance)).capitalize() + "." for length in lengths]


def _measure(open_tool: Callable[[], Callable[[list[str]], Vectors]], texts: list[str]) -> None:
    embed = open_tool()
    embed(texts[:100])
    wall, cpu = time.perf_counter(), time.process_time()
    vectors = embed(texts)
    spent = {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
    shown = vectors[:COMPARED].astype(float).round(7).tolist()
    print(json.dumps({**spent, "count": len(texts), "vectors": [row[:8] for row in shown]}))


def _bare() -> Callable[[list[str]], Vectors]:
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(MINILM_TOKENIZER))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MINILM_LONGEST)
    session = onnxruntime.InferenceSession(str(minilm_file()), providers=["CPUExecutionProvider"])

    def embed(texts: list[str]) -> Vectors:
        tokens = [one.ids for one in tokenizer.encode_batch(texts)]
        order = sorted(range(len(tokens)), key=lambda at: len(tokens[at]))
        found = np.empty((len(texts), 384), np.float32)
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            shape = (len(batch), len(tokens[batch[-1]]))
            ids, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
            for row, at in enumerate(batch):
                ids[row, : len(tokens[at])] = tokens[at]
                mask[row, : len(tokens[at])] = 1
            feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": ids * 0}
            (states,) = session.run(None, feeds)
            weights = mask[:, :, None].astype(np.float32)
            found[batch] = (states * weights).sum(1) / weights.sum(1)
        return found

    return embed


def _embedder() -> Callable[[list[str]], Vectors]:
    from valor_cli.models.embedders.onnx_embedder import OnnxEmbedder
    from valor_cli.models.requests import Stop
    from valor_cli.models.settings import EmbedderSettings

    embedder = OnnxEmbedder(EmbedderSettings(), Stop())
    return lambda texts: asyncio.run(embedder.embed(texts))


def _run() -> Callable[[list[str]], Vectors]:
    from valor_cli.models.embedders.onnx_embedder import OnnxEmbedder
    from valor_cli.models.embedders.vectors import Vectors as OfRun
    from valor_cli.models.requests import Stop
    from valor_cli.models.settings import EmbedderSettings

    embedder = OnnxEmbedder(EmbedderSettings(), Stop())

    def embed(texts: list[str]) -> Vectors:
        # Nothing is known from before.
        vectors = OfRun(embedder, Stop(), lambda stage, done, total: None)
        return asyncio.run(vectors.embed(texts))

    return embed


TOOLS = {BARE: _bare, EMBEDDER: _embedder, RUN: _run}


def _compare(name: str, ours: list[dict[str, Any]], bare: list[dict[str, Any]]) -> None:
    """Texts a second, and the speed beside the bare loop's in the same rounds."""
    rate, base = (
        statistics.median(one["count"] / one["wall_s"] for one in runs) for runs in (ours, bare)
    )
    wall, cpu = (
        statistics.median(two[key] / one[key] for one, two in zip(ours, bare, strict=True))
        for key in ("wall_s", "cpu_s")
    )
    worst = np.abs(np.subtract(ours[0]["vectors"], bare[0]["vectors"])).max()
    print(
        f"{name}: {rate:.0f} texts/s, {BARE} {base:.0f}; {wall:.2f}x its speed, "
        f"{cpu:.2f}x by CPU time; largest difference {worst:.1e}"
    )


if __name__ == "__main__":
    main()
