"""Samples: the worst ones, and both answers of those that changed most between two runs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import TypeAlias

from valor_cli.reports.digests.digest import Digest
from valor_cli.reports.digests.formatting import clean, number, words
from valor_cli.reports.digests.naming import PASS, Names
from valor_cli.reports.digests.texts import titles, visible
from valor_cli.reports.document import (
    Block,
    Card,
    Cards,
    Item,
    Items,
    Part,
    Samples,
    Section,
    sample,
)
from valor_cli.results import (
    ChangedSample,
    ComparedRuns,
    ExampleResult,
    RunResult,
    SampleChange,
    ShownText,
)
from valor_cli.results.identity import frozen

KINDS = ("worst_sample", "unreadable")
"""Examples that are shown."""

WORST = 3
"""Samples of each metric and model."""


def samples(d: Digest) -> Section | None:
    """All samples, for pages."""
    return Section("Samples", "samples", (Samples(),))


def worst(d: Digest) -> Section | None:
    """By metric and model, worst first; of labels the errors with the highest scores."""
    blocks: list[Block] = [*_cards(d, d.result), *_confident(d)]
    return Section("Worst samples", "worst-samples", blocks, folded=True) if blocks else None


def _cards(d: Digest, result: RunResult) -> Iterator[Cards]:
    examples = [one for one in result.examples if one.kind in KINDS and one.slice is None]
    calls = [(row.metric, row.parameters) for row in result.coverage]
    names = Names([*calls, *((one.metric, one.parameters) for one in examples)])
    primary: dict[str, tuple[str, str]] = {}
    for row in result.metrics:  # a metric's first output is its primary one
        primary.setdefault(row.metric, (row.output, row.unit))
    groups: dict[tuple[str, object], dict[str, list[ExampleResult]]] = {}
    for one in examples:
        of_call = groups.setdefault((one.metric, frozen(one.parameters)), {})
        of_call.setdefault(one.model, []).append(one)
    for by_model in groups.values():
        for name, model in zip(d.models, result.models, strict=True):
            if found := by_model.get(model):
                metric = names.title(found[0].metric, "", found[0].parameters)
                shown = [_card(one, *primary.get(one.metric, ("", ""))) for one in found[:WORST]]
                yield Cards(" · ".join([metric, *([name] * (len(d.models) > 1))]), shown)


def _confident(d: Digest) -> Iterator[Items]:
    """By model, the wrong labels with the highest scores, unless all have the same."""
    for name, model in zip(d.models, d.result.models, strict=True):
        found = {
            str(one.sample_id): (one.objects[1].score or 0.0, one)
            for one in d.result.examples
            if one.kind == "misclassification" and one.model == model and one.slice is None
            if len(one.objects) == 2 and all(thing.geometry is None for thing in one.objects)
        }
        if len({score for score, _ in found.values()}) > 1:
            worst = sorted(found.values(), key=lambda pair: (-pair[0], str(pair[1].sample_id)))
            of = f" of {name}" if len(d.models) > 1 else ""
            yield Items([_wrong(one) for _, one in worst[:WORST]], title=f"Confident errors{of}")


def _wrong(one: ExampleResult) -> Item:
    true, said = (clean(thing.label or "", 40) for thing in one.objects)
    told = f"{true} → {said}, score {number(one.objects[1].score)}"
    return Item(told, clean(str(one.sample_id), 60), "strong", link=sample(one.sample_id))


def _card(one: ExampleResult, output: str, unit: str) -> Card:
    if one.value is None:
        value = words(one.kind)
    elif output == PASS and one.value in (0, 1):
        value = "passes" if one.value else "fails"
    else:
        value = number(one.value, unit or "fraction")
    told = f"{value} · {clean(one.reason, 400)}" if one.reason else value
    parts = [Part(title, shown) for title, shown in zip(titles(one.texts), one.texts, strict=True)]
    return Card(clean(str(one.sample_id), 80), told, parts, one.verdicts)


Differing: TypeAlias = tuple[str, bool]
"""Characters, and whether they differ."""

CHANGES = 4
"""Changes named of a sample."""

WORDS = 1_000
"""Maximum number of words of a text that are compared; the rest is shown as it is."""

PAIRS = 300_000
"""Pairs of equal words up to which all are looked at, in about 0.1 s; beyond, frequent words are
left to their neighbours."""

# Scripts without spaces between words are compared character by character.
_WORD = re.compile(
    r"(?:[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|\w+|.)\s*", re.DOTALL
)


def names_of(compared: ComparedRuns) -> Names:
    """Names of the metrics of a comparison."""
    compared_rows = ((one.metric, one.parameters) for one in compared.comparisons)
    return Names([*compared_rows, *((one.metric, one.parameters) for one in compared.changes)])


def changed_cards(
    compared: ComparedRuns, headings: Mapping[tuple[str, str], tuple[str, str, str]], most: int
) -> list[Card]:
    """The first samples of each pair of models, up to a limit.

    Args:
        compared: The comparison.
        headings: By pair its title, and those of the baseline and of the candidate.
        most: Samples of each pair.
    """
    names = names_of(compared)
    units = {(row.metric, row.output): row.unit for row in compared.comparisons}
    seen: Counter[tuple[str, str]] = Counter()
    cards = []
    for one in compared.changed:
        pair = one.model, one.other
        seen[pair] += 1
        if seen[pair] <= most:
            title, *sides = headings[pair]
            changes = "; ".join(change_texts(one.changes[:CHANGES], names, units))
            told = " · ".join(filter(None, (title, changes)))
            cards.append(Card(clean(str(one.sample_id), 80), told, list(_parts(one, sides))))
    return cards


def change_texts(
    changes: Iterable[SampleChange], names: Names, units: Mapping[tuple[str, str], str]
) -> Iterator[str]:
    """Changes by direction and metric: "worse rouge_l: f1 1.000 → 0.200, recall 1.000 → 0.500".

    The widest change comes first, and with it the others of its word and metric.
    """
    words: dict[str, dict[str, list[SampleChange]]] = {}
    for one in changes:
        group = names.title(one.metric, "", one.parameters)
        words.setdefault(one.change, {}).setdefault(group, []).append(one)
    for word, of in words.items():
        told = []
        for group, many in of.items():
            values = [_values(one, units) for one in many]
            if len(many) == 1:
                name = names.title(many[0].metric, many[0].output, many[0].parameters)
                told.append(f"{name} {values[0]}")
            else:
                outputs = ("" if one.output == "value" else clean(one.output) for one in many)
                each = map(" ".join, zip(outputs, values, strict=True))
                told.append(f"{group}: {', '.join(map(str.lstrip, each))}")
        apart = "; " if any(len(many) > 1 for many in of.values()) else ", "
        yield f"{word} {apart.join(told)}"


def _values(one: SampleChange, units: Mapping[tuple[str, str], str]) -> str:
    values = one.other_value, one.value
    if one.output == PASS and {*values} <= {0, 1}:
        first, second = ("passes" if value else "fails" for value in values)
    else:
        unit = units.get((one.metric, one.output), "fraction")
        first, second = (number(value, unit) for value in values)
    return f"{first} → {second}"


def _parts(one: ChangedSample, sides: Sequence[str]) -> Iterator[Part]:
    """Texts that both sides have, then both texts of each field in which they differ."""
    for text, title in zip(one.shared, titles(one.shared), strict=True):
        yield Part(title, ShownText("", visible(text.text)))
    first = {text.field: text for text in one.other_texts}
    second = {text.field: text for text in one.texts}
    fields = [first.get(field) or second[field] for field in {**first, **second}]
    for field, title in zip(fields, titles(fields), strict=True):
        both = first.get(field.field), second.get(field.field)
        for side, shown in zip(sides, _marked(*both), strict=True):
            yield Part(f"{side} · {title}", shown, apart=True)


def _marked(first: ShownText | None, second: ShownText | None) -> Sequence[ShownText | None]:
    """Both texts with the words that differ marked; without marks where there is but one."""
    if first is None or second is None:
        return [one and _shown([(one.text, False)], one) for one in (first, second)]
    left, right = word_differences(first.text, second.text)
    return _shown(left, first), _shown(right, second)


def _shown(parts: Sequence[Differing], source: ShownText) -> ShownText:
    text, marks = "", []
    for part, differs in parts:
        start, text = len(text), text + visible(part)
        marks += [(start, len(text), "differs")] if differs else []
    return ShownText("", text, marks, int(bool(source.left_out)))


def word_differences(first: str, second: str) -> tuple[list[Differing], list[Differing]]:
    """Split both texts into equal and different parts.

    Spaces are ignored: they belong to the word before them.
    """
    left, left_rest = _words(first)
    right, right_rest = _words(second)
    keys = [word.strip() for word in left], [word.strip() for word in right]
    often = Counter(keys[0])
    many = sum(often[word] for word in keys[1]) > PAIRS
    sides: tuple[list[Differing], list[Differing]] = ([], [])
    for kind, a, b, c, d in SequenceMatcher(None, *keys, autojunk=many).get_opcodes():
        differs = kind != "equal"
        _add(sides[0], left[a:b], differs)
        _add(sides[1], right[c:d], differs)
    _add(sides[0], [left_rest], False)
    _add(sides[1], [right_rest], False)
    return sides


def _words(text: str) -> tuple[list[str], str]:
    found: list[str] = []
    end = 0
    for one in _WORD.finditer(text):
        if len(found) == WORDS:
            break
        found.append(one[0])
        end = one.end()
    return found, text[end:]


def _add(parts: list[Differing], words: Sequence[str], differs: bool) -> None:
    """Words as a part; the space behind the last one that differs is no part of it."""
    text = "".join(words)
    end = len(text.rstrip()) or len(text)
    if differs:
        _join(parts, text[:end], True)
        _join(parts, text[end:], False)
    else:
        _join(parts, text, False)


def _join(parts: list[Differing], text: str, differs: bool) -> None:
    if parts and parts[-1][1] == differs:
        parts[-1] = (parts[-1][0] + text, differs)
    elif text:
        parts.append((text, differs))
