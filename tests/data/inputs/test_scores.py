"""Inputs of labels and scores: every format, with the compiled kernel or without."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.data.scored import error, listed, read, said, written
from valor_cli.data.formats.tables import format_of
from valor_cli.data.inputs.scores import read_scores
from valor_cli.data.shapes.scores.score_file import ScoreFile, ScoreReading, Side
from valor_cli.errors import DataError
from valor_cli.kernels import engine
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


def objects(rows: Sequence[Sample]) -> str:
    records = [
        {"id": one.sample_id, "label": one.label, "site": one.site, "predictions": dict(one.scores)}
        for one in rows
    ]
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def items(rows: Sequence[Sample]) -> str:
    records = [
        {
            "id": one.sample_id,
            "label": one.label,
            "predictions": [{"label": name, "score": score} for name, score in one.scores],
            "metadata": {"site": one.site},
        }
        for one in rows
    ]
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def single_lines(rows: Sequence[Sample]) -> str:
    records = [
        {"id": one[0], "label": one[1], "prediction": name, "score": score, "site": one[3]}
        for one in rows
        for name, score in one[2]
    ]
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


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
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_form_says_the_same(name: str, seed: int) -> None:
    rows = samples(seed, 200, most=1 + seed % 3)
    found = read(FORMS[name](rows), "samples", name, metadata=["site"])
    assert said(found) == expected(rows)
    assert found.files[0].skipped == 0


@pytest.mark.parametrize("name", ["long.csv", "lines.jsonl"])
def test_rows_of_a_sample_in_any_order(name: str) -> None:
    """Scores keep the order in which a sample's own rows stand; samples that of their first."""
    rows = samples(4, 60)
    pairs = [(one, at) for one in rows for at in range(len(one.scores))]
    order = np.random.default_rng(5).permutation(len(pairs)).tolist()
    mixed = [rows_of_one(*pairs[at]) for at in order]
    found = read(FORMS[name](mixed), "samples", name, metadata=["site"])
    together: dict[str, list[Any]] = {}
    for one in mixed:
        together.setdefault(one.sample_id, []).extend(one.scores)
    assert [(row[0], row[3]) for row in said(found)] == list(together.items())


def rows_of_one(one: Sample, at: int) -> Sample:
    return one._replace(scores=one.scores[at : at + 1])


