"""Data that attacks: no script of it runs, nothing of it becomes an element or an address."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.reports.browser.conftest import Opener
from tests.reports.catalogue import HOSTILE_RUNS, huge_texts
from tests.reports.rendered import page as to_html

pytestmark = pytest.mark.browser

KINDS = [name for name in HOSTILE_RUNS if not name.startswith("alike")]

SEEN = """() => ({
  owned: window.owned ?? null,
  title: document.title,
  names: [...new Set([...document.querySelectorAll("*")].map((one) => one.localName))],
  scripts: document.scripts.length,
  handlers: [...document.querySelectorAll("*")].filter((one) =>
    [...one.attributes].some((name) => name.name.startsWith("on"))).length,
  links: [...document.querySelectorAll("[href], [src]")].map((one) =>
    one.getAttribute("href") ?? one.getAttribute("src")),
  ids: [...document.querySelectorAll("[id]")].map((one) => one.id),
})"""


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_of_it_runs(opened: Opener, kind: str) -> None:
    text = to_html(HOSTILE_RUNS[kind]())
    with opened(text, 390) as page:
        seen: dict[str, Any] = page.evaluate(SEEN)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert seen["owned"] is None
    assert re.fullmatch(
        r"(FAILED|DONE|INCOMPLETE|BETTER|NOTHING TO COMPARE) · .+ · valor", seen["title"]
    )
    assert not {"iframe", "object", "embed", "form", "link", "base"} & set(seen["names"])
    assert seen["scripts"] == text.count("<script")
    assert seen["handlers"] == 0
    assert all(link.startswith("#") for link in seen["links"])
    assert len(set(seen["ids"])) == len(seen["ids"])


def test_texts_of_ten_megabytes_stay_small(opened: Opener) -> None:
    text = to_html(huge_texts())
    assert len(text) < 1_000_000
    with opened(text) as page:
        assert page.evaluate("window.owned ?? null") is None
