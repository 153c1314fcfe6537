"""A request in; the reply, or the fault, of one attempt to have it answered, out."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TypeAlias

from valor_cli.errors import ValorError
from valor_cli.models.budget import cost_of
from valor_cli.models.judge import Busy, Judge, Passing, Reply, Request, Unanswerable


class Lost(Passing):
    """A reply that nobody waits for any more; whoever makes it may go on, to the last token."""


Said: TypeAlias = Reply | Busy | Passing | Unanswerable | ValorError
"""What came of an attempt; all of them can be pickled."""


async def attempted(judge: Judge, request: Request, timeout_s: float) -> Said:
    """What came of asking once.

    Args:
        judge: Who is asked.
        request: What.
        timeout_s: Seconds that the reply may take, all of it.
    """
    try:
        async with asyncio.timeout(timeout_s):
            reply = await judge.answer(request)
        # What is kept has to tell what it cost, for runs to come.
        return replace(reply, cost_usd=cost_of(reply, judge.price))
    except TimeoutError:
        return Lost(f"no reply within {timeout_s:g} s")
    except (Busy, Passing, Unanswerable, ValorError) as failure:
        return failure
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        # Nobody cancelled this: a backend lets out what happened within it.
        return Lost("the backend broke off the request")
