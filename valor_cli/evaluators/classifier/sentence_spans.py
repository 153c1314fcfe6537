"""Locate the sentences of a sample's texts."""

from __future__ import annotations

from typing import NamedTuple

from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.results import Mark


class Place(NamedTuple):
    """A span of one of a sample's texts."""

    field: str
    start: int
    end: int

    def of(self, text: str) -> str:
        """The text at this place."""
        return text[self.start : self.end]

    def mark(self, kind: str) -> Mark:
        """A mark of this span."""
        return Mark(self.field, self.start, self.end, kind)


def sentence_places(texts: ModelTexts, field: str, text: str) -> list[Place]:
    """Spans of the sentences of a text."""
    return [Place(field, start, end) for start, end in texts.sentences(text)]
