"""The quick reading of CSV rows, against the csv module and `float`."""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from io import StringIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor_cli.data.formats.csv.score_lines import PlainScoreRows, outside_quotes
from valor_cli.data.shapes.scores.rows import ScoreHeader, ScorePiece
from valor_cli.kernels.columns.fields import FieldText
from valor_cli.kernels.columns.vocabulary import Vocabulary


def header(names: str, *, delimiter: str = ",", spaced: bool = False) -> ScoreHeader:
    """Columns by the first letter of their names: id, label, key, meta, pred, score, class."""
    columns = names.split()
    at = {name: position for position, name in enumerate(columns)}
    return ScoreHeader(
        names=tuple(columns),
        delimiter=delimiter,
        spaced=spaced,
        sample_id=at["id"],
        truth=at.get("label"),
        key=at.get("key"),
        classes=tuple((name, place) for name, place in at.items() if name.startswith("class")),
        pairs=tuple(
            (place, at.get(name.replace("pred", "score"), -1))
            for name, place in at.items()
            if name.startswith("pred")
        ),
        metadata={name: place for name, place in at.items() if name.startswith("meta")},
    )


def read(
    text: str | bytes, columns: ScoreHeader, *, probabilities: bool = False
) -> tuple[ScorePiece | None, tuple[str, ...], tuple[str, ...]]:
    """The piece, unless a row is left out; the labels and the keys."""
    labels, keys = Vocabulary(), Vocabulary()
    plain = PlainScoreRows(columns, labels, keys, probabilities=probabilities)
    block = text.encode() if isinstance(text, str) else text
    parsed = plain.parse(block, 2)
    if parsed is None or len(parsed.rejected):
        return None, labels.names, keys.names
    assert parsed.lines == len(parsed.piece.line)
    return parsed.piece, labels.names, keys.names


def rows_of(piece: ScorePiece, labels: Sequence[str], keys: Sequence[str]) -> list[Any]:
    """What each row says, in words."""
    rows, at = [], 0
    for row in range(len(piece.line)):
        scores: Any = None
        if piece.count is not None:
            assert piece.label is not None
            assert piece.score is not None
            end = at + int(piece.count[row])
            names = [labels[code] for code in piece.label[at:end]]
            scores = list(zip(names, piece.score[at:end].tolist(), strict=True))
            at = end
        elif piece.score is not None:
            scores = piece.score[row].tolist()
        rows.append(
            (
                piece.sample_id[row].decode(),
                int(piece.line[row]),
                None if piece.truth is None or piece.truth[row] < 0 else labels[piece.truth[row]],
                None if piece.key is None else keys[piece.key[row]],
                scores,
                {name: values[row] for name, values in piece.metadata.items()},
            )
        )
    assert piece.label is None or at == len(piece.label)
    return rows


def oracle(text: str, columns: ScoreHeader) -> list[Any]:
    """The same with the csv module."""
    rows = []
    reader = csv.reader(
        StringIO(text, newline=""),
        delimiter=columns.delimiter,
        skipinitialspace=columns.spaced,
    )
    for line, record in enumerate(reader, 2):
        scores: Any = None
        if columns.pairs:
            scores = [
                (record[name], 1.0 if score < 0 else float(record[score]))
                for name, score in columns.pairs
                if record[name]
            ]
        elif columns.classes:
            scores = [float(record[place] or 0) for _, place in columns.classes]
        rows.append(
            (
                record[columns.sample_id],
                line,
                None if columns.truth is None else record[columns.truth] or None,
                None if columns.key is None else record[columns.key],
                scores,
                {name: record[place] or None for name, place in columns.metadata.items()},
            )
        )
    return rows


