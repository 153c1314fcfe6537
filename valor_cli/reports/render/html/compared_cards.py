"""Cards of changed samples on the HTML comparison page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from markupsafe import Markup, escape
from msgspec.structs import replace

from valor_cli.reports.render.html.drawings import Drawings
from valor_cli.reports.sections.anchors import Anchors
from valor_cli.reports.sections.comparison.digest import ShownPair
from valor_cli.reports.sections.comparison.samples import (
    ShownChange,
    ShownSample,
    ShownSide,
    gathered,
    separator,
)
from valor_cli.reports.sections.errors.outcomes import counted, outcome_of
from valor_cli.reports.sections.errors.worst_images import KIND as WHOLE
from valor_cli.results import ChangedSample, EmbeddedImages, ExampleObject, ExampleResult

LONG = 400
"""Characters of a shared text above which it is folded."""

CHANGES = 4
"""Changes that a card tells at once, the widest ones; the others are folded."""


def cards(
    samples: Sequence[ShownSample], pairs: Sequence[ShownPair], metrics: Sequence[str]
) -> list[dict[str, Any]]:
    """A card for each sample, with all that its template shows."""
    anchors = Anchors()
    drawings = Drawings(EmbeddedImages(), 2)
    index = {pair.key: at for at, pair in enumerate(pairs)}
    return [
        {
            "anchor": anchors.name(one.source.sample_id, pairs[at].title),
            "name": one.name,
            "pair": at,
            "title": pairs[at].title,
            "other": pairs[at].other,
            "model": pairs[at].model,
            "changes": _changes(one, metrics),
            "rest": len(one.changes[CHANGES:]),
            "shared": [
                (title, text, left_out, len(text) > LONG) for title, text, left_out in one.shared
            ],
            "texts": [
                (text.title, _ready(text.other, "del"), _ready(text.own, "ins"))
                for text in one.texts
            ],
            **_drawn(one.source, pairs[at], drawings),
        }
        for one in samples
        for at in [index[one.source.model, one.source.other]]
    ]


def drawn_names(samples: Iterable[ShownSample]) -> list[str]:
    """Outcomes of the objects drawn on the cards, for the legend."""
    return [name for one in samples for example in _sides(one.source) for name in counted(example)]


def _changes(one: ShownSample, metrics: Sequence[str]) -> list[list[Any]]:
    """The widest changes and the others, each by better and worse and by metric."""
    sizes = {
        id(change): abs(found.value - found.other_value)
        for change, found in zip(one.changes, one.source.changes, strict=True)
    }

    def sized(changes: Sequence[ShownChange]) -> list[tuple[ShownChange, int, str]]:
        return [(one, metrics.index(one.metric), f"{sizes[id(one)]:.6g}") for one in changes]

    return [
        [
            (word, separator(groups), [(name, sized(many)) for name, many in groups])
            for word, groups in gathered(changes)
        ]
        for changes in (one.changes[:CHANGES], one.changes[CHANGES:])
    ]


def _ready(side: ShownSide, tag: str) -> dict[str, Any]:
    """A text with its differing words in a tag."""
    text = "".join(
        f"<{tag}>{escape(part)}</{tag}>" if differs and part.strip() else escape(part)
        for part, differs in side.parts
    )
    ready = Markup(text)  # noqa: S704 - escaped just before
    return {"ready": ready, "left_out": side.left_out, "missing": side.missing}


def _drawn(sample: ChangedSample, pair: ShownPair, drawings: Drawings) -> dict[str, Any]:
    """The drawings there are, each under its heading; whose there is none of."""
    sides = _sides(sample)
    found = [
        (heading, _partly(side, sides), drawings.draw(side))
        for heading, side in zip((pair.other, pair.model), sides, strict=False)
    ]
    shown = [one for one in found if one[2]]
    lost = [heading for heading, _, drawing in found if not drawing] if shown else []
    return {"drawings": shown, "lost": lost}


def _sides(sample: ChangedSample) -> list[ExampleResult]:
    """The objects of an image on both sides, as drawable examples, baseline first.

    A side without objects has no drawing of its own: its results do not show the image, or nothing
    is in it.
    """
    if not sample.objects and not sample.other_objects:
        return []
    whole: dict[str, Any] = {
        "metric": "", "label": None, "slice": None, "parameters": {}, "kind": WHOLE,
        "sample_id": sample.sample_id, "value": None,
    }  # fmt: skip
    return [
        ExampleResult(
            model=side,
            objects=tuple(map(_told, objects)),
            picture=sample.picture if objects else None,
            **whole,
        )
        for side, objects in (("A", sample.other_objects), ("B", sample.objects))
    ]


def _told(thing: ExampleObject) -> ExampleObject:
    """An object under an outcome that is drawn: it may bear the kind of the example it is from."""
    return replace(thing, outcome=outcome_of(thing, thing.outcome or WHOLE).name)


def _partly(side: ExampleResult, sides: Sequence[ExampleResult]) -> bool:
    """Whether the image has a ground truth that this side does not show."""
    own, every = (
        {thing.id for one in of for thing in one.objects if thing.role == "ground_truth"}
        for of in ([side], sides)
    )
    return own != every
