"""Evaluate a file with rouge-score, as a user's script would: text_peers.py FILE

Reads JSON lines with `response` and `references` and prints JSON: the mean F1 of all four kinds,
and the CPU seconds that they take, texts being in memory by then.
"""

from __future__ import annotations

import json
import statistics
import sys
import time

from rouge_score.rouge_scorer import RougeScorer

KINDS = {"rouge1": "rouge_1", "rouge2": "rouge_2", "rougeL": "rouge_l", "rougeLsum": "rouge_lsum"}


def main() -> None:
    """Evaluate the file named on the command line."""
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    scorer = RougeScorer(list(KINDS))
    started = time.process_time()
    scores = [scorer.score_multi(row["references"], row["response"]) for row in rows]
    spent = time.process_time() - started
    f1 = {
        name: statistics.fmean(score[kind].fmeasure for score in scores)
        for kind, name in KINDS.items()
    }
    print(json.dumps({"cpu_s": spent, "f1": f1}))


if __name__ == "__main__":
    main()
