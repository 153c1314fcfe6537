"""Agreement between judges, and their prompts, for reports."""

from __future__ import annotations

from msgspec import Struct

from valor_cli.reports.digests.formatting import NO_VALUE, clean, covered, number, words
from valor_cli.reports.digests.naming import Names
from valor_cli.results import AgreementResult, RunResult

APART = 10
"""Samples named of those on which judges differ."""

FEW = 3
"""The same, in a sentence."""

RATERS = 8
"""Judges named."""


class AgreementLine(Struct, frozen=True):
    """Agreement between judges or repeats under one metric, as text.

    Attributes:
        raters: Who: "judges a, b", "3 repeats of a".
        samples: How many all of them judged.
        share: The share of these on which all agree.
        coefficient: "Fleiss' kappa 0.610".
        spread: How far they are apart, on average.
        means: What each of them found on average.
        apart: The samples on which they differ most.
        more: How many others they differ on.
        part: The share, as a number.
    """

    metric: str
    model: str
    raters: str
    samples: str
    share: str
    coefficient: str
    spread: str
    means: str
    apart: tuple[str, ...]
    more: int
    part: float | None

    @property
    def widest(self) -> str:
        """The named samples, and the number of others."""
        more = f" and {self.more:,} more" if self.more else ""
        return ", ".join(self.apart) + more

    @property
    def sentence(self) -> str:
        """The agreement as one line."""
        if self.share == NO_VALUE:
            return f"{self.raters} have no sample in common"
        one = "sample" if self.samples == "1" else "samples"
        message = f"{self.raters} agree on {self.share} of {self.samples} {one}"
        if self.coefficient:
            message += f" ({self.coefficient})"
        if self.apart:
            message += f"; widest apart: {', '.join(self.apart[:FEW])}"
        return message


class PromptLine(Struct, frozen=True):
    """A prompt that judges used."""

    name: str
    version: str
    sha256: str
    source: str


def agreement_lines(result: RunResult) -> tuple[AgreementLine, ...]:
    """In the order of the run."""
    calls = [(row.metric, row.parameters) for row in result.coverage]
    names = Names([*calls, *((row.metric, row.parameters) for row in result.agreements)])
    return tuple(_line(row, names) for row in result.agreements)


def _line(row: AgreementResult, names: Names) -> AgreementLine:
    apart = tuple(clean(str(name), 40) for name in row.disagreements[:APART])
    statistic = words(row.statistic) if row.statistic else ""
    return AgreementLine(
        names.title(row.metric, "", row.parameters),
        clean(row.model, 60),
        _raters(row),
        f"{row.n:,}",
        NO_VALUE if row.agreement is None else covered(row.agreement),
        "" if row.coefficient is None else f"{statistic} {number(row.coefficient)}".strip(),
        number(row.spread),
        _means(row),
        apart,
        max(row.disagreeing - len(apart), 0),
        row.agreement,
    )


def _raters(row: AgreementResult) -> str:
    if row.kind == "repeats":
        of = f" of {clean(row.judge, 60)}" if row.judge else ""
        return f"{len(row.raters)} repeats{of}"
    more = f" and {len(row.raters) - RATERS} more" if len(row.raters) > RATERS else ""
    return f"judges {', '.join(clean(name, 40) for name in row.raters[:RATERS])}{more}"


def _means(row: AgreementResult) -> str:
    """Of repeats the numbers alone, in their order."""
    pairs = list(zip(row.raters, row.values, strict=True))[:RATERS]
    if row.kind == "repeats":
        return ", ".join(number(value) for _, value in pairs)
    return ", ".join(f"{clean(name, 40)} {number(value)}" for name, value in pairs)


def prompt_lines(result: RunResult) -> tuple[PromptLine, ...]:
    """In the order of the run."""
    return tuple(
        PromptLine(
            clean(one.name, 60),
            f"{one.version}",
            clean(one.sha256[:12]),
            "the config" if one.own else "valor",
        )
        for one in result.prompts
    )
