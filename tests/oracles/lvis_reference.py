"""lvis-api's numbers of the seeded problems, as JSON on standard output.

Run in an environment with lvis 0.5.3 and its dependencies, from the root of the repository:

    python -m tests.oracles.lvis_reference > tests/golden/detection/lvis.json
"""

from __future__ import annotations

import copy
import importlib.metadata
import json
import logging
import os
import sys
import tempfile
from typing import Any

import numpy as np

from tests.oracles.lvis import Problem, digest, lvis_problem

CASES = [(seed, False, limit) for seed in range(4) for limit in (300, 40, -1)]
CASES += [(seed, True, 300) for seed in (10, 11)]


def reference(problem: Problem, masks: bool, limit: int) -> dict[str, float]:
    """The 13 numbers under a limit of detections per image; -1 for all of them."""
    import pycocotools.mask
    from lvis import LVIS, LVISEval, LVISResults

    truth, results = copy.deepcopy(problem)
    if masks:
        # The results of lvis-api are compressed run lengths.
        for row in results:
            size = row["segmentation"]["size"]
            row["segmentation"] = pycocotools.mask.frPyObjects(row["segmentation"], *size)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "lvis.json")
        with open(path, "w") as file:
            json.dump(truth, file)
        ground_truth = LVIS(path)
    detections = LVISResults(ground_truth, results, max_dets=limit)
    evaluation = LVISEval(ground_truth, detections, "segm" if masks else "bbox")
    evaluation.run()
    return {name: float(value) for name, value in evaluation.get_results().items()}


def main() -> None:
    """Every case, with what it takes to make it again."""
    # lvis 0.5.3 says np.float, which numpy no longer has.
    vars(np)["float"] = float
    logging.disable()
    cases: list[dict[str, Any]] = []
    for seed, masks, limit in CASES:
        problem = lvis_problem(seed, masks=masks)
        stored = {"seed": seed, "masks": masks, "max_detections": None if limit < 0 else limit}
        found = reference(problem, masks, limit)
        cases.append({**stored, "problem": digest(problem), "values": found})
    tools = {name: importlib.metadata.version(name) for name in ("lvis", "pycocotools", "numpy")}
    command = "python -m tests.oracles.lvis_reference > tests/golden/detection/lvis.json"
    json.dump({"tools": tools, "command": command, "cases": cases}, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
