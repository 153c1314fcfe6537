"""The pages on text: columns listed are read, metrics listed exist."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import text_of
from valor_cli import catalogue
from valor_cli.data.shapes.samples.schema import COLUMNS, SCHEMA

PAGE = text_of("docs/text-generation.md")
ASKING = "".join(
    text_of(page).partition("## The metrics")[2].partition("\n## ")[0]
    for page in ("docs/judges.md", "docs/models.md")
)
ROWS = [line.strip("| ").split("|") for line in PAGE.splitlines() if line.startswith("| `")]
OF_MODELS = [line.strip("| ").split("|") for line in ASKING.splitlines() if line.startswith("| `")]
COLUMN_ROWS = [row for row in ROWS if re.findall(r"`(\w+)`", row[0])[0] in COLUMNS]


def test_the_page_lists_columns() -> None:
    listed = {name for row in COLUMN_ROWS for name in re.findall(r"`(\w+)`", row[0])}
    assert listed == set(COLUMNS) - {"group"}


@pytest.mark.parametrize("row", COLUMN_ROWS, ids=lambda row: row[0].strip())
def test_other_names_of_a_column_are_read(row: list[str]) -> None:
    standards = re.findall(r"`(\w+)`", row[0])
    others = row[2].split(";") if len(row) > 2 else []
    for standard, names in zip(standards, others, strict=False):
        for name in re.findall(r"\w+", names):
            assert SCHEMA.layout([name], {}) == {standard: (name,)}


def test_the_metrics_it_names_are_those_of_the_task() -> None:
    rows = [row for row in ROWS if row not in COLUMN_ROWS and row[0].strip().startswith("`")]
    rows += OF_MODELS
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    assert named - {"…"} <= set(catalogue.metric_names("text_generation"))
    metrics = {metric.name for metric in catalogue.task("text_generation").metrics}
    assert metrics - named <= {"bleu_2", "bleu_3"}
