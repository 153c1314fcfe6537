"""The matching of Striveworks Valor, one pair at a time.

Pairs come by score, then IoU. A detection keeps only the ground truth it overlaps most, of equals
the earlier: once that is taken, it has no second choice. Detections of score 0 and crowd regions
take no part at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.oracles.confusion import Found, Scene, Truth, least, overlap


def taking_part(scene: Scene) -> Scene:
    """The scene without crowds and without detections that are never positive."""
    return Scene(
        [truth for truth in scene.truths if not truth.crowd],
        [found for found in scene.founds if found.score > 0],
        scene.labels,
    )


def nearest(scene: Scene) -> dict[int, float]:
    """The overlap by which each detection is ranked among those of equal score.

    The highest with a ground truth of its label; where it overlaps none of these, of any label.
    """
    near = {}
    for found in scene.founds:
        here = [truth for truth in scene.truths if truth.image == found.image]
        own = [overlap(found, truth) for truth in here if truth.label == found.label]
        near[found.row] = max(own, default=0.0) or max(
            [overlap(found, truth) for truth in here], default=0.0
        )
    return near


def valor(
    founds: Sequence[Found],
    truths: Sequence[Truth],
    counts: Callable[[Truth], bool],
    threshold: float,
) -> list[Truth | None]:
    """The ground truth that each detection of one image and label meets."""
    pairs = []
    for at, found in enumerate(founds):
        best, favourite = 0.0, None
        for truth in truths:
            if overlap(found, truth) > best:
                best, favourite = overlap(found, truth), truth
        if favourite is not None and best >= least(threshold):
            pairs.append((-found.score, -best, at, favourite))
    met: list[Truth | None] = [None] * len(founds)
    taken: set[int] = set()
    for _, _, at, favourite in sorted(pairs, key=lambda pair: pair[:3]):
        if favourite.row not in taken:
            taken.add(favourite.row)
            met[at] = favourite
    return met
