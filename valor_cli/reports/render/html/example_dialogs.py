"""Dialogs of examples in the HTML report, up to a limit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import escape

from valor_cli.reports.render.html.drawings import Drawings
from valor_cli.reports.sections.anchors import Anchors
from valor_cli.reports.sections.errors.outcomes import outcome_of
from valor_cli.reports.sections.formatting import clean, number
from valor_cli.results import ExampleObject, ExampleResult

EXAMPLES = 3
"""Examples shown in each dialog."""

LISTED = 8
"""Examples listed in a dialog that has nothing to draw."""

CASES = 240
"""Examples shown of each model's confusions; of many models together twice as many."""

MISTAKES = 36
"""Examples shown of each model's errors by kind: two settings of the metric."""

OBJECTS = 6
"""Objects listed under an example."""


class Dialogs:
    """Creates example dialogs up to a limit per model.

    Args:
        prefix: What their ids begin with.
        models: How many models the run has.
        most: Examples of one model; all models together have room for twice as many.
    """

    def __init__(
        self, prefix: str, models: int, most: int, drawings: Drawings, anchors: Anchors
    ) -> None:
        self._prefix = prefix
        self._room = [min(most, 2 * most // max(models, 1))] * models
        self._drawings = drawings
        self._anchors = anchors
        self._made = 0

    def dialog(
        self, model: int, title: str, count: str, examples: Sequence[ExampleResult]
    ) -> dict[str, Any] | None:
        """The dialog of a count with its first examples; None if empty or over the limit."""
        drawn = any(map(self._drawings.drawable, examples[:EXAMPLES]))
        few = examples[: min(EXAMPLES if drawn else LISTED, self._room[model])]
        if not few:
            return None
        self._room[model] -= len(few)
        self._made += 1
        return {
            "id": f"{self._prefix}{self._made}",
            "title": title,
            "count": count,
            "drawn": drawn,
            "cases": [self._case(example, title) for example in few],
        }

    def _case(self, example: ExampleResult, title: str) -> dict[str, Any]:
        picture = example.picture
        sides = {"ground_truth": "–", "prediction": "–"}
        sides |= {thing.role: clean(thing.label, 60) for thing in reversed(example.objects)}
        scores = [thing.score for thing in example.objects if thing.score is not None]
        return {
            **sides,
            "score": number(scores[0]) if scores else "–",
            "name": clean(str(example.sample_id), 60),
            "anchor": self._anchors.name(example.sample_id, example.model, title, bare=False),
            "file": clean(picture.file, 120) if picture and picture.file else "",
            "drawing": self._drawings.draw(example),
            "objects": [_object(thing, example) for thing in example.objects[:OBJECTS]],
        }


def opener(dialog: str, meaning: str, count: str) -> str:
    """A count as an HTML button that opens its dialog."""
    told = escape(f"{meaning}, {count}: show examples")
    return (
        f'<button type="button" popovertarget="{dialog}" aria-haspopup="dialog" '
        f'aria-label="{told}">{count}</button>'
    )


def _object(thing: ExampleObject, example: ExampleResult) -> tuple[str, str, str, str, str]:
    """The description of an object on a card: line, role, label, score and id."""
    outcome = outcome_of(thing, example.kind).name if thing.geometry is not None else ""
    what = "ground truth" if thing.role == "ground_truth" else "prediction"
    score = "" if thing.score is None else number(thing.score)
    own = "" if thing.id in (None, example.sample_id) else clean(str(thing.id), 60)
    return outcome, what, clean(thing.label, 60), score, own
