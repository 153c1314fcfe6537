"""What a config says of judges in; the session that asks them out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from valor_cli.evaluators.judge.combining import Combine
from valor_cli.metric import Call, Lack, Session, Terms
from valor_cli.models.settings import EmbedderSettings, JudgeSettings

JUDGE = """\
name the judge in the config, for example:
judge: {backend: litellm, model: openai/gpt-4o-mini}"""
EMBEDDER = """\
name the embedder in the config, for example:
embedder: {backend: litellm, model: openai/text-embedding-3-small}"""


class Options(Protocol):
    """The options of a task that can ask judges."""

    @property
    def panel(self) -> tuple[JudgeSettings, ...]:
        """All judges."""

    @property
    def combine(self) -> Combine | None:
        """How several values become one."""

    @property
    def embedder(self) -> EmbedderSettings | None:
        """Who makes vectors."""

    @property
    def prompts(self) -> Mapping[str, str]:
        """Own prompts: name to file."""


def lack(options: Options, call: Call, asks: bool) -> Lack | None:
    """What the config must still name before a call can be made.

    Args:
        options: What it names.
        call: The metric and its parameters.
        asks: Whether the metric asks judges.
    """
    if asks and not options.panel:
        return Lack("asks a judge, and the config names none", JUDGE)
    if call.metric.embeds(call.parameters) and options.embedder is None:
        return Lack("asks for vectors of texts, and the config names no embedder", EMBEDDER)
    return None


def open_session(options: Options, terms: Terms) -> Session:
    """The judges of a run, not asked yet.

    Raises:
        ConfigError: An own prompt cannot be used.
    """
    # Only runs that ask a judge need the loop in which it is asked.
    from valor_cli.models import session

    wanted = session.Settings(options.panel, options.combine, options.embedder, options.prompts)
    return session.Session(
        wanted,
        terms.identity,
        offline=terms.offline,
        resume=terms.resume,
        imagined=terms.imagined,
        told=terms.told,
    )
