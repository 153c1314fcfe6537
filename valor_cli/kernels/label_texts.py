"""Texts that are meant as labels in; the labels, and their names in reports, out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import Final

LONGEST_NAME: Final = 100
"""Characters of a label up to which its name is all of it."""


def label_reader(
    *, case_sensitive: bool, names: Iterable[str] = (), label_map: Mapping[str, str] | None = None
) -> Callable[[str], str]:
    """How a text becomes a label: white space around it goes, and its case, unless it counts.

    Args:
        case_sensitive: Whether labels that differ in case alone are two. If not, labels are
            case-folded, as Unicode has it.
        names: Labels that are spelled like this whatever the case of a text; of two spellings of
            one label, the first.
        label_map: Label as written to label as evaluated; read like the texts. A text finds its
            own spelling first.
    """
    fold: Callable[[str], str] = str if case_sensitive else str.casefold
    spelled: dict[str, str] = {}
    for name in names:
        spelled.setdefault(fold(name.strip()), name.strip())
    exact = {written.strip(): label.strip() for written, label in (label_map or {}).items()}
    mapped: dict[str, str] = {}
    for written, label in exact.items():
        mapped.setdefault(fold(written), label)

    def label_of(text: str) -> str:
        bare = text.strip()
        key = fold(exact[bare] if bare in exact else mapped.get(fold(bare), bare))
        return spelled.get(key, key)

    return label_of


def label_name(label: str, masked_from: str | None = None) -> str:
    """A label as results name it: that of a whole essay is its beginning, length and hash.

    Args:
        label: The label, what is secret in it masked.
        masked_from: All of it, where something is masked: 16 bits of its hash set the name apart,
            too few to find a card number by.
    """
    if len(label) <= LONGEST_NAME and masked_from is None:
        return label
    if masked_from is not None:
        digest = sha256(masked_from.encode("utf-8", "surrogatepass")).hexdigest()[:4]
        return f"{label[:LONGEST_NAME]} ({digest})"
    digest = sha256(label.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{label[:LONGEST_NAME]}… ({len(label):,} characters, {digest})"
