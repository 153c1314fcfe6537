"""The text of an XML file comes in; a tree of its elements with their lines goes out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NoReturn
from xml.parsers import expat

from valor_cli.errors import DataError, Problem


@dataclass(slots=True)
class Element:
    """An element: its name, the line it begins on, what is inside it. Attributes are left out."""

    name: str
    line: int
    children: list[Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its own text, less white space around it."""
        return "".join(self.pieces).strip()

    def first(self, *names: str) -> Element | None:
        """The first child of one of these names."""
        return next((child for child in self.children if child.name in names), None)


def parse_xml(text: bytes, path: str) -> Element:
    """The root element of a document.

    Entities of its own and references to other files are refused: they can grow without bound
    or reach what is no part of the data.

    Args:
        text: UTF-8.
        path: The file, for messages.

    Raises:
        DataError: It is no XML, or has what is refused.
    """
    # Readers check for UTF-8; a declaration of another encoding is then wrong.
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    document = Element("", 0)
    stack = [document]

    def start(name: str, _attributes: dict[str, str]) -> None:
        element = Element(name, parser.CurrentLineNumber)
        stack[-1].children.append(element)
        stack.append(element)

    def refuse(*_what: Any) -> NoReturn:
        message = "entity declarations and external references are refused; write plain XML"
        raise DataError(Problem(f"{path}:{parser.CurrentLineNumber}", message))

    def doctype(_name: str, system: str | None, public: str | None, _internal: bool) -> None:
        if system is not None or public is not None:
            refuse()

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _name: stack.pop()
    parser.CharacterDataHandler = lambda content: stack[-1].pieces.append(content)
    parser.StartDoctypeDeclHandler = doctype
    parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        place = f"{path}:{error.lineno}:{error.offset + 1}"
        raise DataError(Problem(place, f"not XML: {reason}")) from None
    return document.children[0]
