"""What a reduction is: vectors in, points in a few dimensions out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_DIMENSIONS = 5


class Cloud(NamedTuple):
    """Vectors, or the points that stand for them.

    Attributes:
        trained: (n, dimensions) those that say where everything lies.
        others: (m, dimensions) those that are laid out among them.
    """

    trained: Floats
    others: Floats


class Reduction(Protocol):
    """What lays vectors out in a few dimensions.

    Attributes:
        name: With its version, as results call it.
    """

    name: str

    def points(self, clouds: Iterable[Cloud], total: int) -> Iterator[Cloud]:
        """Of each cloud of vectors a cloud of points, in `dimensions_of` its size.

        Args:
            clouds: Of 4 trained vectors and more each.
            total: How many clouds there are.

        Raises:
            Stopped: The run ends.
        """


def dimensions_of(trained: int) -> int:
    """How many dimensions so many points can be laid out in: 5, but for fewer than 7 points.

    UMAP begins with eigenvectors, of which there are fewer than points, and the first is no use.
    """
    return min(MOST_DIMENSIONS, trained - 2)
