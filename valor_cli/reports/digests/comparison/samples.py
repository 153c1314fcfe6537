"""Samples that changed between two runs, prepared for reports."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import TypeAlias

from msgspec import Struct

from valor_cli.reports.digests.formatting import clean, number, signed
from valor_cli.reports.digests.naming import Names
from valor_cli.reports.digests.texts import left_out, titles, visible
from valor_cli.results import ChangedSample, ComparedRuns, Parameters, SampleChange, ShownText

_PASS = ("pass", "passes", "fails")

Part: TypeAlias = tuple[str, bool]
"""Characters, and whether they differ."""

WORDS = 1_000
"""Maximum number of words of a text that are compared; the rest is shown as it is."""

PAIRS = 300_000
"""Pairs of equal words up to which all are looked at, in about 0.1 s; beyond, frequent words are
left to their neighbours."""

# Scripts without spaces between words are compared character by character.
_WORD = re.compile(
    r"(?:[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|\w+|.)\s*", re.DOTALL
)


class ShownChange(Struct, frozen=True):
    """One metric's change on a sample, as text.

    Attributes:
        metric: Its whole name.
        group, output: The name in two parts: the metric, and which of its values.
    """

    metric: str
    other: str
    value: str
    difference: str
    word: str
    group: str
    output: str


class ShownSide(Struct, frozen=True):
    """A text of one side in parts; empty if that side has no such text."""

    parts: Sequence[Part]
    left_out: str = ""
    missing: bool = False


class TextPair(Struct, frozen=True):
    """A text in both runs, baseline first."""

    title: str
    other: ShownSide
    own: ShownSide


class ShownSample(Struct, frozen=True):
    """A sample that changed.

    Attributes:
        changes: By metric, largest change first.
        shared: Title, characters and what is left out of each text that both sides have.
        texts: Those that differ, with the differing words marked.
        source: The record.
    """

    name: str
    changes: Sequence[ShownChange]
    shared: Sequence[tuple[str, str, str]]
    texts: Sequence[TextPair]
    source: ChangedSample

    @property
    def size(self) -> int:
        """Characters of all texts."""
        own = sum(len(text.text) for text in (*self.source.texts, *self.source.other_texts))
        return own + sum(len(text) for _, text, _ in self.shared)


def shown_samples(compared: ComparedRuns, most: int) -> list[ShownSample]:
    """The first samples of each pair of models, up to a limit."""
    names = ChangeNames(compared)
    left: dict[tuple[str, str], int] = {}
    shown = []
    for one in compared.changed:
        pair = one.model, one.other
        left[pair] = left.get(pair, most) - 1
        if left[pair] >= 0:
            shown.append(_sample(one, names))
    return shown


class ChangeNames:
    """Names of per-sample metrics, and the units of their values."""

    def __init__(self, compared: ComparedRuns) -> None:
        rows = [
            *((one.metric, one.parameters) for one in compared.comparisons),
            *((one.metric, one.parameters) for one in compared.changes),
        ]
        self._names = Names(rows)
        self._units = {(row.metric, row.output): row.unit for row in compared.comparisons}

    def name(self, metric: str, output: str, parameters: Parameters) -> str:
        """The metric with its output and distinguishing parameters."""
        return self._names.title(metric, output, parameters)

    def group(self, metric: str, parameters: Parameters) -> str:
        """The metric with its distinguishing parameters, shared by all its outputs."""
        return self._names.title(metric, "", parameters)

    def unit(self, metric: str, output: str) -> str:
        """The unit of the whole-data value, otherwise a fraction."""
        return self._units.get((metric, output), "fraction")


def _sample(one: ChangedSample, names: ChangeNames) -> ShownSample:
    return ShownSample(
        name=clean(str(one.sample_id), 80),
        changes=tuple(_change(change, names) for change in one.changes),
        shared=tuple(
            (title, visible(text.text), left_out(text))
            for text, title in zip(one.shared, titles(one.shared), strict=True)
        ),
        texts=tuple(_pairs(one.other_texts, one.texts)),
        source=one,
    )


def _change(change: SampleChange, names: ChangeNames) -> ShownChange:
    unit = names.unit(change.metric, change.output)
    passes = change.output == _PASS[0] and {change.value, change.other_value} <= {0, 1}
    told = [
        (_PASS[1] if value else _PASS[2]) if passes else number(value, unit)
        for value in (change.other_value, change.value)
    ]
    return ShownChange(
        metric=names.name(change.metric, change.output, change.parameters),
        other=told[0],
        value=told[1],
        difference="" if passes else signed(change.value - change.other_value, unit),
        word=change.change,
        group=names.group(change.metric, change.parameters),
        output="" if change.output == "value" else clean(change.output),
    )


def gathered(
    changes: Sequence[ShownChange],
) -> list[tuple[str, list[tuple[str, list[ShownChange]]]]]:
    """Changes grouped by direction and metric, to avoid repetition.

    The widest change comes first, and with it the others of its word and metric. The name of a
    metric with one change is its whole name.
    """
    words: dict[str, dict[str, list[ShownChange]]] = {}
    for one in changes:
        words.setdefault(one.word, {}).setdefault(one.group, []).append(one)
    return [
        (word, [(many[0].metric if len(many) == 1 else name, many) for name, many in of.items()])
        for word, of in words.items()
    ]


def change_texts(changes: Sequence[ShownChange]) -> list[tuple[str, str]]:
    """Changes in words: "worse" and "rouge_l: f1 1.000 → 0.200, recall 1.000 → 0.500"."""
    return [
        (word, separator(groups).join(_of_metric(name, many) for name, many in groups))
        for word, groups in gathered(changes)
    ]


def separator(groups: Sequence[tuple[str, Sequence[object]]]) -> str:
    """The separator between metrics; a comma if none of them has several values."""
    return "; " if any(len(many) > 1 for _, many in groups) else ", "


def _of_metric(name: str, changes: Sequence[ShownChange]) -> str:
    if len(changes) == 1:
        return f"{name} {changes[0].other} → {changes[0].value}"
    values = (f"{one.output} {one.other} → {one.value}".lstrip() for one in changes)
    return f"{name}: {', '.join(values)}"


def _pairs(others: Sequence[ShownText], own: Sequence[ShownText]) -> Iterator[TextPair]:
    """Texts of the same field, paired."""
    first = {text.field: text for text in others}
    second = {text.field: text for text in own}
    fields = [first.get(field) or second[field] for field in {**first, **second}]
    for text, title in zip(fields, titles(fields), strict=True):
        a, b = first.get(text.field), second.get(text.field)
        if a is None or b is None:
            yield TextPair(title, _alone(a), _alone(b))
            continue
        left, right = word_differences(a.text, b.text)
        yield TextPair(
            title,
            ShownSide(_visible(left), left_out(a)),
            ShownSide(_visible(right), left_out(b)),
        )


def _alone(text: ShownText | None) -> ShownSide:
    if text is None:
        return ShownSide((), missing=True)
    return ShownSide(((visible(text.text), False),), left_out(text))


def _visible(parts: Sequence[Part]) -> Sequence[Part]:
    return tuple((visible(text), differs) for text, differs in parts)


def metrics_of(samples: Sequence[ShownSample]) -> list[str]:
    """The metrics of the changes, in order of appearance."""
    return list(dict.fromkeys(change.metric for one in samples for change in one.changes))


def word_differences(first: str, second: str) -> tuple[list[Part], list[Part]]:
    """Split both texts into equal and different parts.

    Spaces are ignored: they belong to the word before them.
    """
    left, left_rest = _words(first)
    right, right_rest = _words(second)
    keys = [word.strip() for word in left], [word.strip() for word in right]
    often = Counter(keys[0])
    many = sum(often[word] for word in keys[1]) > PAIRS
    sides: tuple[list[Part], list[Part]] = ([], [])
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


def _add(parts: list[Part], words: Sequence[str], differs: bool) -> None:
    """Words as a part; the space behind the last one that differs is no part of it."""
    text = "".join(words)
    end = len(text.rstrip()) or len(text)
    if differs:
        _join(parts, text[:end], True)
        _join(parts, text[end:], False)
    else:
        _join(parts, text, False)


def _join(parts: list[Part], text: str, differs: bool) -> None:
    if parts and parts[-1][1] == differs:
        parts[-1] = (parts[-1][0] + text, differs)
    elif text:
        parts.append((text, differs))
