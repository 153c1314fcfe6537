"""Validate parts of a config document and collect their problems."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from types import UnionType
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from valor_cli.config.document import YamlDocument
from valor_cli.config.messages import (
    Fault,
    alternatives,
    describe_value,
    faults_in,
    keys_of,
    unknown_key,
)
from valor_cli.config.models import message_path
from valor_cli.config.problems import Problems, TreePath, dotted, quoted
from valor_cli.errors import did_you_mean

M = TypeVar("M", bound=BaseModel)


class Checks:
    """Checks for any part of one document; problems are collected, not raised.

    Values that come from the environment (`${NAME}`) are shown in no message.
    """

    def __init__(self, document: YamlDocument) -> None:
        self.problems = Problems(str(document.path))
        self._document = document
        self._refused: set[TreePath] = set()
        self._leaves(document.tree, ())

    def _leaves(self, node: Any, path: TreePath) -> None:
        """Reject values that are invalid anywhere."""
        if isinstance(node, dict | list):
            for key, value in node.items() if isinstance(node, dict) else enumerate(node):
                self._leaves(value, (*path, key))
        elif isinstance(node, float) and not math.isfinite(node):
            self.wrong(path, "a finite number", node, kind=False)
            self._refused.add(path)
        elif isinstance(node, int) and not -(2**63) <= node < 2**63:
            self.wrong(path, "a whole number of 64 bits", node, kind=False)
            self._refused.add(path)
        elif isinstance(node, str) and "\0" in node:
            self.note(path, "text must not contain the character U+0000")
            self._refused.add(path)

    def note(self, path: TreePath, message: str, *, key: bool = False) -> None:
        """Record a problem with the value at a path, or with its key."""
        if path not in self._refused:
            words = message_path(path, self._document.tree)
            self.problems.note(self._document.position(path, key=key), words, message)

    def wrong(self, path: TreePath, expected: str, value: Any, *, kind: bool = True) -> None:
        """Record that another type or range was expected."""
        self.note(path, f"expected {expected}, found {self.shown(path, value, kind=kind)}")

    def unknown(
        self, path: TreePath, word: str, name: str, known: Iterable[str], *, listed: str
    ) -> None:
        """Record an unknown name, without hints at environment values."""
        near = "" if path in self._document.expanded else did_you_mean(name, known)
        message = f"unknown {word} {self.shown(path, name)}{near}; {listed}"
        self.note(path, message, key=path[-1] == name)

    def shown(self, path: TreePath, value: Any, *, kind: bool = False) -> str:
        """Describe a value for a message; with `kind`, also its type."""
        if path in self._document.expanded:
            return f"{quoted(self._document.expanded[path])} (its value is not shown)"
        return describe_value(value, kind=kind)

    def written(self, path: TreePath, name: str) -> str:
        """A known name as written in the file, `${TASK}` if from the environment."""
        return self._document.expanded.get(path, name)

    def expect(self, path: TreePath, value: Any, kind: type | UnionType, expected: str) -> bool:
        """Whether the value has the expected type; records a problem if not."""
        if isinstance(value, kind):
            return True
        self.wrong(path, expected, value)
        return False

    def model(
        self, model: type[M], path: TreePath, node: Any, owner: str, *, word: str = "key"
    ) -> M | None:
        """Validate a part of the tree as its model; None, with problems recorded, if it fails.

        `owner` is what messages call the part, and `word` what they call its keys.
        """
        if not self.expect(path, node, dict, "a mapping"):
            return None
        try:
            # As JSON, because only there a strict model takes a list for a tuple.
            return model.model_validate_json(
                json.dumps(node), context={"folder": self._document.path.parent}
            )
        except ValidationError as error:
            faults = faults_in(error, node)
        for inner in dict.fromkeys(fault.path for fault in faults):
            inside = (*path, *inner)
            same = [fault for fault in faults if fault.path == inner]
            if same[0].kind != "extra_forbidden":
                self._explain(inside, same)
                continue
            own = len(inner) == 1
            message = unknown_key(
                str(inner[-1]),
                owner if own else dotted(message_path(inside[:-1], self._document.tree)),
                keys_of(model, inner[:-1]),
                word if own else "key",
            )
            self.note(inside, message, key=True)
        return None

    def _explain(self, path: TreePath, faults: Sequence[Fault]) -> None:
        """Note what pydantic found at one path."""
        if any(fault.kind == "missing" for fault in faults):
            self.note(path, "required, but missing")
        elif own := [fault.message for fault in faults if not fault.expected]:
            for message in dict.fromkeys(own):
                self.note(path, self.safe(path, message))
        else:
            self.wrong(path, alternatives(faults), faults[0].value, kind=faults[0].of_kind)

    def safe(self, path: TreePath, message: str) -> str:
        """A model's own message, unless it repeats a piece of the environment's values."""
        for known, secrets in self._document.secrets.items():
            if known[: len(path)] != path:
                continue
            for secret in filter(None, secrets):
                size = min(8, len(secret))
                pieces = (secret[at : at + size] for at in range(len(secret) - size + 1))
                if any(piece in message for piece in pieces):
                    written = quoted(self._document.expanded[known])
                    return f"what {written} expands to cannot be used (its value is not shown)"
        return message
