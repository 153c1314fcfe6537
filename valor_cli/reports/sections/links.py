"""Links to the samples of a finding, in the explorer of the page."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from valor_cli.reports.digests.formatting import clean
from valor_cli.results import RunResult, Scalar


def explore(**filters: object) -> str:
    """The link to a filtered list of samples; a filter that is None or empty is left out."""
    kept = {name: value for name, value in filters.items() if value not in (None, "")}
    return "#explore?" + urlencode(kept, doseq=True, quote_via=quote, errors="replace")


def sample(sample_id: Scalar) -> str:
    """The link to one sample."""
    return explore(sample=sample_id)


def of_slices(result: RunResult) -> dict[str, str]:
    """By a slice's name as reports show it, the link to its samples, where they are known."""
    names = dict.fromkeys(name for one in result.slices for name in one.names)
    return {clean(name, 120): explore(slice=name) for name in names}
