"""Objects that are evaluated in; what is legal about them and yet worth a warning out."""

from __future__ import annotations

from collections.abc import Mapping

from valor_cli.dataset.detection import Detections, GroundTruths
from valor_cli.evaluators.detection.plan import AREAS
from valor_cli.kernels.conversion import areas
from valor_cli.kernels.shapes import Shapes


def remarks(truths: GroundTruths, detections: Mapping[str, Detections]) -> list[str]:
    """Sizes and scores that count for less than one may think."""
    warnings = _zero_areas(truths.shapes, "ground truths")
    if huge := int((truths.area > AREAS["all"][1]).sum()):
        warnings.append(f"ground truths above 1e10 square pixels, which count nowhere: {huge:,}")
    for model, part in detections.items():
        warnings += _zero_areas(part.shapes, f"detections of {model}")
        if below := int((part.score < 0).sum()):
            warnings.append(
                f"detections of {model} with a score below 0: {below:,}; average_recall leaves "
                "them out, unless recall_score_threshold is lower"
            )
    return warnings


def _zero_areas(shapes: Shapes, what: str) -> list[str]:
    if shapes.kinds in ((), ("box",)):
        empty, word = int((shapes.box[:, 2:] == 0).any(axis=1).sum()), "box"
    else:
        empty, word = int((areas(shapes) == 0).sum()), shapes.kinds[0].replace("_", " ")
    return [f"{what} whose {word} has no area, which match nothing: {empty:,}"] if empty else []
