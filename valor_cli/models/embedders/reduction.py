"""UMAP: points that lie near each other where their vectors do.

McInnes, Healy and Melville, UMAP: Uniform Manifold Approximation and Projection, 2018; the package
umap-learn. Seeded, and on one thread: the same vectors make the same points.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from valor_cli.extras import extra
from valor_cli.models.requests import Stopped
from valor_cli.models.text.windows import Runtime

STAGE = "laying out sentences"

NEIGHBOURS = 15
"""Points around each that UMAP looks at; its own default."""

Floats = NDArray[np.float64]

MOST_DIMENSIONS = 5


class Cloud(NamedTuple):
    """Vectors, or the points they are reduced to.

    Attributes:
        trained: (n, dimensions) those that say where everything lies.
        others: (m, dimensions) those that are laid out among them.
    """

    trained: Floats
    others: Floats


class UmapReduction:
    """UMAP with its own defaults, in as many dimensions as the number of vectors allows.

    Attributes:
        name: With its version, as results call it.
    """

    def __init__(self, what: str, runtime: Runtime) -> None:
        """Import the package, which takes some seconds.

        Args:
            what: What needs it, for messages.
            runtime: Of the run.

        Raises:
            MissingExtraError: umap-learn is not installed.
        """
        with warnings.catch_warnings():
            # Of TensorFlow, which it would like, and of names that its own packages have renamed.
            warnings.simplefilter("ignore")
            self._umap = extra("umap", "summary", what)
        self.name = f"umap-learn {version('umap-learn')}"
        self._runtime = runtime

    def points(self, clouds: Iterable[Cloud], total: int) -> Iterator[Cloud]:
        """Of each cloud of vectors a cloud of points, in `dimensions_of` its size.

        Args:
            clouds: Of 4 trained vectors and more each.
            total: How many clouds there are.

        Raises:
            Stopped: The run ends.
        """
        for at, cloud in enumerate(clouds):
            if self._runtime.stop.reason is not None:
                raise Stopped(self._runtime.stop.reason)
            self._runtime.on_progress(STAGE, at, total)
            yield self._laid_out(cloud)
        self._runtime.on_progress(STAGE, total, total)

    def _laid_out(self, cloud: Cloud) -> Cloud:
        count = len(cloud.trained)
        with warnings.catch_warnings():
            # Of graphs in several parts, and of few points: there is nothing to be done.
            warnings.simplefilter("ignore")
            fitted = self._umap.UMAP(
                n_neighbors=min(NEIGHBOURS, count - 1),
                n_components=dimensions_of(count),
                random_state=0,
                n_jobs=1,
            ).fit(cloud.trained.astype(np.float32))
            trained = np.asarray(fitted.embedding_, np.float64)
            others = np.empty((0, trained.shape[1]))
            if len(cloud.others):
                others = np.asarray(fitted.transform(cloud.others.astype(np.float32)), np.float64)
        return Cloud(trained, others)


def dimensions_of(trained: int) -> int:
    """Number of dimensions for a number of points: 5, or fewer for under 7 points.

    UMAP begins with eigenvectors, of which there are fewer than points, and the first is no use.
    """
    return min(MOST_DIMENSIONS, trained - 2)
