"""A text in; the places of it that no report may show out."""

from __future__ import annotations

import re

from valor_cli.kernels.spans import Span, apart

_SUSPECT = re.compile(r"[0-9@]|\S{16}|A[KP]|eyJ|BEGIN |PuTTY-User")
"""Found in every text that has such a place: most are numbers, addresses, or long; the others are
short keys of Artifactory, short JSON web tokens, and lines in front of private keys."""


def secret_places(text: str) -> list[Span]:
    """Personal data and credentials, and encoded runs that hold some; in order, none in another."""
    if _SUSPECT.search(text) is None:
        return []
    # Their many patterns are made for texts that may need them.
    from valor_cli.kernels.credentials import find_credentials
    from valor_cli.kernels.encodings import encoded_runs
    from valor_cli.kernels.personal_data import find_personal_data

    found = [*find_personal_data(text), *find_credentials(text)]
    for run in encoded_runs(text):
        if find_personal_data(run.text) or find_credentials(run.text):
            found.append(Span(run.start, run.end, run.encodings[0]))
    return apart(found)
