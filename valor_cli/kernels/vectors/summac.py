"""SummaC scores from entailment and contradiction probabilities.

In each array, rows are windows of a sentence of the response, columns of one of the document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, fsum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

EDGES: Mapping[str, Floats] = {
    "percentile": np.array(
        [
            *(0.0, 0.01, 0.02, 0.03, 0.04, 0.07, 0.13, 0.37, 0.90, 0.91, 0.92, 0.93, 0.94, 0.95),
            *(0.955, 0.96, 0.965, 0.97, 0.975, 0.98, 0.985, 0.99, 0.995, 1.0),
        ]
    ),
    # Not linspace: some of its edges differ in the last bit from those the weights belong to.
    "even50": np.array([*np.arange(0, 1, 1 / 50), 1.0]),
}
"""Where the bins of SummaC-Conv begin and end, by the names that its authors gave them."""


class Support(NamedTuple):
    """Support of one response sentence by a document.

    Attributes:
        entailment: (n,) how probably each window of the document entails it.
        contradiction: (n,) how probably each contradicts it.
        difference: (n,) entailment less contradiction, of the window of the sentence itself where
            that is least.
    """

    entailment: Floats
    contradiction: Floats
    difference: Floats

    @staticmethod
    def of(pairs: Sequence[tuple[Floats, Floats]]) -> Support:
        """Concatenated windows of several document sentences.

        Args:
            pairs: Of each of them (windows of the response's sentence, its own windows)
                entailment, and the same of contradiction; 0 to 1.
        """
        return Support(
            np.concatenate([entailed.min(axis=0) for entailed, _ in pairs]),
            np.concatenate([contradicted.max(axis=0) for _, contradicted in pairs]),
            np.concatenate([(one - other).min(axis=0) for one, other in pairs]),
        )

    def paired(self) -> tuple[float, int]:
        """The largest entailment minus contradiction, -1 to 1, and its first window."""
        at = int(self.difference.argmax())
        return float(self.difference[at]), at

    def separate(self) -> tuple[float, int]:
        """The largest entailment minus the largest contradiction, over all windows.

        Returns:
            That, -1 to 1; and the window with the largest entailment, the first of several.
        """
        at = int(self.entailment.argmax())
        return float(self.entailment[at] - self.contradiction.max()), at


class Layers(NamedTuple):
    """The weights of SummaC-Conv.

    Attributes:
        edges: (bins + 1,) ascending.
        bin_weights, bin_bias: (bins,) and one: the layer that makes a number of a histogram.
        class_weights, class_biases: (2, 3) and (2,): the layer behind the mean of those numbers,
            which it gets three times over.
    """

    edges: Floats
    bin_weights: Floats
    bin_bias: float
    class_weights: Floats
    class_biases: Floats

    def feature(self, entailment: Floats) -> float:
        """The feature of one sentence, from its histogram.

        Args:
            entailment: (n,) 0 to 1; an edge belongs to the bin above it, 1 to the last one.
        """
        counts, _ = np.histogram(entailment, bins=self.edges)
        return fsum(counts * self.bin_weights) + self.bin_bias

    def probability(self, features: Sequence[float]) -> float:
        """Probability of class 1, "consistent", for sentences with these features."""
        mean = fsum(features) / len(features)
        slope = fsum(self.class_weights[1] - self.class_weights[0])
        return _sigmoid(slope * mean + float(self.class_biases[1] - self.class_biases[0]))


def _sigmoid(value: float) -> float:
    """Softmax over two classes, from the difference of their logits."""
    if value >= 0:
        return 1 / (1 + exp(-value))
    return exp(value) / (1 + exp(value))
