"""A sample comes in; the opinions of its response, and the share that is objectionable, go out.

As in DeepEval an opinion is a personal belief or judgement: no statement of fact, be it wrong, and
nothing that the text reports of others.
"""

from __future__ import annotations

from valor_cli.evaluators.judge.asking import Asking
from valor_cli.evaluators.judge.readings import statements, verdicts
from valor_cli.evaluators.judge.shares import Trait, share
from valor_cli.evaluators.samples import Outcome
from valor_cli.models.prompts import Data, Numbered


async def share_of_opinions(
    asking: Asking, prompt: str, trait: Trait, retries: int | None
) -> Outcome:
    """The share of the response's opinions that the judge says yes to; 0 without opinions."""
    opinions = await _opinions_of(asking, asking.sample.response, retries)
    if not opinions:
        return Outcome({"value": 0.0}, reason="the response has no opinions")
    found = await asking.ask(
        prompt, verdicts(len(opinions)), {"opinions": Numbered(opinions)}, retries=retries
    )
    return share(trait, opinions, found)


async def _opinions_of(asking: Asking, text: str, retries: int | None) -> tuple[str, ...]:
    """What opinions a text has. All metrics share them; a blank text has none, unasked."""
    if not text.strip():
        return ()

    async def ask() -> tuple[str, ...]:
        return await asking.ask(
            "opinions", statements(text), {"response": Data(text)}, retries=retries
        )

    return await asking.once(("opinions", text), ask)
