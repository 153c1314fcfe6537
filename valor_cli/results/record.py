"""What every record of a result is."""

from __future__ import annotations

from typing import Final

from msgspec import Meta, Struct

ADDED: Final = Meta(extra={"added": True})
"""Marks a key that the first files of this schema version do not have."""


class Record(Struct, frozen=True, forbid_unknown_fields=True):
    """A record of a result, written to JSON key by key in the order of its declaration."""
