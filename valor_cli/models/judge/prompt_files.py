"""Load and check prompt files in YAML."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError
from pydantic import Field as Key

from valor_cli.errors import ConfigError, Problem, UnknownNameError, did_you_mean
from valor_cli.models.judge.delimiters import (
    EXAMPLE,
    Field,
    Numbered,
    Passages,
    TrustedText,
    UntrustedText,
    braced,
    filled,
)

LARGEST = 1_000_000
"""Bytes of a file; the longest of the package has a hundredth of that."""

KINDS: Mapping[str, type[UntrustedText] | type[Numbered] | type[Passages] | type[TrustedText]] = {
    "user_input": UntrustedText,
    "response": UntrustedText,
    "reference": UntrustedText,
    "text": UntrustedText,
    "context": UntrustedText,
    "statements": Numbered,
    "reference_statements": Numbered,
    "references": Numbered,
    "opinions": Numbered,
    "claims": Numbered,
    "contexts": Passages,
    "draft": TrustedText,
}
"""The names of placeholders, and what stands for each."""


Label = Annotated[str, Key(pattern="^[a-z][a-z_]{0,30}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)


class Example(_Strict):
    """An example input of a judge, with the expected answer."""

    fields: dict[str, str | list[str] | None]
    reply: JsonValue

    @property
    def given(self) -> dict[str, Field]:
        """The fields as used by prompts."""
        found: dict[str, Field] = {}
        for name, value in self.fields.items():
            if value is None:
                found[name] = None
            elif isinstance(value, list):
                found[name] = Passages(value) if KINDS[name] is Passages else Numbered(value)
            else:
                found[name] = (
                    TrustedText(value) if KINDS[name] is TrustedText else UntrustedText(value)
                )
        return found


class PromptFile(_Strict):
    """The content of a prompt file.

    Attributes:
        name: What metrics ask for.
        version: Rises with every change that judges may notice.
        description: What it asks, in a line.
        system: Who the judge is and how it decides.
        user: What it is given, with `{field}` where the sample's texts are put in.
        reply: The form of the reply, in short words.
        examples: What it might be given, and what it should say.
        optional: Placeholders that a config's own prompt may leave out.
        labels: What delimiters call a placeholder, where that is not its name.
    """

    name: str
    version: int = Key(ge=1)
    description: str = ""
    system: str
    user: str
    reply: str
    examples: list[Example] = []
    optional: list[str] = []
    labels: dict[str, Label] = {}

    @property
    def fields(self) -> tuple[str, ...]:
        """The placeholders that it uses."""
        return tuple(name for name in braced(self.user) if name in KINDS)

    @property
    def sha256(self) -> str:
        """SHA-256 of all texts of the prompt."""
        told = self.model_dump(
            include={"name", "version", "system", "user", "reply", "examples", "labels"}
        )
        text = json.dumps(told, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def opening(self) -> str:
        """The system message up to the data."""
        parts = [self.system.strip(), f"Form of the reply: {self.reply.strip()}"]
        for number, example in enumerate(self.examples, 1):
            given = filled(self.user.strip(), example.given, EXAMPLE, self.labels)
            said = example.reply
            reply = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
            parts += [
                f"Example {number}, given:\n\n{given}",
                f"Example {number}, reply:\n\n{reply}",
            ]
        return "\n\n".join(parts)


def names() -> tuple[str, ...]:
    """Names of the packaged prompts."""
    folder = files("valor_cli.models.judge") / "prompt_texts"
    found = (one.name for one in folder.iterdir())
    return tuple(sorted(one.removesuffix(".yaml") for one in found if one.endswith(".yaml")))


@cache
def shipped(name: str) -> PromptFile:
    """The packaged prompt of that name.

    Raises:
        UnknownNameError: There is none.
    """
    known = names()
    if name not in known:
        raise UnknownNameError(unknown(name, known))
    path = files("valor_cli.models.judge") / "prompt_texts" / f"{name}.yaml"
    return _parsed(path.read_bytes(), f"{name}.yaml")


def shipped_text(name: str) -> str:
    """The YAML of a packaged prompt."""
    path = files("valor_cli.models.judge") / "prompt_texts" / f"{name}.yaml"
    return path.read_text(encoding="utf-8").rstrip("\n")


def unknown(name: str, known: tuple[str, ...]) -> Problem:
    """The error for an unknown prompt name."""
    message = f"there is no prompt '{name}'{did_you_mean(name, known)}; there are: "
    return Problem(f"prompts.{name}", message + ", ".join(known))


def own(name: str, path: str) -> PromptFile:
    """A prompt of the config that replaces the packaged one.

    Raises:
        UnknownNameError: The package has no prompt of this name.
        ConfigError: The file cannot be read, or is no such prompt.
    """
    replaced = shipped(name)
    try:
        with open(path, "rb") as file:
            text = file.read(LARGEST + 1)
    except OSError as error:
        message = f"cannot be read: {error.strerror or 'no such file'}"
        raise ConfigError(Problem(path, message)) from None
    if len(text) > LARGEST:
        raise ConfigError(Problem(path, f"longer than {LARGEST:,} bytes; is this a prompt?"))
    found = _parsed(text, path)
    if problems := [*_misplaced(found, path), *_differences(found, replaced, path)]:
        raise ConfigError(problems)
    return found


def _parsed(text: bytes, path: str) -> PromptFile:
    """The parsed file.

    Raises:
        ConfigError: It says no prompt.
    """
    said = _yaml_values(text, path)
    if not isinstance(said, dict):
        keys = ", ".join(PromptFile.model_fields)
        raise ConfigError(Problem(path, f"a prompt is a mapping with the keys {keys}"))
    try:
        return PromptFile.model_validate(said)
    except ValidationError as error:
        raise ConfigError([_problem(one, path) for one in error.errors()]) from None


def _problem(error: Any, path: str) -> Problem:
    """A pydantic error, in terms of prompts."""
    location = [str(part) for part in error["loc"]]
    known = tuple(PromptFile.model_fields if len(location) == 1 else Example.model_fields)
    message = f"{error['msg'][0].lower()}{error['msg'][1:]}"
    if error["type"] == "missing":
        message = "is needed"
    elif error["type"] == "extra_forbidden":
        near = did_you_mean(location[-1], known)
        message = f"there is no such key{near}; there are: {', '.join(known)}"
    return Problem(f"{path}: {'.'.join(location)}", message)


def _misplaced(found: PromptFile, path: str) -> Iterator[Problem]:
    """What is wrong with a prompt whatever it is for."""
    for name in braced(found.system):
        if name in KINDS:
            message = f"{{{name}}} is filled in under `user` only"
            yield Problem(f"{path}: system", message)
    for name in sorted(set(found.labels) - set(KINDS)):
        yield Problem(f"{path}: labels.{name}", f"no placeholder{did_you_mean(name, KINDS)}")
    for at, example in enumerate(found.examples):
        place = f"{path}: examples.{at}.fields"
        for name in sorted(set(found.fields) - set(example.fields)):
            yield Problem(place, f"{name} is needed, for `user` has {{{name}}}")
        for name, value in example.fields.items():
            if name not in KINDS:
                yield Problem(f"{place}.{name}", f"no placeholder{did_you_mean(name, KINDS)}")
            elif value is not None and isinstance(value, list) != (
                KINDS[name] in (Numbered, Passages)
            ):
                kind = "a text" if isinstance(value, list) else "a list of texts"
                yield Problem(f"{place}.{name}", f"has to be {kind}")


def _differences(found: PromptFile, replaced: PromptFile, path: str) -> Iterator[Problem]:
    """What keeps a prompt from standing in the place of another."""
    if found.name != replaced.name:
        message = f"'{found.name}', but it is to replace '{replaced.name}'"
        yield Problem(f"{path}: name", message)
    listed = ", ".join(f"{{{name}}}" for name in replaced.fields)
    for name in braced(found.user):
        if name not in replaced.fields:
            near = did_you_mean(name, replaced.fields)
            message = f"{{{name}}} is no placeholder of '{replaced.name}'{near}; it has {listed}"
            yield Problem(f"{path}: user", message)
    for name in replaced.fields:
        if name not in (*found.fields, *replaced.optional):
            yield Problem(f"{path}: user", f"the placeholder {{{name}}} is needed")
    for name in sorted(set(found.optional) - set(replaced.optional)):
        yield Problem(f"{path}: optional", f"'{name}' is not optional in '{replaced.name}'")


def _yaml_values(text: bytes, path: str) -> Any:
    """What a file of one YAML document says.

    Raises:
        ConfigError: It is none.
    """
    try:
        return _Loader(text.decode("utf-8-sig")).get_single_data()
    except UnicodeDecodeError:
        raise ConfigError(Problem(path, "not UTF-8 text")) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = path if mark is None else f"{path}:{mark.line + 1}:{mark.column + 1}"
        raise ConfigError(Problem(place, f"not valid YAML: {error.problem}")) from None
    except (yaml.YAMLError, ValueError, RecursionError):
        # Characters that YAML forbids, a date that no calendar has, lists in lists without end.
        raise ConfigError(Problem(path, "not valid YAML")) from None


class _Loader(yaml.SafeLoader):
    """YAML without aliases, which could grow without limit, and without duplicate keys."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(problem="prompts have no aliases", problem_mark=mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise yaml.MarkedYAMLError(
                        problem=f"the key '{key.value}' is duplicated", problem_mark=key.start_mark
                    )
                seen.add(key.value)
        return super().construct_mapping(node, deep)
