"""Texts of a sample in; why they cannot be looked at, or where their sentences are, out."""

from __future__ import annotations

from typing import NamedTuple

from valor_cli.evaluators.gathering import ModelTexts
from valor_cli.evaluators.samples import Outcome, missing
from valor_cli.results import Mark

LONGEST = 300
"""Characters of a sentence that details quote."""


class Place(NamedTuple):
    """A piece of one of a sample's texts, as marks name it."""

    field: str
    start: int
    end: int

    def mark(self, kind: str) -> Mark:
        """A mark on it."""
        return Mark(self.field, self.start, self.end, kind)


def lack_of_response(response: str | None) -> Outcome | None:
    """Of a sample without a response, or with a blank one; None: there is one."""
    if response is not None and response.strip():
        return None
    return missing("no response" if response is None else "the response is empty")


def sentence_places(texts: ModelTexts, field: str, text: str) -> list[Place]:
    """Where the sentences of a text are; the whole text is one where the splitter finds none."""
    spans = texts.sentences(text)
    if not spans and text.strip():
        spans = ((0, len(text)),)
    return [Place(field, start, end) for start, end in spans]


def quoted(text: str) -> str:
    """A sentence as details quote it."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
