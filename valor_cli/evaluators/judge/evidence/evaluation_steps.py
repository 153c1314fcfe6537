"""Evaluation steps that a judge makes of criteria, once for all samples.

Liu et al. 2023, G-Eval (https://arxiv.org/abs/2303.16634), section 2: the steps are part of the
prompt of every sample. They are a reply like any other, and so are kept with the replies: the same
criteria have the same steps in later runs, others have others.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from valor_cli.evaluators.judge.evidence.conversation import Conversation
from valor_cli.evaluators.judge.evidence.reply_readings import steps
from valor_cli.models.judge.prompts import from_words

_ASKED = """\
A judge is to evaluate texts by the criteria below. It is shown of each: {shown}.
Write the evaluation steps for it: three to six, each one short instruction, in the order in which \
they are to be taken. They follow from the criteria alone and add no others.

The criteria:
{criteria}"""
_ANSWER = 'Reply with one JSON object and nothing else: {"steps": ["…", "…"]}'


async def steps_of(asking: Conversation, criteria: str, shown: Sequence[str]) -> tuple[str, ...]:
    """The steps for criteria, from the first judge of the run.

    Args:
        asking: The conversation about a sample.
        criteria: As the config has them.
        shown: What the judge sees of a sample.

    Raises:
        ParseFailure, NoAnswer, Stopped: There are none.
    """
    shared = asking.shared
    words = _ASKED.format(shown=", ".join(shown), criteria=criteria)

    async def make() -> tuple[str, ...]:
        alone = shared.conversation(asking.metric)
        # The criteria are not looked through for placeholders.
        prompt = from_words("steps", "", answer=f"{words}\n\n{_ANSWER}")
        found = await alone.ask(prompt, steps(), {})
        shared.told[f"{asking.metric}.steps"] = json.dumps(found, ensure_ascii=False)
        return found

    return await shared.once((asking.metric, words), make)


def instructions(criteria: str | None, steps: Sequence[str]) -> str:
    """What a judge is told of criteria and steps before it sees a sample."""
    parts = ["You evaluate what an assistant answered."]
    if criteria is not None:
        parts.append(f"The criteria:\n{criteria.strip()}")
    if steps:
        numbered = (f"{number}. {one.strip()}" for number, one in enumerate(steps, 1))
        parts.append("\n".join(["The evaluation steps, to be taken in this order:", *numbered]))
    return "\n\n".join(parts)
