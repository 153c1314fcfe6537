"""The paired bootstrap of two systems against sacrebleu's, on the same resamples of real texts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest, Result, estimate_ci

from tests.oracles.sacrebleu_corpus import streams
from tests.oracles.sacrebleu_significance import sacrebleu_p
from tests.oracles.text_rows import Rows, summaries
from tests.oracles.text_samples import of_rows
from valor_cli.evaluators.overlap.metrics.corpus_bleu import CORPUS_BLEU
from valor_cli.evaluators.samples.evidence import measure_samples
from valor_cli.metric import Call
from valor_cli.statistics.bootstrap import percentile_intervals
from valor_cli.statistics.paired import bootstrap_p

RESAMPLES = 400
SEED = 271

PAIRS = [("TranS2S", "BERTS2S"), ("TConvS2S", "PtGen"), ("TranS2S", "TConvS2S")]


class Resampled(NamedTuple):
    """Corpus BLEU of a system, in percent: of all texts, and at each resample."""

    value: float
    column: np.ndarray


def weights(units: int) -> np.ndarray:
    """(resamples, units) how often sacrebleu draws each text, with its seed."""
    drawn = np.random.default_rng(SEED).choice(units, size=(RESAMPLES, units), replace=True)
    return np.array([np.bincount(row, minlength=units) for row in drawn])


def ours(rows: Rows) -> Resampled:
    """Our values, from the evidence that runs resample."""
    call = Call(CORPUS_BLEU, {one.name: one.default for one in CORPUS_BLEU.parameters})
    evidence = measure_samples(of_rows(rows), (call,))
    (again,) = evidence.resamples(weights(len(rows)))
    (value, *_), (resampled, *_) = (
        call.findings(one).values  # type: ignore[union-attr]
        for one in (evidence, again)
    )
    assert value.value is not None
    assert resampled.replicas is not None
    return Resampled(100 * value.value, 100 * resampled.replicas)


def theirs(base: Rows, other: Rows, monkeypatch: pytest.MonkeyPatch) -> tuple[Result, Result]:
    """What sacrebleu says of both systems."""
    monkeypatch.setenv("SACREBLEU_SEED", str(SEED))
    systems = [(name, [row[0] for row in rows]) for name, rows in (("a", base), ("b", other))]
    references = streams([row[1] for row in base])
    test = PairedTest(systems, {"BLEU": BLEU()}, references, "bs", n_samples=RESAMPLES)
    _, found = test()
    first, second = found["BLEU"]
    return first, second


@pytest.mark.parametrize(("base", "other"), PAIRS)
def test_p_values_and_intervals(base: str, other: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = summaries(base), summaries(other)
    assert [row[1] for row in one] == [row[1] for row in two]
    mine = [ours(one), ours(two)]
    told = theirs(one, two, monkeypatch)
    for system, result in zip(mine, told, strict=True):
        assert system.value == pytest.approx(result.score, abs=1e-9)
        mean, half = estimate_ci(system.column)
        # sacrebleu adds counts up to numbers of 32 bits, and divides those.
        assert (mean, half) == pytest.approx((result.mean, result.ci), abs=1e-6)
        ((low, high),) = filter(None, percentile_intervals(system.column[:, None], 0.95))
        # sacrebleu takes the value beside the percentile, we what lies between two.
        beside = np.diff(np.sort(system.column)[[9, 11, -12, -10]])[[0, 2]].sum()
        assert (high - low) / 2 == pytest.approx(half, abs=beside)
    differences = mine[1].column - mine[0].column
    observed = mine[1].value - mine[0].value
    p = sacrebleu_p(differences, observed)
    assert p == told[1].p_value
    # Two-sided, ours is never smaller.
    two_sided = bootstrap_p(differences, observed)
    assert two_sided is not None
    assert two_sided >= p
