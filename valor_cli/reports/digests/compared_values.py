"""Compared values in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from valor_cli.reports.digests.formatting import NO_VALUE, clean, number, signed, span
from valor_cli.reports.digests.naming import Names
from valor_cli.reports.document import Tone
from valor_cli.results import ComparisonResult, Effect, PairedTest

Outcome: TypeAlias = Literal["worse", "better", "equal", "cannot tell", "not tested"]

MARKS: Mapping[Outcome, str] = {
    "worse": "✗",
    "not tested": "?",
    "better": "✓",
    "equal": "=",
    "cannot tell": "~",
}
"""The mark beside each verdict, worst first."""

TONES: Mapping[Outcome, Tone] = {
    "worse": "bad",
    "better": "good",
    "equal": "quiet",
    "cannot tell": "",
    "not tested": "caution",
}

TESTS: Mapping[PairedTest, str] = {
    "mcnemar": "McNemar's test",
    "sign_permutation": "sign permutation",
    "paired_bootstrap": "paired bootstrap",
}

EFFECTS: Mapping[Effect, str] = {"cohens_d": "d", "cohens_g": "g"}
"""Letters of the effect sizes, as the papers have them."""

ROUNDING = 1e-12
"""Ends of an interval of a difference below which it is the arithmetic that tells them from 0."""

UNADJUSTED = "*"
"""Mark of an unadjusted p-value."""

OF_BOTH = "differences are over the samples that both have"
"""Note if a difference is over the shared samples, not a plain subtraction."""


class ComparedValue(Struct, frozen=True):
    """A comparison in words; untrusted text is cleaned but not escaped.

    Attributes:
        name: The metric with what tells it from its siblings; `where` the label and the slice.
        p: Adjusted where it is; else it ends with `UNADJUSTED`.
        test: With the n it rests on.
        row: The numbers.
    """

    name: str
    where: str
    other: str
    value: str
    difference: str
    interval: str
    p: str
    effect: str
    outcome: Outcome
    n: str
    test: str
    reason: str
    row: ComparisonResult


def outcome_of(row: ComparisonResult) -> Outcome:
    """The verdict, or that there is nothing to test: no sample and no value differs."""
    alike = row.difference == 0 and not row.wins and not row.losses
    # Of values of the whole alone, resamples tell whether what they rest on is the same.
    if alike and not any(_ends(row.interval) or ()):
        return "equal"
    return "not tested" if row.p is None else row.verdict


def compared_values(rows: Sequence[ComparisonResult]) -> list[ComparedValue]:
    """All rows in words, in order; parameters are named where rows differ in them."""
    names = Names((row.metric, row.parameters) for row in rows)
    return [_told(row, names.title(row.metric, row.output, row.parameters)) for row in rows]


def _told(row: ComparisonResult, name: str) -> ComparedValue:
    where = [clean(part) for part in (row.label, row.slice) if part is not None]
    return ComparedValue(
        name=name,
        where=" / ".join(where),
        other=number(row.other_value, row.unit),
        value=number(row.value, row.unit),
        difference=signed(row.difference, row.unit),
        interval=span(_ends(row.interval), row.unit),
        p=p_value(row),
        effect=_effect(row),
        outcome=outcome_of(row),
        n=number(row.n, "count"),
        test=TESTS[row.test] if row.test else "",
        reason=clean(row.reason, 200) if row.reason else "",
        row=row,
    )


def _ends(interval: tuple[float, float] | None) -> tuple[float, float] | None:
    """An interval whose ends are nothing where only rounding keeps them from it."""
    if interval is None:
        return None
    low, high = (0.0 if abs(end) < ROUNDING else end for end in interval)
    return low, high


def p_value(row: ComparisonResult) -> str:
    """The adjusted p-value, or the unadjusted one with a mark: 0.012, <0.001, 0.300*."""
    if row.p_adjusted is not None:
        return probability(row.p_adjusted)
    return NO_VALUE if row.p is None else probability(row.p) + UNADJUSTED


def probability(p: float) -> str:
    """A p-value with three decimals, never rounded to zero, and to 0.05 from below."""
    return "<0.001" if p < 0.0005 else f"{p:.{4 if 0.0495 <= p < 0.05 else 3}f}"


def _effect(row: ComparisonResult) -> str:
    if row.effect is None:
        return NO_VALUE
    letter = EFFECTS[row.effect_kind] if row.effect_kind else ""
    return f"{letter} {row.effect:+.2f}".replace("-", "−").strip()


def headline_of(
    rows: Iterable[ComparisonResult], primary: Sequence[tuple[str, str]]
) -> tuple[list[ComparisonResult], list[ComparisonResult]]:
    """The headline rows of whole runs, and the others."""
    first = {tuple(pair) for pair in primary}
    leading: list[ComparisonResult] = []
    others: list[ComparisonResult] = []
    for row in rows:
        whole = row.label is None and row.slice is None
        (leading if whole and (row.metric, row.output) in first else others).append(row)
    return leading, others


def counts_of(rows: Iterable[ComparisonResult]) -> Counter[Outcome]:
    """How many rows have which outcome."""
    return Counter(map(outcome_of, rows))


def in_words(counts: Mapping[Outcome, int]) -> str:
    """Counts, worse first: "2 worse, 1 better, 6 cannot tell"."""
    return ", ".join(f"{counts[word]} {word}" for word in MARKS if counts.get(word))


def tested(values: Sequence[ComparedValue]) -> str:
    """Which tests were made, in one line; empty if none."""
    found: dict[str, dict[str, None]] = {}
    for one in values:
        if one.test:
            found.setdefault(one.test, {})[one.n] = None
    parts = [f"{test} (n {_range(list(counts))})" for test, counts in found.items()]
    return ", ".join(parts)


def _range(counts: Sequence[str]) -> str:
    if len(counts) < 3:
        return " and ".join(counts)
    order = sorted(counts, key=lambda text: float(text.replace(",", "").replace(NO_VALUE, "0")))
    return f"{order[0]} to {order[-1]}"


def remarks(values: Sequence[ComparedValue]) -> list[str]:
    """Remarks on values, each reason once: "bleu_1, rouge_l: no sample …"."""
    names: dict[str, list[str]] = {}
    for one in values:
        if one.reason:
            named = f"{one.name} [{one.where}]" if one.where else one.name
            names.setdefault(one.reason, []).append(named)
    return [f"{_few(list(dict.fromkeys(whose)))}: {reason}" for reason, whose in names.items()]


def _few(names: Sequence[str], most: int = 3) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
