"""pycocotools' summary lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from valor_cli.reports.digests.formatting import clean
from valor_cli.results import MetricResult, RunResult

_AP, _AR = "Average Precision", "Average Recall"
_COCO = (
    ("AP", _AP, "", "all", 100),
    ("AP50", _AP, "0.50", "all", 100),
    ("AP75", _AP, "0.75", "all", 100),
    ("APsmall", _AP, "", "small", 100),
    ("APmedium", _AP, "", "medium", 100),
    ("APlarge", _AP, "", "large", 100),
    ("AR@1", _AR, "", "all", 1),
    ("AR@10", _AR, "", "all", 10),
    ("AR@100", _AR, "", "all", 100),
    ("ARsmall", _AR, "", "small", 100),
    ("ARmedium", _AR, "", "medium", 100),
    ("ARlarge", _AR, "", "large", 100),
)


def coco_table(result: RunResult) -> str:
    """pycocotools' summary lines for each model; empty if `coco` was not computed."""
    tables: dict[tuple[str, tuple[Any, ...]], dict[str, MetricResult]] = {}
    for row in result.metrics:
        if row.metric == "coco" and row.label is None and row.slice is None:
            ious = row.parameters.get("iou_thresholds", (0.5, 0.95))
            tables.setdefault((row.model, tuple(cast(Sequence[Any], ious))), {})[row.output] = row
    blocks = []
    for (model, ious), rows in tables.items():
        lines = [_coco_line(rows[name], ious, *rest) for name, *rest in _COCO if name in rows]
        if len(tables) > 1:
            lines.insert(0, clean(model, 60))
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _coco_line(row: MetricResult, ious: Sequence[float], *cells: object) -> str:
    title, iou, area, most = cells
    kind = "(AP)" if title == _AP else "(AR)"
    several = f"{ious[0]:.2f}:{ious[-1]:.2f}" if len(ious) > 1 else f"{ious[0]:.2f}"
    value = -1.0 if row.value is None else row.value  # as pycocotools prints "no such objects"
    return (
        f" {title:<18} {kind} @[ IoU={iou or several:<9} | area={area:>6} | maxDets={most:>3} ]"
        f" = {value:0.3f}"
    )
