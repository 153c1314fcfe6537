"""Parse XML to elements that know their lines."""

from __future__ import annotations

from typing import Any, NoReturn
from xml.parsers import expat

from msgspec import Struct

from valor_cli.data.formats.annotated_images import AnnotatedImages
from valor_cli.errors import DataError, Problem


class Element(Struct):
    """An XML element.

    Attributes:
        name: Its name; empty for one that is missing.
        line: The line on which it begins.
        attributes: Their texts by name.
        children: The elements in it.
        pieces: Its own text, in pieces.
    """

    name: str
    line: int
    attributes: dict[str, str] = {}
    children: list[Element] = []
    pieces: list[str] = []

    @property
    def text(self) -> str:
        """Its own text, less white space around it."""
        return "".join(self.pieces).strip()

    def first(self, *names: str) -> Element:
        """The first child of one of these names; else an empty one in this line, without a name."""
        for child in self.children:
            if child.name in names:
                return child
        return Element("", self.line)


def root_element(found: AnnotatedImages, text: str, expected: str, tool: str) -> Element | None:
    """The root element of a document; None for one of another name, which is noted.

    Entities of its own and references to other files are refused: they can grow without bound
    or reach what is no part of the data.

    Args:
        found: What notes it, and knows the file.
        text: Its content.
        expected: What the root is called.
        tool: Whose format that is.

    Raises:
        DataError: It is no XML, or has what is refused.
    """
    # Readers check for UTF-8; a declaration of another encoding is then wrong.
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    document = Element("", 0)
    stack = [document]

    def start(name: str, attributes: dict[str, str]) -> None:
        element = Element(name, parser.CurrentLineNumber, attributes)
        stack[-1].children.append(element)
        stack.append(element)

    def refuse(*_what: Any) -> NoReturn:
        message = "entity declarations and external references are refused; write plain XML"
        raise DataError(Problem(f"{found.path}:{parser.CurrentLineNumber}", message))

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
        place = f"{found.path}:{error.lineno}:{error.offset + 1}"
        raise DataError(Problem(place, f"not XML: {reason}")) from None
    (root,) = document.children
    if root.name == expected:
        return root
    found.faults.add(root.line, "", f"expected <{expected}> ({tool}), found <{root.name}>")
    return None
