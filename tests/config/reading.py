"""Text in; the document that `read_document` makes of it, or its problems, out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from valor_cli.config.document import YamlDocument, read_document
from valor_cli.errors import ConfigError


def read(
    text: str | bytes, *overrides: str, environment: Mapping[str, str] | None = None
) -> YamlDocument:
    path = Path("run.yaml")
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_document(path, overrides, environment)


def problems(
    text: str | bytes, *overrides: str, environment: Mapping[str, str] | None = None
) -> Sequence[str]:
    with pytest.raises(ConfigError) as caught:
        read(text, *overrides, environment=environment)
    return [str(problem) for problem in caught.value.problems]


def cases(table: str) -> list[tuple[str, str]]:
    """Lines of a config, those below the first after a bar; and, indented, what is said of them."""
    found = []
    for lines, message in re.findall(r"((?:^\S.*\n)+)((?:^ .*\n)+)", table, re.MULTILINE):
        found.append((lines.replace("\n|", "\n").strip(), " ".join(message.split())))
    return found
