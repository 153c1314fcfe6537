"""The reference pages describe every key that there is, and what they show is so."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from docs import reference_pages
from docs.reference_results import CODES, RECORD_KEYS, SAMPLE_KEYS, STATUS_TEXTS, _of
from tests.docs.pages import ROOT, blocks
from valor_cli import catalogue, pipeline
from valor_cli.cli import app, evaluate
from valor_cli.config import json_schema, load_config
from valor_cli.errors import JudgeError, ValorError
from valor_cli.reports.files.csv_rows import COLUMNS
from valor_cli.reports.writer import write_reports
from valor_cli.results import STATUSES, RunInfo, RunResult
from valor_cli.results.schema import results_schema

Row = tuple[str, ...]


def sections(page: str) -> dict[str, list[Row]]:
    """By heading, the rows of the tables under it, heads and rules left out."""
    found: dict[str, list[Row]] = {}
    rows: list[Row] = []
    for line in page.splitlines():
        if line.startswith("#"):
            rows = found.setdefault(line.lstrip("# "), [])
        elif line.startswith(("| `", "| [`")):
            rows.append(tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]))
    return found


def keys(rows: list[Row]) -> set[str]:
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row[0])}


@pytest.fixture(scope="module")
def config() -> dict[str, list[Row]]:
    return sections(reference_pages.config_page("generated"))


@pytest.fixture(scope="module")
def results() -> dict[str, list[Row]]:
    return sections(reference_pages.results_page("generated"))


def test_every_key_at_the_top_of_a_config_is_described(config: dict[str, list[Row]]) -> None:
    assert keys(config["Keys"]) == set(json_schema(catalogue)["properties"])
    assert all(row[3] for row in config["Keys"])


def test_every_block_of_a_config_is_described(config: dict[str, list[Row]]) -> None:
    """Blocks of metrics apart, which stand on their own page."""
    tasks = catalogue.task_names()
    metrics = {
        catalogue.parameters(task, name).model_json_schema()["title"]
        for task in tasks
        for name in catalogue.metric_names(task).values()
    }
    blocks_of = {
        name: set(block.get("properties", ()))
        for name, block in json_schema(catalogue)["$defs"].items()
        if block.get("title") not in metrics and name not in ("environment", "NoOptions")
    }
    assert {"Interval", "Gate", "JudgeSettings", "TextInputs", "SliceSearch"} <= set(blocks_of)
    for name, wanted in blocks_of.items():
        if name.endswith("Options"):
            continue  # at the top
        tables = [keys(rows) for rows in config.values()]
        assert any(wanted <= there for there in tables), (name, wanted)


def test_every_key_of_a_block_has_a_meaning(config: dict[str, list[Row]]) -> None:
    of_blocks = [row for name, rows in config.items() if name != "Keys" for row in rows]
    assert len(of_blocks) > 100
    assert all(row[-1] for row in of_blocks)
    assert not [row for row in of_blocks if len(row) == 4 and not row[1]]


def test_types_defaults_and_bounds_are_those_of_the_models(config: dict[str, list[Row]]) -> None:
    rows = {(name, row[0]): row[1:3] for name, all_of in config.items() for row in all_of}
    assert rows["interval", "`resamples`"] == ("whole number, 1 to 100,000", "`1000`")
    assert rows["interval", "`level`"] == ("number between 0 and 1", "`0.95`")
    assert rows["interval", "`group`"] == ("`metadata.NAME`", "")
    assert rows["judge", "`temperature`"] == ("number ≥ 0 or null", "`0`")
    assert rows["judge", "`record`"] == ("path", "")
    assert rows["judge", "`price`"] == ("[mapping](#price)", "")
    assert rows["price", "`input_usd`"] == ("number ≥ 0", "required")
    detection = "data of object_detection and instance_segmentation"
    assert rows[detection, "`predictions`"] == ("path or mapping to path", "required")
    assert rows[detection, "`on_invalid`"] == ("`error` or `skip`", "`error`")
    assert rows["gates", "`not_worse`"] == ("number between 0 and 1", "")


def test_every_column_has_its_other_names() -> None:
    page = reference_pages.config_page("generated")
    _, _, shown = page.partition("### columns\n")
    shown = shown.partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in shown.split("\n")]
    also = {row[0]: row[1] for row in rows if len(row) == 3}
    assert also["`user_input`"].startswith("`question`, `query`, `input`, `prompt`")
    assert also["`xmin`"] == "`x1`, `x_min`, `left`"
    assert shown.count("| column | also called |") == 4


def objects_of(
    schema: dict[str, Any], whole: dict[str, Any], path: str = ""
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The records of a schema, each with where it stands; `whole` has those that it names."""
    inner = schema.get("items") or schema
    inner = next((one for one in inner.get("anyOf", ()) if "$ref" in one), inner)
    inner = whole[inner["$ref"].rpartition("/")[2]] if "$ref" in inner else inner
    for name, shown in inner.get("properties", {}).items():
        yield path, inner
        yield from objects_of(shown, whole, f"{path}.{name}".lstrip("."))


