"""What holds for every report in every medium, whatever was run."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from functools import cache

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace
from rich.cells import cell_len

from tests.oracles.compared import row, text_change, texts_compared
from tests.reports.catalogue import COMPARED, HOSTILE_RUNS, RUNS, huge_texts, names
from tests.reports.conftest import built, built_with_findings
from tests.reports.judge_runs import JUDGES, VERDICTS, judge_run
from tests.reports.markdown_blocks import tables_are_whole
from tests.reports.pages import Page, body, plain
from tests.reports.rendered import document, markdown, page, terminal
from tests.reports.task_runs import classified
from valor_cli.reports.document import Items, Table
from valor_cli.reports.render.markdown import COLUMNS
from valor_cli.results import ComparedRuns, RunResult, ShownText

ALL: dict[str, Callable[[], RunResult | ComparedRuns]] = {**RUNS, **COMPARED}
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
NUMBER = re.compile(r"[−+$≥<]?\d[\d,]*(?:\.\d+)?%?")

every = pytest.mark.parametrize("name", list(ALL))
hostile = pytest.mark.parametrize("name", list(HOSTILE_RUNS))


@cache
def _made(name: str) -> RunResult | ComparedRuns:
    return ALL[name]()


def _numbers(text: str) -> set[str]:
    return set(NUMBER.findall(re.sub(r"… [\d,]+ more", "", text)))


@every
def test_the_verdict_comes_first(name: str) -> None:
    told = document(_made(name))
    screen = terminal(_made(name), width=200)
    assert screen.startswith(f"{told.word}  {told.detail}\n")
    assert screen.split("\n")[1 + bool(told.alert)].startswith(told.title)
    assert markdown(_made(name)).startswith(f"## {told.symbol} {told.word} · ")
    text = page(_made(name))
    assert f"<title>{told.word} · {told.title} · valor</title>" in text
    assert f"{told.word} {told.detail}" in plain(text[text.index("<h1>") : text.index('"scope"')])


@every
@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_a_terminal_has_room_for_whole_numbers_and_names(name: str, width: int) -> None:
    found = _made(name)
    text = terminal(found, ["reports/report.html"], width)
    assert max(map(cell_len, text.split("\n"))) <= width
    # What is narrow says less, and nothing else: no number is cut.
    assert _numbers(text) <= _numbers(terminal(found, ["reports/report.html"], 1000))
    assert text.rstrip().endswith("reports/report.html")


@pytest.mark.parametrize("name", list(RUNS))
def test_a_run_is_about_one_screen(name: str) -> None:
    lines = terminal(_made(name), ["reports/report.html"], 80).rstrip("\n").split("\n")
    everything = name.startswith("all of") or name.endswith(" 30")
    assert len(lines) <= (56 if everything else 42)


@every
def test_colour_repeats_the_words(name: str) -> None:
    coloured = terminal(_made(name), width=100, colour=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == terminal(_made(name), width=100)


@every
def test_markdown_is_whole_and_bounded(name: str) -> None:
    text = markdown(_made(name))
    assert len(text) < 65_536
    assert tables_are_whole(text)
    assert text.count("<details>") == text.count("</details>") == text.count("<summary>")
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    # No table is left as source, and no block is read as another's paragraph.
    assert "|--" not in html
    assert html.count("<table>") == len(re.findall(r"^\|[:|-]+$", text, re.MULTILINE))


@every
def test_a_page_is_whole_and_fetches_nothing(name: str) -> None:
    text = page(_made(name))
    found = Page(text)
    assert [found.count(tag) for tag in ("h1", "main", "header", "nav", "style")] == [1] * 5
    ids = found.values("id")
    assert len(ids) == len(set(ids))
    links = found.values("href")
    assert {link[1:] for link in links if not link.startswith("#explore")} <= set(ids)
    assert not found.values("src")
    described = found.values("aria-describedby") + found.values("aria-labelledby")
    assert set(described) <= set(ids)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|url\(|@import|<link|<img", text)
    headings = re.findall(r'<h2 id="([\w-]+)">', text)
    nav = text[text.index("<nav") : text.index("</nav>")]
    assert re.findall(r'href="#([\w-]+)"', nav) == headings
    assert text.count('<div id="explorer">') <= 1


@every
def test_the_policy_names_the_hash_of_the_script(name: str) -> None:
    text = page(_made(name))
    script = text[text.rindex("<script>") + 8 : text.rindex("</script>")]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text
    assert "default-src 'none'" in text
    assert "unsafe-eval" not in text


@every
def test_numbers_of_one_medium_stand_in_the_others(name: str) -> None:
    """What a terminal says of values in tables, a page and Markdown say in the same digits."""
    found = _made(name)
    shown = plain(body(page(found))).replace("\u200b", "")
    written = re.sub(r"\\(.)", r"\1", markdown(found).replace("&lt;", "<"))
    for section in document(found).sections:
        for block in section.blocks:
            if isinstance(block, Table) and block.screen[1]:
                told = {
                    part
                    for cells in block.rows[: block.screen[0]]
                    for cell in cells
                    for part in (cell.text, cell.small)
                    if NUMBER.search(part)
                }
                assert {one for one in told if one not in shown} == set()
                if len(block.columns) <= COLUMNS:
                    assert {one for one in told if one not in written} == set()
            if isinstance(block, Items) and block.screen[1] and block.page:
                assert {one.text for one in block.items[:1] if one.text not in shown} == set()


@pytest.mark.parametrize("name", list(RUNS))
def test_headline_values_are_those_of_the_run(name: str) -> None:
    run = RUNS[name]()
    values = {
        f"{row.value:.3f}"
        for row in run.metrics
        if row.label is None and row.slice is None and row.value is not None
    }
    results = next(one for one in document(run).sections if one.anchor == "results")
    shown = {
        cell.text
        for block in results.blocks[:1]
        if isinstance(block, Table)
        for cells in block.rows
        for cell in cells[1:]
        if cell.value is not None and "." in cell.text and cell.text[0].isdigit()
    }
    others = {f"{row.other_value:.3f}" for row in run.comparisons if row.other_value is not None}
    assert shown <= values | others


@every
def test_the_same_run_makes_the_same_bytes(name: str) -> None:
    first, second = ALL[name](), ALL[name]()
    assert page(first) == page(second)
    assert markdown(first) == markdown(second)
    assert terminal(first) == terminal(second)


@hostile
@pytest.mark.parametrize("width", [40, 80])
def test_hostile_words_stay_words_on_a_terminal(name: str, width: int) -> None:
    text = terminal(HOSTILE_RUNS[name](), ["r.html"], width)
    assert not UNSEEN.search(text)
    assert max(map(cell_len, text.split("\n"))) <= width
    assert len(text) < 60_000


def test_a_terminal_reads_no_markup() -> None:
    assert "[bold]shout[/bold]" in terminal(built(warnings=["[bold]shout[/bold]"]))


@hostile
def test_hostile_words_stay_words_in_markdown(name: str) -> None:
    text = markdown(HOSTILE_RUNS[name]())
    assert not UNSEEN.search(text)
    assert len(text) < 65_536
    assert tables_are_whole(text)
    own = {"details", "summary", "b", "br", "kbd", "sub"}
    assert set(re.findall(r"</?([a-z]+)", text)) <= own
    assert text.count("<details>") == text.count("</details>") == text.count("<summary>")
    assert not re.search(r"(?<!\w)@(?!&#8203;)", text)
    assert "://" not in text
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    assert not re.search("<(script|code|a|img|h1|pre|mark|svg)[ >]", html)
    assert not any("\\" in told for told in re.findall("<summary>(.*?)</summary>", text))


@hostile
def test_hostile_words_stay_words_on_a_page(name: str) -> None:
    text = page(HOSTILE_RUNS[name]())
    assert not UNSEEN.search(text)
    found = Page(text)
    assert found.count("script") == 1 + text.count('type="application/json"')
    assert {tag for tag, _ in found.tags}.isdisjoint({"iframe", "form", "link", "base", "img"})
    assert not [one for _, attrs in found.tags for one in attrs if one.startswith("on")]
    assert all(re.fullmatch(r"#[\w.-]*|#explore\?[\w.%&=*~+-]*", to) for to in found.values("href"))
    assert all(re.fullmatch(r"[A-Za-z][\w.-]*", one) for one in found.values("id"))
    assert len(set(found.values("id"))) == len(found.values("id"))
    assert "x" * 601 not in re.sub('href="[^"]*"', "", text)
    text.encode()


def _labels_and_models() -> RunResult:
    labels = [f"label {at}" for at in range(1200)]
    return built_with_findings(names(4), labels)


def _curves() -> RunResult:
    labels = [f"label {at}" for at in range(1200)]
    return replace(built(names(4), labels, curve="recall", gates="none"), metrics=())


def _judged() -> RunResult:
    run = judge_run(names(40), JUDGES)
    return replace(
        run,
        examples=[replace(one, verdicts=VERDICTS * 50) for one in run.examples],
        prompts=run.prompts * 50,
    )


def _compared() -> ComparedRuns:
    long = ShownText("response", "other words " * 2_000)
    samples = [replace(text_change(at % 400), texts=(long,)) for at in range(400)]
    rows = [row(f"m{at}", 0.5, 0.4, label="x" * 900) for at in range(3_000)]
    return texts_compared(
        changed=samples,
        comparisons=[*texts_compared().comparisons, *rows],
        only_first=["name " * 100] * 5_000,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "made",
    [
        _labels_and_models,
        _curves,
        _judged,
        _compared,
        huge_texts,
        lambda: classified(names(7), ("a", "b"), [f"key {at}" for at in range(15)]),
    ],
    ids=["labels", "curves", "judges", "compared", "texts", "keys"],
)
def test_sizes_are_bounded(made: Callable[[], RunResult | ComparedRuns]) -> None:
    found = made()
    text = page(found)
    assert len(text.encode()) < 3_000_000
    Page(text)
    assert len(markdown(found)) < 65_536
    assert len(terminal(found).split("\n")) < 90


def test_a_page_of_one_model_is_small() -> None:
    # 73 kB of it are the script that draws on a canvas.
    assert len(page(built(("m",))).encode()) < 230_000
