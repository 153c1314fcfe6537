"""Links of confusion matrices."""

from __future__ import annotations

import re

from msgspec.structs import replace

from tests.reports.explorer.object_runs import detection_run
from tests.reports.rendered import page
from tests.reports.task_runs import run_of
from valor_cli.results import RunResult, TableResult, TextsResult

LINK = re.compile(r'<a tabindex="-1" href="([^"]*)"><g><title>([^<]*)</title>')


def classes(count: int) -> RunResult:
    """As many labels, the first of which is taken for the second once, and missed once."""
    labels = [f"l{at}" for at in range(count)]
    matrix = [[int(row == column) for column in range(count)] for row in range(count)]
    matrix[0][1] = 1
    table = TableResult(
        "confusion_matrix", "m", None, {}, labels, matrix, [1, *[0] * (count - 1)], [0] * count
    )
    truth, predicted = [*labels, "l0", "l0"], [*labels, "l1", None]
    texts = TextsResult(
        "m", list(range(count + 2)), {"ground_truth": truth, "prediction": predicted}
    )
    return run_of("classification", ("m",), tables=(table,), texts=(texts,))


def links(run: RunResult) -> dict[str, str]:
    return {told.split(",")[0]: href for href, told in LINK.findall(page(run))}


def test_what_is_confused_is_listed() -> None:
    found = links(classes(3))
    assert found["l0 as l1: 1"] == "#explore?model=m&amp;truth=l0&amp;predicted=l1"
    assert found["l2 as l2: 1"] == "#explore?model=m&amp;truth=l2&amp;predicted=l2"
    assert not any("no prediction" in told for told in found)


def test_labels_that_are_summed_up_lead_nowhere() -> None:
    found = links(classes(45))
    assert "l0 as l1: 1" in found
    assert not any("other" in part for cell in found.items() for part in cell)


def test_a_cell_that_counts_otherwise_than_any_list_is_no_link_to_one() -> None:
    run = classes(3)
    (table,) = run.tables
    matrix = [[1, 2, 0], [0, 1, 0], [0, 0, 1]]
    assert "l0 as l1: 2" not in links(replace(run, tables=(replace(table, matrix=matrix),)))


def test_detections_without_a_ground_truth() -> None:
    run = detection_run(("small",))
    (one,) = run.objects
    kept = (one.scores >= 0.5) & (one.outcomes > 0) & (one.outcomes < 6)
    labels, count = one.labels, len(one.labels)
    dog = labels.index("dog")
    wrong = int((kept & (one.detected == dog)).sum())
    confused = int((kept & (one.detected == dog) & (one.outcomes == 1)).sum())
    assert confused
    for alone, said in (
        (wrong, "outcome=fp"),
        (wrong - confused, "outcome=localisation&amp;outcome=both&amp;outcome=duplicate"),
    ):
        lone = [alone if at == dog else 0 for at in range(count)]
        table = TableResult(
            *("confusion_matrix", "small", None, {"score_threshold": 0.5}, labels),
            [[int(row == column) for column in range(count)] for row in range(count)],
            [0] * count,
            lone,
        )
        found = links(replace(run, tables=(table,)))
        (href,) = [href for told, href in found.items() if told.startswith("no ground truth")]
        assert said in href
        assert "label=dog" in href
        assert href.endswith("threshold=0.5")
