"""Texts, verdicts and replies of samples, in chunks that a card or a search loads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

from valor_cli.reports.explorer.blobs import Blobs
from valor_cli.reports.explorer.columns import MetricOfSamples
from valor_cli.reports.explorer.joining import Samples, Side
from valor_cli.results import (
    CONTEXTS,
    LONG_TEXTS,
    SHORT_TEXT,
    TEXT,
    ExampleResult,
    JudgeCalls,
    Verdict,
)
from valor_cli.results.identity import frozen

CHUNK: Final = 600_000
"""Characters of a chunk, about."""

TITLE: Final = 140
"""Characters of a sample's title."""

LONGEST: Final = 4_000
"""Characters of a reason, and of what a judge said of one item."""

WORD: Final = 120
"""Characters of a verdict."""

SAID: Final = 20_000
"""Characters of a prompt, and of a reply."""

TITLES: Final = ("user_input", "response", "references[0]")
"""Fields that a title is made of, the first that there is."""

_SHOWN = "judge_replies["

Column = Sequence[Any]
Columns = dict[str, list[Column | None]]


def texts_of(sides: Sequence[Side], samples: Samples) -> Columns:
    """By field, the texts of each model by sample."""
    columns: Columns = {}
    for index, side in enumerate(sides):
        for one in side.own("texts"):
            for field, texts in one.columns.items():
                own = columns.setdefault(field, [None] * len(sides))
                own[index] = spread(texts, one.sample_ids, samples)
    return columns


def spread(values: Sequence[Any], ids: Any, samples: Samples) -> Column:
    """Values by sample; None where there is none."""
    places = samples.positions(ids).tolist()
    if places == list(range(len(samples))):
        return values
    column: list[Any] = [None] * len(samples)
    for place, at in zip(places, range(len(values)), strict=True):
        column[place] = values[at]
    return column


def cuts_of(texts: Columns, count: int) -> list[str]:
    """What of the texts the run has not kept, where it may have cut some."""
    columns = [column for own in texts.values() for column in own if column is not None]
    longest = max((len(text) for column in columns for text in column if text), default=0)
    late = count > LONG_TEXTS
    if longest < SHORT_TEXT or not (late or longest >= TEXT):
        return []
    told = f"Texts are cut at {TEXT:,} characters, and a sample has its first {CONTEXTS} contexts."
    more = f" From sample {LONG_TEXTS + 1:,} on they are cut at {SHORT_TEXT}, without contexts."
    return [told + more * late]


def titles_of(texts: Columns, count: int) -> list[str] | None:
    """The beginning of each sample's first text; None without texts."""
    columns = [column for field in TITLES for column in texts.get(field, ()) if column is not None]
    if not columns:
        return None
    return [
        next((column[at][:TITLE] for column in columns if column[at]), "") for at in range(count)
    ]


