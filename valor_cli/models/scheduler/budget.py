"""Budget of a judge: decide whether a request may be paid for.

Before a request begins, its maximum cost is reserved: its prompt, estimated, and the longest reply
allowed. The actual cost replaces that when it ends. Where the cost is unknown:

* An attempt that was abandoned (timed out or no longer awaited) counts in full, since the provider
  may have completed it.
* A failed attempt counts for its prompt. A rate-limited one (429) costs nothing.
* A reply without tokens or cost counts in full.

So the budget can only be exceeded by the error of the prompt estimate.
"""

from __future__ import annotations

import json
import math
from collections import deque
from typing import NamedTuple

from valor_cli.errors import ConfigError, Problem
from valor_cli.models.requests import Judge, Price, Reply, Request

TOKENS_PER_BYTE = 1 / 2.5
"""Of a prompt, until replies tell; English has 1/4, most other scripts less than 1/2.5."""

LEARNT_FROM = 10
"""Replies before the estimate may become lower than that."""

FRAME = 12
"""Bytes that stand for what surrounds a message: its role, and the marks between messages."""


class Highest(NamedTuple):
    """The maximum cost of a request.

    Attributes:
        size: Bytes of its prompt.
        prompt_usd: For its prompt.
        usd: For all of it.
    """

    size: int = 0
    prompt_usd: float = 0.0
    usd: float = 0.0


class Budget:
    """The budget of a judge and what was spent.

    Attributes:
        spent: US dollars, as replies say.
        unsure: US dollars for tries that failed, and may have been charged.
        reserved: US dollars, at most, for those under way.
    """

    def __init__(
        self,
        limit_usd: float | None,
        price: Price | None,
        max_tokens: int,
        spent_before: float = 0.0,
    ) -> None:
        """`price` is needed where there is a limit; see `budget_of`."""
        self.limit_usd = limit_usd
        self.spent = spent_before
        self.unsure = 0.0
        self.reserved = 0.0
        self._price = price
        self._max_tokens = max_tokens
        self._under_way = 0
        self._ratios: deque[float] = deque(maxlen=100)

    @property
    def idle(self) -> bool:
        """Whether no request is in flight whose cost may still fall below its reservation."""
        return self._under_way == 0

    @property
    def reached(self) -> str:
        """Message that the budget is exhausted."""
        unsure = f"{self.unsure:.2f}"
        aside = f" ({unsure} of it for failed calls, which may have been charged)"
        return f"the budget of {_dollars(self.limit_usd or 0.0)} US dollars is reached" + (
            aside if float(unsure) else ""
        )

    def highest(self, request: Request) -> Highest:
        """The maximum cost of a request; zero without a budget."""
        if self.limit_usd is None or self._price is None:
            return Highest()
        size = _size(request)
        tokens = math.ceil(size * self._tokens_per_byte())
        prompt = self._price.of(tokens, 0)
        return Highest(size, prompt, prompt + self._price.of(0, self._max_tokens))

    def fits(self, highest: Highest) -> bool:
        """Whether a request fits into the budget with all reservations."""
        if self.limit_usd is None:
            return True
        return self.spent + self.unsure + self.reserved + highest.usd <= self.limit_usd

    def reserve(self, highest: Highest) -> None:
        """Reserve the maximum cost of a request."""
        self._under_way += 1
        self.reserved += highest.usd

    def settle(self, highest: Highest, reply: Reply) -> None:
        """Replace a reservation with the actual cost."""
        self._return(highest)
        cost = cost_of(reply, self._price)
        if cost is None:
            self.unsure += highest.usd
        else:
            self.spent += cost
        if reply.tokens_in is not None and highest.size:
            self._ratios.append(reply.tokens_in / highest.size)

    def lose(self, highest: Highest, charged: float) -> None:
        """Replace the reservation of a failed request with its possible cost."""
        self._return(highest)
        self.unsure += charged

    def _return(self, highest: Highest) -> None:
        self._under_way -= 1
        # Sums of floats leave crumbs behind.
        self.reserved = self.reserved - highest.usd if self._under_way else 0.0

    def _tokens_per_byte(self) -> float:
        if not self._ratios:
            return TOKENS_PER_BYTE
        # The highest of late, for a budget is kept by the worst prompt, not by the usual one.
        learnt = 1.1 * max(self._ratios)
        return learnt if len(self._ratios) >= LEARNT_FROM else max(TOKENS_PER_BYTE, learnt)


def budget_of(
    judge: Judge,
    limit_usd: float | None,
    max_tokens: int,
    spent_before: float = 0.0,
    role: str = "judge",
) -> Budget:
    """The budget of a judge.

    Raises:
        ConfigError: There is a limit, and nobody knows what the judge costs.
    """
    if limit_usd is None:
        return Budget(None, None, max_tokens, spent_before)
    if judge.price is None:
        problem = Problem(
            f"{role} ({judge.name})",
            "`budget_usd:` cannot be kept, for it is not known what the model costs",
        )
        raise ConfigError(
            problem,
            hint="give `price: {input_usd: …, output_usd: …}`, US dollars for a million tokens,"
            " or leave out `budget_usd:`",
        )
    return Budget(limit_usd, judge.price, max_tokens, spent_before)


def cost_of(reply: Reply, price: Price | None) -> float | None:
    """Cost of a reply in US dollars; None if unknown."""
    if reply.cost_usd is not None:
        return reply.cost_usd
    if price is None or reply.tokens_in is None or reply.tokens_out is None:
        return None
    return price.of(reply.tokens_in, reply.tokens_out)


def _size(request: Request) -> int:
    """Bytes of a prompt, with all that the provider puts into it."""
    size = sum(_bytes(message.content) + FRAME for message in request.messages) + FRAME
    if request.schema is not None:
        size += _bytes(json.dumps(request.schema, ensure_ascii=False))
    if request.tools:
        size += _bytes(json.dumps(list(request.tools), ensure_ascii=False))
    return size


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _dollars(usd: float) -> str:
    return f"{usd:.2f}" if round(usd, 2) == usd else f"{usd:g}"
