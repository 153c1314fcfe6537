"""Content shared by all reports of a comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from valor_cli.reports.digests.comparison.rows import (
    EFFECTS,
    MARKS,
    UNADJUSTED,
    ComparedValue,
    Outcome,
    compared_values,
    counts_of,
    in_words,
    tested,
)
from valor_cli.reports.digests.comparison.samples import ChangeNames
from valor_cli.reports.digests.formatting import clean, shown_input, words
from valor_cli.results import ComparedRun, ComparedRuns

_WORDS: dict[Outcome, str] = {
    "worse": "WORSE",
    "not tested": "NOT TESTED",
    "better": "BETTER",
    "cannot tell": "NO CLEAR DIFFERENCE",
    "equal": "EQUAL",
}
"""What the whole comes to where any value is so, the bad news first."""


class Conclusion(Struct, frozen=True):
    """The conclusion; `kind` is its CSS class."""

    word: str
    symbol: str
    detail: str
    kind: str


class Side(Struct, frozen=True):
    """One run: `letter` names it in headings, `models` lists what it evaluated."""

    letter: str
    path: str
    models: str
    started: str
    facts: Sequence[tuple[str, str]]
    inputs: Sequence[tuple[str, str, str]]


class ShownCount(Struct, frozen=True):
    """Number of samples on which one metric is better, worse or equal."""

    name: str
    better: int
    worse: int
    equal: int


class ShownPair(Struct, frozen=True):
    """A comparison of two models.

    Attributes:
        title: Both names; empty where there is one pair of models of one name.
        other, model: Headings of their columns.
        headline, further: Values in words, those of the whole runs that lead first.
        counts: In words, the number of headline values by outcome.
    """

    title: str
    other: str
    model: str
    headline: Sequence[ComparedValue]
    further: Sequence[ComparedValue]
    counts: str
    changes: Sequence[ShownCount]
    key: tuple[str, str]


class ComparedDigest(Struct, frozen=True):
    """Content shared by all reports of a comparison; strings are cleaned, not escaped."""

    verdict: Conclusion
    task: str
    sides: Sequence[Side]
    pairs: Sequence[ShownPair]
    only: Sequence[tuple[str, Sequence[str]]]
    warnings: Sequence[str]
    notes: Sequence[str]

    @property
    def one_run(self) -> bool:
        """Whether the models are of one run."""
        return len(self.sides) == 1


def compared_digest(compared: ComparedRuns) -> ComparedDigest:
    """Prepare the content that all reports share."""
    one_run = compared.first == compared.second and all(a != b for a, b in compared.pairs)
    runs = [("", compared.first)] if one_run else [("A", compared.first), ("B", compared.second)]
    pairs = _pairs(compared, one_run=one_run)
    only = zip("AB", (compared.only_first, compared.only_second), strict=True)
    return ComparedDigest(
        verdict=conclusion(compared),
        task=words(compared.task),
        sides=tuple(_side(letter, run) for letter, run in runs),
        pairs=pairs,
        only=tuple(
            (f"Only {letter} has", tuple(clean(name, 120) for name in names))
            for letter, names in only
            if names
        ),
        warnings=tuple(clean(warning, 600) for warning in compared.warnings),
        notes=notes_of(
            compared, [one for pair in pairs for one in (*pair.headline, *pair.further)]
        ),
    )


def conclusion(compared: ComparedRuns) -> Conclusion:
    """Whether the second run is worse, better, or neither can be concluded."""
    rows, what = compared.deciding, "headline value" if compared.headline else "value"
    counts = counts_of(rows)
    if not rows:
        return Conclusion("NOTHING TO COMPARE", "?", "the runs have no value in common", "none")
    # Of a value that neither run has there is nothing to test: it leads where nothing else is.
    leads: Mapping[Outcome, int] = {**counts, "not tested": len(compared.untested)}
    leading: Outcome = next((word for word in _WORDS if leads.get(word)), "not tested")
    word, symbol = _WORDS[leading], MARKS[leading]
    rest = Counter({name: count for name, count in counts.items() if name != leading})
    all_of = f"{len(rows)} {what}{'s' if len(rows) > 1 else ''}"
    detail = f"{counts[leading]} of {all_of}"
    if len(compared.pairs) > 1:
        detail += f" of {len(compared.pairs)} pairs of models"
    rest_told = in_words(rest)
    return Conclusion(
        word, symbol, f"{detail}, {rest_told}" if rest_told else detail, leading.replace(" ", "-")
    )


def _side(letter: str, run: ComparedRun) -> Side:
    facts = {
        "results": run.path,
        "models": ", ".join(clean(model, 60) for model in run.models),
        "valor": run.run.valor_version,
        "started": run.run.started_at,
        "duration": f"{run.run.duration_s:.2f} s",
        "command": run.run.command,
        "config": run.run.config,
        "config sha256": run.run.config_sha256,
        **({"models asked": ", ".join(run.run.models_used)} if run.run.models_used else {}),
    }
    return Side(
        letter=letter,
        path=clean(run.path, 200),
        models=clean(facts["models"], 200),
        started=clean(run.run.started_at),
        facts=tuple((name, clean(text, 400)) for name, text in facts.items()),
        inputs=tuple(
            (file.path, file.rows, file.sha256[:12]) for file in map(shown_input, run.run.inputs)
        ),
    )


def _pairs(compared: ComparedRuns, *, one_run: bool) -> tuple[ShownPair, ...]:
    told = compared_values(compared.comparisons)
    leading = {id(row) for row in compared.headline}
    by_pair: dict[tuple[str, str], tuple[list[ComparedValue], list[ComparedValue]]] = {}
    for one in told:
        groups = by_pair.setdefault((one.row.model, one.row.other), ([], []))
        groups[id(one.row) not in leading].append(one)
    counts = _counts(compared)
    keys = dict.fromkeys((*((model, other) for model, other in compared.pairs), *by_pair))
    shown = []
    for key in keys:
        headline, further = by_pair.get(key, ([], []))
        other, model = _headings(key, one_run=one_run)
        alone = len(keys) == 1 and not one_run and key[0] == key[1]
        shown.append(
            ShownPair(
                title="" if alone else _title(key, one_run=one_run),
                other=other,
                model=model,
                headline=tuple(headline),
                further=tuple(further),
                counts=in_words(counts_of(value.row for value in headline or further)),
                changes=tuple(counts.get(key, ())),
                key=key,
            )
        )
    return tuple(shown)


def _title(key: tuple[str, str], *, one_run: bool) -> str:
    model, other = (clean(name, 60) for name in key)
    if key[0] == key[1] and not one_run:
        return model
    return f"{model} against {other}"


def _headings(key: tuple[str, str], *, one_run: bool) -> tuple[str, str]:
    model, other = (clean(name, 40) for name in key)
    if one_run:
        return other, model
    # Of one name the title says whose values they are.
    return ("A", "B") if key[0] == key[1] else (f"A {other}", f"B {model}")


def _counts(compared: ComparedRuns) -> dict[tuple[str, str], list[ShownCount]]:
    names = ChangeNames(compared)
    found: dict[tuple[str, str], list[ShownCount]] = {}
    for one in compared.changes:
        name = names.name(one.metric, one.output, one.parameters)
        shown = ShownCount(name, one.better, one.worse, one.equal)
        found.setdefault((one.model, one.other), []).append(shown)
    return found


def notes_of(compared: ComparedRuns, values: Sequence[ComparedValue]) -> tuple[str, ...]:
    """Notes on how to read the numbers that are present.

    Args:
        compared: The comparison.
        values: Those of it that are shown.
    """
    rows = [one.row for one in values]
    notes = [f"Tests: {tests}."] if (tests := tested(values)) else []
    if any(row.interval for row in rows):
        notes.append(f"Brackets: {compared.level * 100:g}% interval of each difference by itself.")
    if any(row.p_adjusted is not None for row in rows):
        of = " of a pair" if len(compared.pairs) > 1 else ""
        notes.append(f"p: two-sided, by Holm's method over the headline values{of}.")
    if any(one.p.endswith(UNADJUSTED) for one in values):
        notes.append(f"{UNADJUSTED} not adjusted: of many such values some are below by chance.")
    kinds = {row.effect_kind for row in rows if row.effect is not None}
    letters = [EFFECTS[kind] for kind in EFFECTS if kind in kinds]
    if letters:
        notes.append(f"{', '.join(letters)}: Cohen's effect size.")
    unpaired = max((row.unpaired for row in rows), default=0)
    if unpaired:
        what = "1 sample or image" if unpaired == 1 else f"{unpaired:,} samples or images"
        notes.append(f"Up to {what} that only one of the two has are left out of the tests.")
    return tuple(notes)
