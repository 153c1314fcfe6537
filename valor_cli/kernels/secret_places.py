"""A text in; the places of it that no report may show out."""

from __future__ import annotations

from valor_cli.kernels.credentials import find_credentials
from valor_cli.kernels.encodings import encoded_runs
from valor_cli.kernels.personal_data import find_personal_data
from valor_cli.kernels.spans import Span, apart


def secret_places(text: str) -> list[Span]:
    """Personal data and credentials, and encoded runs that hold some; in order, none in another."""
    found = [*find_personal_data(text), *find_credentials(text)]
    for run in encoded_runs(text):
        if find_personal_data(run.text) or find_credentials(run.text):
            found.append(Span(run.start, run.end, run.encodings[0]))
    return apart(found)
