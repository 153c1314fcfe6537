"""Evaluate COCO files with one peer, as a user's script would: peers.py TOOL GT DT [bbox|segm].

Imports only what that tool needs and prints its 12 numbers as JSON.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys


def main() -> None:
    """Run the tool named on the command line."""
    tool, truth, found = sys.argv[1:4]
    kind = sys.argv[4] if len(sys.argv) > 4 else "bbox"
    with contextlib.redirect_stdout(io.StringIO()):
        if tool == "pycocotools":
            from pycocotools.coco import COCO
            from pycocotools.cocoeval import COCOeval
        elif tool == "faster-coco-eval":
            from faster_coco_eval import COCO
            from faster_coco_eval import COCOeval_faster as COCOeval
        elif tool == "hotcoco":
            from hotcoco import COCO, COCOeval
        else:
            from ultrafast_pycocotools import COCO, COCOeval
        truths = COCO(truth)
        load = truths.load_res if tool == "hotcoco" else truths.loadRes
        evaluation = COCOeval(truths, load(found), kind)
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    print(json.dumps([float(value) for value in evaluation.stats][:12]))


if __name__ == "__main__":
    main()
