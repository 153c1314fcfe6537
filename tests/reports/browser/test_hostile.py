"""Data that attacks: no script of it runs, nothing of it becomes an element or an address."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any

import pytest
from msgspec.structs import replace
from valor_cli.reports.render.html.report import to_html
from valor_cli.reports.render.markdown.report import to_markdown

from tests.reports.browser.conftest import Opener
from tests.reports.browser.pages import pairs
from tests.reports.conftest import HOSTILE
from tests.reports.found_runs import searched
from tests.reports.task_runs import classified, renamed, segmented
from tests.reports.text_runs import text_run
from valor_cli.results import MetricResult, RunResult, ShownText, Verdict

pytestmark = pytest.mark.browser

ATTACKS = (
    *HOSTILE,
    "<script>window.owned = 1</script>",
    "</title><script>window.owned = 1</script>",
    "</style><img src=x onerror='window.owned = 1'>",
    "<svg onload=window.owned=1>",
    "javascript:window.owned=1",
    "' autofocus onfocus='window.owned=1",
    '"><iframe srcdoc="<script>top.owned=1</script>">',
    "{{ 7 * 7 }}{% raw %}",
    "${window.owned=1}",
    "../x",
    "#",
    "%00%22",
    "\x00nul\x07bel\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\",
    "\ud800 lone \udfff",
    "\u202eevil\u2066\u2069",
    "👩‍👩‍👧 é ﷽ " + "\u0301" * 200,
    "&lt;b&gt; &amp; &#x3c;script&#x3e;",
    "-->]]><!--",
)

UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

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


@pytest.mark.parametrize("kind", list(_runs()))
def test_nothing_of_it_runs(opened: Opener, kind: str) -> None:
    text = to_html(_runs()[kind]())
    assert not UNSEEN.search(text)
    with opened(text, 390) as page:
        if page.locator("#find").count():
            page.locator("#find").fill("e")  # what it lists is made by a script
        seen: dict[str, Any] = page.evaluate(SEEN)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert seen["owned"] is None
    assert re.fullmatch(r"(FAILED|DONE|INCOMPLETE) · [a-z ]+ · valor", seen["title"])
    assert not {"iframe", "object", "embed", "form", "link", "base"} & set(seen["names"])
    assert seen["scripts"] == text.count("<script")
    assert seen["handlers"] == 0
    assert all(re.fullmatch(r"#[A-Za-z0-9_.-]+|data:image/.*", link) for link in seen["links"])
    assert len(set(seen["ids"])) == len(seen["ids"])
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]*", name) for name in seen["ids"])


def test_texts_of_ten_megabytes_stay_small(opened: Opener) -> None:
    huge = "<script>window.owned = 1</script>" + "A\u202e\x1b[31m<b>" * 1_000_000
    run = text_run(("m",))
    run = replace(
        run,
        warnings=(huge,),
        problems=[replace(one, message=huge) for one in run.problems],
        examples=[replace(one, sample_id=huge[: 10_000_000 - at], reason=huge)
                  for at, one in enumerate(run.examples[:2])],
    )  # fmt: skip
    text = to_html(run)
    assert len(text) < 1_000_000
    with opened(text) as page:
        assert page.evaluate("window.owned ?? null") is None


def test_no_escape_passes_into_other_reports() -> None:
    assert not UNSEEN.search(to_markdown(attacked_texts()))
