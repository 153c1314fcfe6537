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

SEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

ALLOWED = {"script", "style", "meta", "title", "input", "select", "button", "img", "svg", "a"}


SEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

ALLOWED = {"script", "style", "meta", "title", "input", "select", "button", "img", "svg", "a"}


def attacked_texts(attacks: Sequence[str] = ATTACKS) -> RunResult:
    """A run of texts in which all that data can choose is an attack."""
    models = attacks[:3]
    words = cycle(attacks)
    run = text_run(models, comparisons=pairs(models), searches=[searched(models[0], *attacks)])

    def row(one: MetricResult) -> MetricResult:
        return replace(one, slice=next(words)) if one.metric == "looping" else one

    def texts() -> tuple[ShownText, ...]:
        size = len(attacks[0])
        marked = ShownText("response", attacks[0] + next(words), [(0, size, next(words))])
        return marked, ShownText("user_input", next(words)), ShownText(next(words), next(words))

    return replace(
        run,
        metrics=[*run.metrics, *(row(one) for one in run.metrics if one.metric == "looping")],
        samples=[
            replace(
                one,
                sample_ids=[f"{next(words)}{at}" for at, _ in enumerate(one.sample_ids)],
                undefined=[next(words) for _ in one.undefined],
            )
            for one in run.samples
        ],
        examples=[
            replace(one, sample_id=next(words), texts=texts(), reason=next(words),
                    verdicts=[Verdict(next(words), next(words), True, next(words))])
            for one in run.examples
        ],
        problems=[replace(one, message=next(words), sample_ids=attacks) for one in run.problems],
        insights=[replace(one, message=next(words), sample_ids=attacks) for one in run.insights],
        gates=[replace(one, reason=next(words)) for one in run.gates],
        warnings=attacks,
        data=dict.fromkeys(attacks, 1),
        settings={word: word for word in attacks},
        run=replace(run.run, command=attacks[0], packages=dict(zip(attacks, attacks, strict=True)),
                    stopped=attacks[1]),
    )  # fmt: skip


def _runs() -> dict[str, Callable[[], RunResult]]:
    things = ("road", "sidewalk", "building", "vegetation", "sky", "person", "car")
    return {
        "texts": attacked_texts,
        "classes": lambda: classified(ATTACKS[:2], ATTACKS[:12], (ATTACKS[13], ATTACKS[16])),
        "pixels": lambda: renamed(
            segmented(ATTACKS[12:14]), dict(zip(things, ATTACKS[12:], strict=False))
        ),
    }


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
    assert re.fullmatch(r"(FAILED|DONE|INCOMPLETE|WORSE|BETTER) · .+ · valor", seen["title"])
    assert not {"iframe", "object", "embed", "form", "link", "base"} & set(seen["names"])
    assert seen["scripts"] == text.count("<script")
    assert seen["handlers"] == 0
    assert all(link.startswith("#") for link in seen["links"])
    assert len(set(seen["ids"])) == len(seen["ids"])
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]*", name) for name in seen["ids"])


def test_texts_of_ten_megabytes_stay_small(opened: Opener) -> None:
    text = to_html(huge_texts())
    assert len(text) < 1_000_000
    with opened(text) as page:
        assert page.evaluate("window.owned ?? null") is None
