"""A text of a sample comes in; the statements that a judge finds it to make go out."""

from __future__ import annotations

from valor_cli.evaluators.judge.asking import Asking
from valor_cli.evaluators.judge.readings import statements
from valor_cli.models.prompts import Data


async def statements_of(asking: Asking, text: str, retries: int | None) -> tuple[str, ...]:
    """What a text states, each statement standing by itself.

    All metrics share them; the first that needs them says how often to ask again. A blank text
    has none, and nobody is asked.
    """
    if not text.strip():
        return ()
    asked = asking.sample.asked

    async def ask() -> tuple[str, ...]:
        return await asking.ask(
            "statements",
            statements(text),
            {"user_input": None if asked is None else Data(asked), "text": Data(text)},
            retries=retries,
        )

    return await asking.once(("statements", text), ask)
