"""The HTML report as text: escaping, structure, size. test_browser.py opens it."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser

import pytest
from msgspec.structs import replace

from tests.reports.conftest import HOSTILE, LABELS
from valor_cli.reports.charts.curve_charts import figures
from valor_cli.reports.charts.curves import COUNTS, LIMIT, curves
from valor_cli.reports.charts.plots import path
from valor_cli.reports.render.html.error_views import IMAGES
from valor_cli.reports.render.html.example_dialogs import CASES, MISTAKES
from valor_cli.reports.render.html.line_tables import CELLS, views
from valor_cli.reports.render.html.report import to_html
from valor_cli.reports.sections.grids import Measure
from valor_cli.results import EmbeddedImages, Picture, RunResult

Build = Callable[..., RunResult]


class _Page(HTMLParser):
    """Tags, their attributes, and whether every tag that opens also closes."""

    VOID = frozenset({"meta", "input", "path", "rect", "wbr", "link", "br", "img", "use", "image"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)


def test_structure(two_models: RunResult) -> None:
    page = _Page(to_html(two_models))
    assert not page.open
    assert [page.count(tag) for tag in ("h1", "main", "header", "nav")] == [1, 1, 1, 1]
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    links = {attrs["href"] for tag, attrs in page.tags if tag == "a"}
    assert {link.removeprefix("#") for link in links if link} <= set(ids)
    # two charts for each of the three labels drawn without scripts
    assert sum(attrs.get("role") == "img" for tag, attrs in page.tags if tag == "svg") == 6


def test_nothing_is_fetched(two_models: RunResult, hostile: RunResult, found: Build) -> None:
    pictures = EmbeddedImages({"000000000000.jpg": b"\xff\xd8picture"})
    for run in (two_models, hostile, found()):
        text = to_html(run, pictures)
        assert {text.partition(":")[0] for text in re.findall(r'href="([^#].*?)"', text)} <= {
            "data"
        }
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
        assert not re.search(r"url\(|@import|<link|<img|<iframe| src=", text)


def test_the_policy_names_the_script_s_hash(two_models: RunResult) -> None:
    text = to_html(two_models)
    script = text[text.rindex("<script>") + 8 : text.rindex("</script>")]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text
    assert "unsafe-eval" not in text


def test_hostile_words_stay_words(hostile: RunResult) -> None:
    text = to_html(hostile)
    page = _Page(text)
    assert not page.open
    assert page.count("script") == 2  # the data and ours
    assert not [attrs for _, attrs in page.tags if any(name.startswith("on") for name in attrs)]
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "x" * 601 not in text  # a warning's length
    assert "&lt;script&gt;" in text


def test_curve_data_is_numbers_alone(two_models: RunResult) -> None:
    text = to_html(two_models)
    found = re.search(r'<script type="application/json" id="curve-data">(.*?)</script>', text)
    assert found
    data = json.loads(found[1])
    assert set(re.findall(r'"(\w+)"', found[1])) <= {
        "plot",
        "columns",
        "curves",
        "counts",
        "rocs",
        *data["plot"],
    }
    assert len(data["curves"]) == 80
    curve = two_models.curves[0]
    model, thresholds, recall, _, f1 = data["curves"][0][0]
    assert model == 0
    assert data["columns"][thresholds] == curve.points["score_threshold"]
    pairs = zip(data["columns"][recall], curve.points["recall"], strict=True)
    assert all(abs(kept - full) <= 1e-5 for kept, full in pairs if full is not None)
    assert len(data["columns"][f1]) == 19


def test_precision_of_nothing_predicted_is_no_point(build: Build) -> None:
    run = build(("m",), ("cat",))
    points = {**run.curves[0].points, "tp": [0.0] * 19, "fp": [0.0] * 19, "precision": [0.0] * 19}
    text = to_html(replace(run, curves=(replace(run.curves[0], points=points),)))
    assert f"[{','.join(['null'] * 19)}]" in text


def test_scores_of_recalls_never_reached_are_null(build: Build) -> None:
    run = build(("m",), ("cat", "dog"), curve="recall")
    recall = run.curves[0].points["recall"]
    points = {
        "cat": {**run.curves[0].points, "score": [0.9, 0.5, *[None] * 99]},
        "dog": {**run.curves[1].points, "precision": [0.0] * 101, "score": [None] * 101},
    }
    run = replace(run, curves=tuple(replace(c, points=points[c.label or ""]) for c in run.curves))
    drawn = curves(run)
    data = json.loads(drawn.data)
    scores = [data["columns"][lines[0][1]] for lines in data["curves"]]
    assert scores == [points["cat"]["score"], points["dog"]["score"]]
    assert [lines[0][4] for lines in data["curves"]] == [-1, -1]
    for choice in drawn.drawn:  # precision stands at every recall, whatever the score
        (chart,) = figures(choice, ("m",))
        (line,) = re.findall('<path class="m0" data-model="0" d="(.*?)"', chart.drawing.body)
        assert (chart.kind, len(re.findall("[ML]", line))) == ("pr", len(recall))
    assert not _Page(to_html(run)).open


def test_f1_is_drawn_where_it_and_its_score_exist(build: Build) -> None:
    assert path([0.1, None, 0.3, 0.4], [0.5, 0.5, 0.5, None]).count("M") == 2
    curve = build(("m",), ("cat",)).curves[0]
    nulls = replace(curve, points={**curve.points, "score_threshold": [None] * 19})
    bare = {name: column for name, column in curve.points.items() if name != "score_threshold"}
    for made in (nulls, replace(curve, points=bare)):
        drawn = curves(replace(build(("m",), ("cat",)), curves=(made,)))
        found = {one.kind: one.drawing.body for one in figures(drawn.drawn[0], ("m",))}
        assert '<path class="m0" data-model="0" d="M' not in found.get("f1", "")
        assert '<path class="m0" data-model="0" d="M' in found["pr"]


def test_columns_make_a_curve_not_its_metric_s_name(build: Build) -> None:
    run = build(("m",), ("cat",))
    other = replace(run.curves[0], metric="operating_points")
    loss = replace(other, metric="calibration", points={"confidence": [0.5], "accuracy": [0.4]})
    assert curves(replace(run, curves=(other, loss))).titles == ("cat",)
    titles = curves(replace(run, curves=(*run.curves, other, loss))).titles
    assert titles == ("pr_curve, cat", "operating_points, cat")


def test_best_and_undefined_are_marked(two_models: RunResult) -> None:
    text = to_html(two_models)
    assert '<b class="best">0.505<span class="vh"> best</span></b>' in text
    assert '<td class="na" title="no ground truth">–</td>' in text


def test_many_models_are_ranked_in_rows(build: Build) -> None:
    text = to_html(build([f"model-{i}" for i in range(6)], ()))
    board = text[text.index('class="board ranked"') :]
    names = re.findall(r"<bdi>(model-\d)</bdi>", board[: board.index("</table>")])
    # model-1 has 0.505, each later one 0.013 less, model-0 has 0.371
    assert names == ["model-1", "model-2", "model-3", "model-4", "model-5", "model-0"]


def test_the_label_table_is_bounded(build: Build) -> None:
    labels = [f"label {i}" for i in range(1000)]
    run = replace(build(tuple("abcd"), labels, gates="none"), curves=())
    text = to_html(run)
    shown = CELLS // (4 * 7)
    assert text.count('<th scope="row" class="name"><bdi>label ') == shown
    assert f"The first {shown} of 1000 labels" in text
    assert len(text) < 3_000_000


def test_sizes(build: Build) -> None:
    # 73 kB of them are the script that draws on a canvas
    assert len(to_html(build(("m",)))) < 230_000
    four = to_html(build(tuple("abcd"), curve="recall"))
    assert len(four.encode()) < 800_000


def test_curves_are_bounded(build: Build) -> None:
    run = build(tuple("abcd"), [f"label {i}" for i in range(1200)], curve="recall", gates="none")
    text = to_html(replace(run, metrics=()))
    assert len(text) < 3_000_000
    assert re.search(r"The first [\d]+ of 1200 curves", text)
    assert LIMIT < 1200 * 4 * 202


def test_a_run_without_anything(two_models: RunResult) -> None:
    text = to_html(replace(two_models, metrics=(), curves=(), gates=(), models=("m",), data={}))
    assert not _Page(text).open
    assert "No overall values" in text


def test_errors_confusion_and_worst_images(found: Build) -> None:
    run = found()
    text = to_html(run, EmbeddedImages({"000000000000.jpg": b"\xff\xd8picture"}))
    page = _Page(text)
    assert not page.open
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    targets = {attrs["popovertarget"] for _, attrs in page.tags if "popovertarget" in attrs}
    assert targets == {name for name in ids if name and re.fullmatch(r"[ce]\d+", name)}
    assert {f'<h2 id="{name}">' in text for name in ("errors", "confusion", "worst")} == {True}
    assert text.count("data:image/jpeg;base64,") == 2  # of drawings and of the explorer
    # the same image is among the worst of both models
    assert text.count('<use href="#p0"/>') >= 2
    assert "−0.121" in text
    shown = text.count('<figure class="card" id=')
    assert shown == 2 * IMAGES + 2 * CASES + 2 * 6 * 3
    assert "40 more labels, confused less, stand together" in text


def test_every_kind_of_error_opens_its_examples(found: Build) -> None:
    run = found()
    text = to_html(run)
    told = (
        'aria-haspopup="dialog" aria-label="Localisation, small, 2,420: show examples">'
        "2,420</button>"
    )
    button = re.search(f'popovertarget="(e[0-9]+)" {told}', text)
    assert button
    dialog = text[text.index(f'<div popover id="{button[1]}"') :]
    dialog = dialog[: dialog.index("</div></div>")]
    assert re.findall("Image <bdi>(.*?)</bdi>", dialog) == ["7010", "7011", "7012"]
    assert '<span class="quiet">3 of 2,420</span>' in dialog


def test_examples_of_other_settings_and_slices_open_nothing(found: Build) -> None:
    run = found(("m",))
    other = [replace(one, parameters={"iou_threshold": 0.75}) for one in run.examples]
    night = [replace(one, slice="night") for one in run.examples]
    assert 'popovertarget="e' not in to_html(replace(run, examples=(*other, *night)))


def test_examples_of_errors_are_bounded(found: Build) -> None:
    run = found(("m",))
    mistakes = [row for row in run.metrics if row.metric == "error_breakdown"]
    cases = [one for one in run.examples if one.metric == "error_breakdown"]
    metrics, examples = [], []
    for iou in range(9):
        at = {"iou_threshold": iou / 10}
        metrics += [replace(row, parameters=at) for row in mistakes]
        examples += [replace(one, parameters=at) for one in cases * 4]
    text = to_html(replace(run, metrics=metrics, examples=examples, tables=()))
    assert text.count('<figure class="card" id=') == MISTAKES == 2 * 6 * 3


def test_missed_is_not_what_the_cards_count(found: Build) -> None:
    text = to_html(found(("m",)))
    meaning = "found by nothing, and no detection would find it were its label or place right"
    assert f"Missed<small>{meaning}</small>" in text
    assert not re.search(r"\d missed", text)
    assert re.search(r"1 not found</li>", text)


def test_the_legend_has_only_what_occurs(found: Build) -> None:
    run = found(("m",))
    worst = [one for one in run.examples if one.kind == "worst_image"]
    kept = [
        replace(
            one, objects=[thing for thing in one.objects if thing.outcome in ("missed", "both")]
        )
        for one in worst
    ]
    text = to_html(replace(run, examples=kept))
    legend = text[text.index('<ul class="legend">') :]
    items = re.findall(r"<li.*?</li>", legend[: legend.index("</ul>")])
    assert [re.sub("<.*?>", "", item) for item in items] == [
        "Ground truths",
        "N not found",
        "Predictions",
        "CL both",
    ]


def test_counts_stand_with_the_curves_of_their_label_and_setting(found: Build) -> None:
    run = found(("small", "large"), ("cat", "dog"))
    drawn = curves(run)
    assert (drawn.titles, drawn.counted, drawn.total) == (("cat", "dog"), (0, 1), 2)
    data = json.loads(drawn.data)
    model, *at = data["counts"][1][0]
    curve = next(
        one for one in run.curves if one.label == "dog" and "fp_hallucinations" in one.points
    )
    assert model == 0
    assert [data["columns"][index] for index in at] == [curve.points[name] for name in COUNTS]
    strict = [
        replace(one, parameters={**one.parameters, "pr_curve_iou_threshold": 0.9})
        for one in run.curves
        if one.metric == "detailed_pr_curve"
    ]
    others = [one for one in run.curves if one.metric != "detailed_pr_curve"]
    told = curves(replace(run, curves=(*others, *strict)))
    assert told.titles[:2] == ("pr_curve, cat", "pr_curve, dog")
    assert told.titles[2:] == ("detailed_pr_curve, cat", "detailed_pr_curve, dog")
    assert [len(lines) for lines in json.loads(told.data)["counts"]] == [0, 0, 2, 2]


def test_counts_alone_have_a_section_too(found: Build) -> None:
    run = found(("m",), ("cat", "dog"))
    alone = [one for one in run.curves if one.metric == "detailed_pr_curve"]
    drawn = curves(replace(run, curves=alone))
    assert drawn.titles == ("cat", "dog")
    text = to_html(replace(run, curves=alone))
    assert not _Page(text).open
    assert re.findall('data-kind="(truths|predictions)"', text) == ["truths", "predictions"]


def test_a_table_s_counts_stand_in_its_cells(found: Build) -> None:
    run = found(("m",), LABELS[:6])
    text = to_html(run)
    start = text.index('class="matrix"')
    body = re.findall(r"<tr.*?</tr>", text[start : text.index("</table>", start)], re.DOTALL)
    cells = [[re.sub("<.*?>", "", one) for one in re.findall("<td.*?</td>", row)] for row in body]
    table = run.tables[0]
    rows = zip(table.matrix, table.unmatched_ground_truths, strict=True)
    lines = [[*row, alone] for row, alone in rows] + [[*table.unmatched_predictions, 0]]
    assert cells[1:] == [[f"{n:,}" if n else "" for n in line] for line in lines]


def test_hostile_findings_stay_words(found: Build) -> None:
    run = found(HOSTILE[:2], HOSTILE)
    bad = HOSTILE[8]
    examples = [
        replace(
            one,
            sample_id=HOSTILE[0] + str(index),
            picture=Picture(HOSTILE[0], 640, 480),
            objects=[replace(thing, id=bad, label=HOSTILE[index % 12]) for thing in one.objects],
        )
        for index, one in enumerate(run.examples)
    ]
    at = {"iou_threshold": bad, bad: HOSTILE[0]}
    tables = [replace(table, parameters=at) for table in run.tables]
    run = replace(run, examples=examples, tables=tables, settings={bad: HOSTILE[0]})
    text = to_html(run, EmbeddedImages({HOSTILE[0]: b"</svg><script>"}))
    page = _Page(text)
    assert not page.open
    assert page.count("script") == 3
    assert not [attrs for _, attrs in page.tags if any(name.startswith("on") for name in attrs)]
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_labels_with_many_measures_are_shown_in_parts(found: Build) -> None:
    text = to_html(found(("m",)))
    titles = re.findall(r"<option>(.*?)</option>", text[text.index('data-panels="label-views"') :])
    assert titles[:2] == [
        "average precision, precision, recall, best f1",
        "counts, error breakdown",
    ]
    assert text.count('class="sortable"') == 3  # and the slices
    assert '<tr><th scope="row" class="name"><bdi>toaster</bdi>' in text


def test_views_keep_a_metric_together_and_counts_apart() -> None:
    def measures(*metrics: tuple[str, int, str]) -> list[Measure]:
        made = []
        for metric, count, unit in metrics:
            made += [Measure(f"{metric} {i}", "", unit, None, metric) for i in range(count)]
        return made

    few = measures(("a", 4, "fraction"), ("b", 5, "count"))
    assert views(few) == [list(range(9))]
    parts = (("a", 2, "fraction"), ("n", 3, "count"), ("b", 12, "fraction"), ("c", 1, "fraction"))
    many = measures(*parts)
    assert views(many) == [[0, 1], list(range(5, 17)), [17], [2, 3, 4]]


def test_settings_are_told_where_they_are_unusual(found: Build) -> None:
    run = found(("m",))
    assert "<span>matching" not in to_html(run)
    text = to_html(replace(run, settings={"matching": "valor", "geometry": "rotated_box"}))
    assert "<span>matching: valor</span><span>rotated boxes</span>" in text
    assert "<dt>Matching</dt><dd><bdi>valor</bdi></dd>" in text


@pytest.mark.slow
def test_findings_are_bounded(found: Build) -> None:
    names = [f"label {i}" for i in range(300)]
    run = found(tuple("abcd"), names)
    ring = [[300 + 200 * math.cos(i / 160), 240 + 200 * math.sin(i / 160)] for i in range(1000)]
    mask = {"type": "Polygon", "coordinates": [ring]}
    examples = [
        replace(one, objects=[replace(thing, geometry=mask) for thing in one.objects] * 5)
        for one in run.examples
    ]
    text = to_html(replace(run, examples=examples, metrics=(), curves=()))
    assert len(text) < 3_000_000
    assert not _Page(text).open
    again = replace(run.tables[0], parameters={"iou_threshold": 0.9, "score_threshold": 0.9})
    assert "The first 6 of 24 matrices" in to_html(
        replace(run, tables=[*run.tables, *[again] * 20], examples=(), metrics=(), curves=())
    )


def test_importing_the_room_imports_no_format() -> None:
    code = (
        "import sys, valor_cli.reports.writer\n"
        "print([name for name in ('rich', 'numpy', 'jinja2') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
