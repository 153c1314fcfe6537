"""The HTML report of classification and segmentation as text; test_browser_tasks.py opens it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from msgspec.structs import replace

from tests.reports.conftest import HOSTILE
from tests.reports.render.html.test_report import _Page
from tests.reports.task_runs import (
    THINGS,
    classified,
    overlays,
    renamed,
    segmented,
)
from valor_cli.reports.charts.curves import ROC, curves
from valor_cli.reports.render.html.example_dialogs import EXAMPLES, LISTED
from valor_cli.reports.render.html.report import to_html
from valor_cli.results import EmbeddedImages, Picture, RunResult

JPEG = b"\xff\xd8picture"


def _sections(text: str) -> set[str]:
    return set(re.findall(r'<h2 id="(\w+)">', text))


def _cells(text: str) -> list[list[str]]:
    """The texts of the first matrix, row by row, headings included."""
    start = text.index('class="matrix"')
    body = re.findall(r"<tr.*?</tr>", text[start : text.index("</table>", start)], re.DOTALL)
    return [
        [re.sub("<.*?>", "", one) for one in re.findall("<t[dh].*?</t[dh]>", row)] for row in body
    ]


@pytest.mark.parametrize("pictured", [True, False])
def test_sections_of_classification(pictured: bool) -> None:
    run = classified(pictured=pictured)
    files = [one.picture.file for one in run.examples if one.picture]
    text = to_html(run, EmbeddedImages({file: JPEG for file in files if file}))
    page = _Page(text)
    assert not page.open
    assert _sections(text) == {
        "results",
        "samples",
        "confusion",
        "calibration",
        "labels",
        "curves",
        "run",
    }
    links = {attrs["href"] for tag, attrs in page.tags if tag == "a"}
    links = {link for link in links if link and not link.startswith("#sample-")}
    assert links == {"#main", *(f"#{name}" for name in _sections(text))}
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert not re.search(r"(src|href)=\"(?!#|data:)", text)
    assert "Image" not in re.sub("<(style|script).*?</.*?>", "", text, flags=re.DOTALL)


def test_sections_of_segmentation() -> None:
    run = segmented()
    for pictures in (overlays(run), EmbeddedImages()):
        text = to_html(run, pictures)
        page = _Page(text)
        assert not page.open
        assert _sections(text) == {
            "results",
            "samples",
            "confusion",
            "worst",
            "each",
            "labels",
            "run",
        }
        assert page.count("img") == len(pictures.overlays)
        assert text.count('<figure class="card" id=') == 24
        assert '<th scope="col" rowspan="2">Pixels</th>' in text


def test_roc_stands_with_the_curves_of_its_label_and_key() -> None:
    run = classified(labels=("red", "blue"), keys=("color", "shape"))
    drawn = curves(run)
    assert drawn.titles == ("red (color)", "blue (color)", "red (shape)", "blue (shape)")
    assert (drawn.any_roc, drawn.reasons, drawn.counted) == (True, False, (0, 1))
    data = json.loads(drawn.data)
    assert [len(data[name]) for name in ("curves", "counts", "rocs")] == [4, 4, 4]
    model, area, *at = data["rocs"][2][1]
    of_shape = {"label_key": "shape"}
    row = next(
        one
        for one in run.metrics
        if (one.metric, one.label, one.model) == ("roc_auc", "red", "bayes")
        and one.parameters == of_shape
    )
    curve = next(
        one
        for one in run.curves
        if (one.metric, one.label, one.model) == ("roc_auc", "red", "bayes")
        and one.parameters == of_shape
    )
    assert (model, area) == (1, row.value)
    for index, name in zip(at, ROC, strict=True):
        kept = data["columns"][index]
        pairs = zip(kept, curve.points[name], strict=True)
        assert all(a == b or abs(a - b) <= 1e-4 for a, b in pairs)
    assert data["columns"][at[0]][0] is None  # reached by no score


def test_roc_alone_has_a_chart_and_no_empty_ones() -> None:
    run = classified(("m",))
    alone = [one for one in run.curves if one.metric == "roc_auc"]
    text = to_html(replace(run, curves=alone))
    assert 'id="roc"' in text
    assert 'id="stage"' not in text
    assert "hallucination" not in re.sub("<script.*?</script>", "", text, flags=re.DOTALL)
    assert len(re.findall(r'<path class="m0" data-model="0" d="M[\d. L]+"/>', text)) >= 3


def test_an_area_that_is_undefined_is_null() -> None:
    run = classified(("m",), ("a",))
    metrics = [replace(one, value=None) for one in run.metrics if one.metric == "roc_auc"]
    data = json.loads(curves(replace(run, metrics=metrics)).data)
    assert data["rocs"][0][0][:2] == [0, None]


def test_sides_without_anything_are_not_shown() -> None:
    run = classified(("m",), ("cat", "dogs"))
    run = replace(run, tables=[replace(run.tables[0], unmatched_ground_truths=(0, 3))])
    rows = _cells(to_html(run))
    assert [row[0] for row in rows[1:]] == ["cat", "dogs"]
    assert rows[0][-1] == "no prediction"
    tables = [replace(one, unmatched_ground_truths=(0, 0)) for one in run.tables]
    rows = _cells(to_html(replace(run, tables=tables)))
    assert rows[0][-1] == "dogs"
    assert {len(row) for row in rows} == {3}
    tables = [replace(one, unmatched_predictions=(0, 4)) for one in tables]
    rows = _cells(to_html(replace(run, tables=tables)))
    assert rows[-1] == ["no ground truth", "", "4"]


def test_cells_of_pixels_are_parts_of_their_row() -> None:
    run = segmented(("m",), ("road", "car"))
    table = replace(
        run.tables[0],
        matrix=((30_000_000, 10_000_000), (100, 999_900)),
        unmatched_ground_truths=(0, 0),
        unmatched_predictions=(500_000, 0),
        ious=((0.7317, 0.2439), (0.0, 0.0909)),
        unmatched_ground_truth_ratios=(0.0, 0.0),
        unmatched_prediction_ratios=(0.0164, 0.0),
    )
    text = to_html(replace(run, tables=(table,)))
    # 30 of 40 million, 100 of a million; 0.5 of the 30.5 million that are predicted as road
    assert _cells(text)[1:] == [
        ["road", "75.0", "25.0"],
        ["car", "&lt;0.1", "&gt;99.9"],
        ["no ground truth", "1.6", ""],
    ]
    assert 'title="10,000,000 px, 25.0%, IoU 0.244"' in text
    assert 'title="500,000 px, 1.6%"' in text


def test_large_counts_are_short_and_told_in_full() -> None:
    run = classified(("m",), ("cat", "dog"))
    tables = [replace(run.tables[0], matrix=((12_345_678, 5), (0, 99_999)))]
    text = to_html(replace(run, tables=tables, examples=()))
    assert [row[1:3] for row in _cells(text)[1:]] == [["12.3M", "5"], ["", "99,999"]]
    assert 'title="12,345,678, ' in text


def _dialogs(text: str) -> list[str]:
    return text.split("<div popover ")[1:]


def test_cells_without_drawings_list_their_samples() -> None:
    run = classified(("m",), ("cat", "dog"))
    (first, *_) = run.examples
    run = replace(run, examples=[replace(first, sample_id=f"s{i}") for i in range(12)])
    (dialog,) = _dialogs(to_html(run))
    names = re.findall(r'<th scope="row"><bdi>(.*?)</bdi>', dialog)
    assert names == [f"s{i}" for i in range(LISTED)]
    row = "<td><bdi>cat</bdi></td><td><bdi>dog</bdi></td>" + '<td class="num">0.930</td>'
    assert dialog.count(row) == LISTED
    assert "<svg" not in dialog[: dialog.index("</table></div>")]


def test_cells_with_photos_show_them() -> None:
    run = classified(("m",), ("cat", "dog"))
    (first, *_) = run.examples
    sized = [replace(first, picture=Picture(f"{i}.jpg", 28, 28)) for i in range(5)]
    unsized = [replace(first, picture=Picture(f"{i}.jpg", None, None)) for i in range(5)]
    photos = EmbeddedImages({f"{i}.jpg": JPEG for i in range(5)})
    (dialog,) = _dialogs(to_html(replace(run, examples=sized), photos))
    assert dialog.count('<use href="#p') == dialog.count('class="card"') == EXAMPLES
    assert dialog.count("objects drawn") == 0
    (dialog,) = _dialogs(to_html(replace(run, examples=unsized), photos))
    assert dialog.count('<img class="thumb" alt="Picture of ') == EXAMPLES
    (dialog,) = _dialogs(to_html(replace(run, examples=sized)))
    assert 'class="listed"' in dialog


def test_overlays_are_embedded_or_linked() -> None:
    run = segmented()
    made = [*overlays(run).overlays.items()]
    few = EmbeddedImages(
        overlays=dict(made[:3]),
        overlay_links={key: "report_files/images/overlay-0.png" for key, _ in made[3:5]},
        notes=["7 images of errors are left out: <why>."],
    )
    text = to_html(run, few)
    assert text.count('<button type="button" class="overlay"') == 5
    assert text.count('src="report_files/images/overlay-0.png"') == 2
    assert "img-src data: 'self';" in text
    assert "7 images of errors are left out: &lt;why&gt;." in text
    assert "img-src data:;" in to_html(run, overlays(run))


def test_overlays_say_what_they_are() -> None:
    run = segmented(("m",))
    text = to_html(run, overlays(run))
    name = "frankfurt/frankfurt_000000_000000"
    alt = f'<img alt="Image {name}: ground truth, prediction and errors side by side"'
    assert text.count(alt) == 1
    assert f'aria-expanded="false" aria-label="Image {name}, larger"' in text
    panels = "<span>ground truth</span><span>prediction</span><span>errors in red</span>"
    assert text.count(panels) == 12
    assert "<span>mean IoU <b>0." in text
    assert "Images with the lowest mean IoU. Press a picture" in text


def test_the_colours_of_labels_are_explained() -> None:
    run = segmented(("m",))
    shown = replace(overlays(run), colours={"sky <b>": "#0072b2", "road": "#e6be3c"})
    text = to_html(run, shown)
    assert '<path fill="#0072b2" d="M0 0h12v12H0z"/></svg><bdi>sky &lt;b&gt;</bdi>' in text
    many = replace(shown, colours={f"label {at}": "#000000" for at in range(50)})
    assert "<li>and 10 more labels</li>" in to_html(run, many)
    assert 'class="patch"' not in to_html(run, EmbeddedImages(colours=shown.colours))


def test_the_page_of_a_saved_run_has_no_samples() -> None:
    run = replace(segmented(), samples=())
    text = to_html(run)
    assert 'id="tables-of-samples"' not in text
    assert "<span>mean IoU <b>0." in text
    assert 'class="cards plain"' in text


def test_calibration_stands_without_scripts() -> None:
    text = to_html(classified())
    text = text[: text.rindex("<script>")]
    assert text.count('aria-label="Reliability of ') == 2
    assert 'aria-label="Reliability of bayes: overconfident in 12 of 12 bins"' in text
    assert text.count('<rect class="over"') + text.count('<rect class="under"') == 2 * 12
    table = text[text.index('<table class="bins">') :]
    assert table[: table.index("</table>")].count('<th scope="row">') == 15


def test_many_models_and_settings_are_bounded() -> None:
    run = classified([f"m{i}" for i in range(7)], ("a", "b"), [f"key {i}" for i in range(15)])
    text = to_html(run)
    assert "The first 12 of 15; results.json has all of them." in text
    assert text.count('aria-label="Reliability of ') == 12 * 4
    assert text.count('<table class="bins">') == 12 * 7
    assert len(text) < 3_000_000


def _hostile(run: RunResult) -> RunResult:
    bad = HOSTILE[8]
    return replace(
        run,
        examples=[
            replace(
                one,
                sample_id=HOSTILE[index % 12],
                picture=Picture(HOSTILE[index % 12], 64, 48),
                objects=[replace(thing, label=bad, id=HOSTILE[0]) for thing in one.objects],
            )
            for index, one in enumerate(run.examples)
        ],
        samples=[
            replace(one, sample_ids=[HOSTILE[i % 12] for i in range(len(one.sample_ids))])
            for one in run.samples
        ],
    )


@pytest.mark.parametrize("task", ["classification", "segmentation"])
def test_hostile_words_stay_words(task: str) -> None:
    names: Any = dict(zip(THINGS, HOSTILE, strict=False))
    run = renamed(segmented(HOSTILE[:2]), names)
    if task == "classification":
        run = classified(HOSTILE[:2], HOSTILE, (HOSTILE[0], HOSTILE[1]), pictured=True)
    run = _hostile(run)
    photos = {HOSTILE[0]: b"</svg><script>"}
    drawn = {(model, file): b"\x89PNG</script>" for model in run.models for file in HOSTILE}
    text = to_html(run, EmbeddedImages(photos, drawn))
    page = _Page(text)
    assert not page.open
    assert page.count("script") == 3  # the data of curves and of the explorer, and ours
    assert not [attrs for _, attrs in page.tags if any(name.startswith("on") for name in attrs)]
    assert "\x1b" not in text
    assert "\u202e" not in text