PAIRS = "id label pred0 score0 pred1 score1"
ONE = "1,cat,cat,0.75,dog,0.25\n"


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (PAIRS, ONE + "2,dog,cat,0.5,dog,0.125\n"),
        (PAIRS, ONE + "2,dog,cat,5e-1,dog,1\n"),
        # No line end behind the last row; Windows' line ends.
        (PAIRS, ONE + "2,dog,cat,0.5,dog,0.125"),
        (PAIRS, (ONE + "2,dog,cat,0.5,dog,0.125\n").replace("\n", "\r\n")),
        # A label that is left out, with its score.
        (PAIRS, ONE + "2,owl,,,dog,1\n3,owl,,,,\n4,owl,ox,0.5,,\n"),
        # No true label; no score for any class, which is no prediction.
        (PAIRS, ONE + "2,,cat,0.5,dog,0.5\n"),
        ("id label class_a class_b", "1,x,0.5,0.25\n2,,,\n3,y,,\n"),
        # Fields in quotes, with what they are quoted for.
        (PAIRS, '"1","a, b","cat","0.75",dog,"0.25"\n2,"","x,",1,"",""\n' + ONE),
        (PAIRS, ('"1","a, b","cat",0.5,dog,0.25\n' + ONE).replace("\n", "\r\n")),
        # Ids longer than most.
        (PAIRS, ONE + "i" * 65 + ",dog,cat,0.5,dog,0.5\n" + "j" * 900 + ",dog,cat,0.5,dog,0.5\n"),
        # Names of any length, beyond ASCII, with spaces and backslashes.
        (PAIRS, ONE + "é€,größe,a b,0.1,\\n,0.2\n" + "i" * 64 + "," + "n" * 200 + ",p,1,q,0\n"),
        # Numbers that only Python's float reads, or that are long.
        (PAIRS, ONE + "2,dog,cat, .5 ,dog,+1.\n3,dog,cat,0.1234567890123456789012345,dog,-1E-3\n"),
        ("label id pred", "cat,1,dog\ncat,2,\ndog,3,cat\n"),
        ("id label pred score", "1,cat,dog,0.5\n1,cat,cat,0.25\n2,,dog,1\n".replace(",,", ",owl,")),
        ("id pred score", "1,dog,0.5\n2,cat,12.5\n"),
        ("id label", "1,cat\n2,dog\n3,cat\n"),
        ("id label class_a class_b class_c", "1,x,0.1,0.2,0.7\n2,class_a,-1.5,2e3,0\n"),
        ("id key label pred score", "1,color,red,red,1\n1,shape,round,square,0.5\n"),
        ("meta_a id label meta_b", "sunny,1,cat,\n,2,dog,x y\n"),
    ],
)
def test_the_csv_module_finds_the_same(names: str, text: str) -> None:
    columns = header(names)
    piece, labels, keys = read(text, columns)
    assert piece is not None
    assert rows_of(piece, labels, keys) == oracle(text, columns)


@pytest.mark.parametrize("delimiter", ",;\t")
def test_delimiters_and_the_spaces_behind_them(delimiter: str) -> None:
    text = (ONE + "2,a b ,cat,0.5,  dog,  0.125\n").replace(",", delimiter + " ")
    columns = header(PAIRS, delimiter=delimiter, spaced=True)
    piece, labels, keys = read(text, columns)
    assert piece is not None
    assert rows_of(piece, labels, keys) == oracle(text, columns)


@pytest.mark.parametrize("seed", range(3))
def test_random_rows(seed: int) -> None:
    rng = random.Random(seed)
    columns = header("id label pred0 score0 pred1 score1 pred2 score2")
    names = [f"class_{number}" for number in range(rng.choice([3, 50, 1000]))]
    lines = []
    for row in range(2000):
        listed = rng.sample(names, 3)
        scores = [
            rng.choice([repr(one), f"{one:.4f}", f"{one:.3e}", repr(round(one, 6))])
            for one in (rng.random() ** 4 for _ in listed)
        ]
        pairs = [f"{name},{score}" for name, score in zip(listed, scores, strict=True)]
        if rng.random() < 0.1:
            pairs[2] = ","
        lines.append(",".join([f"image_{row * 7}.png", rng.choice(names), *pairs]))
    text = "\n".join(lines) + "\n"
    piece, labels, keys = read(text, columns)
    assert piece is not None
    assert rows_of(piece, labels, keys) == oracle(text, columns)
    # As they are met: the true label, then those listed, row after row.
    met = [name for row in oracle(text, columns) for name in (row[2], *dict(row[4]))]
    assert labels == tuple(dict.fromkeys(met))


def test_wide_scores_keep_the_order_of_the_classes() -> None:
    columns = header("id class_b class_a label")
    piece, labels, _ = read("1,0.25,0.75,class_a\n", columns)
    assert piece is not None
    assert (piece.count, piece.label) == (None, None)
    assert piece.score is not None
    assert piece.score.tolist() == [[0.25, 0.75]]
    assert labels == ("class_a",)


