"""docs/choosing.md is the guide of today, and each metric in it leads to its own section."""

from __future__ import annotations

import re

import yaml

from docs import generate
from docs.guide_page import anchors_of, guide_page
from tests.docs.pages import anchors, blocks, text_of
from valor_cli import catalogue
from valor_cli.cli.guide.questions import parts

PAGE = "docs/choosing.md"


def test_is_fresh() -> None:
    fresh = guide_page(generate.GENERATED, generate.metrics_page())
    assert text_of(PAGE) == fresh, "stale; run: make docs"
    assert fresh.startswith(f"{generate.GENERATED}\n")


def test_every_metric_has_an_anchor() -> None:
    found = anchors_of(generate.metrics_page())
    tasks = [catalogue.task(name) for name in catalogue.task_names()]
    assert set(found) == {(task.name, metric.name) for task in tasks for metric in task.metrics}


def test_metrics_lead_to_their_own_sections() -> None:
    """Not to another task's metric of the same name."""
    metrics = generate.metrics_page()
    headings = re.findall(r"^#+ (.+)$", metrics, re.MULTILINE)
    seen: dict[str, int] = {}
    sections = {}
    texts = re.split(r"^#+ .+$", metrics, flags=re.MULTILINE)[1:]
    for heading, text in zip(headings, texts, strict=True):
        again = seen.get(heading, 0)
        seen[heading] = again + 1
        sections[f"{heading}-{again}" if again else heading] = text
    for part in parts():
        start = text_of(PAGE).index(f"\n## {part.title}\n")
        shown = text_of(PAGE)[start:].split("\n## ")[1]
        linked = dict(re.findall(r"\[`(\w+)`\]\(metrics\.md#([\w-]+)\)", shown))
        known = {
            metric.name: metric for name in part.tasks for metric in catalogue.task(name).metrics
        }
        assert set(known) <= set(linked)
        for name, metric in known.items():
            assert metric.description in sections[linked[name]], name


def test_every_question_is_a_heading_that_the_path_leads_to() -> None:
    text = text_of(PAGE)
    named = anchors(text)
    for part in parts():
        for question in part.questions:
            assert f"\n### {question.question}\n" in text
            link = re.search(rf"\[{re.escape(question.question)}\]\(#([^)]+)\)", text)
            assert link, question.question
            assert link[1] in named


def test_configs_are_of_the_metrics_that_the_question_leads_to() -> None:
    said = [one for part in parts() for one in part.questions if one.config]
    assert [block.text for block in blocks(PAGE, "yaml")] == [
        f"{one.config.rstrip()}\n" for one in said
    ]
    for question in said:
        listed = yaml.safe_load(question.config)["metrics"]
        names = {next(iter(one)) if isinstance(one, dict) else one for one in listed}
        assert names & set(question.names), question.question
