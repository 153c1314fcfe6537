"""The generated pages are what the program of today would write."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from docs import generate
from tests.docs.pages import ROOT, anchors, text_of
from valor_cli import catalogue
from valor_cli.cli.catalogue_text import in_config, needed_by


@pytest.mark.parametrize(
    "name",
    [
        # The picture shows a whole run, with all its resamples.
        pytest.param(name, marks=pytest.mark.slow) if name.endswith(".svg") else name
        for name in generate.PAGES
    ],
)
def test_is_fresh(name: str) -> None:
    assert not generate.is_stale(ROOT / name, generate.PAGES[name]()), "stale; run: make docs"


@pytest.mark.parametrize("name", generate.PAGES)
def test_its_first_line_says_that_it_is_generated(name: str) -> None:
    if not name.endswith(".json"):
        assert text_of(name).splitlines()[0] == generate.GENERATED


def test_every_command_is_described() -> None:
    shown = text_of("docs/cli.md")
    inner = [group.typer_instance.registered_commands for group in generate.app.registered_groups]
    count = len(generate.app.registered_commands) + sum(map(len, inner))
    assert len(generate.command_names()) == count
    for name in generate.command_names():
        assert f"## valor {name}\n" in shown
        assert f"$ valor {name}" in shown


def test_every_metric_and_parameter_is_described() -> None:
    told = set()
    for task in map(catalogue.task, catalogue.task_names()):
        _, _, shown = text_of("docs/metrics.md").partition(f"\n## {task.name}\n")
        for metric in task.metrics:
            if metric.declared in told:
                continue  # explained with the first task that has it
            told.add(metric.declared)
            _, _, section = shown.partition(f"\n### {metric.name}\n")
            section = section.partition("\n### ")[0]
            assert metric.description in section
            assert metric.reference in section
            for parameter in metric.parameters:
                assert f"| `{parameter.name}` |" in section
            assert f"\n```text\n{metric.formula}\n```\n" in section
            assert f"\n**Pitfalls.** {metric.pitfalls}\n" in section
            assert f"\n**Example.** {metric.example}\n" in section
            assert f"\nIn a config: `{in_config(metric)}`\n" in section
            assert f"- Needs: {', '.join(needed_by(metric))}\n" in section
            threshold = "" if metric.threshold is None else f"{metric.threshold:g}"
            assert re.findall(r"^- Default threshold: (.+)$", section, re.M) == (
                [threshold] if threshold else []
            )
            assert ("\n- Not reproducible" in section) == (not metric.reproducible)
            assert all(f"`{alias}`" in section for alias in metric.aliases)


def test_the_anchors_of_the_metrics_are_those_that_the_overviews_name() -> None:
    shown = text_of("docs/metrics.md")
    named = set(re.findall(r"\]\(#([\w-]+)\)", shown))
    declared = {
        metric.declared for name in catalogue.TASKS for metric in catalogue.task(name).metrics
    }
    assert len(named) == len(declared)
    assert named <= anchors(shown)


def test_the_picture_fetches_nothing() -> None:
    picture = text_of("docs/images/terminal.svg").replace("http://www.w3.org/2000/svg", "")
    assert "http" not in picture
    assert "@import" not in picture
    assert "url(#" in picture


@pytest.fixture
def two_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {"docs/a.md": lambda: "a\n", "docs/b.json": lambda: '{"x": 1, "y": 2}\n'}
    monkeypatch.setattr(generate, "PAGES", pages)


@pytest.mark.usefixtures("two_pages")
def test_check_names_what_is_stale_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert generate.main(["--check"], tmp_path) == 1
    assert not list(tmp_path.iterdir())
    assert generate.main([], tmp_path) == 0
    assert generate.main(["--check"], tmp_path) == 0
    (tmp_path / "docs" / "b.json").write_text(json.dumps({"y": 2, "x": 1}))
    assert generate.main(["--check"], tmp_path) == 0
    (tmp_path / "docs" / "a.md").write_text("b\n")
    capsys.readouterr()
    assert generate.main(["--check"], tmp_path) == 1
    assert capsys.readouterr().err == "docs/a.md is stale; run: make docs\n"
    assert (tmp_path / "docs" / "a.md").read_text() == "b\n"


def test_an_unknown_option_is_refused() -> None:
    assert generate.main(["--chekc"]) == 2
