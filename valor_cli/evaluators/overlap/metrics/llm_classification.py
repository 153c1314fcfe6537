"""Classification by text: responses that are labels, compared with the true ones.

Averages are scikit-learn's, over the labels that occur in references or responses. F1 of a label
with ground truth that is never answered follows `zero_division`, as its precision does, where
scikit-learn always has 0. Recall of a label without ground truth counts as 0 in averages, as in
scikit-learn by default, whatever `zero_division` is. A label that is listed but does not occur is
not averaged, where scikit-learn counts it as `zero_division`; where no label that counts has
ground truth, the averages are undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Annotated, Final, NamedTuple

import numpy as np
from annotated_types import MinLen
from msgspec.structs import replace

from valor_cli.evaluators.overlap.reference_texts import compared
from valor_cli.evaluators.ratios import (
    Average,
    Margins,
    Ratios,
    Words,
    ZeroDivision,
    over_labels,
    per_label,
)
from valor_cli.evaluators.samples.outcomes import Floats, Ints, Outcome, Outcomes, Texts
from valor_cli.evaluators.samples.sampled import Sampled
from valor_cli.kernels.columns.grouping import tallies
from valor_cli.kernels.secrets.spans import Span, masked
from valor_cli.metric import Metric, Output
from valor_cli.results import Findings, MetricTable, MetricValue

LONGEST_NAME: Final = 100
"""Characters of a label up to which its name is all of it."""


def label_reader(
    *, case_sensitive: bool, names: Iterable[str] = (), label_map: Mapping[str, str] | None = None
) -> Callable[[str], str]:
    """A function that normalises a text to a label: strips white space and, by default, case.

    Args:
        case_sensitive: Whether labels that differ in case alone are two. If not, labels are
            case-folded, as Unicode has it.
        names: Labels that are spelled like this whatever the case of a text; of two spellings of
            one label, the first.
        label_map: Label as written to label as evaluated; read like the texts. A text finds its
            own spelling first.
    """
    fold: Callable[[str], str] = str if case_sensitive else str.casefold
    spelled: dict[str, str] = {}
    for name in names:
        spelled.setdefault(fold(name.strip()), name.strip())
    exact = {written.strip(): label.strip() for written, label in (label_map or {}).items()}
    mapped: dict[str, str] = {}
    for written, label in exact.items():
        mapped.setdefault(fold(written), label)

    def label_of(text: str) -> str:
        bare = text.strip()
        key = fold(exact[bare] if bare in exact else mapped.get(fold(bare), bare))
        return spelled.get(key, key)

    return label_of


def label_name(label: str, masked_from: str | None = None) -> str:
    """A label for results; long ones are shortened, with length and hash.

    Args:
        label: The label, what is secret in it masked.
        masked_from: All of it, where something is masked: 16 bits of its hash set the name apart,
            too few to find a card number by.
    """
    if len(label) <= LONGEST_NAME and masked_from is None:
        return label
    if masked_from is not None:
        digest = sha256(masked_from.encode("utf-8", "surrogatepass")).hexdigest()[:4]
        return f"{label[:LONGEST_NAME]} ({digest})"
    digest = sha256(label.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{label[:LONGEST_NAME]}… ({len(label):,} characters, {digest})"


Labels = Annotated[tuple[str, ...], MinLen(1)]

OUTPUTS: Final = ("accuracy", "precision", "recall", "f1")

MOST_TABULATED: Final = 200
"""Labels of a confusion table."""

MOST_LABELS: Final = 2_000
"""Labels that have values of their own."""

WORDS: Final = Words(
    "0/0: no response is this label; zero_division stands in",
    "0/0: no response is any of the labels; zero_division stands in",
)


def llm_classification(
    texts: Texts,
    *,
    case_sensitive: bool = True,
    average: Average = "macro",
    positive_label: str | None = None,
    labels: Labels | None = None,
    zero_division: ZeroDivision = 0.0,
) -> Outcomes:
    """Accuracy of responses as labels, and precision, recall and F1 of the labels.

    The white space around labels does not count; where case does not either, labels are named in
    lower case, or as `labels` and `positive_label` spell them. The `label_map` of the run applies
    to responses and references. The first reference is the truth; where the response is another of
    them it is right, and counts as a hit of that label. Precision, recall and F1 are averages over
    the labels seen, or those of `positive_label`. An answer that is no label at all ("I think it
    is spam") is a label of its own, which no reference has: list the `labels` to have averages over
    these alone; answers beside them are wrong, and are in the table as false negatives without a
    prediction. Of
    more than 200 labels there is no table, of more than 2,000 there are no values by label.

    Formula:
        accuracy = right responses / responses
        precision, recall of a label = TP / (TP + FP), TP / (TP + FN)
        f1 of a label = 2 · TP / (2 · TP + FP + FN)
        average macro: the plain mean over labels

    Pitfalls:
        An answer in the wrong form ("It is ham.") looks like a wrong decision, and unless `labels`
        lists the real ones it is a label more, with precision, recall and f1 of 0, in the macro
        averages. Where one label is frequent, accuracy is high for a model that always says it:
        read f1, and the table.

    Example:
        Truth spam, spam, ham, ham and answers spam, ham, ham, ham: accuracy 3 / 4 = 0.75; f1 is 2/3
        for spam and 4/5 for ham, macro (2/3 + 4/5) / 2 = 0.733.
    """
    data = texts.data
    names = _named(labels, positive_label)
    read = label_reader(case_sensitive=case_sensitive, names=names, label_map=data.label_map)

    def shown(label: str) -> str:
        secret = [Span(start, end, "") for start, end in data.secrets(label)]
        # Labels that look alike once they are masked are still two.
        return label_name(masked(label, secret), label) if secret else label_name(label)

    def compare(response: str, references: tuple[str, ...]) -> Outcome:
        predicted, right = read(response), [read(reference) for reference in references]
        hit = predicted in right
        expected = predicted if hit else right[0]
        details = {"predicted": shown(predicted), "expected": shown(expected)}
        return Outcome({"accuracy": float(hit)}, details=details)

    return Outcomes.of(compared(data, compare), OUTPUTS[:1])


def _named(labels: Labels | None, positive_label: str | None) -> tuple[str, ...]:
    """The labels that parameters name."""
    return (labels or ()) + (() if positive_label is None else (positive_label,))


class Coded(NamedTuple):
    """Labels of all samples as codes; other or missing labels have the code `len(names)`.

    Attributes:
        names: The labels, those that parameters list in their order, else in alphabetical order.
        truth, predicted: (p,) positions in `names`, of each pair that occurs.
        pair: (n,) the pair of each sample.
        positive: The position of the positive label.
        warnings: What to tell of them.
    """

    names: tuple[str, ...]
    truth: Ints
    predicted: Ints
    pair: Ints
    positive: int | None
    warnings: tuple[str, ...]

    def counts(self, weights: Floats) -> Ints:
        """(replicas, p) how often each pair occurs."""
        return tallies(self.pair, len(self.truth), weights)

    def margins(self, counts: Ints) -> Margins:
        """Counts of each label."""
        right, predicted, truth = (
            tallies(codes, len(self.names) + 1, counts * counted)[:, :-1]
            for codes, counted in (
                (self.truth, self.truth == self.predicted),
                (self.predicted, 1),
                (self.truth, 1),
            )
        )
        return Margins(right, predicted, truth, predicted + truth > 0)

    def table(self, counts: Ints) -> MetricTable:
        """Counts of true labels by answered label, in the first replica."""
        matrix = np.zeros((len(self.names) + 1,) * 2, np.int64)
        matrix[self.truth, self.predicted] = counts[0]
        return MetricTable(
            self.names,
            matrix[:-1, :-1].tolist(),
            matrix[:-1, -1].tolist(),
            matrix[-1, :-1].tolist(),
        )


def pooled(sampled: Sampled) -> Findings:
    """Accuracy, the averages or the positive label's values, each label's, and the table."""
    coded = sampled.outcomes.once("labels", lambda: _coded(sampled))
    counts = coded.counts(sampled.weights)
    margins = coded.margins(counts)
    instead: float = sampled.parameters["zero_division"]
    by_output = {
        "precision": margins.precision(instead),
        "recall": margins.recall(),
        "f1": margins.f1(instead),
    }
    values = [replace(one, proportion=True) for one in sampled.means("accuracy")]
    for output, ratios in by_output.items():
        values += [replace(one, output=output) for one in _values(sampled, coded, ratios)]
    return sampled.findings(values, tables=_tables(coded, counts), warnings=coded.warnings)


def _tables(coded: Coded, counts: Ints) -> Iterator[MetricTable]:
    if 0 < len(coded.names) <= MOST_TABULATED:
        yield coded.table(counts)


def _values(sampled: Sampled, coded: Coded, ratios: Ratios) -> Iterator[MetricValue]:
    """That of all labels together, then each label's."""
    told = len(coded.names) <= MOST_LABELS
    each = per_label(coded.names, ratios, WORDS) if told or coded.positive is not None else []
    if coded.positive is not None:
        overall = replace(each[coded.positive], label=None)
    else:
        overall = over_labels(ratios, sampled.parameters["average"], WORDS)
    if not sampled.scored.any():
        overall = replace(overall, undefined=sampled.why_none())
    yield overall
    if told:
        yield from each


def _coded(sampled: Sampled) -> Coded:
    parameters = sampled.parameters
    listed, positive = parameters["labels"], parameters["positive_label"]
    named = _named(listed, positive)
    read = label_reader(case_sensitive=parameters["case_sensitive"], names=named)
    pairs = [
        (details["expected"], details["predicted"]) if details else (None, None)
        for details in sampled.outcomes.details
    ]
    seen = {label for pair in pairs for label in pair if label is not None}
    ours = list(dict.fromkeys(label_name(read(label)) for label in named))
    names = tuple(ours if listed else sorted(seen.union(ours)))
    number: dict[str | None, int] = {name: at for at, name in enumerate(names)}
    codes = np.array(
        [[number.get(label, len(names)) for label in pair] for pair in pairs], np.int64
    ).reshape(-1, 2)
    cells, pair = np.unique(codes @ (len(names) + 1, 1), return_inverse=True)
    truth, predicted = np.divmod(cells, len(names) + 1)
    at = None if positive is None else number[label_name(read(positive))]
    absent = at is not None and names[at] not in seen
    return Coded(
        names,
        truth,
        predicted,
        pair,
        at,
        tuple(_warnings(positive if absent else None, sorted(seen), len(names))),
    )


def _warnings(absent: str | None, seen: list[str], labels: int) -> Iterator[str]:
    if absent is not None and seen:
        some = ", ".join(map(repr, seen[:10])) + (", …" if len(seen) > 10 else "")
        yield f"no reference and no response is positive_label {absent!r}; labels seen: {some}"
    if labels > MOST_TABULATED:
        also = " and no values by label" if labels > MOST_LABELS else ""
        yield (
            f"{labels:,} labels: no confusion table (at most {MOST_TABULATED}){also}; list the "
            "ones to be evaluated as `labels`"
        )


LLM_CLASSIFICATION = Metric(
    name="llm_classification",
    measure=llm_classification,
    compute=pooled,
    reference="sklearn.metrics.precision_recall_fscore_support and accuracy_score",
    citation="van Rijsbergen, Information Retrieval, 1979",
    outputs=tuple(Output(name, "higher") for name in OUTPUTS),
    needs=("response", "references", "labels"),
    threshold=0.75,
    aliases=("Classification", "Classification Evaluator"),
)
