"""The name of a prompt and what is put into it; the messages to a judge out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from valor_cli.models.judge import Message
from valor_cli.results import PromptUsed


class Data(NamedTuple):
    """A text to be judged, between delimiters."""

    text: str


class Numbered(NamedTuple):
    """Short texts in a numbered list, between delimiters."""

    items: Sequence[str]


class Passages(NamedTuple):
    """Long texts, each between delimiters of its own, numbered from 1."""

    items: Sequence[str]


class Plain(NamedTuple):
    """Words of valor or of the config, which need no delimiters."""

    text: str


Field: TypeAlias = Data | Numbered | Passages | Plain | None
"""What stands for a placeholder; None: the sample has no such thing."""


@dataclass(frozen=True)
class Prompt:
    """What a judge is told and asked.

    Attributes:
        name, version: Of the YAML file.
        system, user: The two messages, with `{field}` where texts are put in.
        sha256: Of all of it.
        own: Whether the config brought it.
    """

    name: str
    version: int
    system: str
    user: str
    sha256: str
    own: bool = False

    def messages(self, fields: Mapping[str, Field]) -> tuple[Message, ...]:
        """The conversation that opens, with everything in its place."""
        raise NotImplementedError


class Prompts:
    """The prompts of a run: those that the package brings, and the config's own in their place."""

    def __init__(self, own: Mapping[str, str] | None = None) -> None:
        """`own` maps names to YAML files."""
        raise NotImplementedError

    def of(self, name: str) -> Prompt:
        """The prompt of that name."""
        raise NotImplementedError

    @property
    def used(self) -> tuple[PromptUsed, ...]:
        """Those that were asked for, by name."""
        raise NotImplementedError


def from_words(name: str, words: str, *, answer: str = "") -> Prompt:
    """A prompt in a user's own words, with `answer` behind it: how to reply."""
    raise NotImplementedError
