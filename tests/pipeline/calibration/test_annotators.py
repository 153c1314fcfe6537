"""Several annotators: their agreement against references, and where their labels may be."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from io import StringIO
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from rich.console import Console
from sklearn.metrics import cohen_kappa_score

from tests.pipeline.calibrating import (
    CUSTOM,
    annotated,
    calibrated,
    in_some_form,
    ratings_of,
    row,
    written,
)
from tests.statistics.test_agreement import slow_alpha
from valor_cli.errors import ValorError
from valor_cli.pipeline.calibration.rows import _voices
from valor_cli.pipeline.calibration.scales import Scale
from valor_cli.pipeline.calibration.thresholds import best_threshold
from valor_cli.reports.render.html import to_html
from valor_cli.reports.render.markdown import to_markdown
from valor_cli.reports.render.terminal import in_full
from valor_cli.reports.sections.calibration import calibrated as blocks_of
from valor_cli.reports.sections.calibration import calibration_json, calibration_report

NAMES = ("anna", "ben", "cy")
JUDGE = "human_custom_judge"

Labels = Sequence[int | None]


def majority_of(labels: Labels) -> int | None:
    """The label that most gave; None on a tie."""
    counts = Counter(one for one in labels if one is not None).most_common()
    alone = len(counts) == 1 or (len(counts) > 1 and counts[0][1] > counts[1][1])
    return counts[0][0] if alone else None


def pairs(first: Labels, second: Labels) -> tuple[list[int], list[int]]:
    both = [(a, b) for a, b in zip(first, second, strict=True) if None not in (a, b)]
    return [a for a, _ in both if a is not None], [b for _, b in both if b is not None]


def holds(found: Any, first: Sequence[int], second: Sequence[int]) -> None:
    """See that an agreement is what scikit-learn says of the same pairs."""
    assert found.n == len(first)
    assert found.agreement == pytest.approx(np.mean(np.equal(first, second)), abs=1e-12)
    assert found.kappa == pytest.approx(cohen_kappa_score(first, second), abs=1e-12)
    weighted = cohen_kappa_score(first, second, weights="quadratic", labels=[1, 2, 3, 4])
    assert found.weighted_kappa == pytest.approx(weighted, abs=1e-12)
    for value, interval in (
        (found.agreement, found.agreement_interval),
        (found.kappa, found.kappa_interval),
    ):
        assert interval[0] <= value <= interval[1]


@pytest.fixture(scope="module")
def mtrag_people(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Labels], Labels]:
    """MT-RAG with what three people said of each answer, and a judge that is another of them."""
    folder = tmp_path_factory.mktemp("people")
    people = [ratings_of(one) for one in annotated()]
    judge = [people[at - 1][0] or 1 for at in range(len(people))]
    judge = [one[1] or 1 if at % 3 else judge[at] for at, one in enumerate(people)]
    samples = [
        {
            **{name: value for name, value in one.items() if name != "annotators"},
            **{f"{JUDGE}_{name}": said for name, said in zip(NAMES, own, strict=True)},
        }
        for one, own in zip(annotated(), people, strict=True)
    ]
    replies = [in_some_form(one, at) for at, one in enumerate(judge)]
    return written(folder, samples, {"j": replies}, [CUSTOM]), people, judge


@pytest.fixture(scope="module")
def of_people(mtrag_people: tuple[Path, list[Labels], Labels]) -> Any:
    """The calibration by them."""
    return calibrated(mtrag_people[0])


def test_people_and_judge_agree_as_references_say(
    mtrag_people: tuple[Path, list[Labels], Labels], of_people: Any
) -> None:
    _, people, judge = mtrag_people
    found = of_people
    (whole, *_) = found.annotators
    by = [[one[k] for one in people] for k in range(3)]
    for (a, b), pair in zip(combinations(range(3), 2), whole.pairs, strict=True):
        assert (pair.first, pair.second) == (NAMES[a], NAMES[b])
        holds(pair.agreement, *pairs(by[a], by[b]))
    others = [[majority_of([*one[:k], *one[k + 1 :]]) for one in people] for k in range(3)]
    for k, one in enumerate(whole.annotators):
        assert (one.annotator, one.column) == (NAMES[k], f"{JUDGE}_{NAMES[k]}")
        assert one.labels == sum(label is not None for label in by[k])
        holds(one.judge, *pairs(judge, by[k]))
        holds(one.others, *pairs(by[k], others[k]))
        assert one.ties == one.labels - one.others.n
    joined = [pairs(by[k], others[k]) for k in range(3)]
    holds(whole.people, *([x for one in joined for x in one[side]] for side in (0, 1)))
    masked = [[j if x else None for j, x in zip(judge, by[k], strict=True)] for k in range(3)]
    joined = [pairs(masked[k], others[k]) for k in range(3)]
    holds(whole.judge_among_people, *([x for one in joined for x in one[side]] for side in (0, 1)))
    assert whole.difference == pytest.approx(
        whole.judge_among_people.agreement - whole.people.agreement, abs=1e-12
    )
    low, high = whole.difference_interval
    assert low < whole.difference < high
    values = np.array([[np.nan if x is None else x for x in own] for own in by])
    assert whole.alpha == pytest.approx(slow_alpha(values), abs=1e-12)
    assert whole.alpha_level == "interval"
    equal = [a == b for one in combinations(by, 2) for a, b in zip(*pairs(*one), strict=True)]
    assert whole.agreement == pytest.approx(np.mean(equal), abs=1e-12)
    voice = [majority_of(one) for one in people]
    first, second = pairs(voice, judge)
    assert row(found).kappa == pytest.approx(cohen_kappa_score(first, second), abs=1e-12)
    assert whole.ties == voice.count(None) > 0
    assert (whole.samples, row(found).n) == (222, 222 - whole.ties)


def test_all_samples_that_differ_are_listed_and_the_same_bytes_come_twice(
    mtrag_people: tuple[Path, list[Labels], Labels], of_people: Any
) -> None:
    path, people, judge = mtrag_people
    found = of_people
    apart = sum(majority_of(one) not in (None, j) for one, j in zip(people, judge, strict=True))
    assert len(found.differences) == len(row(found).disagreements) == apart > 20
    first = found.differences[0]
    assert f"{first.model}: {first.sample_id}" in row(found).disagreements
    assert first.human == majority_of(list(first.labels.values())) != first.verdict
    again = calibrated(path)
    assert calibration_json(found, whole=True) == calibration_json(again, whole=True)


def samples_of(count: int, *columns: tuple[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Samples a, b, c …, with what columns say of each."""
    return [
        {
            "sample_id": chr(97 + at),
            "user_input": "Q?",
            "response": "A.",
            **{name: values[at] for name, values in columns},
        }
        for at in range(count)
    ]


