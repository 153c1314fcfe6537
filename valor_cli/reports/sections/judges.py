"""Judges: what they took, how far they agree, and what they were asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import fsum

from valor_cli.reports.digests.digest import Digest
from valor_cli.reports.digests.formatting import (
    NO_VALUE,
    UNKNOWN,
    clean,
    covered,
    money,
    number,
    plural,
    words,
)
from valor_cli.reports.digests.naming import Names
from valor_cli.reports.document import Block, Cell, Column, Item, Items, Section, Table, sample
from valor_cli.results import AgreementResult, PromptUsed, UsageResult, totals

USAGE = 120
AGREEMENTS = 100
PROMPTS = 100
"""Lines listed; results.json has all of them."""

APART = 3
"""Samples named of those on which judges differ."""

RATERS = 8
"""Judges named."""

_ORDERS = {"cached": 3, "failed": 4, "tokens in": 1, "tokens out": 1, "saved": 2}
"""The order in which columns of usage are left out; the others stay."""


def judges(d: Digest) -> Section | None:
    """Usage by judge, metric and model; agreement, lowest first; and prompts."""
    usage = d.result.run.usage
    blocks: list[Block] = [_usage(usage, many=len(d.models) > 1)] if usage else []
    blocks += _agreement(d)
    blocks += [_prompts(d.result.prompts)] if d.result.prompts else []
    if not blocks:
        return None
    told = _at_once(usage) if usage else ""
    return Section("Judges", "judges", blocks, told=told, folded=True)


def _at_once(usage: Sequence[UsageResult]) -> str:
    """All of it: "scripted · 960 calls, 72 cached · cost $0.1722, saved $0.0126"."""
    sums = _sums(usage)
    parts = [f"{sums['calls']} call{'' if sums['calls'] == '1' else 's'}"]
    parts += [f"{sums[name]} {name}" for name in ("cached", "failed") if sums[name] != NO_VALUE]
    saved = f", saved {sums['saved']}" if sums["saved"] != NO_VALUE else ""
    asked = {row.judge for row in usage}
    who = clean(usage[0].judge, 60) if len(asked) == 1 else f"{len(asked)} judges"
    return f"{who} · {', '.join(parts)} · cost {sums['cost']}{saved}"


def _usage(usage: Sequence[UsageResult], *, many: bool) -> Table:
    """A line for each judge, metric and model; models, then metrics are combined if too many."""
    order = list(dict.fromkeys(row.judge for row in usage))
    forms: list[tuple[str, ...]] = [("judge", "metric", "model")] * many + [("judge", "metric")]
    forms += [("judge",)] * (len(order) > 1)
    for keys in forms:
        groups: dict[tuple[str, ...], list[UsageResult]] = {}
        for row in usage:
            groups.setdefault(tuple(getattr(row, key) for key in keys), []).append(row)
        if len(groups) <= USAGE:
            break
    whole = _sums(usage)
    shown = [name for name, told in whole.items() if told != NO_VALUE]
    columns = [Column(key, "text") for key in keys]
    columns += [Column(name, drop=_ORDERS.get(name, 0)) for name in shown]

    def line(names: Sequence[Cell], sums: dict[str, str]) -> list[Cell]:
        counts = (sums[name] for name in shown)
        return [*names, *(Cell(told, "quiet" if told == NO_VALUE else "") for told in counts)]

    listed = sorted(groups, key=lambda names: order.index(names[0]))[:USAGE]
    rows = [
        line([Cell(clean(name, 60)) for name in names], _sums(groups[names])) for names in listed
    ]
    if len(groups) > 1:
        rows.append(line([Cell("total", "strong"), *([Cell("")] * (len(keys) - 1))], whole))
    left_out = len(groups) - len(listed)
    return Table(columns, rows, "Usage", page=17, screen=(0, 6), left_out=left_out)


def _sums(rows: Sequence[UsageResult]) -> dict[str, str]:
    """What requests took, by heading; a sum with an unknown summand is a bound: "≥ $0.50"."""
    whole = totals(rows)
    saved = _sum([row.saved_usd for row in rows], _dollars) if whole.cached else NO_VALUE
    return {
        "calls": f"{whole.calls:,}",
        "cached": f"{whole.cached:,}" if whole.cached else NO_VALUE,
        "failed": f"{whole.failed:,}" if whole.failed else NO_VALUE,
        "tokens in": _sum([row.tokens_in for row in rows], _tokens),
        "tokens out": _sum([row.tokens_out for row in rows], _tokens),
        "cost": _sum([row.cost_usd for row in rows], _dollars),
        "saved": saved,
    }


def _sum(values: Sequence[float | None], told: Callable[[Sequence[float]], str]) -> str:
    known = [value for value in values if value is not None]
    if len(known) == len(values):
        return told(known)
    return f"≥ {told(known)}" if known else UNKNOWN


def _tokens(known: Sequence[float]) -> str:
    return f"{sum(known):,}"


def _dollars(known: Sequence[float]) -> str:
    return money(fsum(known))


def _agreement(d: Digest) -> Iterator[Block]:
    """Sentences for a terminal, and a table."""
    if not d.result.agreements:
        return
    found = sorted(d.result.agreements, key=lambda row: (row.agreement is None, row.agreement or 0))
    calls = [(row.metric, row.parameters) for row in d.result.coverage]
    names = Names([*calls, *((row.metric, row.parameters) for row in d.result.agreements)])
    many = len(d.models) > 1
    whose = [
        [names.title(row.metric, "", row.parameters), *([clean(row.model, 60)] if many else [])]
        for row in found
    ]
    items = [
        Item(f"{', '.join(who)}: {_sentence(row)}") for who, row in zip(whose, found, strict=True)
    ]
    yield Items(items, page=0, screen=(1, 4))
    columns = [
        Column("metric", "text"),
        *([Column("model", "text")] if many else []),
        *(Column(name, "text") for name in ("who", "means", "widest apart")),
        *(Column(name) for name in ("samples", "agree on", "coefficient", "apart by")),
    ]
    rows = [
        [
            *map(Cell, who),
            Cell(_raters(row)),
            Cell(_means(row)),
            Cell(_apart(row), link=sample(row.disagreements[0]) if row.disagreements else ""),
            Cell(f"{row.n:,}"),
            Cell(_share(row), value=row.agreement),
            Cell(_coefficient(row)),
            Cell(number(row.spread)),
        ]
        for who, row in zip(whose[:AGREEMENTS], found, strict=False)
    ]
    yield Table(columns, rows, "Agreement", page=30, left_out=len(found) - len(rows))


def _sentence(row: AgreementResult) -> str:
    """The agreement as one line."""
    if row.agreement is None:
        return f"{_raters(row)} have no sample in common"
    coefficient = f" ({_coefficient(row)})" if row.coefficient is not None else ""
    apart = f"; widest apart: {_apart(row)}" if row.disagreements else ""
    return f"{_raters(row)} agree on {_share(row)} of {plural(row.n, 'sample')}{coefficient}{apart}"


def _share(row: AgreementResult) -> str:
    return NO_VALUE if row.agreement is None else covered(row.agreement)


def _coefficient(row: AgreementResult) -> str:
    """Such as "Fleiss' kappa 0.610"."""
    statistic = words(row.statistic) if row.statistic else ""
    return "" if row.coefficient is None else f"{statistic} {number(row.coefficient)}".strip()


def _apart(row: AgreementResult) -> str:
    return ", ".join(clean(str(name), 40) for name in row.disagreements[:APART])


def _raters(row: AgreementResult) -> str:
    """Who: "judges a, b", "3 repeats of a"."""
    if row.kind == "repeats":
        of = f" of {clean(row.judge, 60)}" if row.judge else ""
        return f"{len(row.raters)} repeats{of}"
    more = f" and {len(row.raters) - RATERS} more" if len(row.raters) > RATERS else ""
    return f"judges {', '.join(clean(name, 40) for name in row.raters[:RATERS])}{more}"


def _means(row: AgreementResult) -> str:
    """What each found on average; of repeats the numbers alone, in their order."""
    pairs = list(zip(row.raters, row.values, strict=True))[:RATERS]
    if row.kind == "repeats":
        return ", ".join(number(value) for _, value in pairs)
    return ", ".join(f"{clean(name, 40)} {number(value)}" for name, value in pairs)


def _prompts(prompts: Sequence[PromptUsed]) -> Table:
    columns = [Column(name, "text") for name in ("prompt", "version", "sha256", "from")]
    rows = [
        [
            Cell(clean(one.name, 60)),
            Cell(f"{one.version}"),
            Cell(clean(one.sha256[:12]), "quiet"),
            Cell("the config" if one.own else "valor"),
        ]
        for one in prompts[:PROMPTS]
    ]
    return Table(columns, rows, "Prompts", page=30, left_out=len(prompts) - len(rows))
