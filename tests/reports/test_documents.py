"""What holds for every report in every medium, whatever was run."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterable

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace
from rich.cells import cell_len

from tests.oracles.compared import row, text_change, texts_compared
from tests.reports.catalogue import COMPARED, HOSTILE_RUNS, RUNS, huge_texts, names
from tests.reports.conftest import built, built_with_findings
from tests.reports.judge_runs import JUDGES, VERDICTS, judge_run
from tests.reports.pages import Page, body, plain
from tests.reports.rendered import Rendered, markdown, page, terminal
from tests.reports.task_runs import classified
from valor_cli.reports.document import Items, Table
from valor_cli.reports.render.markdown import COLUMNS
from valor_cli.results import ComparedRuns, RunResult, ShownText

ALL: dict[str, Callable[[], RunResult | ComparedRuns]] = {**RUNS, **COMPARED}
HOSTILE = {f"hostile {name}": made for name, made in HOSTILE_RUNS.items()}
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
NUMBER = re.compile(r"[−+$≥<]?\d[\d,]*(?:\.\d+)?%?")


def _of(names: Iterable[str]) -> pytest.MarkDecorator:
    """Runs by name, one after the other: the reports of one are kept at a time."""
    return pytest.mark.parametrize("shown", list(names), indirect=True, scope="module")


every, tame, hostile = _of(ALL), _of(RUNS), _of(HOSTILE)
few_or_many = _of(name for name in ALL if not name.endswith((" of 3", " of 6")))
FILES = ["reports/report.html"]


@pytest.fixture(scope="module")
def shown(request: pytest.FixtureRequest) -> Rendered:
    """The run of that name, in all media."""
    return Rendered({**ALL, **HOSTILE}[request.param]())


def _tables_are_whole(text: str) -> bool:
    """Whether every row of each table has as many cells as its head."""
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        rows = table.splitlines()
        if len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) != 1:
            return False
    return True


def _numbers(text: str) -> set[str]:
    return set(NUMBER.findall(re.sub(r"… [\d,]+ more", "", text)))


@every
def test_the_verdict_comes_first(shown: Rendered) -> None:
    told = shown.document
    screen = shown.terminal(FILES, 1000)
    assert screen.startswith(f"{told.word}  {told.detail}\n")
    assert screen.split("\n")[1 + bool(told.alert)].startswith(told.title)
    assert shown.markdown.startswith(f"## {told.symbol} {told.word} · ")
    text = shown.page
    assert f"<title>{told.word} · {told.title} · valor</title>" in text
    assert f"{told.word} {told.detail}" in plain(text[text.index("<h1>") : text.index('"scope"')])


@every
def test_a_terminal_has_room_for_whole_numbers_and_names(shown: Rendered) -> None:
    wide = _numbers(shown.terminal(FILES, 1000))
    for width in (40, 80, 120):
        text = shown.terminal(FILES, width)
        assert max(map(cell_len, text.split("\n"))) <= width
        # What is narrow says less, and nothing else: no number is cut.
        assert _numbers(text) <= wide
        assert text.rstrip().endswith("reports/report.html")


@tame
def test_a_run_is_about_one_screen(shown: Rendered, request: pytest.FixtureRequest) -> None:
    lines = shown.terminal(FILES, 80).rstrip("\n").split("\n")
    name = request.node.callspec.params["shown"]
    everything = name.startswith("all of") or name.endswith(" 30")
    assert len(lines) <= (56 if everything else 42)


@every
def test_colour_repeats_the_words(shown: Rendered) -> None:
    coloured = shown.terminal(FILES, 80, colour=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == shown.terminal(FILES, 80)


@every
def test_markdown_is_whole_and_bounded(shown: Rendered) -> None:
    text = shown.markdown
    assert len(text) < 65_536
    assert _tables_are_whole(text)
    assert text.count("<details>") == text.count("</details>") == text.count("<summary>")
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    # No table is left as source, and no block is read as another's paragraph.
    assert "|--" not in html
    assert html.count("<table>") == len(re.findall(r"^\|[:|-]+$", text, re.MULTILINE))


@every
def test_a_page_is_whole_and_fetches_nothing(shown: Rendered) -> None:
    text = shown.page
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
def test_the_policy_names_the_hash_of_the_script(shown: Rendered) -> None:
    text = shown.page
    script = text[text.rindex("<script>") + 8 : text.rindex("</script>")]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text
    assert "default-src 'none'" in text
    assert "unsafe-eval" not in text


@every
def test_numbers_of_one_medium_stand_in_the_others(shown: Rendered) -> None:
    """What a terminal says of values in tables, a page and Markdown say in the same digits."""
    on_page = plain(body(shown.page)).replace("\u200b", "")
    written = re.sub(r"\\(.)", r"\1", shown.markdown.replace("&lt;", "<"))
    for section in shown.document.sections:
        for block in section.blocks:
            if isinstance(block, Table) and block.screen[1]:
                told = {
                    part
                    for cells in block.rows[: block.screen[0]]
                    for cell in cells
                    for part in (cell.text, cell.small)
                    if NUMBER.search(part)
                }
                assert {one for one in told if one not in on_page} == set()
                if len(block.columns) <= COLUMNS:
                    assert {one for one in told if one not in written} == set()
            if isinstance(block, Items) and block.screen[1] and block.page:
                assert {one.text for one in block.items[:1] if one.text not in on_page} == set()


@tame
def test_headline_values_are_those_of_the_run(shown: Rendered) -> None:
    run = shown.run
    assert isinstance(run, RunResult)
    values = {
        f"{row.value:.3f}"
        for row in run.metrics
        if row.label is None and row.slice is None and row.value is not None
    }
    results = next(one for one in shown.document.sections if one.anchor == "results")
    told = {
        cell.text
        for block in results.blocks[:1]
        if isinstance(block, Table)
        for cells in block.rows
        for cell in cells[1:]
        if cell.value is not None and "." in cell.text and cell.text[0].isdigit()
    }
    others = {f"{row.other_value:.3f}" for row in run.comparisons if row.other_value is not None}
    assert told <= values | others


@few_or_many
def test_the_same_run_makes_the_same_bytes(shown: Rendered) -> None:
    again = Rendered(shown.run)
    assert shown.page == again.page
    assert shown.markdown == again.markdown
    assert shown.terminal(FILES) == again.terminal(FILES)


@hostile
def test_hostile_words_stay_words_on_a_terminal(shown: Rendered) -> None:
    for width in (40, 80):
        text = shown.terminal(["r.html"], width)
        assert not UNSEEN.search(text)
        assert max(map(cell_len, text.split("\n"))) <= width
        assert len(text) < 60_000


def test_a_terminal_reads_no_markup() -> None:
    assert "[bold]shout[/bold]" in terminal(built(warnings=["[bold]shout[/bold]"]))


@hostile
def test_hostile_words_stay_words_in_markdown(shown: Rendered) -> None:
    text = shown.markdown
    assert not UNSEEN.search(text)
    assert len(text) < 65_536
    assert _tables_are_whole(text)
    own = {"details", "summary", "b", "br", "kbd", "sub"}
    assert set(re.findall(r"</?([a-z]+)", text)) <= own
    assert text.count("<details>") == text.count("</details>") == text.count("<summary>")
    assert not re.search(r"(?<!\w)@(?!&#8203;)", text)
    assert "://" not in text
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    assert not re.search("<(script|code|a|img|h1|pre|mark|svg)[ >]", html)
    assert not any("\\" in told for told in re.findall("<summary>(.*?)</summary>", text))


@hostile
def test_hostile_words_stay_words_on_a_page(shown: Rendered) -> None:
    text = shown.page
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
    # The script, the rows of tables, and 150,000 numbers of curves, whatever the run has.
    assert len(text.encode()) < 3_600_000
    Page(text)
    assert len(markdown(found)) < 65_536
    assert len(terminal(found).split("\n")) < 90


def test_a_page_of_one_model_is_small() -> None:
    # 73 kB of it are the script that draws on a canvas.
    assert len(page(built(("m",))).encode()) < 230_000
