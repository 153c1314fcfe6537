"""Random problems through both engines and pycocotools: every number has the same bits.

    python benchmarks/engines.py --problems 10000

Each problem is small and made to be difficult: boxes and scores are rounded so that many are equal,
objects overlap, some are crowds, some images and labels are empty. Compared are the arrays of
precision, recall and scores at all areas and limits, and the twelve numbers; what differs ends the
run with the problem's seed. No benchmark of speed: what it takes is pycocotools' time.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.engines import computing
from tests.oracles.problems import coco_files, random_dataset
from tests.oracles.reference import pycocotools
from valor_cli.evaluators.detection.evidence.parameters import AREAS, COCO_IOUS, MatchingPlan
from valor_cli.evaluators.detection.evidence.shards import match_detections
from valor_cli.evaluators.detection.metrics.coco import coco
from valor_cli.kernels.engine import ENGINE

NAMES = (
    *("AP", "AP50", "AP75", "APsmall", "APmedium", "APlarge"),
    *("AR@1", "AR@10", "AR@100", "ARsmall", "ARmedium", "ARlarge"),
)
DIGITS = (None, 2, 1, 0)


def main() -> None:
    """Try seed after seed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    if ENGINE.kernel is None:
        sys.exit(f"nothing to compare: {ENGINE.reason}")
    started = time.perf_counter()
    for seed in range(options.first, options.first + options.problems):
        _try(seed)
    print(f"{options.problems:,} problems, {time.perf_counter() - started:.0f} s: no bit differs")


def _try(seed: int) -> None:
    drawn = np.random.default_rng(seed)
    dataset = random_dataset(
        seed,
        images=int(drawn.integers(2, 8)),
        labels=int(drawn.integers(2, 5)),
        digits=DIGITS[seed % len(DIGITS)],
        per_image=int(drawn.integers(3, 12)),
    )
    reference = pycocotools(*coco_files(dataset))
    expected = [reference.eval[name] for name in ("precision", "scores", "recall")]
    for compiled in (True, False):
        with computing(compiled):
            matches = match_detections(dataset, MatchingPlan())
            for at, area in enumerate(AREAS):
                part = matches.within(area)
                for limit, most in enumerate((1, 10, 100)):
                    found = (
                        part.precision(COCO_IOUS, most),
                        part.scores(COCO_IOUS, most),
                        part.recalls(COCO_IOUS, most),
                    )
                    for mine, theirs in zip(found, expected, strict=True):
                        # pycocotools writes -1 where there is no ground truth.
                        own = np.where(np.isnan(mine), -1.0, mine)
                        if not np.array_equal(own, theirs[..., at, limit]):
                            sys.exit(f"seed {seed}, compiled {compiled}: {area}, {most} detections")
            values = {value.output: value.value for value in coco(matches).values}
        theirs = [None if number == -1 else number for number in reference.stats.tolist()]
        if [values[name] for name in NAMES] != theirs:
            sys.exit(f"seed {seed}, compiled {compiled}: {values} instead of {theirs}")


if __name__ == "__main__":
    main()
