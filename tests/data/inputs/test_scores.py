"""Inputs of labels and scores: every format, with the compiled kernel or without; real tables."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.data.scored import joined_parts, read, said, saved, written
from tests.engines import by_both, computing
from valor_cli.data.inputs.score_pieces import read_score_piece
from valor_cli.data.inputs.scores import read_scores
from valor_cli.data.partition.pieces import UnsplittableError, cut, seamless
from valor_cli.data.shapes.scores.joined import ScorePart
from valor_cli.data.shapes.scores.score_file import ScoreReading, Side
from valor_cli.errors import DataError
from valor_cli.kernels.ranking.scores import DenseScores, SparseScores

pytestmark = pytest.mark.usefixtures("in_a_folder")

NAMES = ("cat", "dog", "ä b", "7", "x" * 70)


class Sample(NamedTuple):
    """A sample as a test has it, before it is written."""

    sample_id: str
    label: str
    scores: tuple[tuple[str, float], ...]
    site: str


def samples(seed: int, count: int, *, most: int = 3) -> list[Sample]:
    """Random samples, in random order."""
    rng = np.random.default_rng(seed)
    made = []
    for number in rng.permutation(count).tolist():
        names = rng.permutation(NAMES)[: int(rng.integers(1, most + 1))].tolist()
        scores = tuple((name, round(float(rng.random()), 6)) for name in names)
        label = NAMES[int(rng.integers(len(NAMES)))]
        made.append(Sample(f"s{number}", label, scores, f"site {number % 3}"))
    return made


def expected(rows: Sequence[Sample]) -> list[tuple[Any, ...]]:
    return [(row.sample_id, None, row.label, list(row.scores), row.site) for row in rows]


def table(rows: Sequence[Sequence[Any]], *, quoted: bool = False, end: str = "\n") -> str:
    text = io.StringIO(newline="")
    how = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    csv.writer(text, quoting=how, lineterminator=end).writerows(rows)
    return text.getvalue()


def long_rows(rows: Sequence[Sample]) -> list[list[Any]]:
    head = ["id", "label", "prediction", "score", "site"]
    return [head, *([one[0], one[1], *pair, one[3]] for one in rows for pair in one[2])]


def paired_rows(rows: Sequence[Sample]) -> list[list[Any]]:
    width = max(len(one.scores) for one in rows)
    head = [
        "id",
        "site",
        "label",
        *(f"{name}{at}" for at in range(width) for name in ("pred", "score")),
    ]
    cells = [[cell for pair in one.scores for cell in pair] for one in rows]
    return [
        head,
        *(
            [one.sample_id, one.site, one.label, *row, *[""] * (2 * width - len(row))]
            for one, row in zip(rows, cells, strict=True)
        ),
    ]


def lines(records: Iterable[object]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def objects(rows: Sequence[Sample]) -> str:
    return lines(
        {"id": one.sample_id, "label": one.label, "site": one.site, "predictions": dict(one.scores)}
        for one in rows
    )


def items(rows: Sequence[Sample]) -> str:
    return lines(
        {
            "id": one.sample_id,
            "label": one.label,
            "predictions": [{"label": name, "score": score} for name, score in one.scores],
            "metadata": {"site": one.site},
        }
        for one in rows
    )


def single_lines(rows: Sequence[Sample]) -> str:
    return lines(
        {"id": one[0], "label": one[1], "prediction": name, "score": score, "site": one[3]}
        for one in rows
        for name, score in one[2]
    )


FORMS: dict[str, Callable[[Sequence[Sample]], str]] = {
    "long.csv": lambda rows: table(long_rows(rows)),
    "pairs.csv": lambda rows: table(paired_rows(rows)),
    "quoted.csv": lambda rows: table(paired_rows(rows), quoted=True, end="\r\n"),
    "objects.jsonl": objects,
    "items.jsonl": items,
    "lines.jsonl": single_lines,
    "list.json": lambda rows: "[" + objects(rows).strip().replace("\n", ",") + "]",
}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize(("count", "most", "compiled"), [(3000, 2, True), (200, 3, False)])
def test_every_form_says_the_same(name: str, count: int, most: int, compiled: bool) -> None:
    rows = samples(count, count, most=most)
    with computing(compiled):
        found = read(FORMS[name](rows), "samples", name, metadata=["site"])
    assert said(found) == expected(rows)
    assert found.files[0].skipped == 0


@pytest.mark.parametrize("name", ["long.csv", "lines.jsonl"])
def test_rows_of_a_sample_in_any_order(name: str) -> None:
    """Scores keep the order in which a sample's own rows stand; samples that of their first."""
    rows = samples(4, 60)
    pairs = [(one, at) for one in rows for at in range(len(one.scores))]
    order = np.random.default_rng(5).permutation(len(pairs)).tolist()
    mixed = [one._replace(scores=(one.scores[at],)) for one, at in (pairs[to] for to in order)]
    found = read(FORMS[name](mixed), "samples", name, metadata=["site"])
    together: dict[str, list[Any]] = {}
    for one in mixed:
        together.setdefault(one.sample_id, []).extend(one.scores)
    assert [(row[0], row[3]) for row in said(found)] == list(together.items())


