"""The difference of two models is one number, in the terminal, Markdown, HTML and JSON."""

from __future__ import annotations

import io
import json
import re
from html.parser import HTMLParser

import pytest
from msgspec.structs import replace
from rich.console import Console
from valor_cli.reports.render.html.report import to_html
from valor_cli.reports.render.markdown.report import to_markdown
from valor_cli.reports.render.terminal.report import summary

from tests.oracles.paired_runs import Column, run, values
from valor_cli.pipeline.compare.pairing import comparisons_of
from valor_cli.reports.digests.formatting import signed
from valor_cli.results import EmbeddedImages, RunResult
from valor_cli.results.document import to_json

SMALL = (0.2, 0.5, 0.4, 0.9, 0.1, 0.3, 0.6, 0.6, 0.0, 0.7, 0.8, 0.5)
LARGE = (0.4, 0.7, 0.5, 0.8, 0.4, 0.6, 0.6, 0.9, 0.3, 0.9, 0.8, 0.6)


def _without(column: Column, *at: int) -> Column:
    return [None if number in at else one for number, one in enumerate(column)]


MISSING: dict[str, tuple[Column, Column]] = {
    "in neither": (SMALL, LARGE),
    "in the first": (_without(SMALL, 0, 8), LARGE),
    "in the second": (SMALL, _without(LARGE, 3)),
    "in both, others": (_without(SMALL, 0, 8), _without(LARGE, 3, 4, 5)),
    "in both, the same": (_without(SMALL, 8), _without(LARGE, 8)),
    "all but one": (_without(SMALL, *range(6)), _without(LARGE, *range(7, 12))),
    "no sample of both": (_without(SMALL, *range(6)), _without(LARGE, *range(6, 12))),
    "all of one": ([None] * 12, LARGE),
}


def _run(small: Column, large: Column) -> RunResult:
    found = [values("rouge_l", "small", small), values("rouge_l", "large", large)]
    result = run(found, primary=("rouge_l",))
    return replace(result, comparisons=tuple(comparisons_of(result)))


class _Change(HTMLParser):
    """What stands first in the cell of the difference."""

    def __init__(self) -> None:
        super().__init__()
        self.inside = False
        self.told = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag == "td" and "change" in (dict(attrs).get("class") or "")

    def handle_data(self, data: str) -> None:
        if self.inside and not self.told:
            self.told = data.strip()


@pytest.mark.parametrize("missing", MISSING)
def test_one_number_in_every_report(missing: str) -> None:
    result = _run(*MISSING[missing])
    (row,) = json.loads(to_json(result))["comparisons"]
    expected = signed(row["difference"], "fraction")
    stream = io.StringIO()
    Console(file=stream, width=140, legacy_windows=False).print(summary(result, ()))
    line = next(one for one in stream.getvalue().splitlines() if one.startswith("rouge_l"))
    assert expected in line.replace("°", "").split()
    marked = next(one for one in to_markdown(result).splitlines() if one.startswith("| rouge_l"))
    assert re.split(r" +\| *", marked)[3].split(" [")[0] == expected
    page = _Change()
    page.feed(to_html(result, EmbeddedImages()))
    assert page.told == expected


def test_it_is_said_where_it_is_no_plain_subtraction() -> None:
    for missing, told in (("in neither", False), ("in both, others", True)):
        result = _run(*MISSING[missing])
        stream = io.StringIO()
        Console(file=stream, width=140, legacy_windows=False).print(summary(result, ()))
        for text in (stream.getvalue(), to_markdown(result)):
            assert ("differences are over the samples that both have" in text) is told
