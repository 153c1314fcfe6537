"""The pages on text: columns listed are read, metrics listed exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import blocks, text_of
from valor_cli import catalogue
from valor_cli.data.inputs.samples import read_samples
from valor_cli.data.shapes.samples.sample_file import SampleReading
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


LOGS = {block.path: block.text for block in blocks("docs/text-generation.md", "json") if block.path}


@pytest.mark.parametrize("name", LOGS)
def test_the_logs_say_the_same(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(LOGS[name])
    row, *others = read_samples(str(path), SampleReading()).rows
    assert (row.of("sample_id"), row.of("model")) == ("1", "gpt-4")
    assert (row.of("history"), row.of("user_input"), row.of("response")) == (
        "system: Be brief.",
        "2 + 2?",
        "4",
    )
    # Spans say how long a call took, and not what was expected.
    assert row.of("references") == (() if name in ("spans.jsonl", "trace.json") else ("4",))
    assert row.of("duration_s") == (1.5 if name == "trace.json" else None)
    assert [(one.of("user_input"), one.of("response")) for one in others] == (
        [("3 + 3?", "6")] if name == "spans.jsonl" else []
    )


def test_the_metrics_it_names_are_those_of_the_task() -> None:
    rows = [row for row in ROWS if row not in COLUMN_ROWS and row[0].strip().startswith("`")]
    rows += OF_MODELS
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    assert named - {"…"} <= set(catalogue.metric_names("text_generation"))
    metrics = {metric.name for metric in catalogue.task("text_generation").metrics}
    assert metrics - named <= {"bleu_2", "bleu_3"}
