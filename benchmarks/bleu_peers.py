"""Evaluate a file with a peer, as a user's script would: bleu_peers.py TOOL FILE

Reads JSON lines with `response` and `references` and prints JSON: values, and the CPU seconds that
they take, texts being in memory by then. sacrebleu finds corpus BLEU and chrF; nltk the mean of
sentence BLEU of four orders, of words as valor takes them by default. Imports only that tool.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from itertools import zip_longest

ORDERS = (1, 2, 3, 4)


def main() -> None:
    """Run the tool named on the command line."""
    tool, path = sys.argv[1:3]
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    responses = [row["response"] for row in rows]
    references = [row["references"] for row in rows]
    found = _sacrebleu if tool == "sacrebleu" else _nltk
    print(json.dumps(found(responses, references)))


def _sacrebleu(responses: list[str], references: list[list[str]]) -> dict[str, object]:
    from sacrebleu.metrics import BLEU, CHRF

    streams = list(zip_longest(*references))
    return {
        name: _spent(lambda metric=metric: [metric.corpus_score(responses, streams).score / 100])
        for name, metric in (("corpus_bleu", BLEU()), ("chrf", CHRF()))
    }


def _nltk(responses: list[str], references: list[list[str]]) -> dict[str, object]:
    from nltk.tokenize import RegexpTokenizer
    from nltk.translate.bleu_score import sentence_bleu

    split = RegexpTokenizer(r"\w+|\$[\d]+|[^\s\.]+").tokenize
    weights = [(1 / order,) * order for order in ORDERS]

    def values() -> list[float]:
        rows = [
            sentence_bleu([split(one) for one in right], split(response), weights)
            for response, right in zip(responses, references, strict=True)
        ]
        return [statistics.fmean(column) for column in zip(*rows, strict=True)]

    warnings.simplefilter("ignore")
    return {"sentence_bleu": _spent(values)}


def _spent(values: Callable[[], list[float]]) -> dict[str, object]:
    started = time.process_time()
    found = values()
    return {"values": found, "cpu_s": time.process_time() - started}


if __name__ == "__main__":
    main()