def verdicts(
    folder: Path, samples: Sequence[dict[str, Any]], *said: int, named: str = "", **how: Any
) -> Any:
    """A calibration of a judge that says true or false of each sample."""
    replies = [str(bool(one)).lower() for one in said]
    path = written(folder, samples, {"j": replies}, ["custom_judge"])
    return calibrated(path, {"custom_judge": named} if named else None, **how)


def test_one_metric_worked_by_hand(tmp_path: Path) -> None:
    # Anna 1 1 0 0, Ben 1 0 0 -, Cy - - 1 0; the judge 1 1 1 0. Majorities: 1, tie, 0, 0.
    columns = [(f"{JUDGE}_anna", (1, 1, 0, 0)), (f"{JUDGE}_ben", (1, 0, "no", None))]
    found = verdicts(
        tmp_path, samples_of(4, *columns, (f"{JUDGE}_cy", ("", None, "pass", "fail"))), 1, 1, 1, 0
    )
    (whole,) = found.annotators
    assert (whole.samples, whole.shared, whole.ties) == (4, 4, 1)
    assert found.rows[0].matrix == [[1, 1], [0, 1]]
    assert found.rows[0].column == f"{JUDGE}_*"
    # Pairs: a equal; b not; c anna-ben equal, two not; d equal: 3 of 6.
    assert whole.agreement == 0.5
    # Others of Anna: 1, 0, tie, 0 -> a, d agree of a, b, d. Of Ben: 1, 1, tie -> a of a, b.
    # Of Cy: c 0 (both say it), d 0 -> d of c, d. The judge: a 1 of 1, b 1 of 0, d 0 of 0; a, b; d.
    assert [(one.others.n, one.others.agreement) for one in whole.annotators] == [
        (3, pytest.approx(2 / 3)),
        (2, 0.5),
        (2, 0.5),
    ]
    assert (whole.people.n, whole.people.agreement) == (7, pytest.approx(4 / 7))
    assert whole.judge_among_people.agreement == pytest.approx(5 / 7)
    assert whole.difference == pytest.approx(1 / 7)
    assert [one.ties for one in whole.annotators] == [1, 1, 0]
    # Nominal alpha: coincidences of unequal labels 2·1 (b) + 4·½ (c) = 4 of 9; ones 4, zeros 5.
    assert whole.alpha == pytest.approx(1 - 8 * 4 / (2 * 4 * 5))
    (apart,) = found.differences
    assert (apart.sample_id, apart.human, apart.verdict) == ("c", "fail", "pass")
    assert apart.labels == {"anna": "fail", "ben": "fail", "cy": "pass"}