def card_chunks(
    sides: Sequence[Side],
    samples: Samples,
    texts: Columns,
    metrics: Sequence[MetricOfSamples],
    blobs: Blobs,
) -> dict[str, Any] | None:
    """The number of samples in a chunk, and the chunks; None if there is nothing to tell."""
    told = {
        "details": _of_metrics(metrics, samples, lambda one: one.details),
        "replies": _of_metrics(
            metrics, samples, lambda one: one.asked and [_said(each) for each in one.asked]
        ),
        "remarks": _of_metrics(
            metrics, samples, lambda one: one.undefined if any(one.undefined) else None
        ),
    }
    shown = _illustrations(sides, samples, metrics, texts)
    if not texts and not shown and not any(told.values()):
        return None
    every = max(1, min(len(samples), CHUNK // max(1, _volume(texts, told, len(samples)))))
    chunks = []
    for start in range(0, len(samples), every):
        part = slice(start, start + every)
        chunk = {
            "texts": {field: _cut(columns, part) for field, columns in texts.items()},
            **{
                kind: {str(metric): _cut(columns, part) for metric, columns in columns_of.items()}
                for kind, columns_of in told.items()
            },
            "shown": {str(at): shown[at] for at in range(start, start + every) if at in shown},
        }
        chunks.append(blobs.json(chunk))
        blobs.finish()
    return {"every": every, "chunks": chunks, "good": _favourable(sides, metrics)}


def _of_metrics(
    metrics: Sequence[MetricOfSamples],
    samples: Samples,
    read: Callable[[Any], Sequence[Any] | None],
) -> dict[int, list[Column | None]]:
    """By metric, a column of each model."""
    found: dict[int, list[Column | None]] = {}
    for number, metric in enumerate(metrics):
        columns: list[Column | None] = []
        for one in metric.models:
            values = None if one is None else read(one)
            columns.append(
                None if one is None or not values else spread(values, one.sample_ids, samples)
            )
        if any(column is not None for column in columns):
            found[number] = columns
    return found


def _said(asked: JudgeCalls) -> list[list[str]]:
    """Each reply, followed by its prompt where that is kept."""
    pairs = zip_longest(asked.replies, asked.prompts, fillvalue="")
    return [[_bounded(reply), *([_bounded(prompt)] if prompt else [])] for reply, prompt in pairs]


def _bounded(text: str) -> str:
    left = len(text) - SAID
    return text if left <= 0 else f"{text[:SAID]} … {left:,} characters left out"


def _cut(columns: Sequence[Column | None], part: slice) -> list[Column | None]:
    """A part of each model's column; 0 for one that is the first model's."""
    cut: list[Any] = []
    for column in columns:
        own = None if column is None else [column[at] for at in range(*part.indices(len(column)))]
        cut.append(0 if cut and own is not None and own == cut[0] else own)
    return cut


def _volume(texts: Columns, told: Mapping[str, Any], count: int) -> int:
    """Characters of a sample, about, from some of them."""
    seen = range(0, count, max(1, count // 200))
    columns = [column for own in texts.values() for column in own if column is not None]
    columns += [
        column
        for kinds in told.values()
        for own in kinds.values()
        for column in own
        if column is not None
    ]
    size = sum(len(str(column[at])) for column in columns for at in seen if column[at] is not None)
    return size // max(1, len(seen))


def _illustrations(
    sides: Sequence[Side],
    samples: Samples,
    metrics: Sequence[MetricOfSamples],
    texts: Columns,
) -> dict[int, dict[str, Any]]:
    """By sample and model, what examples show beyond the columns: marks, contexts, verdicts."""
    number = {(one.metric, one.parameters): at for at, one in enumerate(metrics)}
    found: dict[int, dict[str, Any]] = {}
    for index, side in enumerate(sides):
        for example in side.own("examples"):
            if not (example.texts or example.verdicts):
                continue
            at = samples.position(example.sample_id)
            own = found.setdefault(at, {}).setdefault(str(index), {"texts": {}, "metrics": {}})
            _add_texts(own["texts"], example, texts, at, index)
            metric = number.get((example.metric, frozen(example.parameters)))
            if metric is not None and (example.reason or example.verdicts):
                own["metrics"][str(metric)] = {
                    "reason": (example.reason or "")[:LONGEST],
                    "verdicts": [_verdict(one) for one in example.verdicts],
                }
    return found


def _add_texts(
    own: dict[str, Any], example: ExampleResult, texts: Columns, at: int, index: int
) -> None:
    for shown in example.texts:
        if shown.field.startswith(_SHOWN):
            continue
        columns = texts.get(shown.field)
        column = columns[index] if columns else None
        known = None if column is None else column[at]
        if known == shown.text and not shown.marks:
            continue
        kept = own.setdefault(shown.field, {"text": shown.text, "left": shown.left_out})
        if shown.marks and (kept["text"] == shown.text or "marks" not in kept):
            kept |= {"text": shown.text, "left": shown.left_out}
            kept.setdefault("marks", []).extend(list(mark) for mark in shown.marks)


def _verdict(one: Verdict) -> list[Any]:
    return [one.text[:LONGEST], one.verdict[:WORD], one.good, one.reason[:LONGEST]]


def _favourable(
    sides: Sequence[Side], metrics: Sequence[MetricOfSamples]
) -> dict[str, dict[str, bool | None]]:
    """By metric, whether each of its judges' words is favourable, as examples say."""
    number = {(one.metric, one.parameters): at for at, one in enumerate(metrics)}
    found: dict[str, dict[str, bool | None]] = {}
    for side in sides:
        for example in side.result.examples:
            if not example.verdicts:
                continue
            metric = number.get((example.metric, frozen(example.parameters)))
            if metric is not None:
                words = found.setdefault(str(metric), {})
                words.update((one.verdict[:WORD], one.good) for one in example.verdicts)
    return found
