"""BERTScore: similarity of the contextual token vectors of response and reference.

Zhang et al., BERTScore: Evaluating Text Generation with BERT, ICLR 2020; the arithmetic is that of
the package bert-score 0.3.13. Special tokens may be the match of a word but do not count
themselves. With several references, precision, recall and F1 each use their own best reference.
Two differences: bert-score raises a token's best cosine to 0 where it happens to pad texts, and
its F1 of a precision and a recall of different signs is arbitrary; here it is 0.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Interval
from msgspec import Struct

from valor_cli.data.column_names import csv_reader
from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.errors import DataError, Problem
from valor_cli.evaluators.embedding.token_matches import Match, Weights, matched
from valor_cli.evaluators.missing_inputs import missing_input
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.parameters import readable_by
from valor_cli.evaluators.samples.outcomes import Floats, Outcome, Outcomes
from valor_cli.evaluators.samples.sampled import Sampled
from valor_cli.kernels.vectors.greedy_matching import harmonic_mean, weighted_mean
from valor_cli.metric import ByParameters, Metric, MissingConfig, ModelKind, Output
from valor_cli.models.protocols import TokenEncoder
from valor_cli.models.settings import ModelName
from valor_cli.paths import LocalPath
from valor_cli.results import Findings

OUTPUTS = tuple(Output(name, "higher", (-1, 1)) for name in ("f1", "precision", "recall"))

FETCH = """\
name it under bertscore: `baseline:`, the path of a file with the columns LAYER,P,R,F
bert-score has them under rescale_baseline/"""

CUT = "cut"
"""The count of texts of a sample that are longer than the model sees."""

_HEADER = ["LAYER", "P", "R", "F"]


class Baselines(Struct, frozen=True):
    """Mean precision, recall and F1 of unrelated texts, by layer."""

    path: str
    layers: Mapping[int, tuple[float, float, float]]

    def of_layer(self, layer: int) -> tuple[float, float, float]:
        """Precision, recall and F1 of a layer.

        Raises:
            DataError: The file has no such layer.
        """
        if layer not in self.layers:
            message = f"has no layer {layer}: it has {min(self.layers)} to {max(self.layers)}"
            raise DataError(Problem(self.path, message), hint="is it of another model?")
        return self.layers[layer]


class _Pair(NamedTuple):
    """A response and one of its references: the positions of the sample and of the reference."""

    sample: int
    reference: int
    texts: tuple[str, str]


class _Rates(NamedTuple):
    precision: float
    recall: float
    f1: float


def bertscore(
    texts: ModelTexts,
    *,
    model: ModelName | None = None,
    num_layers: Annotated[int, Interval(ge=0)] | None = None,
    idf: bool = False,
    rescale_with_baseline: bool = False,
    baseline: Annotated[LocalPath, readable_by(baselines_in)] | None = None,
) -> Outcomes:
    """F1, precision and recall of greedily matched tokens of response and reference, by contextual
    vectors.

    `model` is an encoder, a folder or an id of the hub, else the embedder of the config;
    `num_layers` the layer whose hidden states are compared, else the one that is usual for the
    model. With `idf` rare tokens count more: log((texts + 1) / (texts with the token + 1)) over all
    references of the data, and a token in all of them counts for nothing. With
    `rescale_with_baseline` a value x becomes (x - b) / (1 - b), b from the file `baseline` as
    bert-score publishes them (LAYER,P,R,F); values may then be below -1. Of a text that is longer
    than the model sees only the beginning is compared. Of several references the best counts, for
    each of the three numbers on its own.

    Formula:
        precision = mean over tokens x of the response of max over y of cos(x, y)
        recall = mean over tokens y of the reference of max over x of cos(x, y)
        f1 = 2 · precision · recall / (precision + recall)
        idf: both means are weighted by how rare a token is

    Pitfalls:
        Under some encoders, RoBERTa-large among them, even unrelated texts have about 0.8, so that
        small differences matter: `rescale_with_baseline` spreads them. Model and layer belong to
        the number; never compare across them. A negation or another number hardly moves it.

    Example:
        Precision 0.9 and recall 0.6: f1 = 2 · 0.9 · 0.6 / 1.5 = 0.72.

    Raises:
        DataError: The file of baselines has no such layer.
    """
    if rescale_with_baseline and baseline is None:
        raise ValueError("bertscore is called without a baseline, and the plan lets that pass")
    data = texts.data
    lacks = [
        missing_input("response", response) or missing_input("references", references)
        for response, references in zip(data.response, data.references, strict=True)
    ]
    pairs = list(_pairs(data, [at for at, lack in enumerate(lacks) if lack is None]))
    encoder = texts.models.token_encoder(model, num_layers)
    shift = None if baseline is None else baselines_in(baseline).of_layer(encoder.layer)
    documents = [one for own in data.references for one in own if one.strip()] if idf else None
    tokens, matches = matched(encoder, [pair.texts for pair in pairs], documents or ())
    weights = Weights(tokens, documents)
    rates: dict[int, dict[int, _Rates]] = {}
    cut = np.zeros(data.unit_count, np.int64)
    for pair, match in zip(pairs, matches, strict=True):
        found = _rates(match, *map(weights.of, pair.texts))
        cut[pair.sample] += sum(tokens[text].cut for text in pair.texts)
        if found is not None:
            rates.setdefault(pair.sample, {})[pair.reference] = found
    outcomes = [
        _outcome(rates.get(at, {}), shift, encoder, cut=bool(cut[at])) if lack is None else lack
        for at, lack in enumerate(lacks)
    ]
    beside = {**encoder.identity.beside, "layer": encoder.layer}
    return Outcomes.of(outcomes, [one.name for one in OUTPUTS], {CUT: cut}, beside=beside)


def means_of_matches(sampled: Sampled) -> Findings:
    """The mean of every output, and the number of samples compared only in part."""
    return sampled.findings(sampled.means(), warnings=_warnings(sampled))


def _warnings(sampled: Sampled) -> Iterator[str]:
    cut = int((sampled.scored & (sampled.outcomes.numbers.get(CUT, np.zeros(1)) > 0)).sum())
    if cut:
        yield (
            f"{cut:,} of {int(sampled.scored.sum()):,} samples have texts that are longer than "
            f"{sampled.outcomes.beside.get('model')} sees: only their beginnings are compared"
        )


def _pairs(data: TextDataset, rows: Sequence[int]) -> Iterator[_Pair]:
    """Samples with the same first reference follow each other: its states are held no longer."""
    first: dict[str, int] = {}
    for at in rows:
        first.setdefault(data.references[at][0], len(first))
    for at in sorted(rows, key=lambda at: first[data.references[at][0]]):
        for number, reference in enumerate(data.references[at]):
            if reference.strip():
                yield _Pair(at, number, (data.response[at] or "", reference))


def _rates(match: Match, response: Floats, reference: Floats) -> _Rates | None:
    """Of a pair; None where no token of a side counts.

    Args:
        match: The best cosine of each token.
        response, reference: How much each token counts.
    """
    precision = weighted_mean(match.ones, response)
    recall = weighted_mean(match.others, reference)
    if precision is None or recall is None:
        return None
    return _Rates(precision, recall, harmonic_mean(precision, recall))


def _outcome(
    rates: Mapping[int, _Rates],
    shift: tuple[float, float, float] | None,
    encoder: TokenEncoder,
    *,
    cut: bool,
) -> Outcome:
    if not rates:
        nothing = "no token of the response, or of the reference, counts"
        return Outcome(status="not_applicable", reason=nothing)
    best = _Rates(*(max(column) for column in zip(*rates.values(), strict=True)))
    if shift is not None:
        best = _Rates(*((x - b) / (1 - b) for x, b in zip(best, shift, strict=True)))
    nearest = min(rates, key=lambda at: (-rates[at].f1, at))
    details: dict[str, Any] = {"reference": nearest} if nearest else {}
    reason = f"longer than the {encoder.longest:,} tokens that are seen" if cut else None
    return Outcome(best._asdict(), reason=reason, details=details or None)


def _asks(parameters: Mapping[str, Any]) -> tuple[ModelKind, ...]:
    """A model parameter replaces the embedder."""
    return ("embedder",) if parameters["model"] is None else ()


def _lack(parameters: Mapping[str, Any]) -> MissingConfig | None:
    rescaled, baseline = parameters["rescale_with_baseline"], parameters["baseline"]
    if rescaled and baseline is None:
        return MissingConfig(
            "needs a file of baselines to rescale with, and the config names none", FETCH
        )
    if baseline is not None and not rescaled:
        hint = "set `rescale_with_baseline: true`, or leave `baseline:` out"
        return MissingConfig("has a file of baselines, and is not to rescale with it", hint)
    return None


BERTSCORE = Metric(
    name="bertscore",
    measure=bertscore,
    compute=means_of_matches,
    outputs=OUTPUTS,
    reference="bert_score.score",
    citation="Zhang et al., BERTScore: Evaluating Text Generation with BERT, ICLR 2020",
    needs=("response", "references"),
    by_parameters=ByParameters(asks=_asks, lack=_lack),
    threshold=0.75,
    aliases=("BERTScore", "BERTScore Evaluator"),
)


def baselines_in(path: str) -> Baselines:
    """Read baselines from a file with the columns LAYER, P, R and F.

    Raises:
        DataError: The file cannot be used.
    """
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            rows = list(csv_reader(file, ",", strict=False))
    except OSError as error:
        raise DataError(Problem(path, f"cannot be read: {error.strerror or error}")) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(Problem(path, f"is no CSV: {error}")) from None
    if not rows or rows[0] != _HEADER:
        shown = ",".join(rows[0])[:100] if rows else "nothing"
        raise DataError(Problem(f"{path}:1", f"expected LAYER,P,R,F, found {shown}"))
    layers = dict(_row(path, at, row) for at, row in enumerate(rows[1:], 2) if row)
    if not layers:
        raise DataError(Problem(path, "has no layers"))
    return Baselines(path, layers)


def _row(path: str, line: int, row: list[str]) -> tuple[int, tuple[float, float, float]]:
    try:
        layer, precision, recall, f1 = int(row[0]), *map(float, row[1:])
        if not all(-1 <= one < 1 for one in (precision, recall, f1)):
            raise ValueError
    except ValueError:
        found = ",".join(row)[:100]
        message = f"expected a layer and three numbers from -1 to below 1, found {found}"
        raise DataError(Problem(f"{path}:{line}", message)) from None
    return layer, (precision, recall, f1)