CELLS = st.sampled_from(
    ["", "a", "b", "0", "1", "0.5", " 0.5", "-1", "1e-3", "1e999", "nan", "x y", "é", "0x1", "1_0"]
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS, CELLS), min_size=1, max_size=4))
@pytest.mark.parametrize(
    "head", ["id,label,pred,score,site", "id,label,pred0,score0,key", "id,label,cat,dog,site",
             "id,pred1,score1,pred2,score2"]
)  # fmt: skip
def test_the_kernel_changes_nothing_whatever_the_cells(
    head: str, rows: list[tuple[str, ...]]
) -> None:
    text = head + "\n" + "".join(",".join(row) + "\n" for row in rows)
    side: Side = "predictions" if "label" not in head else "samples"
    options: dict[str, Any] = {"metadata": ["site"]} if "site" in head else {}
    if "dog" in head:
        options["classes"] = ["cat", "dog"]
    for invalid in ("skip", "error"):
        options["invalid"] = invalid
        check_both_engines(text, side, options)


FAULTS = {
    "a.csv": [
        "", "7,cat", "8,cat,cat,0.5,cat,0.5", ",cat,cat,0.5,dog,0.5", "9,cat,cat,x,dog,0.5",
        "10,cat,cat,nan,dog,0.5", "11,cat,,0.5,dog,0.5", "12,,cat,0.5,dog,0.5", "13,cat,,,,",
        '14,"cat, ""a""",cat,0.5,dog,0.5', "s\0,cat,cat,0.5,dog,0.5", "14,cat,cat, 1 ,dog,2",
        "15,cat,cat,1_0,dog,0.5", "16,cat,cat,0.5,dog,0.5,1", "0,cat,cat,0.5,dog,0.5",
    ],
    "a.jsonl": [
        "", "{", "[]", '{"id":8}', '{"id":"","label":"cat","predictions":{"cat":0.5,"dog":0.5}}',
        '{"id":"9","label":"cat","predictions":{"cat":0.5,"cat":0.5}}',
        '{"id":"10","label":"cat","predictions":{"cat":NaN,"dog":0.5}}',
        '{"id":"11","label":"cat","predictions":null}', '{"id":"12","label":"cat"}',
        '{"id":13,"label":null,"predictions":{"cat":0.5,"dog":0.5}}',
        '{"id":"14","label":"\\u0061","predictions":[["cat",1]]}',
        '{"id":"15","id":"b","label":"cat","predictions":{"cat":0.5,"dog":0.5}}',
        '{"id":"16","label":"cat","predictions":{"cat":2,"dog":0.5},"label_key":"k"}',
        '{"id":"17","label":"cat","predictions":[{"label":3,"score":0.5},{"class":"a","p":1}]}',
        '{"id":"18","label":true,"prediction":"cat","score":0.5,"site":"x"}',
        '{"id":"0","label":"cat","predictions":{"cat":0.5,"dog":0.5}}',
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("seed", range(8))
def test_the_kernel_changes_nothing_whatever_is_wrong(name: str, seed: int) -> None:
    """Whatever is wrong with some rows: the others, all messages, and the order are the same."""
    rng = random.Random(seed)
    end = "\r\n" if seed == 7 else "\n"
    rows = [
        f"{at},{rng.choice(NAMES[:3])},cat,{rng.random()},dog,{rng.random()}"
        if name == "a.csv"
        else f'{{"id":"{at}","label":"dog","predictions":{{"cat":{rng.random()},"ox":0}}}}'
        for at in range(100, 160)
    ]
    rows[0] = rows[0].replace("100", "0", 1)
    for fault in rng.sample(FAULTS[name], 1 + seed * len(FAULTS[name]) // 8):
        rows.insert(rng.randrange(len(rows) + 1), fault)
    head = "id,label,pred0,score0,pred1,score1" + end if name == "a.csv" else ""
    text = head + end.join(rows) + end * (seed % 2)
    for options in ({}, {"invalid": "skip"}, {"invalid": "skip", "probabilities": True}):
        check_both_engines(text, "samples", options, name)


def check_both_engines(text: str, side: Side, options: Any, name: str = "a.csv") -> None:
    def outcome() -> object:
        try:
            return said(read(text, side, name, **options))
        except DataError as fault:
            return str(fault)

    quick, plain = by_both(outcome)
    assert quick == plain


@pytest.mark.parametrize(("name", "ending"), [("pairs.csv", "csv"), ("objects.jsonl", "jsonl")])
def test_several_files_are_one_input(name: str, ending: str) -> None:
    rows = samples(8, 200)
    for at, part in enumerate((rows[:50], rows[50:120], rows[120:])):
        written(FORMS[name](part), f"part-{at}.{ending}")
    found = read_scores(f"part-*.{ending}", "samples", ScoreReading(metadata=["site"]))
    assert said(found) == expected(rows)
    assert [(one.path, one.rows) for one in found.files] == [
        (f"part-0.{ending}", 50),
        (f"part-1.{ending}", 70),
        (f"part-2.{ending}", 80),
    ]
    assert found.samples.place_of(51).startswith(f"part-1.{ending}:")
    assert isinstance(found.scores, SparseScores)


def test_the_memory_of_many_samples() -> None:
    """Columns are kept once: 10,000 rows of 100 scores are 12 bytes a score, and not much more."""
    import tracemalloc

    row = ",".join(f"c{at},0.5" for at in range(100))
    head = "id," + ",".join(f"pred{at},score{at}" for at in range(100))
    path = written(head + "\n" + "".join(f"{one:06d},{row}\n" for one in range(10_000)), "a.csv")
    tracemalloc.start()
    try:
        found = read_scores(path, "predictions", ScoreReading())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(found.samples) == 10_000
    # 8 MB of scores and 4 MB of labels; twice the scores while they are joined.
    assert peak < 30_000_000


SCALARS = st.sampled_from([None, True, 0, 0.5, 2, -1, "", "cat", "dog", "0.5", "é", "\ud800"])
LABELS = st.one_of(SCALARS, st.dictionaries(st.sampled_from(["hue", "size", ""]), SCALARS))
SCORES = st.dictionaries(st.sampled_from(["cat", "dog", ""]), SCALARS)
ITEMS = st.lists(
    st.one_of(
        SCALARS,
        st.lists(SCALARS, max_size=3),
        st.fixed_dictionaries({"label": SCALARS, "score": SCALARS}),
        SCORES,
    ),
    max_size=3,
)
LISTED = st.one_of(SCALARS, SCORES, ITEMS, st.dictionaries(st.sampled_from(["hue", ""]), SCORES))
RECORDS = st.fixed_dictionaries(
    {},
    optional={
        "id": SCALARS,
        "label": LABELS,
        "prediction": LABELS,
        "predictions": LISTED,
        "score": LABELS,
        "label_key": SCALARS,
        "site": st.one_of(SCALARS, SCORES),
    },
)


@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    records=st.lists(RECORDS, max_size=3),
    side=st.sampled_from(["samples", "predictions", "ground_truth"]),
    classes=st.sampled_from([(), ("cat", "dog")]),
    probabilities=st.booleans(),
)
def test_a_row_is_refused_exactly_if_it_has_a_fault(
    records: list[dict[str, Any]], side: Side, classes: Sequence[str], probabilities: bool
) -> None:
    """A row refused without a fault is an error of the program, no `DataError`."""
    text = "".join(json.dumps(record) + "\n" for record in records)
    options = {"classes": classes, "probabilities": probabilities, "metadata": ["site"]}
    check_both_engines(text, side, options, "a.jsonl")


DATA = Path(__file__).parents[2] / "real_data/classification"


def test_a_quoted_field_over_several_blocks() -> None:
    """Rows are read quickly again behind it, and keep their line numbers."""
    long = "x\n" * 200_000
    rows = "".join(f"{number},cat\n" for number in range(30_000))
    found = read(f'id,label\nfirst,"{long}"\n{rows}last,dog\n', "ground_truth")
    assert len(found.samples) == 30_002
    assert found.labels == (long, "cat", "dog")
    assert found.samples.place_of(30_001) == f"a.csv:{2 + 200_001 + 30_000}"


@pytest.mark.parametrize("name", ["breastcancer-342-binary", "digits-899-randomforest"])
def test_real_tables_of_classes(name: str) -> None:
    path = DATA / name / "predictions.csv"
    with path.open(newline="") as file:
        head, *rows = list(csv.reader(file))
    found = read_scores(str(path), "predictions", ScoreReading(probabilities=True))
    assert found.classes == tuple(head[1:])
    assert isinstance(found.scores, DenseScores)
    assert found.scores.score.tolist() == [[float(cell) for cell in row[1:]] for row in rows]
    assert [one[0] for one in said(found)] == [row[0] for row in rows]


def test_real_names_given_by_people() -> None:
    path = DATA / "human-edge-16/labels.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = read_scores(str(path), "samples", ScoreReading(metadata=["subject"]))
    assert said(found) == [
        (row["id"], None, row["label"], [(row["prediction"], 1)], row["subject"]) for row in rows
    ]


def test_ids_that_are_long_here_and_there() -> None:
    """The column would be a gigabyte at the width of the longest."""
    rows = "".join(f"{number},cat\n" for number in range(10_000))
    long = "x" * 100_000
    found = read(f"id,label\n{rows}{long},dog\n", "ground_truth")
    ids: Any = found.samples["sample_id"]
    assert ids.dtype == object
    assert ids[-1] == long.encode()
    assert ids[7] == b"7"


WIDE: dict[str, list[Any]] = {
    "id": ["a", "b"],
    "label": ["cat", "dog"],
    "cat": [0.9, 0.2],
    "dog": [0.1, 0.8],
}


def parts_of(path: str, size: int) -> list[ScorePart]:
    """What is read of the pieces of a file."""
    return [read_score_piece(piece, "samples", ScoreReading()) for piece in cut(path, size)]


def check_joined(path: str, parts: list[ScorePart]) -> None:
    """See that parts are the file."""
    whole = read_scores(path, "samples", ScoreReading())
    spans = [one.facts.span for one in parts if one.facts.span]
    assert seamless(spans, Path(path).stat().st_size)
    joined = joined_parts(path, "samples", parts, whole.files[0].sha256 or "")
    assert joined is not None
    assert said(joined) == said(whole)
    assert list(joined.files) == list(whole.files)
    assert joined.samples.rows is not None
    assert whole.samples.rows is not None
    assert joined.samples.rows.tolist() == whole.samples.rows.tolist()


@pytest.mark.parametrize("size", [20, 50, 100, 500])
def test_the_parts_of_a_file_are_the_file(size: int) -> None:
    columns: dict[str, Any] = {name: one * 3 for name, one in WIDE.items()}
    columns["id"] = list("abcdef")
    path = saved(columns, row_group_size=2)
    parts = parts_of(path, size)
    check_joined(path, parts)
    files = [one.file for one in parts]
    assert {file.files[0].sha256 for file in files} == {""}
    places = [file.samples.place_of(0) for file in files if len(file.samples)]
    assert places[0] == "a.parquet: row 1"
    assert size > 100 or places[1:] == ["a.parquet: row 3", "a.parquet: row 5"]


@pytest.mark.parametrize("size", [60, 200])
@pytest.mark.parametrize("group", [1, 3, 4])
def test_a_sample_of_several_rows_is_in_one_part(group: int, size: int) -> None:
    """Row groups end inside of samples, one of which is larger than a group."""
    samples = ["a"] * 2 + ["b"] * 7 + ["c"] + ["d"] * 3
    columns = {
        "id": samples,
        "label": ["cat" if one != other else None for one, other in pairwise(["", *samples])],
        "prediction": [f"p{at}" for at in range(len(samples))],
        "score": np.arange(len(samples)) / 16,
    }
    path = saved(columns, row_group_size=group)
    check_joined(path, parts_of(path, size))


def test_a_part_that_needs_the_others() -> None:
    # The true label of a row of one label each may stand in another row group.
    columns = {"id": ["a", "b", "a"], "label": ["cat", "cat", None], "pred": ["cat", "cat", "dog"]}
    path = saved({**columns, "score": [0.5] * 3}, row_group_size=1)
    with pytest.raises(UnsplittableError):
        parts_of(path, 20)
