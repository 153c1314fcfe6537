"""Evidence of one shard after the other in; that of all out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

TOGETHER: Final = 8
"""Shards that are merged at once: fewer passes over what grows, and few that are held."""


class Merging:
    """Merges evidence as it comes.

    Evidence that stays small is merged early, `TOGETHER` of equal weight at a time, so that few are
    held and none is merged more often than the logarithm of their number; what grows with every
    shard is merged once.
    """

    def __init__(self, merge: Callable[[Sequence[Any]], Any], *, early: bool) -> None:
        self._merge = merge
        self._early = early
        # What is held, by how often it was merged.
        self._held: list[list[Any]] = [[]]

    def add(self, evidence: Any) -> None:
        """One shard more."""
        self._held[0].append(evidence)
        if not self._early:
            return
        for level, own in enumerate(self._held):
            if len(own) < TOGETHER:
                return
            merged = self._merge(own)
            own.clear()
            if level + 1 == len(self._held):
                self._held.append([])
            self._held[level + 1].append(merged)

    def merged(self) -> Any:
        """The evidence of all shards; there is one at least."""
        return self._merge([evidence for own in self._held for evidence in own])