@pytest.mark.parametrize(
    "row",
    [
        "2,dog,cat,0.5,dog",
        "2,dog,cat,0.5,dog,0.5,",
        "2,dog,cat,0.5,dog,0.5,owl,0.5\n3,dog,cat,0.5",
        "",
        "\n",
        '2,"d""og",cat,0.5,dog,0.5',
        ",dog,cat,0.5,dog,0.5",
        '"",dog,cat,0.5,dog,0.5',
        "2,dog,,0.5,dog,0.5",
        "2,dog,cat,,dog,0.5",
        "2,new,cat,0.5,cat,0.5",
        "2,dog,cat,nan,dog,0.5",
        "2,dog,cat,inf,dog,0.5",
        "2,dog,cat,1e999,dog,0.5",
        "2,dog,cat,1_0,dog,0.5",
        "2,dog,cat,0.5x,dog,0.5",
        "2,dog,cat,\N{NO-BREAK SPACE}0.5,dog,0.5",
        "2,dog,cat,٣,dog,0.5",
        "2,dog,cat,0.5\0,dog,0.5",
        "2,do\0g,cat,0.5,dog,0.5",
        "2,dog,cat,\x1f0.5,dog,0.5",
    ],
)
def test_what_is_unusual_is_left_to_the_slow_reading_row_by_row(row: str) -> None:
    columns = header(PAIRS)
    other = ONE.replace("1,", "5,", 1)
    for before, after in ((ONE, ""), ("", ONE), (ONE + other, ONE), ("", "")):
        labels = Vocabulary()
        plain = PlainScoreRows(columns, labels, None, probabilities=False)
        parsed = plain.parse(f"{before}{row}\n{after}".encode(), 2)
        assert parsed is not None
        own, first = row.count("\n") + 1, before.count("\n")
        assert parsed.rejected.tolist() == list(range(first, first + own))
        assert parsed.lines == first + own + after.count("\n")
        # It leaves no name behind, for rows that may be refused.
        assert labels.names == (("cat", "dog") if before or after else ())
        found = rows_of(parsed.piece, labels.names, ())
        expected = oracle(before + after, columns)
        moved = [(one[0], one[1] + own * (one[1] >= first + 2), *one[2:]) for one in expected]
        assert found == moved


@pytest.mark.parametrize(
    "row",
    [
        "2,dog\r,cat,0.5,dog,0.5",
        "2,dog,cat,0.5\r,dog,0.5",
        '2,"dog,cat,0.5,dog,0.5',
        '2,"do\ng",cat,0.5,dog,0.5',
        '2,do"g",cat,0.5,dog,0.5',
        '2,"do"g,cat,0.5,dog,0.5',
        '2,dog, "cat",0.5,dog,0.5',
        # Its last quote opens a field.
        '2,x",cat,0.5,dog,"',
    ],
)
def test_rows_that_may_go_on_in_the_next_line_are_left_with_those_around_them(row: str) -> None:
    for text in (ONE + row + "\n", row + "\n" + ONE, ONE + row + "\n" + ONE):
        labels = Vocabulary()
        plain = PlainScoreRows(header(PAIRS), labels, None, probabilities=False)
        assert plain.parse(text.encode(), 2) is None
        assert labels.names == ()


def test_only_probabilities_must_be_from_0_to_1() -> None:
    columns = header("id pred score")
    for score in ("-0.00101", "1.0010001", "2", "-1e300"):
        text = f"1,cat,0\n2,cat,{score}\n3,cat,1\n"
        assert read(text, columns, probabilities=False)[0] is not None
        assert read(text, columns, probabilities=True)[0] is None
    assert read("1,cat,-0.001\n2,cat,1.001\n", columns, probabilities=True)[0] is not None


def test_codes_go_on_from_block_to_block() -> None:
    labels = Vocabulary()
    plain = PlainScoreRows(header("id label"), labels, None, probabilities=False)
    parsed = [plain.parse(b"1,b\n2,a\n", 2), plain.parse(b"3,c\n4,b\n", 4)]
    first, second = (one.piece for one in parsed if one is not None)
    assert first.truth is not None
    assert second.truth is not None
    assert [*first.truth.tolist(), *second.truth.tolist()] == [0, 1, 2, 0]
    assert second.line.tolist() == [4, 5]


def pieces(text: str) -> list[str] | None:
    """What stands between the separators outside of quotes."""
    block = FieldText(text.encode())
    found = outside_quotes(block, block.positions(*b",\n"), ord(","))
    if found is None:
        return None
    begin = [0, *(found + 1).tolist()]
    return [block.field(*span).decode() for span in zip(begin, found.tolist(), strict=False)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"a","b"\n', ['"a"', '"b"']),
        ('"a",b\r\nc,""\r\n', ['"a"', "b\r", "c", '""\r']),
        ('"a,b"\n', ['"a,b"']),
        ('"a"",""b",c\n', ['"a"",""b"', "c"]),
        ('"a""",b\n', ['"a"""', "b"]),
        ('"","",x\n', ['""', '""', "x"]),
        ('"a\nb"\n', None),
        ('a"b"\n', None),
        ('a"b",c"\n', None),
        ('"a"b\n', None),
        ('"a\n', None),
        ('a, "b"\n', None),
        # The second quote opens a field that goes on behind the line.
        ('a",b,"\n', None),
    ],
)
def test_rows(text: str, expected: list[str] | None) -> None:
    assert pieces(text) == expected


@given(st.text(st.sampled_from('ab,"\n;'), max_size=30).map(lambda text: text + "\n"))
def test_the_csv_module_finds_the_same_fields(text: str) -> None:
    found = pieces(text)
    if found is not None:
        unquoted = [one[1:-1].replace('""', '"') if one.startswith('"') else one for one in found]
        rows = csv.reader(StringIO(text, newline=""), strict=True)
        # The module has no field for an empty line.
        assert unquoted == [field for row in rows for field in row or [""]]
