"""Link anchors for samples on a page."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from itertools import count

from valor_cli.results import Scalar

PREFIX = "sample-"

KEPT = 40
"""Characters of an id that its name keeps at most."""

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")


class Anchors:
    """Unique anchors of a page, stable and URL-safe.

    The first place of a sample has its bare name, `sample-faq-003`; each further one says where
    it is, `sample-faq-003.large.exact_match`.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._first: dict[tuple[type, Scalar], str] = {}

    def __len__(self) -> int:
        """Number of samples with an anchor."""
        return len(self._first)

    def name(self, sample: Scalar, *place: str, bare: bool = True) -> str:
        """The anchor of a sample at one place of the page, such as a model and a metric.

        Args:
            sample: Its id.
            place: What tells the place from the sample's others.
            bare: Whether it may have the sample's bare name.
        """
        key = (type(sample), sample)
        short = PREFIX + _safe(str(sample))
        full = ".".join([short, *map(_readable, place)])
        tried = _tried(short if bare else full, full)
        free = next(name for name in tried if name not in self._taken)
        self._first.setdefault(key, free)
        self._taken.add(free)
        return free

    def first(self, sample: Scalar) -> str | None:
        """A sample's first anchor; None if it is not on the page."""
        return self._first.get((type(sample), sample))


def _tried(short: str, full: str) -> Iterator[str]:
    yield short
    yield full
    yield from (f"{full}.{number}" for number in count(2))


def _readable(text: str) -> str:
    """Words joined by hyphens; ambiguous ones are numbered later."""
    kept = _UNSAFE.sub("-", text[: 2 * KEPT]).strip("-")
    return kept if kept and len(text) <= 2 * KEPT else _safe(text)


def _safe(text: str) -> str:
    """Letters, digits, hyphens and underscores; with a digest where that is not the whole text."""
    cut = text[:KEPT]
    kept = _UNSAFE.sub("-", cut).strip("-")
    if kept == text and text:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{kept}-{digest}" if kept else digest
