"""SummaC's arithmetic: by hand, against slow twins, and against the original's layers in torch."""

from __future__ import annotations

from math import exp
from typing import Any

import numpy as np
import pytest

from valor_cli.kernels.vectors.summac import EDGES, Layers, Support

RANDOM = np.random.default_rng(9)


def column(*values: float) -> np.ndarray[Any, Any]:
    """Of a document's sentences of one window each, the values of all."""
    return np.array([values])


def supported(entailment: list[float], contradiction: list[float]) -> Support:
    return Support.of(
        [(column(one), column(other)) for one, other in zip(entailment, contradiction, strict=True)]
    )


def test_both_contrasts_by_hand() -> None:
    # Differences: .6 - .3 = .3, .7 - .65 = .05, .1 - .0 = .1: the first is the largest.
    # Separately: .7 - .65 = .05, both of the second sentence.
    own = supported([0.6, 0.7, 0.1], [0.3, 0.65, 0.0])
    assert own.paired() == (pytest.approx(0.3, abs=1e-12), 0)
    assert own.separate() == (pytest.approx(0.05, abs=1e-12), 1)


def test_the_first_of_several_best() -> None:
    own = supported([0.5, 0.5], [0.25, 0.25])
    assert own.paired() == own.separate() == (0.25, 0)


def test_windows() -> None:
    # Two windows of the response's sentence (rows), two of the document's (columns). Of each
    # column the worst row: entailment .2 and .5, contradiction .7 and .1, difference of the first
    # column min(.9 - .7, .2 - .1) = .1, of the second min(.5 - .1, .8 - .1) = .4.
    entailed = np.array([[0.9, 0.5], [0.2, 0.8]])
    contradicted = np.array([[0.7, 0.1], [0.1, 0.1]])
    own = Support.of([(column(0.3), column(0.2)), (entailed, contradicted)])
    assert own.entailment.tolist() == [0.3, 0.2, 0.5]
    assert own.contradiction.tolist() == [0.2, 0.7, 0.1]
    assert own.difference == pytest.approx([0.1, 0.1, 0.4], abs=1e-12)
    assert own.paired() == (pytest.approx(0.4, abs=1e-12), 2)
    assert own.separate() == (pytest.approx(0.5 - 0.7, abs=1e-12), 2)


def test_random_windows_against_loops() -> None:
    for _ in range(50):
        rows = int(RANDOM.integers(1, 4))
        shapes = [(rows, int(RANDOM.integers(1, 4))) for _ in range(RANDOM.integers(1, 6))]
        pairs = [(RANDOM.random(shape) / 2, RANDOM.random(shape) / 2) for shape in shapes]
        best, entails, contradicts = -2.0, -1.0, -1.0
        for one, other in pairs:
            for at in range(one.shape[1]):
                difference = min(float(one[row, at] - other[row, at]) for row in range(rows))
                best = max(best, difference)
                entails = max(entails, min(float(one[row, at]) for row in range(rows)))
                contradicts = max(contradicts, max(float(other[row, at]) for row in range(rows)))
        own = Support.of(pairs)
        assert own.paired()[0] == best
        assert own.separate()[0] == entails - contradicts


def bin_of(value: float, edges: list[float]) -> int:
    """The bin of a value, by looking at one after the other."""
    for at in range(len(edges) - 2):
        if edges[at] <= value < edges[at + 1]:
            return at
    return len(edges) - 2


@pytest.mark.parametrize("name", EDGES)
def test_histograms_against_loops(name: str) -> None:
    edges = EDGES[name].tolist()
    drawn = [*RANDOM.random(200).tolist(), *RANDOM.beta(8, 0.5, 200).tolist(), *edges]
    for at in range(len(edges) - 1):
        one_hot = np.eye(len(edges) - 1)[at]
        layers = Layers(EDGES[name], one_hot, 0.25, np.zeros((2, 3)), np.zeros(2))
        count = sum(bin_of(value, edges) == at for value in drawn)
        assert layers.feature(np.array(drawn)) == count + 0.25


def test_edges_are_those_of_the_paper() -> None:
    assert len(EDGES["percentile"]) == 24
    assert len(EDGES["even50"]) == 51
    for edges in EDGES.values():
        assert (np.diff(edges) > 0).all()
        assert (edges[0], edges[-1]) == (0, 1)


def layers_by_hand() -> Layers:
    weights = np.zeros(23)
    weights[[0, 7, 8, 22]] = -1.0, 0.5, 2.0, 3.0
    return Layers(
        EDGES["percentile"],
        weights,
        0.5,
        np.array([[0.1, 0.2, 0.3], [0.2, 0.4, 0.6]]),
        np.array([0.25, -0.5]),
    )


def test_convolution_by_hand() -> None:
    layers = layers_by_hand()
    # 0 and .009 lie in bin 0, .37 and .8999 in bin 7, .9 in bin 8, .995 and 1 in bin 22:
    # -1·2 + .5·2 + 2·1 + 3·2 + .5 = 7.5
    first = layers.feature(np.array([0.0, 0.009, 0.37, 0.8999, 0.9, 0.995, 1.0]))
    assert first == pytest.approx(7.5, abs=1e-12)
    # .5 lies in bin 7, .01 in bin 1: .5 + .5 = 1.
    second = layers.feature(np.array([0.5, 0.01]))
    assert second == pytest.approx(1.0, abs=1e-12)
    # Mean 4.25; logits .6·4.25 + .25 = 2.8 and 1.2·4.25 - .5 = 4.6; softmax 1 / (1 + e^-1.8).
    found = layers.probability([first, second])
    assert found == pytest.approx(1 / (1 + exp(-1.8)), abs=1e-12)


def test_far_logits_do_not_overflow() -> None:
    layers = layers_by_hand()
    assert layers.probability([1e6]) == 1
    assert layers.probability([-1e6]) == 0


@pytest.mark.models
@pytest.mark.parametrize(("name", "bins"), [("percentile", 23), ("even50", 50)])
def test_the_layers_in_torch(name: str, bins: int) -> None:
    """The original's forward: histograms of numpy, two linear layers, a softmax."""
    import torch

    torch.manual_seed(0)
    first, last = torch.nn.Linear(bins, 1).double(), torch.nn.Linear(3, 2).double()
    layers = Layers(
        EDGES[name],
        first.weight.detach().numpy()[0],
        float(first.bias.detach()),
        last.weight.detach().numpy(),
        last.bias.detach().numpy(),
    )
    if name == "even50":
        edges = [*np.arange(0, 1, 1 / 50), 1.0]
    else:
        tight = [0.9 + hundredth / 100 for hundredth in range(6)]
        edges = [0.0, 0.01, 0.02, 0.03, 0.04, 0.07, 0.13, 0.37, *(round(one, 2) for one in tight)]
        edges += [0.955, 0.96, 0.965, 0.97, 0.975, 0.98, 0.985, 0.99, 0.995, 1.0]
    random = np.random.default_rng(5)
    for sentences in range(1, 11):
        image = random.beta(0.5, 0.4, (int(random.integers(1, 60)), sentences))
        rows = [np.histogram(one, range=(0, 1), bins=edges)[0] for one in image.T]
        with torch.no_grad():
            numbers = first(torch.tensor(np.array(rows), dtype=torch.float64)).flatten()
            logits = last(torch.stack([numbers.mean()] * 3))
            wanted = float(torch.softmax(logits, dim=-1)[1])
        found = layers.probability([layers.feature(one) for one in image.T])
        assert found == pytest.approx(wanted, abs=1e-12)
