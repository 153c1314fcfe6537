"""Contents of many small files come in; one sha256 for all of them goes out."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping


def digest_of(files: Mapping[str, str]) -> str:
    """The sha256 of a folder, as `sha256sum FILES | sha256sum` in it says for sorted names.

    Args:
        files: Name in the folder to the sha256 of the content.
    """
    listing = "".join(f"{digest}  {name}\n" for name, digest in sorted(files.items()))
    return hashlib.sha256(listing.encode("utf-8", "surrogateescape")).hexdigest()
