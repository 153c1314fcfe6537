"""Tokens a second of log-likelihoods, beside a bare loop of transformers: A B A B …, medians.

    likelihood.py MODEL [--rounds 5] [--texts 96]

MODEL is a folder or id of a causal model, or smollm2-135m. The bare loop is what one writes by
hand: texts sorted by length, batches of as many tokens as valor's, padding and its mask, logits of
all positions, log_softmax, gather. Both start from texts and end with a mean per text; valor's loop
also finds offsets and windows. The values of both are compared. One line a shape of data: sentences
by themselves, and a short target after a long prompt, as GPTScore has it.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from valor_cli.kernels.vectors.batching import batches
from valor_cli.models.language_models.transformers_language_model import TransformersLanguageModel
from valor_cli.models.protocols import Passage
from valor_cli.models.requests import Stop
from valor_cli.models.settings import LanguageModelSettings
from valor_cli.models.text.windows import Runtime

VOCABULARY = (
    "the a store milk capital France Paris river summary text says rain north today house because "
    "people often walk before they buy something that is new and old in some city near water"
)


def texts(count: int, words: int) -> list[str]:
    """Seeded sentences of half to one and a half times as many words."""
    draw = np.random.default_rng(7)
    known = VOCABULARY.split()
    lengths = draw.integers(words // 2, words + words // 2, count)
    return [" ".join(draw.choice(known, n)) + "." for n in lengths]


def bare(model: TransformersLanguageModel, passages: Sequence[Passage]) -> list[float]:
    """The mean log-probability of each target, as one writes it by hand."""
    import torch

    inner, tokenizer, most = model._model._model, model._tokenizer, model._most_tokens
    prompts = [len(ids) for ids in tokenizer([one.prompt for one in passages])["input_ids"]]
    known = tokenizer([one.prompt + one.target for one in passages])["input_ids"]
    found = [0.0] * len(passages)
    with torch.inference_mode():
        for group in batches([len(ids) for ids in known], most_tokens=most):
            length = max(len(known[at]) for at in group)
            ids = torch.zeros(len(group), length, dtype=torch.int64)
            mask = torch.zeros_like(ids)
            for row, at in enumerate(group):
                ids[row, : len(known[at])] = torch.tensor(known[at])
                mask[row, : len(known[at])] = 1
            ids, mask = ids.to(inner.device), mask.to(inner.device)
            logits = inner(input_ids=ids, attention_mask=mask, use_cache=False).logits[:, :-1]
            scores = logits.log_softmax(-1).gather(2, ids[:, 1:, None])[..., 0].cpu()
            for row, at in enumerate(group):
                first = max(1, prompts[at])
                found[at] = float(scores[row, first - 1 : len(known[at]) - 1].mean())
    return found


def ours(model: TransformersLanguageModel, passages: Sequence[Passage]) -> list[float]:
    """The same of valor's."""
    return [float(one.mean()) for one in model.log_probabilities(passages)]


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    """Seconds by the clock, and of the CPU."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    """Print a line a shape."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("model")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--texts", type=int, default=96)
    options.add_argument("--device", default="auto")
    asked = options.parse_args()
    model = TransformersLanguageModel(
        LanguageModelSettings(model=asked.model), Runtime(asked.device, Stop(), lambda *_: None)
    )
    shapes = {
        "sentences": [Passage("", text) for text in texts(asked.texts, 20)],
        "short target": [Passage(text, " Yes") for text in texts(asked.texts // 4, 100)],
    }
    print("shape, tokens; tokens a second of bare, valor; ratio by clock, CPU; values differ by")
    for name, passages in shapes.items():
        lengths = model._tokenizer([one.prompt + one.target for one in passages])["input_ids"]
        tokens = sum(map(len, lengths))
        differ = np.abs(np.subtract(ours(model, passages), bare(model, passages))).max()
        costs = [
            (timed(lambda p=passages: bare(model, p)), timed(lambda p=passages: ours(model, p)))
            for _ in range(asked.rounds)
        ]
        theirs, own = (
            statistics.median(one[0] for one in side) for side in zip(*costs, strict=True)
        )
        wall, cpu = (statistics.median(a[at] / b[at] for a, b in costs) for at in (0, 1))
        speeds = f"{tokens / theirs:,.0f}, {tokens / own:,.0f}; {wall:.2f}, {cpu:.2f}"
        print(f"{name}, {tokens:,}; {speeds}; {differ:.1e}", flush=True)


if __name__ == "__main__":
    main()