@contextmanager
def plainly() -> Iterator[None]:
    """Without the compiled kernel."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "compiled", None)
        yield


def both(text: str, side: Side, name: str, **options: Any) -> tuple[ScoreFile, ScoreFile]:
    """What is read with the compiled kernel, and without."""
    quick = read(text, side, name, **options)
    with plainly():
        return quick, read(text, side, name, **options)


def same(quick: ScoreFile, slow: ScoreFile) -> None:
    assert said(quick) == said(slow)
    assert (set(quick.labels), quick.classes) == (set(slow.labels), slow.classes)
    assert set(quick.keys) == set(slow.keys)
    assert (quick.files, quick.samples.skipped) == (slow.files, slow.samples.skipped)
    rows = (quick.samples.rows, slow.samples.rows)
    assert rows[0] is not None
    assert np.array_equal(*rows)  # type: ignore[arg-type]
    assert type(quick.scores) is type(slow.scores)


@pytest.mark.parametrize("name", FORMS)
def test_the_kernel_changes_nothing(name: str) -> None:
    rows = [one._replace(scores=one.scores[:2]) for one in samples(6, 3000)]
    rows = [one for one in rows if len(one.scores) == 2]
    same(*both(FORMS[name](rows), "samples", name, metadata=["site"]))


def test_the_kernel_changes_nothing_classes() -> None:
    rng = np.random.default_rng(7)
    rows = [[f"s{row}", NAMES[row % 3], *rng.random(3).tolist()] for row in range(500)]
    text = table([["id", "label", *NAMES[:3]], *rows])
    quick, slow = both(text, "samples", "a.csv", probabilities=True)
    same(quick, slow)
    assert isinstance(quick.scores, DenseScores)
    assert quick.scores.score.tolist() == [row[2:] for row in rows]
    head = ["id", "label", *NAMES[:3]]
    text = "".join(
        json.dumps(dict(zip(head, row, strict=True)), ensure_ascii=False) + "\n" for row in rows
    )
    keyed, slow = both(text, "samples", "a.jsonl", probabilities=True)
    same(keyed, slow)
    assert said(keyed) == said(quick)
    text = "".join(
        json.dumps({"id": row[0], "label": row[1], "scores": row[2:]}, ensure_ascii=False) + "\n"
        for row in rows
    )
    quick, slow = both(text, "samples", "a.jsonl", classes=NAMES[:3])
    same(quick, slow)


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
        assert outcome(text, side, options) == outcome(text, side, options, plain=True)


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
        quick = outcome(text, "samples", options, name=name)
        assert quick == outcome(text, "samples", options, plain=True, name=name)


def outcome(
    text: str, side: Side, options: dict[str, Any], *, plain: bool = False, name: str = "a.csv"
) -> object:
    with plainly() if plain else nullcontext():
        try:
            return said(read(text, side, name, **options))
        except DataError as fault:
            return str(fault)


def shards(rows: Sequence[Sample], form: Callable[[Sequence[Sample]], str], ending: str) -> None:
    for at, part in enumerate((rows[:50], rows[50:120], rows[120:])):
        written(form(part), f"part-{at}.{ending}")


@pytest.mark.parametrize(("name", "ending"), [("pairs.csv", "csv"), ("objects.jsonl", "jsonl")])
def test_several_files_are_one_input(name: str, ending: str) -> None:
    rows = samples(8, 200)
    shards(rows, FORMS[name], ending)
    found = read_scores(f"part-*.{ending}", "samples", ScoreReading(metadata=["site"]))
    assert said(found) == expected(rows)
    assert [(one.path, one.rows) for one in found.files] == [
        (f"part-0.{ending}", 50),
        (f"part-1.{ending}", 70),
        (f"part-2.{ending}", 80),
    ]
    at = 51
    assert found.samples.place_of(at).startswith(f"part-1.{ending}:")
    assert isinstance(found.scores, SparseScores)


def test_several_files_of_the_same_classes() -> None:
    written("id,label,cat,dog\na,cat,1,0\n", "part-0.csv")
    written("id,label,cat,dog\nb,dog,0.25,0.75\n", "part-1.csv")
    found = read_scores("part-*.csv", "samples", ScoreReading())
    assert isinstance(found.scores, DenseScores)
    assert found.scores.score.tolist() == [[1, 0], [0.25, 0.75]]
    # The order of each file decides its ties.
    written("id,label,dog,cat\nb,dog,0.75,0.25\n", "part-1.csv")
    found = read_scores("part-*.csv", "samples", ScoreReading())
    assert listed(found) == [[("cat", 1), ("dog", 0)], [("dog", 0.75), ("cat", 0.25)]]
    assert found.classes == ("cat", "dog")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("id,label\nx,cat\na,cat\n", "id,label\nb,cat\na,dog\n",
         "part-1.csv:3: the sample 'a' is also in part-0.csv:3"),
        ("id,label,key\na,cat,k\n", "id,label,key\na,cat,j\na,cat,k\n",
         "part-1.csv:3: the sample 'a' (label key 'k') is also in part-0.csv:2"),
        ("id,label,key\na,cat,k\n", "id,label\nb,cat\n",
         "part-1.csv: labels have no label key here, and have one in part-0.csv"),
    ],
)  # fmt: skip
def test_files_that_do_not_agree(first: str, second: str, expected: str) -> None:
    written(first, "part-0.csv")
    written(second, "part-1.csv")
    with pytest.raises(DataError) as caught:
        read_scores("part-*.csv", "ground_truth", ScoreReading())
    assert str(caught.value) == expected


def test_files_of_other_classes() -> None:
    written("id,cat,dog\na,1,0\n", "part-0.csv")
    written("id,cat,cow\nb,1,0\n", "part-1.csv")
    with pytest.raises(DataError) as caught:
        read_scores("part-*.csv", "predictions", ScoreReading())
    assert str(caught.value) == (
        "part-1.csv: its columns are other classes than those of part-0.csv: cow, dog\n"
        "Name the columns that are classes under `data: classes:`."
    )


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.csv", "", "csv"),
        ("a.tsv", "", "csv"),
        ("a.JSONL", "", "jsonl"),
        ("a.ndjson.gz", "", "jsonl"),
        ("a.json", "", "json"),
        ("a.txt", '{"id": 1}\n', "jsonl"),
        ("a.txt", ' [{"id": 1}]', "json"),
        ("a.txt", "\nid;label\n", "csv"),
    ],
)
def test_formats_are_told(name: str, text: str, expected: str) -> None:
    assert format_of(written(text, name)) == expected


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.txt", "words", "a.txt: the format cannot be detected from the content"),
        (".", None, ".: this is a folder; a file, or a pattern such as folder/*.jsonl, is needed"),
        ("no*.csv", None, "no*.csv: no file matches"),
        ("none.csv", None, "none.csv: no such file"),
    ],
)
def test_formats_that_cannot_be_told(path: str, text: str | None, expected: str) -> None:
    if text is not None:
        written(text, path)
    with pytest.raises(DataError) as caught:
        read_scores(path, "samples", ScoreReading())
    assert str(caught.value).startswith(expected)


def test_a_format_that_there_is_not() -> None:
    with pytest.raises(DataError, match=r"no format 'jsonln' .did you mean 'jsonl'"):
        read_scores("a", "samples", ScoreReading(), format="jsonln")


def test_classes_are_named_once() -> None:
    message = "classes: duplicate class 'cat'"
    assert error("id,cat\na,1\n", "predictions", classes=["cat", "dog", "cat"]) == message


def test_a_named_format() -> None:
    path = written('{"id":"a","label":"cat"}\n', "a.csv")
    assert read_scores(path, "ground_truth", ScoreReading(), format="jsonl").labels == ("cat",)


def test_compressed_files_and_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"id,label\na,cat\n"
    Path("a.csv.gz").write_bytes(gzip.compress(text))
    assert read_scores("a.csv.gz", "ground_truth", ScoreReading()).labels == ("cat",)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert read_scores("-", "ground_truth", ScoreReading()).labels == ("cat",)
    Path("cut.csv.gz").write_bytes(gzip.compress(text)[:-9])
    with pytest.raises(DataError, match="damaged"):
        read_scores("cut.csv.gz", "ground_truth", ScoreReading())


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


def test_utf_16_is_refused() -> None:
    assert "looks like UTF-16" in error("id,label\na,cat\n".encode("utf-16"), "ground_truth")


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
    assert outcome(text, side, options, name="a.jsonl") == outcome(
        text, side, options, plain=True, name="a.jsonl"
    )


def test_a_label_key_may_have_a_score_and_no_label() -> None:
    line = {"id": 1, "label": {"hue": "red"}, "prediction": {"hue": None}, "score": 0.5}
    found = read(json.dumps(line), "samples", "a.jsonl")
    assert listed(found) == [[]]
    wrong = error(json.dumps({**line, "score": "x"}), "samples", "a.jsonl")
    assert wrong.startswith('a.jsonl:1: score.hue: expected a number, found the string "x"')