def test_what_is_undefined_says_why(tmp_path: Path) -> None:
    columns = [(f"{JUDGE}_anna", (1, None)), (f"{JUDGE}_ben", (None, 1))]
    (apart,) = verdicts(tmp_path, samples_of(2, *columns), 1, 1).annotators
    assert (apart.alpha, apart.undefined) == (None, "no sample has labels of two annotators")
    assert (apart.agreement, apart.people.agreement, apart.difference) == (None, None, None)
    assert apart.people.undefined == "no sample was labelled by both"
    columns = [(f"{JUDGE}_anna", (1, 1)), (f"{JUDGE}_ben", (1, 1))]
    (alike,) = verdicts(tmp_path, samples_of(2, *columns), 1, 1).annotators
    assert (alike.alpha, alike.undefined) == (None, "all labels are the same")
    assert alike.people.undefined == "all are in one category"
    assert alike.people.agreement == 1.0


WIDE = [("label_anna", (1, 0, None)), ("label_ben", (1, 1, 0))]
NESTED = [(JUDGE, ({"anna": 1, "ben": 1}, {"anna": 0, "ben": 1}, {"ben": 0}))]
USUAL = [(f"{JUDGE}_anna", (1, 0, None)), (f"{JUDGE}_ben", (1, 1, 0))]

LONG = "sample_id,annotator,label\na,anna,1\na,ben,yes\nb,anna,0\nb,ben,1\nc,anna,\nc,ben,0\n"
STUDIO = [
    {
        "id": number,
        "data": {"sample_id": sample},
        "annotations": [
            {
                "completed_by": {"id": 1, "email": name},
                "result": [{"from_name": "label", "value": {"choices": [label]}}],
            }
            for name, label in own
        ],
    }
    for number, (sample, own) in enumerate(
        {
            "a": [("anna", "pass"), ("ben", "pass")],
            "b": [("anna", "fail"), ("ben", "pass")],
            "c": [("ben", "fail")],
        }.items()
    )
]
ARGILLA = [
    {
        "id": one["data"]["sample_id"],
        "fields": {},
        "responses": {
            "label": [
                {"user_id": said["completed_by"]["email"], "value": choice}
                for said in one["annotations"]
                for choice in said["result"][0]["value"]["choices"]
            ]
        },
    }
    for one in STUDIO
]
PRODIGY = "\n".join(
    json.dumps({"meta": {"sample_id": sample}, "answer": answer, "_annotator_id": name})
    for sample, name, answer in (
        ("a", "anna", "accept"),
        ("a", "ben", "accept"),
        ("b", "anna", "reject"),
        ("b", "ben", "accept"),
        ("c", "anna", "ignore"),
        ("c", "ben", "reject"),
    )
)

OPTIONS = "\n".join(
    json.dumps(
        {"meta": {"sample_id": sample}, "answer": answer, "accept": said, "_annotator_id": name}
    )
    for sample, name, answer, said in (
        ("a", "anna", "accept", ["pass"]),
        ("a", "ben", "accept", ["pass"]),
        ("b", "anna", "accept", ["fail"]),
        ("b", "ben", "accept", ["pass"]),
        # Two options are no label.
        ("c", "anna", "accept", ["pass", "fail"]),
        ("c", "ben", "accept", ["fail"]),
    )
)


