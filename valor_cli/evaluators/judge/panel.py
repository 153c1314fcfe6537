"""What a config says of judges in; what it must still say, before they can be asked, out."""

from __future__ import annotations

from typing import Protocol

from valor_cli.metric import Call, Lack
from valor_cli.models.settings import JudgeSettings

JUDGE = """\
name the judge in the config, for example:
judge: {backend: litellm, model: openai/gpt-4o-mini}"""


class Options(Protocol):
    """The options of a task that can ask judges."""

    @property
    def panel(self) -> tuple[JudgeSettings, ...]:
        """All judges."""


def lack(options: Options, call: Call) -> Lack | None:
    """What the config must still name before a metric that asks judges can be computed."""
    if not options.panel:
        return Lack("asks a judge, and the config names none", JUDGE)
    return None
