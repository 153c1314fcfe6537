"""Replies and how they were had come in; what a metric asked, and what that cost, goes out."""

from __future__ import annotations

from dataclasses import dataclass

from valor_cli.models.judge import Reply


@dataclass(slots=True)
class Usage:
    """What a metric asked about a model; see `results.UsageResult`.

    Attributes:
        counted: Whether all tokens are known.
        priced: Whether all costs are known.
        valued: Whether it is known of all that was reused what it had cost.
    """

    calls: int = 0
    cached: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    counted: bool = True
    cost_usd: float = 0.0
    saved_usd: float = 0.0
    priced: bool = True
    valued: bool = True

    def fail(self, tries: int = 1) -> None:
        """Nothing was replied, to so many requests."""
        self.calls += tries
        self.failed += 1

    def reuse(self, cost: float | None) -> None:
        """A reply was there already; it had cost so much."""
        self.calls += 1
        self.cached += 1
        self.saved_usd += cost or 0.0
        self.valued &= cost is not None

    def pay(self, reply: Reply, cost: float | None) -> None:
        """A reply came in; it cost so much."""
        self.tokens_in += reply.tokens_in or 0
        self.tokens_out += reply.tokens_out or 0
        self.counted &= reply.tokens_in is not None and reply.tokens_out is not None
        self.cost_usd += cost or 0.0
        self.priced &= cost is not None
