"""Render prompts into judge messages."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from valor_cli.errors import UnknownNameError
from valor_cli.models.judge import prompt_files
from valor_cli.models.judge.delimiters import (
    Field,
    Numbered,
    Passages,
    TrustedText,
    UntrustedText,
    braced,
    filled,
    mark_of,
    note,
    renamed,
    texts_of,
)
from valor_cli.models.requests import Message, conversation
from valor_cli.results import PromptUsed

__all__ = [
    "Field",
    "Numbered",
    "Passages",
    "Prompt",
    "Prompts",
    "TrustedText",
    "UntrustedText",
    "from_words",
    "placeholders",
]

STANDARD = {
    "user_input": "user_input",
    "response": "response",
    "references": "references",
    "reference": "references",
    "retrieved_contexts": "retrieved_contexts",
    "contexts": "retrieved_contexts",
    "history": "history",
    "INPUT": "user_input",
    "ACTUAL_OUTPUT": "response",
    "EXPECTED_OUTPUT": "references",
    "CONTEXT": "retrieved_contexts",
}
"""What a user's own words may have between braces, and which field it stands for."""


@dataclass(frozen=True)
class Prompt:
    """A prompt of a judge.

    Attributes:
        name, version: Of the YAML file.
        system, user: The two messages, with `{field}` in `user` where texts are put in.
        sha256: Of all of it.
        own: Whether the config brought it.
        known: Which names between braces are placeholders; others are text.
        ending: What stands behind the user message, as it is.
        labels: What delimiters call a field, where that is not its name.
    """

    name: str
    version: int
    system: str
    user: str
    sha256: str
    own: bool = False
    known: frozenset[str] = frozenset(prompt_files.KINDS)
    ending: str = ""
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def fields(self) -> tuple[str, ...]:
        """The placeholders that it uses, in their order."""
        return tuple(name for name in braced(self.user) if name in self.known)

    @property
    def template(self) -> tuple[Message, ...]:
        """The opening messages, with `{field}` placeholders."""
        return self._opening(self.user, "…")

    def messages(self, fields: Mapping[str, Field]) -> tuple[Message, ...]:
        """The opening messages, filled in.

        Raises:
            ValueError: A field that it uses is not given.
        """
        if lacking := [name for name in self.fields if name not in fields]:
            raise ValueError(f"prompt {self.name} needs {', '.join(lacking)}")
        used = {name: fields[name] for name in self.fields}
        mark = mark_of(self.sha256, [text for one in used.values() for text in texts_of(one)])
        return self._opening(filled(self.user, used, mark, self.labels), mark)

    def _opening(self, user: str, mark: str) -> tuple[Message, ...]:
        system = "\n\n".join(part for part in (self.system, note(mark)) if part)
        asked = "\n\n".join(part for part in (user, self.ending) if part)
        return conversation(("system", system), ("user", asked))


class Prompts:
    """The prompts of a run: packaged ones, and replacements from the config."""

    def __init__(self, own: Mapping[str, str] | None = None) -> None:
        """Initialise; `own` maps names to YAML files, which are checked at once.

        Raises:
            ConfigError: There is no prompt of a name, or a file is none that can stand for it.
        """
        known = prompt_files.names() if own else ()
        if strangers := [name for name in own or () if name not in known]:
            raise UnknownNameError([prompt_files.unknown(name, known) for name in strangers])
        self._own = {
            name: _prompt(prompt_files.own(name, path), own=True)
            for name, path in (own or {}).items()
        }
        self._used: dict[str, Prompt] = {}

    def of(self, name: str) -> Prompt:
        """The prompt of that name.

        Raises:
            UnknownNameError: There is none.
        """
        if name not in self._used:
            own = self._own.get(name)
            self._used[name] = own or _prompt(prompt_files.shipped(name), own=False)
        return self._used[name]

    @property
    def used(self) -> tuple[PromptUsed, ...]:
        """The prompts that were used, by name."""
        return tuple(
            PromptUsed(name, one.version, one.sha256, one.own)
            for name, one in sorted(self._used.items())
        )


def placeholders(words: str) -> tuple[str, ...]:
    """What a user's prompt shows, in order: fields by their standard names, and other columns."""
    return tuple(dict.fromkeys(STANDARD.get(name, name) for name in braced(words)))


def from_words(name: str, words: str, *, answer: str = "", system: str = "") -> Prompt:
    """A prompt from a user's text, after `system` and followed by `answer`, the reply format; these
    two are as they are.
    """
    said = json.dumps([words, answer, *([system] if system else [])], ensure_ascii=False)
    user = renamed(words, STANDARD)
    return Prompt(
        name=name,
        version=0,
        system=system,
        user=user,
        sha256=hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest(),
        own=True,
        known=frozenset(braced(user)),
        ending=answer,
    )


def _prompt(found: prompt_files.PromptFile, *, own: bool) -> Prompt:
    return Prompt(
        found.name,
        found.version,
        found.opening,
        found.user.strip(),
        found.sha256,
        own,
        labels=found.labels,
    )
