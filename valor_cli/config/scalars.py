"""Resolve YAML scalars and expand `${NAME}`.

Scalars follow the YAML 1.2 core schema: `no`, `on` and dates stay text, `012` is twelve. `${NAME}`
is expanded after parsing, so that no environment value is read as YAML.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from valor_cli.config.problems import on_one_line, quoted
from valor_cli.masking import keep_secret
from valor_cli.results import Scalar

# Numbers of a thousand digits stay text: Python refuses to convert them, and so does every use.
_CORE_SCHEMA: Mapping[str, Callable[[str], Scalar]] = {
    r"null|Null|NULL|~|": lambda _: None,
    r"true|True|TRUE": lambda _: True,
    r"false|False|FALSE": lambda _: False,
    r"[-+]?[0-9]{1,1000}": int,
    r"0o[0-7]{1,1000}": lambda text: int(text[2:], 8),
    r"0x[0-9a-fA-F]{1,800}": lambda text: int(text[2:], 16),
    r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)": lambda text: float(text.replace(".", "")),
    r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*|(?=[eE])))([eE][-+]?[0-9]+)?": float,
}
_REFERENCE = re.compile(
    r"\$\$\{|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(:-(?P<default>[^}]*))?\}|\$\{"
)


def scalar_of(text: str) -> Scalar:
    """The value of unquoted text."""
    for pattern, value in _CORE_SCHEMA.items():
        if re.fullmatch(pattern, text):
            return value(text)
    return text


def expanded(
    written: str, environment: Mapping[str, str], complain: Callable[[str], None], *, plain: bool
) -> tuple[Scalar, tuple[str, ...]]:
    """Text with every `${NAME}` expanded, and the environment values in it.

    A single unquoted `${NAME}` (`plain`) may become a number.
    """
    secrets: list[str] = []

    def replacement(found: re.Match[str]) -> str:
        name, default = found["name"], found["default"]
        if found[0] == "$${":
            return "${"
        if name is None:
            complain("'${' needs a name and '}' after it; '$${' is a literal '${'")
        # As in a shell, an empty variable counts as unset where there is a default.
        elif environment.get(name) or (name in environment and default is None):
            secrets.append(environment[name])
            before, after = written[: found.start()], written[found.end() :]
            keep_secret(name, environment[name], before, after)
            return environment[name]
        elif default is None:
            name = on_one_line(name)
            complain(f"{name} is not set in the environment; ${{{name}:-…}} gives a default")
        return default or ""

    text = _REFERENCE.sub(replacement, written)
    if re.search("[\ud800-\udfff]", text):
        complain(f"what {quoted(written)} expands to is not valid UTF-8")
    alone = _REFERENCE.fullmatch(written)
    value = scalar_of(text) if plain and alone and alone["name"] else text
    return value, tuple(secrets)
