"""What the pages tell a reader to do works: commands, configs, links."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.pages import (
    NOT_RUN,
    PAGES,
    ROOT,
    Block,
    anchors,
    blocks,
    links,
    shell,
    text_of,
)
from valor_cli import catalogue, pipeline
from valor_cli.config import load_config
from valor_cli.errors import MissingExtraError

CONFIG = "configs/object_detection.yaml"
OF_COMMANDS = "docs/cli.md"
"""Generated from the help of each command, whose examples tests/cli/test_commands.py runs."""
JUDGED = "configs/text_generation_judge.yaml"


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder like the checkout's; its configs resample little, which no page speaks of."""
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    (tmp_path / "configs").mkdir()
    for config in (ROOT / "configs").glob("*.yaml"):
        text = config.read_text(encoding="utf-8")
        (tmp_path / "configs" / config.name).write_text(text, encoding="utf-8")
    resample_little(tmp_path / "configs")
    return tmp_path


def resample_little(configs: Path) -> None:
    for config in configs.glob("*.yaml"):
        text = config.read_text(encoding="utf-8")
        config.write_text(re.sub(r"resamples: \d+", "resamples: 5", text), encoding="utf-8")


@pytest.mark.parametrize(
    "page",
    [
        # The first steps are run at once, the others by `make test-slow`.
        page
        if page.startswith(("docs/start/", "docs/own-metrics"))
        else pytest.param(page, marks=pytest.mark.slow)
        for page in PAGES
        if page != OF_COMMANDS
    ],
)
def test_everything_runs_in_its_order(desk: Path, page: str) -> None:
    """Files are kept where the page says, commands and Python run, and print what is shown."""
    for block in blocks(page):
        if block.path is not None:
            (desk / block.path).parent.mkdir(parents=True, exist_ok=True)
            (desk / block.path).write_text(block.text, encoding="utf-8")
        elif block.language in ("console", "bash", "sh") and not block.not_run:
            _run_commands(desk, block)
        elif block.language == "python" and not block.not_run:
            (desk / "block.py").write_text(block.text, encoding="utf-8")
            done = shell(desk, "python block.py")
            assert done.returncode == 0, (block.text, done.stdout, done.stderr)


def _run_commands(desk: Path, block: Block) -> None:
    assert block.commands, f"no command in this block; mark it {NOT_RUN}:\n{block.text}"
    shown = [line for line in block.text.splitlines() if not line.startswith("$ ")]
    for command in block.commands:
        assert command.startswith("valor "), f"mark this block {NOT_RUN}:\n{block.text}"
        done = shell(desk, command)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        if command.startswith("valor init object_detection"):
            # The slowest to resample; its intervals are shown nowhere.
            for written in re.findall(r"(\S+/configs)/", done.stdout):
                resample_little(desk / written)
        if shown and len(block.commands) == 1 and block.language == "console":
            assert without_ends(done.stdout) == [line.rstrip() for line in shown], command


def without_ends(text: str) -> list[str]:
    """Lines less the blanks at their ends, which no reader sees and editors take away."""
    return [line.rstrip() for line in text.splitlines()]


@pytest.mark.parametrize("page", PAGES)
def test_every_config_loads_and_suits_the_sample_data(desk: Path, page: str) -> None:
    for block in blocks(page, "yaml", "yml"):
        if not block.not_run and block.path is None:
            path = desk / "configs" / "snippet.yaml"
            path.write_text(_whole(desk, block.text), encoding="utf-8")
            # Some show backends whose packages are not installed everywhere.
            with suppress(MissingExtraError):
                pipeline.check(pipeline.make_plan(load_config(path, catalogue)))


def test_the_row_in_the_readme_is_a_row_of_the_results(desk: Path) -> None:
    (block,) = blocks("docs/tour.md", "json")
    shown = json.loads(block.text)
    assert shell(desk, f"valor evaluate {CONFIG} -q --format json --out out").returncode == 0
    rows = json.loads((desk / "out" / "results.json").read_text())["metrics"]
    # The interval depends on the number of resamples.
    assert [list(row) for row in rows[:1]] == [list(shown)]
    assert {**shown, "interval": None} in [{**row, "interval": None} for row in rows]


def _whole(desk: Path, text: str) -> str:
    """A snippet as a config: as it stands, or in place of the same keys of the shipped one."""
    snippet: dict[str, Any] = yaml.safe_load(text)
    if "task" in snippet:
        return text
    of_judges = {"judge", "judges"} & set(snippet) or "custom_judge" in text
    shipped = yaml.safe_load((desk / (JUDGED if of_judges else CONFIG)).read_text(encoding="utf-8"))
    if "judges" in snippet:
        del shipped["judge"]
    if "metrics" in snippet:
        del shipped["gates"]
    return yaml.safe_dump({**shipped, **snippet})


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str) -> None:
    for link in links(page):
        target, _, anchor = link.partition("#")
        if "://" in target:
            continue
        path = ROOT / page if not target else (ROOT / page).parent / target
        assert path.exists(), link
        if anchor:
            assert anchor in anchors(text_of(str(path.relative_to(ROOT)))), link
