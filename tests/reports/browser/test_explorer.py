"""The explorer: the tasks that bring someone to a report, and what must hold of its page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from tests.reports.browser.conftest import Opener
from tests.reports.browser.test_every_report import violations
from tests.reports.catalogue import ATTACKS, attacked_texts
from tests.reports.explorer.object_runs import detection_run, large_objects
from tests.reports.rendered import page as to_html
from tests.reports.task_runs import classified, run_of
from valor_cli.reports.writer import write_reports
from valor_cli.results import (
    ExampleResult,
    JudgeCalls,
    RunResult,
    SamplesResult,
    ShownText,
    SlicesResult,
    TextsResult,
    ThresholdUsed,
    Verdict,
)
from valor_cli.results.objects import OUTCOMES, Outlines

pytestmark = pytest.mark.browser

IDS = """[...document.querySelectorAll('#explorer-list .x-name > bdi:first-child')]
  .map((one) => one.textContent)"""


def ready(page: Any) -> Any:
    page.locator("#explorer-list").wait_for()
    return page


@contextmanager
def explored(opened: Opener, run: RunResult, at: str = "") -> Iterator[Any]:
    """The page of a run, once its samples are listed."""
    with opened(to_html(run), at=at) as page:
        yield ready(page)


def total(page: Any, text: str) -> None:
    """Wait until so many samples are listed."""
    page.locator("#explorer-count", has_text=re.compile(rf"^{re.escape(text)}")).wait_for()


def judged_run() -> RunResult:
    """Two models whose answers a judge finds more or less faithful."""
    run = run_of("text_generation", ("small", "large"))
    ids = [f"q-{number}" for number in range(40)]
    context = "The bridge was opened in 1932. It is 134 m high."
    answers = ["It was opened in 1932. It is made of wood.", "It was opened in 1932."]
    claim = "The bridge is made of wood", "unsupported"
    against = dict(zip(("claim", "verdict"), claim, strict=True), reason="no material is named")
    right = {"claim": "It was opened in 1932", "verdict": "supported", "reason": ""}
    verdicts = [
        Verdict(*claim, False, "no material is named"),
        Verdict("The bridge was opened in 1932", "supported", True),
    ]
    questions = [f"How high is bridge {one}?" for one in ids]
    texts, samples, examples = [], [], []
    for model, answer, kept in zip(run.models, answers, (0.5, 1.0), strict=True):
        own = [kept] * 10 + [1.0] * 30
        columns = {"user_input": questions, "response": [answer] * 10 + ["134 m"] * 30}
        texts.append(TextsResult(model, ids, columns))
        claims = [{"claims": [against if value < 1 else right]} for value in own]
        parts = ({}, ids, {"value": own}, [None] * 40, ["ok"] * 40, claims)
        samples.append(SamplesResult("faithfulness", model, *parts))
        shown = (ShownText("response", answer), ShownText("retrieved_contexts[0]", context))
        said = (shown, "1 of 2 claims", verdicts if kept < 1 else verdicts[1:])
        at = (None, None, {}, "worst_sample", "q-0", kept, None, ())
        examples.append(ExampleResult("faithfulness", model, *at, *said))
    told = replace(run.run, thresholds=(ThresholdUsed("faithfulness", {}, 0.95, given=True),))
    return replace(run, run=told, texts=texts, samples=samples, examples=examples)


# Tasks


def test_all_false_negatives_of_a_label_below_a_size(opened: Opener) -> None:
    run = detection_run(("small",))
    (one,) = run.objects
    person = list(one.labels).index("person")
    found = {
        int(match)
        for match, outcome, score in zip(one.matched, one.outcomes, one.scores, strict=True)
        if OUTCOMES[outcome] == "true_positive" and score >= 0.5
    }
    size = np.sqrt(one.gt_boxes[:, 2] * one.gt_boxes[:, 3])
    missed = [
        number
        for number in range(len(size))
        if one.gt_labels[number] == person and size[number] < 80 and number not in found
    ]
    images = {one.image_ids[one.gt_images[number]] for number in missed}
    assert missed
    with explored(opened, run) as page:
        page.get_by_role("button", name="False negatives").click()
        page.get_by_role("button", name="person", exact=False).first.click()
        page.get_by_label("Below").fill("80")
        page.get_by_label("Below").press("Enter")
        total(page, f"{len(images)} of {len(one.image_ids)} samples, {len(missed)} object")
        assert "outcome=fn" in page.evaluate("location.hash")
        listed = page.evaluate(IDS)
        assert set(listed) <= {str(image) for image in images}
        # the same by a link alone
        page.evaluate("location.hash = '#explore'")
        total(page, f"{len(one.image_ids)} of")
        page.evaluate("location.hash = '#explore?outcome=fn&label=person&max_size=80'")
        total(page, f"{len(images)} of")


def test_one_threshold_for_counts_curve_and_boxes(opened: Opener) -> None:
    run = detection_run(("small",))
    (one,) = run.objects
    with explored(opened, run) as page:
        for threshold in (0.5, 0.72):
            exact = page.get_by_label("Score threshold, exact")
            exact.fill(str(threshold))
            exact.press("Enter")
            page.wait_for_timeout(200)
            kept = one.scores >= threshold
            tp = int((kept & (one.outcomes == 0)).sum())
            fp = int((kept & (one.outcomes > 0) & (one.outcomes < 6)).sum())
            fn = int((~one.gt_ignored).sum()) - tp
            cells = page.locator(".x-measures tbody td").all_inner_texts()
            assert [float(cells[at]) for at in range(3)] == pytest.approx(
                [tp / (tp + fp), tp / (tp + fn), 2 * tp / (2 * tp + fp + fn)], abs=5e-4
            )
            assert [int(cells[at].replace(",", "")) for at in (3, 4, 5)] == [tp, fp, fn]
        assert page.evaluate("location.hash") == "#explore?threshold=0.72"
        # the drawn boxes are those of the card's model
        at = int(np.bincount(one.images).argmax())
        page.evaluate(f"location.hash = '#explore?threshold=0.72&sample={one.image_ids[at]}'")
        page.locator("dialog[open] .x-drawing").wait_for()
        drawn = page.locator("dialog .x-o:not(.x-gt)").count()
        own = (one.images == at) & (one.scores >= 0.72) & (one.outcomes != 6)
        assert drawn == int(own.sum())


def test_best_threshold_of_a_label(opened: Opener) -> None:
    run = detection_run(("small",))
    (one,) = run.objects
    person = list(one.labels).index("person")
    positives = int(((one.gt_labels == person) & ~one.gt_ignored).sum())
    own = one.detected == person
    scores, right = one.scores[own], one.outcomes[own] == 0
    best = max(
        (2 * (right & (scores >= t)).sum() / ((scores >= t).sum() + positives), t) for t in scores
    )
    with explored(opened, run, "#explore?label=person") as page:
        page.locator(".x-measures tbody button").click()
        page.wait_for_timeout(200)
        assert float(page.get_by_label("Score threshold, exact").input_value()) == pytest.approx(
            best[1], abs=1e-4
        )
        assert float(page.locator(".x-measures tbody td").nth(2).inner_text()) == pytest.approx(
            best[0], abs=5e-4
        )
        assert "against 0.5: TP" in page.locator(".x-measures [role=status]").inner_text()


def test_what_one_model_finds_and_the_other_does_not(opened: Opener) -> None:
    run = detection_run()
    small, large = (
        {
            int(match)
            for match, outcome, score in zip(one.matched, one.outcomes, one.scores, strict=True)
            if outcome == 0 and score >= 0.5
        }
        for one in run.objects
    )
    won = large - small
    images = {run.objects[0].gt_images[number] for number in won}
    with explored(opened, run) as page:
        page.get_by_role("combobox", name="Samples").select_option(
            label="large finds what small does not"
        )
        total(page, f"{len(images)} of 100 samples, {len(won)} objects")


def labelled_run() -> RunResult:
    """A classification whose labels are known: 40 samples of three labels, by two models."""
    dice = np.random.default_rng(1)
    labels = np.array(["cat", "dog", "fox"])
    run = run_of("classification", ("a", "b"))
    ids = [f"image-{number}" for number in range(40)]
    truth = dice.integers(0, 3, 40)
    texts = []
    for model in run.models:
        predicted = np.where(dice.random(40) < 0.6, truth, dice.integers(0, 3, 40))
        columns = {"ground_truth": labels[truth].tolist(), "prediction": labels[predicted].tolist()}
        texts.append(TextsResult(model, ids, columns))
    return replace(run, texts=texts)


def test_right_and_wrong_answers_and_confused_labels(opened: Opener) -> None:
    run = labelled_run()
    truth = run.texts[0].columns["ground_truth"]
    a, b = (one.columns["prediction"] for one in run.texts)
    rows = list(zip(truth, a, b, strict=True))
    won = sum(right == first != second for right, first, second in rows)
    taken = sum((right, first) == ("cat", "dog") for right, first, _ in rows)
    failed = sum(right == "cat" != first for right, first, _ in rows)
    assert won
    assert taken
    with explored(opened, run) as page:
        page.get_by_role("combobox", name="Samples").select_option(label="a right, b wrong")
        total(page, f"{won} of 40")
        page.evaluate("location.hash = '#explore?model=a'")
        total(page, "40 of 40")
        page.get_by_role("button", name=re.compile("^cat → dog")).click()
        total(page, f"{taken} of 40")
        page.evaluate("location.hash = '#explore?model=a&label=cat&outcome=wrong'")
        total(page, f"{failed} of 40")


def test_answers_that_fail_faithfulness_with_the_claim(opened: Opener) -> None:
    with explored(opened, judged_run()) as page:
        page.get_by_role("button", name="Failed").click()
        total(page, "10 of 40 samples")
        page.locator("#explorer-list").press("Enter")
        card = page.locator("dialog[open]")
        card.wait_for()
        against = card.locator(".x-against").first
        assert "unsupported: The bridge is made of wood" in against.inner_text()
        assert "no material is named" in against.inner_text()
        assert card.locator("mark.x-claim").first.inner_text().startswith("It is made of wood")
        assert "opened in 1932" in card.locator("mark.x-evidence").first.inner_text()
        assert card.locator(".x-panel").count() == 2
        assert "wood" in "".join(card.locator("mark.x-diff").all_inner_texts())


def test_contexts_and_claims_of_a_sample_that_is_no_example(opened: Opener) -> None:
    run = judged_run()
    context = "The bridge was opened in 1932. It is 134 m high."
    texts = [
        replace(one, columns={**one.columns, "retrieved_contexts[0]": [context] * 40})
        for one in run.texts
    ]
    with opened(to_html(replace(run, texts=texts)), at="#sample-q-5") as page:
        page.locator("dialog .x-claim").first.wait_for()
        assert page.locator("dialog .x-claim").all_inner_texts() == ["It is made of wood."]
        context = page.locator("dialog .x-shared .x-block", has_text="Context")
        assert context.locator(".x-evidence").all_inner_texts() == [
            "The bridge was opened in 1932."
        ]


def test_a_perturbed_copy_beside_its_original(opened: Opener) -> None:
    run = judged_run()
    links = [None, "q-0", *[None] * 9, "q-0", *[None] * 28]  # the second answers otherwise
    texts = [replace(one, columns={**one.columns, "perturbed_from": links}) for one in run.texts]
    with opened(to_html(replace(run, texts=texts)), at="#sample-q-11") as page:
        told = page.locator("dialog .x-original")
        told.wait_for()
        assert told.inner_text().split("\n") == [
            "Perturbed copy of", "q-0", "whose verdict it flips",
        ]  # fmt: skip
        question, *_ = page.locator("dialog .x-beside").all()
        assert question.locator(".x-text").all_inner_texts() == [
            "How high is bridge q-11?", "How high is bridge q-0?",
        ]  # fmt: skip
        assert question.locator(".x-diff").all_inner_texts() == ["0"]
        assert "original ✗ 0.500" in page.locator("dialog .x-values").inner_text()
        told.get_by_role("button").click()
        page.locator("dialog h3", has_text="q-0").wait_for()
        assert told.inner_text().split("\n") == [
            "Perturbed copies whose verdict flipped:", "q-11", "Perturbed copies:", "q-1",
        ]  # fmt: skip


def test_what_judges_were_asked_and_replied(opened: Opener) -> None:
    run = judged_run()
    first, second = run.samples
    asked = [JudgeCalls(1, 0, ("<b>raw</b>",), ("user:\nIs it <i>so</i>?",))] * 40
    plain = [JudgeCalls(1, 0, ("bare",))] * 40
    run = replace(run, samples=[replace(first, asked=asked), replace(second, asked=plain)])
    with opened(to_html(run), at="#sample-q-3") as page:
        page.locator("dialog .x-raw").first.wait_for()
        kept, bare = page.locator("dialog .x-raw", has_text="1 judge reply").all()
        kept.locator("summary").first.click()
        kept.get_by_text("Prompt").click()
        assert kept.locator("pre").all_inner_texts() == [
            "user:\nIs it <i>so</i>?", "<b>raw</b>",
        ]  # fmt: skip
        bare.locator("summary").click()
        assert bare.locator("pre").all_inner_texts() == ["bare"]
        assert "judge: {keep_prompts: true}" in bare.inner_text()


def test_outlines_of_masks(opened: Opener) -> None:
    run = detection_run(("small",))
    (one,) = run.objects
    count = len(one.gt_labels) + len(one.scores)
    corners = np.concatenate([one.gt_boxes, one.boxes])[:, [0, 1, 0, 1]]
    rings = np.ones(count, np.int32)
    rings[0] = 0  # one without an outline, whose box is drawn
    xy = (10 * np.concatenate([corners, corners[:, :2] + 5], axis=1)).reshape(-1, 2)[3:]
    outlined = replace(one, outlines=Outlines(rings, np.full(count - 1, 3), xy.astype(np.int32)))
    at = one.image_ids[one.gt_images[0]]
    with opened(
        to_html(replace(run, objects=[outlined])), at=f"#explore?threshold=0&sample={at}"
    ) as page:
        drawing = page.locator("dialog .x-drawing")
        drawing.wait_for()
        shapes = drawing.locator(".x-o").count()
        assert drawing.locator(".x-o > rect").count() == 1
        assert drawing.locator(".x-o > path").count() == shapes - 1
        place = int(np.flatnonzero(one.images == one.gt_images[0])[0])
        x, y = np.floor(10 * one.boxes[place, :2]) / 10
        path = drawing.locator(".x-o:not(.x-gt) > path").evaluate_all(
            "all => all.map((one) => one.getAttribute('d'))"
        )
        assert any(one.startswith(f"M{x:g} {y:g}L{x:g} {y:g}L") for one in path)


def test_a_cell_of_the_confusion_matrix_counts_what_it_links_to(
    opened: Opener, shipped: Callable[[str], Path]
) -> None:
    cells = """all => all.map((one) => [one.getAttribute("href"), one.textContent])"""
    with opened(shipped("object_detection")) as page:
        ready(page)
        links = page.locator("a[tabindex='-1'][href*='#explore']").evaluate_all(cells)
        seen: Counter[str] = Counter()
        for href, told in links:
            kind = ",".join(re.findall("outcome=[a-z]+|truth|sample", href))
            seen[kind] += 1
            if "sample" in kind or seen[kind] > 3:
                continue
            page.evaluate("href => { location.hash = href; }", href)
            amount = told.split(": ")[1].split(",")[0]
            page.locator("#explorer-count", has_text=f", {amount} object").wait_for()
        assert min(seen[name] for name in ("outcome=tp", "outcome=fp", "outcome=fn")) >= 3
        assert seen["truth"] >= 1
        assert seen["sample"] < 10  # a list of as many is rarely missing


def test_samples_of_slices(opened: Opener) -> None:
    run = judged_run()
    ids = run.texts[0].sample_ids
    number = np.arange(len(ids))
    names = ["lang=de", "lang=fr", "long=true"]
    members = np.stack([number % 2 == 0, number % 4 == 1, number < 20])
    slices = [SlicesResult(model, names, ids, members) for model in run.models]
    with explored(opened, replace(run, slices=slices), "#explore?slice=long%3Dtrue") as page:
        total(page, "20 of 40 samples")
        button = page.get_by_role("group", name="Slice").get_by_role("button")
        assert button.all_inner_texts() == ["long=true\n20", "lang=de\n10", "lang=fr\n5"]
        # those of a key are alternatives, and say what each would list
        button.filter(has_text="lang=fr").click()
        total(page, "5 of")
        assert button.all_inner_texts() == ["lang=fr\n5", "long=true\n5", "lang=de\n10"]
        button.filter(has_text="lang=de").click()
        total(page, "15 of")
        assert page.evaluate("location.hash").count("slice=") == 3
        page.get_by_role("button", name="long=true remove").click()
        total(page, "30 of")
        page.get_by_role("group", name="Outcome").get_by_role("button", name="Failed").click()
        total(page, "8 of")
        assert "lang=de\n5" in button.all_inner_texts()
        page.locator("#explorer-list").press("Enter")
        assert page.locator("dialog .note", has_text="Slice").first.inner_text().startswith("Slice")


def test_a_sample_by_its_id_comes_before_those_that_hold_it(opened: Opener) -> None:
    run = run_of("object_detection", ("m",))
    run = replace(run, objects=[large_objects("m", 300, 4_000, 3)])
    with explored(opened, run) as page:
        page.keyboard.press("/")
        page.keyboard.type("18")
        total(page, "13 of 300")
        assert page.evaluate(IDS)[0] == "18"
        page.locator("#explorer-search").fill("000000000184")  # a file name without its extension
        total(page, "1 of 300")
        assert page.evaluate(IDS) == ["184"]
        page.keyboard.press("Enter")
        page.locator("dialog[open]").wait_for()
        assert page.locator("#explorer-card-title").inner_text().startswith("184")


def test_texts_are_searched_in_all_chunks(opened: Opener, tmp_path: Path) -> None:
    run = text_of(20_000)
    write_reports(run, tmp_path, ["html"])
    assert list((tmp_path / "report_files").glob("explorer-*.js"))
    with opened(tmp_path / "report.html") as page:
        ready(page)
        page.locator("#explorer-search").fill("Needle  in")
        total(page, "1 of 20,000")
        assert page.evaluate(IDS) == ["q-17777"]
        page.locator("#explorer-list").press("Enter")
        page.locator("dialog[open]").wait_for()
        assert "needle in a haystack" in page.locator("dialog .x-panel").first.inner_text()


def text_of(size: int) -> RunResult:
    """Many samples, whose texts are not in the page."""
    dice = np.random.default_rng(3)
    run = run_of("text_generation", ("small", "large"))
    ids = [f"q-{number}" for number in range(size)]
    words = dice.integers(0, 10**9, (size, 12)).astype(str)
    answers = [" ".join(row) for row in words.tolist()]
    answers[17_777 % size] += " needle in a haystack"
    texts = [
        TextsResult(model, ids, {"user_input": [f"Question {n}" for n in ids], "response": answers})
        for model in run.models
    ]
    values = [
        SamplesResult(
            "exact_match", model, {}, ids, {"value": right.tolist()}, [None] * size, ["ok"] * size
        )
        for model, right in zip(run.models, dice.integers(0, 2, (2, size)), strict=True)
    ]
    return replace(run, texts=texts, samples=values)


# What must hold


def test_only_rows_in_view_are_in_the_page(opened: Opener, tmp_path: Path) -> None:
    write_reports(text_of(100_000), tmp_path, ["html"])
    with opened(tmp_path / "report.html") as page:
        ready(page)
        total(page, "100,000 of 100,000")
        box = page.locator("#explorer-list")
        for key in ("End", "Home", "PageDown"):
            box.press(key)
            page.wait_for_timeout(100)
            assert 0 < page.locator("#explorer-list [role=option]").count() < 60
        box.press("End")
        page.wait_for_timeout(100)
        assert (
            page.locator("[role=option][aria-posinset='100000'][aria-selected=true]").count() == 1
        )


def test_the_filters_are_in_the_address(opened: Opener) -> None:
    hash_ = (
        "#explore?model=large&outcome=fp&outcome=fn&label=person&min_size=10&max_size=200"
        "&threshold=0.6&sort=id"
    )
    said = "[...new URLSearchParams(location.hash.slice(9))].sort().join()"
    with explored(opened, detection_run(), hash_) as page:
        page.wait_for_timeout(200)
        before = page.evaluate(said)
        page.locator(".x-chip", has_text="person").click()
        page.wait_for_timeout(200)
        assert "label=" not in page.evaluate("location.hash")
        page.get_by_role("button", name="person").first.click()
        page.wait_for_timeout(200)
        after = page.evaluate(said)
        assert before == after
        page.evaluate(
            "location.hash = '#explore?no=1&outcome=zz&min_size=x&label=none&model=&truth=zz'"
        )
        page.wait_for_timeout(200)
        assert page.locator("#explorer-list").is_visible()
        page.go_back()
        page.wait_for_timeout(200)
        assert page.evaluate(said) == before


def test_links_to_samples_open_their_cards(opened: Opener) -> None:
    run = detection_run(("small",))
    with opened(to_html(run), at="#sample-7") as page:
        page.locator("dialog[open]").wait_for()
        assert page.locator("#explorer-card-title").inner_text().startswith("7")
        page.keyboard.press("j")
        page.wait_for_timeout(200)
        assert not page.locator("#explorer-card-title").inner_text().startswith("7 ")
        page.keyboard.press("k")
        page.wait_for_timeout(200)
        assert page.locator("#explorer-card-title").inner_text().startswith("7")
        page.keyboard.press("Escape")
        assert page.locator("dialog[open]").count() == 0
        assert page.evaluate("document.activeElement.id") == "explorer-list"


def test_images_are_zoomed_by_keys_wheel_and_drag(opened: Opener) -> None:
    with opened(to_html(detection_run()), at="#explore?sample=56") as page:
        drawings = page.locator("dialog[open] .x-drawing")
        drawings.first.wait_for()
        page.wait_for_timeout(100)
        drawn = "[...document.querySelectorAll('dialog .x-drawing')]"
        part = f"{drawn}.map((one) => one.getAttribute('viewBox'))"
        whole = page.evaluate(part)
        page.keyboard.press("+")
        closer = page.evaluate(part)
        assert closer[0] == closer[1] != whole[0]
        drawings.first.hover()
        page.mouse.down()
        page.mouse.move(300, 300)
        page.mouse.up()
        assert page.evaluate(part)[1] != closer[1]
        page.keyboard.press("0")
        assert page.evaluate(part) == whole
        page.mouse.wheel(0, -300)
        page.wait_for_timeout(100)
        assert page.evaluate(part) != whole


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["objects", "texts", "classes"])
def test_axe_finds_nothing(opened: Opener, kind: str, width: int, scheme: str) -> None:
    runs = {"objects": detection_run, "texts": judged_run, "classes": classified}
    run = runs[kind]()
    with opened(to_html(run), width, scheme) as page:
        ready(page)
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert violations(page) == []
        page.locator("#explorer-list [role=option]").first.click()
        page.locator("dialog[open]").wait_for()
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert violations(page) == []


def test_nothing_of_hostile_data_runs(opened: Opener) -> None:
    run = attacked_texts()
    ids = [f"{word[:300]}{at}" for at, word in enumerate(ATTACKS)]
    texts = [
        TextsResult(model, ids, {"user_input": ids, "response": ATTACKS, ATTACKS[0]: ATTACKS})
        for model in run.models
    ]
    with opened(to_html(replace(run, texts=texts)), 390) as page:
        ready(page)
        page.locator("#explorer-search").fill("owned")
        page.wait_for_timeout(300)
        for _ in range(3):
            page.locator("#explorer-list").press("Enter")
            page.locator("dialog[open]").wait_for()
            page.keyboard.press("j")
            page.wait_for_timeout(100)
            page.keyboard.press("Escape")
        assert page.evaluate("window.owned ?? null") is None
        assert (
            page.evaluate(
                "document.querySelectorAll('#explorer :is(script, iframe, img, style)').length"
            )
            == 0
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_missing_file_is_named(opened: Opener, tmp_path: Path) -> None:
    run = replace(run_of("object_detection", ("m",)), objects=[large_objects("m", 2_000, 240_000)])
    write_reports(run, tmp_path, ["html"])
    for file in (tmp_path / "report_files").iterdir():
        file.unlink()
    with (
        pytest.raises(AssertionError, match="ERR_FILE_NOT_FOUND"),
        opened(tmp_path / "report.html") as page,
    ):
        page.locator(".x-status", has_text="is missing").wait_for()
