"""Counts of pixels of each label for own metrics."""

from __future__ import annotations

from collections.abc import Iterator

from valor_cli.evaluators.segmentation.evidence.confusions import Confusions
from valor_cli.metric import EvidenceCounts


def counted(confusions: Confusions) -> Iterator[EvidenceCounts]:
    """Counts of pixels in each replica, as `confusion_matrix` has them."""
    for pixels in confusions.matrices():
        # The last row and column are those of no label.
        tp = pixels.diagonal()[:-1]
        fp, fn = pixels[:, :-1].sum(axis=0) - tp, pixels[:-1].sum(axis=1) - tp
        yield EvidenceCounts(tuple(confusions.labels), tp, fp, fn, pixels[:-1, :-1])
