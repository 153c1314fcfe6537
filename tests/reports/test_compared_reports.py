"""A comparison as terminal text, Markdown, JSON and HTML."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import math
import re
from collections.abc import Callable

import pytest
from msgspec.structs import replace
from rich.console import Console

from tests.oracles.compared import (
    box,
    changed,
    classification_compared,
    detection_compared,
    equal_compared,
    hostile_compared,
    models_compared,
    nothing_compared,
    row,
    text_change,
    texts_compared,
    unpaired_compared,
)
from tests.reports.render.html.test_report import _Page
from valor_cli.reports.render.html.compared import compared_html
from valor_cli.reports.render.markdown.compared import compared_markdown
from valor_cli.reports.render.terminal.compared import compared_summary
from valor_cli.results import ComparedRuns, ShownText
from valor_cli.results.document import compared_json

ALL = (
    texts_compared,
    detection_compared,
    classification_compared,
    models_compared,
    equal_compared,
    unpaired_compared,
    nothing_compared,
    hostile_compared,
)

every = pytest.mark.parametrize("made", ALL, ids=[made.__name__ for made in ALL])


def _shown(compared: ComparedRuns, width: int = 100, *, colour: bool = False) -> str:
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=colour, color_system="truecolor" if colour else None
    )
    console.print(compared_summary(compared, ["out/compared.html"]))
    return out.getvalue()


def _cells(text: str, first: str) -> list[str]:
    line = next(line for line in text.split("\n") if line.startswith(first))
    return re.split(r" {2,}", line.strip())


@every
@pytest.mark.parametrize("width", [80, 100])
def test_a_terminal_has_room(made: Callable[[], ComparedRuns], width: int) -> None:
    lines = _shown(made(), width).rstrip("\n").split("\n")
    assert max(map(len, lines)) <= width
    assert len(lines) <= 100
    assert not re.search("[\x1b\u202e\x00]", "\n".join(lines))


def test_a_line_says_all_of_a_value() -> None:
    text = _shown(texts_compared())
    assert text.startswith("WORSE  2 of 7 headline values")
    assert _cells(text, "exact_match") == [
        "exact_match", "0.580", "0.500", "−0.080 [−0.130, −0.030]", "0.020", "g −0.25", "✗ worse",
        "200",
    ]  # fmt: skip
    assert _cells(text, "custom_judge") == [
        "custom_judge", "–", "0.800", "–", "–", "–", "? not tested", "–",
    ]  # fmt: skip
    assert "  custom_judge: reports/monday has no value" in text
    # what else is significant stands below, with the mark of a bare p-value
    assert _cells(text, "rouge_l   ")[0] == "rouge_l"
    assert "0.001*" in text
    assert "… 1 further value in the reports" in text


def test_a_narrow_terminal_keeps_the_verdict() -> None:
    text = _shown(texts_compared(), 70)
    assert _cells(text, "exact_match") == [
        "exact_match", "0.580", "0.500", "−0.080", "0.020", "✗ worse",
    ]  # fmt: skip
    assert _cells(_shown(texts_compared(), 60), "exact_match")[3:] == ["−0.080", "✗ worse"]
    assert _cells(_shown(texts_compared(), 44), "exact_match") == [
        "exact_match", "0.580", "0.500", "✗ worse",
    ]  # fmt: skip


def test_colour_repeats_the_words() -> None:
    text = _shown(texts_compared(), colour=True)
    assert "\x1b[31m✗ worse" in text
    assert "\x1b[32m✓ better" in text
    assert re.sub(r"\x1b\[[0-9;]*m", "", text) == _shown(texts_compared())


def test_answers_begin_before_the_first_word_that_differs() -> None:
    same = "word " * 200
    texts = {
        "texts": (ShownText("response", same + "new end"),),
        "other_texts": (ShownText("response", same + "old end"),),
    }
    text = _shown(texts_compared(changed=[text_change(0, **texts)]))
    assert "A … word word" in text
    assert "word new end" in text
    assert text.count("word ") < 40


def test_many_pairs_stand_in_a_line_each() -> None:
    lines = _shown(models_compared(tuple(f"m{at}" for at in range(7)))).split("\n")
    told = [line for line in lines if line.endswith("2 worse, 1 better, 1 equal, 2 cannot tell")]
    assert len(told) == 3 + 12
    assert "  … 6 more pairs" in lines  # of 21
    assert len(lines) < 100


@every
def test_markdown_is_bounded_and_whole(made: Callable[[], ComparedRuns]) -> None:
    text = compared_markdown(made())
    assert text.startswith("## ")
    assert len(text) < 65_536
    assert text.count("<details>") == text.count("</details>")
    assert not re.search("[\x1b\u202e\x00]", text)
    tables = [line for line in text.split("\n") if line.startswith("|")]
    widths = [len(re.findall(r"(?<!\\)\|", line)) for line in tables]
    starts = [at for at, line in enumerate(tables) if line.startswith("|:--")]
    for at in starts:
        assert widths[at] == widths[at - 1]


def test_markdown_of_hostile_words_holds_no_markup() -> None:
    text = compared_markdown(hostile_compared())
    assert set(re.findall(r"<(\w+)", text)) <= {"details", "summary", "b", "sub"}
    assert "@octocat" not in text
    # a line that begins with a tag is HTML, in which nothing else is markup
    lines = [line for line in text.split("\n") if not line.startswith("<details>")]
    assert not re.search(r"(?<!\\)`|(?<!\\)\[bold", "\n".join(lines))


def test_markdown_marks_the_words_that_differ() -> None:
    text = compared_markdown(texts_compared())
    assert "- **A** response: The harbour bridge was opened <b>on 19 March 1932</b>." in text
    assert "- **B** response: The harbour bridge was opened <b>in the 1950s</b>." in text
    assert "✗ **worse** | 0.820 | 0.710 | −0.110 [−0.160, −0.061] | &lt;0.001 | d −0.41" in text


def test_markdown_says_what_it_leaves_out() -> None:
    long = ShownText("response", "other words " * 300)
    samples = [replace(text_change(at), texts=(long,)) for at in range(200)]
    text = compared_markdown(texts_compared(changed=samples))
    assert "more in compared.json." in text
    assert len(text) < 40_000


@every
def test_json_holds_the_record(made: Callable[[], ComparedRuns]) -> None:
    compared = made()
    document = json.loads(compared_json(compared))
    assert list(document) == list(ComparedRuns.__struct_fields__)
    assert document["worse"] == compared.worse
    assert len(document["comparisons"]) == len(compared.comparisons)
    assert compared_json(made()) == compared_json(compared)


def test_json_refuses_nan() -> None:
    bad = texts_compared(comparisons=[row("a", math.nan, 0.5)])
    with pytest.raises(ValueError, match=r"comparisons\.0\.value: NaN"):
        compared_json(bad)
    change = replace(text_change(0).changes[0], value=math.inf)
    with pytest.raises(ValueError, match=r"changed\.0\.changes\.0\.value: NaN"):
        compared_json(texts_compared(changed=[text_change(0, changes=(change,))]))


def _named(page: _Page, tag: str) -> list[dict[str, str | None]]:
    return [attrs for name, attrs in page.tags if name == tag]


@every
def test_a_page_is_whole_and_fetches_nothing(made: Callable[[], ComparedRuns]) -> None:
    text = compared_html(made())
    page = _Page(text)
    assert not page.open
    assert [len(_named(page, tag)) for tag in ("h1", "main", "script", "style")] == [1, 1, 1, 1]
    ids = [str(attrs["id"]) for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {str(link["href"]).removeprefix("#") for link in _named(page, "a")} <= set(ids)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|url\(|@import|<link|<img| src=", text)
    assert not [attrs for _, attrs in page.tags if any(name.startswith("on") for name in attrs)]
    assert not re.search("[\x1b\u202e\x00]", text)
    script = text[text.rindex("<script>") + 8 : text.rindex("</script>")]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text
    assert "built-in" not in text  # a name that Jinja took for a method


def test_a_page_has_both_answers_and_a_link_to_each_sample() -> None:
    text = compared_html(texts_compared())
    page = _Page(text)
    cards = _named(page, "article")
    assert len(cards) == 12
    assert cards[3]["id"] == "sample-faq-003"
    assert "opened <del>on 19 March 1932</del>. It carries <del>eight</del> lanes" in text
    assert "opened <ins>in the 1950s</ins>. It carries <ins>six</ins> lanes" in text
    # two headline values and a slice are worse, the words in the samples apart
    values = text[: text.index('id="changes"')]
    assert values.count("</span> worse</span>") == 3
    assert 'title="lower is better"' in values


def test_a_page_draws_differences_about_zero() -> None:
    """Of faithfulness −0.11 [−0.16, −0.061]; −0.16 is the farthest of its unit: 60 − 56 = 4."""
    text = compared_html(texts_compared())
    at = text.index('class="forest worse"')
    assert (
        '<path class="reach" d="M4.0 8H38.7"/>' in text[at : at + 300]
    )  # 60 − 56·0.061/0.16 = 38.65
    assert '<circle cx="21.5"' in text[at : at + 300]  # 60 − 56·0.11/0.16


def test_a_page_draws_objects_of_both_runs() -> None:
    text = compared_html(detection_compared())
    assert text.count('class="drawing"') == 10
    assert text.count('class="o missed"') == 5
    assert ">N</b> not found" in text


def _image(**rest: object) -> str:
    sample = replace(detection_compared().changed[0], **rest)  # type: ignore[arg-type]
    return compared_html(detection_compared(changed=[sample]))


def test_a_card_says_which_side_has_no_objects() -> None:
    text = _image(other_objects=())
    assert text.count('class="drawing"') == 1
    assert '<figcaption class="field"><bdi>B</bdi></figcaption>' in text
    assert '<p class="note"><bdi>A</bdi>: no objects in its results.json</p>' in text
    text = _image(objects=(), other_objects=())
    assert 'class="drawing"' not in text
    assert "no objects in" not in text


def test_a_card_says_which_side_shows_part_of_the_ground_truth() -> None:
    """Of three objects A shows the first, under the kind of a cell of a matrix."""
    one = box("ground_truth", 0, "cat", 30.0, "unmatched_ground_truth")
    text = _image(other_objects=(one,))
    assert "<bdi>A</bdi> · some of its objects</figcaption>" in text
    assert "<bdi>B</bdi></figcaption>" in text
    # nothing met it, and one of B's three
    assert text.count('class="o missed"') == 2


def test_a_metric_of_several_values_is_named_once() -> None:
    scores = [
        replace(changed("image_scores", value, 1.0), output=output)
        for output, value in (("f1", 0.0), ("precision", 0.1), ("recall", 0.2))
    ]
    sample = replace(detection_compared().changed[0], changes=(*scores, changed("iou", 0.9, 0.4)))
    compared = detection_compared(changed=[sample])
    line = "image_scores: f1 1.000 → 0.000, precision 1.000 → 0.100, recall 1.000 → 0.200"
    assert f"  0  worse  {line}, 1 more\n" in _shown(compared)
    assert "  0  worse  image_scores f1 1.000 → 0.000, 3 more\n" in _shown(compared, 70)
    assert f"- 0 · worse {line}; better iou 0.400 → 0.900" in compared_markdown(compared)


def test_a_card_tells_the_widest_changes_and_folds_the_others() -> None:
    changes = tuple(changed(f"m{at}", 0.1, 0.9 - at / 10) for at in range(6))
    text = compared_html(texts_compared(changed=[text_change(0, changes=changes)]))
    shown, folded = text[text.index("<article") :].split("2 further values</summary>")
    assert [f"<bdi>m{at}</bdi>" in shown for at in range(6)] == [True] * 4 + [False] * 2
    assert folded.count("data-size=") == 2


def test_metrics_by_which_nothing_differs_stand_apart() -> None:
    text = compared_html(texts_compared())
    table = text[text.index('id="changes"') : text.index('id="changed"')]
    assert table.count('<tr><th scope="row">') == 5
    assert "No sample differs by <bdi>perplexity</bdi>." in table


def test_a_page_is_bounded() -> None:
    long = ShownText("response", "other words " * 2_000)
    samples = [replace(text_change(at % 400), texts=(long,)) for at in range(400)]
    rows = [row(f"m{at}", 0.5, 0.4, label="x" * 900) for at in range(3_000)]
    compared = texts_compared(
        changed=samples,
        comparisons=[*texts_compared().comparisons, *rows],
        only_first=["name " * 100] * 5_000,
    )
    text = compared_html(compared)
    assert len(text) < 3_000_000
    assert "more are left out to keep this page small" in text
    assert "2,502 more stand in compared.json" in text  # of 3,002 further ones 500
