"""Which labels of a panoptic ground truth are things and which are stuff."""

from __future__ import annotations

from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.evaluators.detection.load.images_and_labels import Frame
from valor_cli.evaluators.detection.load.joining import positions


def things_of(truth: ObjectFile, frame: Frame) -> tuple[bool | None, ...] | None:
    """By label, whether it is a thing (True) or stuff (False).

    None where a label has neither or, mapped from several categories, both; None for all where the
    ground truth does not say.
    """
    if truth.categories is None or "isthing" not in truth.categories.columns:
        return None
    label = frame.label_number[positions(truth.categories["id"], frame.category_ids)]
    said: list[set[bool]] = [set() for _ in frame.labels]
    for at, thing in zip(label.tolist(), truth.categories["isthing"].tolist(), strict=True):
        if at >= 0:
            said[at].add(bool(thing))
    return tuple(one.pop() if len(one) == 1 else None for one in said)
