"""A text of a sample in; where its sentences are, as marks name them, out."""

from __future__ import annotations

from typing import NamedTuple

from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.results import Mark


class Place(NamedTuple):
    """A piece of one of a sample's texts, as marks name it."""

    field: str
    start: int
    end: int

    def of(self, text: str) -> str:
        """What stands there."""
        return text[self.start : self.end]

    def mark(self, kind: str) -> Mark:
        """A mark on it."""
        return Mark(self.field, self.start, self.end, kind)


def sentence_places(texts: ModelTexts, field: str, text: str) -> list[Place]:
    """Where the sentences of a text are."""
    return [Place(field, start, end) for start, end in texts.sentences(text)]