@pytest.mark.parametrize(
    ("columns", "named", "files"),
    [
        (USUAL, "", {}),
        (NESTED, "", {}),
        (WIDE, "label_*", {}),
        (WIDE, "label_anna label_ben", {}),
        ([], "", {"labels.csv": LONG}),
        ([], "", {"labels.csv": LONG.replace("sample_id,annotator", "id,completed_by")}),
        ([], "said", {"labels.csv": LONG.replace("label", "said")}),
        ([], "", {"anna.csv": "sample_id,label\na,1\nb,0\n", "ben.csv": "id,label\na,1\nb,1\nc,0"}),
        ([], "", {"wide.csv": "sample_id,label_anna,label_ben\na,1,1\nb,0,1\nc,,0\n"}),
        # A file holds before what the samples say, and its other columns are left alone.
        (USUAL, "", {"l.csv": LONG.replace("annotator,label", "annotator,custom_judge")}),
        ([], "", {"studio.json": json.dumps(STUDIO)}),
        ([], "", {"argilla.json": json.dumps(ARGILLA)}),
        ([], "", {"prodigy.jsonl": PRODIGY}),
        ([], "", {"prodigy.jsonl": OPTIONS}),
    ],
)
def test_labels_are_found_in_every_form(
    tmp_path: Path, columns: Any, named: str, files: dict[str, str]
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    said = [str(tmp_path / name) for name in files]
    found = verdicts(tmp_path, samples_of(3, *columns), 1, 1, 1, named=named, label_files=said)
    (whole,) = found.annotators
    assert [(one.annotator, one.labels) for one in whole.annotators] == [("anna", 2), ("ben", 3)]
    # The majority: a pass, b tied, c fail.
    assert found.rows[0].matrix == [[0, 1], [0, 1]]
    assert found.warnings == []


def test_a_column_of_its_own_is_no_annotator_and_one_annotator_is_a_column(tmp_path: Path) -> None:
    columns = [(JUDGE, (1, 0)), (f"{JUDGE}_notes", ("a long story", "another"))]
    found = verdicts(tmp_path, samples_of(2, *columns), 1, 0)
    assert (found.annotators, found.rows[0].column, found.rows[0].n) == ([], JUDGE, 2)
    (tmp_path / "l.csv").write_text("sample_id,label\na,1\n")
    names = [f"anna={tmp_path / 'l.csv'}"]
    found = verdicts(tmp_path, samples_of(2), 1, 0, label_files=names)
    assert (found.annotators, found.rows[0].column, found.rows[0].n) == ([], "label of anna", 1)
    asked = [{"custom_judge": {"name": name}} for name in ("tone", "tone_depth")]
    samples = samples_of(1, ("human_tone", (1,)), ("human_tone_depth", (0,)))
    both = calibrated(written(tmp_path, samples, {"j": ["true", "true"]}, asked))
    assert [(one.column, one.agreement) for one in both.rows] == [
        ("human_tone", 1.0),
        ("human_tone_depth", 0.0),
    ]


@pytest.mark.parametrize(
    ("text", "named", "messages"),
    [
        (
            "sample_id,annotator,label\na,anna,1\na,anna,0\n",
            "",
            ["l.csv:3: label: anna labels the sample 'a' as '0', and as '1' at ", "l.csv:2"],
        ),
        ("annotator,label\nanna,1\n", "", ["l.csv:2: expected a sample, as 'sample_id'"]),
        ("sample_id,annotator,label\na,,1\n", "", ["l.csv:2: expected an annotator"]),
        (
            "sample_id,annotator,label\na,anna,great\nb,ben,1\n",
            "",
            ["sample a: label of anna: expected pass or fail", "'great'"],
        ),
        ("sample_id,label\nx,1\n", "", ["no label is of a sample of the data", "'x'", "'a'"]),
        ("sample_id,said\na,1\n", "", ["no column has labels", "there is said", "--human"]),
        ("sample_id,label\na,1\n", "said_*", ["--human: no column fits said_*", "user_input"]),
        (
            "sample_id,annotator,label_x,label_y\na,anna,1,1\na,ben,0,1\n",
            "",
            ["label_x: 'a' is labelled '1' and '0' by two annotators"],
        ),
        ("", "", ["l.csv: the file is empty"]),
    ],
)
def test_labels_that_cannot_be_used_are_refused(
    tmp_path: Path, text: str, named: str, messages: list[str]
) -> None:
    (tmp_path / "l.csv").write_text(text)
    files = [str(tmp_path / "l.csv")]
    with pytest.raises(ValorError) as caught:
        verdicts(tmp_path, samples_of(2), 1, 1, named=named, label_files=files)
    assert all(one in str(caught.value) for one in messages), str(caught.value)


def test_labels_are_of_one_models_answer(tmp_path: Path) -> None:
    samples = [{**one, "model": model} for model in "AB" for one in samples_of(2)]
    (tmp_path / "l.csv").write_text("sample_id,annotator,label\na,anna,1\n")
    with pytest.raises(ValorError, match="rows name no model, and the data have answers of A, B"):
        verdicts(tmp_path, samples, 1, 1, 0, 0, label_files=[str(tmp_path / "l.csv")])
    lines = "sample_id,model,annotator,label\na,A,anna,1\na,A,ben,1\nb,B,anna,1\nz,A,anna,1\n"
    (tmp_path / "l.csv").write_text(lines)
    found = verdicts(tmp_path, samples, 1, 1, 0, 0, label_files=[str(tmp_path / "l.csv")])
    assert [(one.model, one.n) for one in found.rows] == [(None, 2), ("A", 1), ("B", 1)]
    assert [text.partition(": ")[2] for text in found.warnings] == [
        "labels of a sample that the data do not have: 'z' of A"
    ]
    (tmp_path / "l.csv").write_text(lines + "".join(f"{one},A,anna,1\n" for one in "yxw"))
    found = verdicts(tmp_path, samples, 1, 1, 0, 0, label_files=[str(tmp_path / "l.csv")])
    assert [text.partition(": ")[2] for text in found.warnings] == [
        "labels of 4 samples that the data do not have: 'z' of A, 'y' of A, 'x' of A"
    ]


def test_repeats_of_a_judge_are_one_voice_among_judges() -> None:
    # x says 1 three times, y and z 0: one voice of three is for it.
    raters = {("x", 0): [1.0], ("x", 1): [1.0], ("x", 2): [1.0], ("y", 0): [0.0], ("z", 0): [0.0]}
    scale = Scale("verdicts", ("fail", "pass"), int, lambda _: None, "pass or fail")
    assert _voices(scale, raters) == [0.0]


def best_by_trying(values: Sequence[float], above: Sequence[bool]) -> float:
    """The largest kappa of all cuts."""
    levels = sorted(set(values))
    cuts = [(a + b) / 2 for a, b in pairwise(levels)]
    return max(cohen_kappa_score(above, [one >= cut for one in values]) for cut in cuts)


@pytest.mark.parametrize("seed", range(5))
def test_no_threshold_agrees_better(seed: int) -> None:
    random = np.random.default_rng(seed)
    values = random.integers(0, 9, 60) / 8
    above = values + random.normal(0, 0.3, 60) >= 0.6
    found = best_threshold(values, above, None)
    assert found.threshold is not None
    assert found.interval is not None
    kappa = cohen_kappa_score(above, values >= found.threshold)
    assert kappa == pytest.approx(best_by_trying(values.tolist(), above.tolist()), abs=1e-12)
    assert found.interval[0] <= found.threshold <= found.interval[1]


@pytest.mark.parametrize(
    ("values", "above", "usual", "expected"),
    [
        # Between 0.2 and 0.8 all are alike: the middle, or the usual one where it lies there.
        ([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1], None, (0.5, None)),
        ([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1], 0.75, (0.75, None)),
        ([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1], 0.9, (0.5, None)),
        ([0.5, 0.5], [0, 1], 0.5, (None, "the judge gives all samples one value")),
        ([0.1, 0.9], [1, 1], 0.5, (None, "the human labels are all on one side")),
        ([], [], 0.5, (None, "no sample has a human label and a judge's value")),
    ],
)
def test_thresholds_worked_by_hand(
    values: list[float], above: list[int], usual: float | None, expected: tuple[Any, Any]
) -> None:
    found = best_threshold(np.array(values), np.array(above, bool), usual)
    assert (found.threshold, found.undefined) == expected


def claims(*given: int) -> Iterator[str]:
    """What a judge of faithfulness says of as many claims, with its reasons."""
    said = [{"reason": f"because of {one}", "verdict": one} for one in given]
    yield json.dumps({"statements": [f"claim {at}" for at in range(len(given))]})
    yield json.dumps({"verdicts": said})


def of_values(folder: Path) -> Any:
    """The judge: 1, 0.5, 0.5, 0; Anna and Ben both pass the first three."""
    words = [(f"human_faithfulness_{name}", ("pass", 1, 0.9, "fail")) for name in NAMES[:2]]
    samples = [{**one, "retrieved_contexts": ["C."]} for one in samples_of(4, *words)]
    replies = [*claims(1, 1), *claims(1, 0), *claims(0, 1), *claims(0)]
    asked = [{"faithfulness": {"threshold": 0.75}}]
    return calibrated(written(folder, samples, {"j": replies}, asked))


def test_the_threshold_and_the_reasons_of_a_run(tmp_path: Path) -> None:
    found = of_values(tmp_path)
    (threshold,) = found.thresholds
    assert (threshold.threshold, threshold.agreement, threshold.n) == (0.75, 0.5, 4)
    assert (threshold.best, threshold.best_kappa, threshold.best_agreement) == (0.25, 1.0, 1.0)
    # What people say is the mean of the two: 0.9 of 0.9 and 0.9.
    assert [(one.sample_id, one.human, one.verdict, one.reasons) for one in found.differences] == [
        ("b", 1.0, 0.5, ["because of 1", "because of 0"]),
        ("c", 0.9, 0.5, ["because of 0", "because of 1"]),
    ]


def test_the_cut_of_ratings_is_compared_with_verdicts_of_people(tmp_path: Path) -> None:
    # Ratings 1 2 3 4 pass from 2.5; people pass from 2.
    samples = samples_of(4, (JUDGE, ("fail", "pass", "pass", "pass")))
    replies = [in_some_form(one, at) for at, one in enumerate((1, 2, 3, 4))]
    (found,) = calibrated(written(tmp_path, samples, {"j": replies}, [CUSTOM])).thresholds
    assert (found.output, found.threshold, found.kappa) == ("rating", 2.5, 0.5)
    assert (found.best, found.best_kappa) == (1.5, 1.0)


def shown(found: Any) -> str:
    """What a terminal shows, without the gaps between words."""
    out = StringIO()
    Console(file=out, width=200).print(in_full(blocks_of(found)))
    return "\n".join(" ".join(line.split()) for line in out.getvalue().splitlines())


def test_a_terminal_names_the_threshold_and_whole_ids(tmp_path: Path, of_people: Any) -> None:
    found = of_values(tmp_path)
    text = shown(found)
    best = "best threshold 0.250: kappa 1.000, in place of 0.200 at 0.75; chosen on these samples"
    assert best in text
    assert "The judge differs from the majority on 2 samples\n• b\n• c\n--format json" in text
    constant = [replace(one, best=None, undefined="why") for one in found.thresholds]
    assert "best threshold – (why)" in shown(replace(found, thresholds=constant))
    found = of_people
    first = found.differences[0]
    text = shown(found)
    assert f"\n• {first.sample_id} of {first.model}\n" in text
    assert f"… {len(found.differences) - 5} more. --format json and --out DIR have all" in text
    for interval, words in (
        ((-0.1, 0.1), "which chance alone may explain"),
        ((0.1, 0.2), "the judge agrees more"),
        ((-0.2, -0.1), "the judge agrees less"),
        (None, "too few samples to tell"),
    ):
        people = replace(found.annotators[0], difference_interval=interval)
        assert f"of agreement, {words}\n" in shown(replace(found, annotators=[people]))


def test_documents_have_the_numbers_and_escape_what_is_foreign(tmp_path: Path) -> None:
    columns = [(f"{JUDGE}_<b>{name}", (1, 0, 1)) for name in NAMES]
    found = verdicts(tmp_path, samples_of(3, *columns), 1, 1, 1)
    report = calibration_report(found, {"config": "run.yaml"})
    page, text = to_html(report), to_markdown(report)
    for one in (page, text):
        assert "judge 0.667, people among themselves 1.000" in one
        assert "<b>anna" not in one
        assert "Krippendorff" in one
        assert "Samples that differ" in one
    assert "| b | fail | pass |" in text
    # Of one column of labels too: the threshold, and every sample that differs.
    single = of_values(tmp_path)
    single = replace(single, annotators=[])
    assert "**best threshold** · 0.250" in to_markdown(calibration_report(single, {}))