def test_every_key_of_the_results_is_described(results: dict[str, list[Row]]) -> None:
    schema = results_schema()
    found = dict(objects_of(schema, schema["$defs"]))
    assert len(found) > 20
    for path, record in found.items():
        rows = results[path or "results.json"]
        assert keys([row[:1] for row in rows]) == set(record["properties"]), path
        assert all(row[1] and row[2] for row in rows), path


def test_a_key_that_nobody_describes_is_an_error() -> None:
    with pytest.raises(KeyError, match="colour of RunInfo is described nowhere"):
        _of(RunInfo, "colour")


def test_the_links_between_the_tables_lead_to_their_sections(results: dict[str, list[Row]]) -> None:
    anchors = {name.replace(".", "") for name in results}
    linked = {
        found
        for rows in results.values()
        for row in rows
        for found in re.findall(r"\(#(.+?)\)", str(row))
    }
    assert linked - {"stability"} <= anchors
    assert "examplespicture" in linked


def test_the_exit_codes_are_those_of_the_program() -> None:
    known = {0, evaluate.GATE_FAILED, evaluate.INCOMPLETE, *evaluate.STOPPED.values()}
    known |= {ValorError.exit_code, JudgeError.exit_code, app.INTERRUPTED, app.TERMINATED}
    assert {int(code) for code, _ in CODES} == known


def evaluated(name: str, *overrides: str) -> RunResult:
    config = load_config(ROOT / "configs" / f"{name}.yaml", catalogue, overrides)
    return pipeline.evaluate(pipeline.make_plan(config), command="")


@pytest.fixture(scope="module")
def detected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the page evaluates."""
    folder = tmp_path_factory.mktemp("nightly")
    write_reports(
        evaluated("object_detection", "interval.resamples=5"), folder, ["json", "csv", "junit"]
    )
    return folder


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judged")
    write_reports(evaluated("text_generation_judge"), folder, ["json"])
    return folder


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_row_that_is_shown_is_a_row_of_the_results(detected: Path) -> None:
    (block,) = blocks("docs/results.md", "json")
    shown = json.loads(block.text)
    rows = json.loads((detected / "results.json").read_text(encoding="utf-8"))["metrics"]
    assert list(rows[0]) == list(shown)
    # The interval depends on the number of resamples.
    assert {**shown, "interval": None} in [{**row, "interval": None} for row in rows]


def test_lines_of_samples_hold_what_is_described(detected: Path, judged: Path) -> None:
    lines = lines_of(detected / "samples.jsonl") + lines_of(judged / "samples.jsonl")
    records = [record for line in lines for record in line["metrics"].values()]
    assert {name for line in lines for name in line} | {"group"} == set(SAMPLE_KEYS)
    assert {name for record in records for name in record} | {"prompts"} == set(RECORD_KEYS)
    assert set(STATUS_TEXTS) == set(STATUSES)


def test_lines_of_resamples_hold_what_is_described(
    detected: Path, results: dict[str, list[Row]]
) -> None:
    lines = lines_of(detected / "resamples.jsonl")
    assert {name for line in lines for name in line} == keys(results["resamples.jsonl"])
    assert {line["slice"] for line in lines} == {None}
    # Values of all data, and those of each label by one measure.
    assert len({line["metric"] for line in lines if line["label"] is not None}) == 1
    # Those of one draw are pairs: the two models.
    assert len({line["drawn"] for line in lines}) == 1
    assert {len(line["values"]) for line in lines} == {5}


def test_the_table_is_the_rows(detected: Path) -> None:
    with (detected / "results.csv").open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    page = reference_pages.results_page("generated")
    assert "Its columns: " + ", ".join(f"`{name}`" for name in head) + "." in page
    assert tuple(head) == COLUMNS
    run = json.loads((detected / "results.json").read_text(encoding="utf-8"))
    assert [row[0] for row in rows] == [row["metric"] for row in run["metrics"]]


def test_the_test_cases_are_as_described(detected: Path) -> None:
    cases = ElementTree.parse(detected / "junit.xml").iter("testcase")  # noqa: S314 - our own file
    classes = [case.attrib["classname"] for case in cases]
    assert classes.count("object_detection.gates") == 3
    assert classes.count("object_detection.run") == 1


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_the_commands_of_jq_say_what_they_should(detected: Path) -> None:
    (block,) = [one for one in blocks("docs/results.md", "sh") if "jq" in one.text]
    script = block.text.replace("cd reports/nightly", "set -eu")
    done = subprocess.run(
        ["/bin/sh", "-c", script], cwd=detected, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("[]\n")
    assert "large 0.6373626373626373\n" in done.stdout
    assert re.search(r"^small\tcoco\tAP\t0\.2", done.stdout, re.MULTILINE)
    assert '["small",1]\n' in done.stdout
