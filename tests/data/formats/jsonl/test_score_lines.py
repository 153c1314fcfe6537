"""The quick reading of JSON lines, against the json module."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from valor_cli.data.formats.jsonl.score_lines import PlainScoreLines
from valor_cli.data.shapes.scores.rows import ScorePiece
from valor_cli.data.shapes.scores.score_file import ScoreReading, Side
from valor_cli.kernels.columns.vocabulary import Vocabulary

CLASSES = ("cat", "dog", "owl")


class Reading:
    """A quick reading and the names that it has met."""

    def __init__(
        self,
        side: Side = "samples",
        *,
        classes: tuple[str, ...] = (),
        metadata: Sequence[str] = (),
        probabilities: bool = False,
        columns: Mapping[str, str] | None = None,
    ) -> None:
        self.labels, self.keys = Vocabulary(), Vocabulary()
        reading = ScoreReading(metadata, classes, columns or {}, probabilities=probabilities)
        self.plain = PlainScoreLines(side, reading, self.labels, self.keys)

    def piece(self, text: str | bytes, first: int = 1) -> ScorePiece | None:
        """The piece of a block, unless a line is left out."""
        parsed = self.plain.parse(text.encode() if isinstance(text, str) else text, first)
        return None if parsed is None or len(parsed.rejected) else parsed.piece

    def rows(self, text: str | bytes, first: int = 1) -> list[Any]:
        """Id, line, true label, key, what is listed, and metadata of each row of a block."""
        piece = self.piece(text, first)
        assert piece is not None
        labels, keys = self.labels.names, self.keys.names
        rows, at = [], 0
        for row in range(len(piece.line)):
            listed: Any = None
            if piece.count is not None:
                assert piece.label is not None
                assert piece.score is not None
                end = at + int(piece.count[row])
                names = [labels[code] for code in piece.label[at:end]]
                listed = list(zip(names, piece.score[at:end].tolist(), strict=True))
                at = end
            elif piece.score is not None:
                listed = piece.score[row].tolist()
            truth = -1 if piece.truth is None else int(piece.truth[row])
            key = -1 if piece.key is None else int(piece.key[row])
            rows.append(
                (
                    piece.sample_id[row].decode(),
                    int(piece.line[row]),
                    None if truth < 0 else labels[truth],
                    None if key < 0 else keys[key],
                    listed,
                    {name: values[row] for name, values in piece.metadata.items()},
                )
            )
        assert piece.label is None or at == len(piece.label)
        return rows


def lines(*records: str) -> str:
    """Records as lines."""
    return "".join(record + "\n" for record in records)


def in_all_styles(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """The same lines as tools write them: dense or with spaces, with line ends of both kinds."""
    styles: list[dict[str, Any]] = [{"separators": (",", ":")}, {}, {"separators": (" , ", " : ")}]
    texts = [
        lines(*(json.dumps(record, ensure_ascii=False, **style) for record in records))
        for style in styles
    ]
    return [*texts, texts[1].replace("\n", "\r\n"), texts[0].removesuffix("\n")]


OBJECTS = [
    {"id": "a", "label": "cat", "predictions": [{"label": "cat", "score": 0.5}]},
    {"id": "größe", "label": "a, b", "predictions": [{"label": "dog", "score": 1e-05}]},
    {"id": "c" * 64, "label": "d" * 300, "predictions": [{"label": "cat", "score": -1}]},
]
LISTED = [
    ("a", 1, "cat", None, [("cat", 0.5)], {}),
    ("größe", 2, "a, b", None, [("dog", 1e-05)], {}),
    ("c" * 64, 3, "d" * 300, None, [("cat", -1.0)], {}),
]


@pytest.mark.parametrize("text", in_all_styles(OBJECTS))
def test_lists_of_objects(text: str) -> None:
    assert Reading().rows(text) == LISTED


def test_objects_of_scores() -> None:
    records = [
        {"sample_id": "1", "label": "cat", "predictions": {"cat": 0.9, "dog": 0.1}},
        {"sample_id": "2", "label": "owl", "predictions": {"owl": 0, "a, b": 1}},
    ]
    for text in in_all_styles(records):
        assert Reading().rows(text, 7) == [
            ("1", 7, "cat", None, [("cat", 0.9), ("dog", 0.1)], {}),
            ("2", 8, "owl", None, [("owl", 0.0), ("a, b", 1.0)], {}),
        ]


def test_pairs_of_label_and_score() -> None:
    records = [{"id": str(n), "label": "x", "scores": [["cat", n / 4], ["ox", 0]]} for n in (1, 2)]
    for text in in_all_styles(records):
        assert [row[4] for row in Reading().rows(text)] == [
            [("cat", 0.25), ("ox", 0.0)],
            [("cat", 0.5), ("ox", 0.0)],
        ]


def test_scores_of_all_classes() -> None:
    records = [
        {"id": 1, "target": "owl", "probs": [0.5, 0.25, 0.25]},
        {"id": 2, "target": "cat", "probs": [1, 0, 0]},
    ]
    for text in in_all_styles(records):
        reading = Reading(classes=CLASSES)
        assert reading.rows(text) == [
            ("1", 1, "owl", None, [0.5, 0.25, 0.25], {}),
            ("2", 2, "cat", None, [1.0, 0.0, 0.0], {}),
        ]
        assert Reading(classes=CLASSES[:2]).piece(text) is None
        assert Reading().piece(text) is None


def test_one_label_with_and_without_a_score() -> None:
    scored = [
        {"id": "1", "prediction": "cat", "score": 0.5},
        {"id": "2", "prediction": "ox", "score": 1},
    ]
    bare = [{"id": "1", "y_pred": "cat"}, {"id": "2", "y_pred": "ox"}]
    for records, first in ((scored, 0.5), (bare, 1.0)):
        for text in in_all_styles(records):
            assert Reading("predictions").rows(text) == [
                ("1", 1, None, None, [("cat", first)], {}),
                ("2", 2, None, None, [("ox", 1.0)], {}),
            ]


def test_sides_read_their_own() -> None:
    text = lines(*map(json.dumps, OBJECTS[:1]))
    assert Reading("ground_truth").rows(text) == [("a", 1, "cat", None, None, {})]
    assert Reading("predictions").rows(text) == [("a", 1, None, None, [("cat", 0.5)], {})]


def test_numbers_as_names_are_taken_as_written() -> None:
    text = lines(
        '{"id": 17, "label": 3, "prediction": 3.0}',
        '{"id": -1, "label": 10, "prediction": true}',
        '{"id": 123456789012345678901234567890, "label": false, "prediction": 1e2}',
    )
    assert [(row[0], row[2], row[4]) for row in Reading().rows(text)] == [
        ("17", "3", [("3.0", 1.0)]),
        ("-1", "10", [("true", 1.0)]),
        ("123456789012345678901234567890", "false", [("1e2", 1.0)]),
    ]
    for odd in ("01", "null", "[1]", "1,2", "nan", "+1", "1.", "tru", ""):
        odd_line = f'{{"id": 1, "label": {odd}, "prediction": 1}}'
        assert Reading().piece(lines('{"id": 1, "label": 3, "prediction": 1}', odd_line)) is None
    assert Reading("ground_truth").piece(lines('{"id": true, "label": 3}')) is None


def test_metadata_of_every_kind() -> None:
    records: list[dict[str, Any]] = [
        {"id": "1", "gt": "cat", "metadata": {"sun": True, "n": 1}, "n": 5, "f": 0.5, "t": "x"},
        {"id": "2", "gt": "dog", "metadata": {"sun": None, "n": -3}, "n": 6, "f": 2, "t": "é, ü"},
    ]
    for text in in_all_styles(records):
        reading = Reading("ground_truth", metadata=["sun", "n", "f", "t", "none"])
        assert [row[5] for row in reading.rows(text)] == [
            {"sun": True, "n": 5, "f": 0.5, "t": "x", "none": None},
            {"sun": None, "n": 6, "f": 2, "t": "é, ü", "none": None},
        ]
        assert [type(row[5]["f"]) for row in reading.rows(text)] == [float, int]
    assert Reading("ground_truth", metadata=["metadata"]).piece(text) is None


def test_label_keys() -> None:
    text = lines(
        '{"id": "1", "label_key": "color", "label": "red", "prediction": "red"}',
        '{"id": "1", "label_key": "shape", "label": "ball", "prediction": "red"}',
    )
    assert [(row[2], row[3]) for row in Reading().rows(text)] == [
        ("red", "color"),
        ("ball", "shape"),
    ]


def test_names_are_mapped_or_the_first_of_the_aliases() -> None:
    text = lines(
        '{"name": "x", "id": "1", "label": "cat", "class": "dog", "guess": "ox", "p": 0.5}'
    )
    columns = {"label": "class", "prediction": "guess", "score": "p"}
    assert Reading(columns=columns).rows(text) == [("1", 1, "dog", None, [("ox", 0.5)], {})]
    # Asked for as metadata, a name is no alias.
    reading = Reading("ground_truth", metadata=["id"])
    assert reading.rows(text) == [("x", 1, "cat", None, None, {"id": "1"})]
    # Nor in predictions, of which no metadata is read.
    predicted = lines('{"name": "x", "id": "1", "prediction": "ox"}')
    reading = Reading("predictions", metadata=["id"])
    assert reading.rows(predicted) == [("x", 1, None, None, [("ox", 1.0)], {})]


def test_other_values_may_differ_too() -> None:
    text = lines(
        '{"id": "1", "size": [1, 2], "ok": true, "note": "a", "label": "cat"}',
        '{"id": "2", "size": [30, 4e1], "ok": null, "note": "", "label": "dog"}',
    )
    assert [row[2] for row in Reading("ground_truth").rows(text)] == ["cat", "dog"]
    for wrong in ("nul", "01", "1,2", "-", ""):
        assert Reading("ground_truth").piece(text.replace("null", wrong)) is None


def test_blocks_may_change_their_shape() -> None:
    reading = Reading("ground_truth")
    blocks = [
        '{"id": "1", "label": "a"}\n',
        '{"label": "b", "id": "2"}\n',
        '{"id":"3","label":"a"}',
    ]
    found = [reading.rows(block, first)[0][:3] for first, block in enumerate(blocks, 1)]
    assert found == [("1", 1, "a"), ("2", 2, "b"), ("3", 3, "a")]
    assert reading.labels.names == ("a", "b")


@pytest.mark.parametrize(
    "line",
    [
        "",
        " ",
        "null",
        "[]",
        '{"id": "2", "label": "cat", "predictions": {"cat": 0.5, "dog": 0.5}',
        '{"id": "2", "label": "cat", "predictions": {"cat": 0.5, "dog": 0.5}} x',
        '{"id": "2", "label": "cat", "predictions": {"cat": 0.5, "dog": 0.5}}{}',
        '{"id": "2", "label": "cat", "predictions": {"cat": 0.5, "cat": 0.5}}',
        '{"id": "", "label": "cat", "predictions": {"cat": 0.5, "dog": 0.5}}',
        '{"id": "2", "label": "", "predictions": {"cat": 0.5, "dog": 0.5}}',
        '{"id": "2", "label": "cat", "predictions": {"": 0.5, "dog": 0.5}}',
        '{"id": "2", "label": "cat", "predictions": {"cat": NaN, "dog": 0.5}}',
        '{"id": "2", "label": "cat", "predictions": {"cat": Infinity, "dog": 0.5}}',
        '{"id": "2", "label": "cat", "predictions": {"cat": 1e999, "dog": 0.5}}',
        '{"id": "2", "label": "cat", "predictions": {"cat": 01, "dog": 0.5}}',
        '{"id": "2", "label": "cat", "predictions": {"cat": .5, "dog": 0.5}}',
        '{"id": "2", "label": "cat", "predictions": {"cat": 5., "dog": 0.5}}',
        '{"id": "2", "label": "cat", "predictions": {"cat": +5, "dog": 0.5}}',
        '{"id": "2", "label": "cat", "predictions": {"cat": 0x5, "dog": 0.5}}',
        '{"id": "2", "label": "cat", "predictions": {"cat": 1_0, "dog": 0.5}}',
        '{"id": "2", "label": "cat", "predictions": {"cat": true, "dog": 0.5}}',
        '{"id": "2", "label": "cat", "predictions": {"cat": null, "dog": 0.5}}',
        '{"id": "2", "label": "cat", "predictions": {"cat": , "dog": 0.5}}',
        '{"id": "2", "label": "cat", "predictions": {"cat": "0.5", "dog": 0.5}}',
        '{"id": "2", "label": "cat", "predictions": {"cat": [0.5], "dog": 0.5}}',
        '{"id": "2", "label": "c\tt", "predictions": {"cat": 0.5, "dog": 0.5}}',
        '{"id": "2", "label": "c\0t", "predictions": {"cat": 0.5, "dog": 0.5}}',
        '{"id": "2", "label": "c"t", "predictions": {"cat": 0.5, "dog": 0.5}}',
        '{"id": "2", "label": ["cat"], "predictions": {"cat": 0.5, "dog": 0.5}}',
        '{"id": "2\\u0061", "label": "cat", "predictions": {"cat": 0.5, "dog": 0.5}}',
        '{"id": "2", "id": "3", "label": "cat", "predictions": {"cat": 0.5, "dog": 0.5}}',
        '{"id": "2", "label": "cat", "predictions": {"a": {"cat": 0.5}, "b": {"cat": 0.5}}}',
        '{"id": "2", "label": {"a": "cat"}, "predictions": {"cat": 0.5, "dog": 0.5}}',
        "[" * 100_000,
    ],
)
def test_what_is_unusual_is_left_to_the_slow_reading(line: str) -> None:
    good = '{"id": "1", "label": "owl", "predictions": {"ox": 0.5, "cow": 0.25}}'
    blocks = ([good, line], [line, good, good], [good, line, good], [line])
    for block in blocks:
        reading = Reading()
        parsed = reading.plain.parse(lines(*block).encode(), 3)
        there = [number for number, one in enumerate(block, 3) if one == good]
        if parsed is None:
            # A long line reaches to the middle.
            assert len(there) < 2 or len(line) > 1000
            assert reading.labels.names == ()
            continue
        # It leaves no name behind, for lines that may be refused.
        assert reading.labels.names == (("owl", "ox", "cow") if there else ())
        assert parsed.piece.line.tolist() == there
        assert (parsed.rejected + 3).tolist() == [
            at for at in range(3, 3 + len(block)) if at not in there
        ]
        assert parsed.lines == len(block)


def test_only_probabilities_must_be_from_0_to_1() -> None:
    for score in ("-0.00101", "1.0010001", "2", "-1e300"):
        text = lines(
            '{"id": "1", "pred": "a", "score": 0}', f'{{"id": "2", "pred": "a", "score": {score}}}'
        )
        assert Reading("predictions").piece(text) is not None
        assert Reading("predictions", probabilities=True).piece(text) is None


@pytest.mark.parametrize("seed", range(4))
def test_random_lines(seed: int) -> None:
    rng = random.Random(seed)
    names = [f"class {number}, ü" if rng.random() < 0.3 else f"c{number}" for number in range(40)]
    as_object = rng.random() < 0.5
    records, expected = [], []
    for line in range(1, 1500):
        listed = [
            (name, rng.choice([rng.random(), round(rng.random(), 3), rng.gauss(0, 1) * 1e-7]))
            for name in rng.sample(names, 4)
        ]
        predictions: Any = (
            dict(listed) if as_object else [{"label": one, "score": score} for one, score in listed]
        )
        truth = rng.choice(names)
        records.append({"id": f"{line:05d}", "label": truth, "predictions": predictions})
        expected.append((f"{line:05d}", line, truth, None, listed, {}))
    for text in in_all_styles(records):
        reading = Reading()
        assert reading.rows(text) == expected
        met = [name for row in expected for name in (row[2], *dict(row[4]))]
        assert reading.labels.names == tuple(dict.fromkeys(met))


def test_a_label_listed_twice_is_left_to_the_slow_reading() -> None:
    good = '{"id": "1", "label": "owl", "predictions": [{"label": "a", "score": 0.5}]}'
    item = '{"label": "a", "score": 0.5}'
    twice = f'{{"id": "2", "label": "ox", "predictions": [{item}, {item}]}}'
    other = good.replace(', "score"', ', "score"').replace("}]}", '}, {"label": "b", "score": 1}]}')
    for block in ([twice], [twice, other], [other, twice]):
        reading = Reading()
        parsed = reading.plain.parse(lines(*block).encode(), 1)
        assert parsed is not None
        assert parsed.rejected.tolist() == [block.index(twice)]
        assert reading.labels.names == (("owl", "a", "b") if other in block else ())
        # It reads on as if that had not been.
        assert reading.rows(lines(good)) == [("1", 1, "owl", None, [("a", 0.5)], {})]


def test_the_shape_of_most_lines_is_found() -> None:
    """The first line may be odd, and strings may hold what divides most lines."""
    odd = '{"id": "0", "label": "x"}'
    usual = [f'{{"id": "{n}", "label": "a, b", "prediction": "c"}}' for n in range(1, 9)]
    plain = [f'{{"id": "{n}", "label": "a", "prediction": "c, d"}}' for n in range(9, 12)]
    reading = Reading()
    parsed = reading.plain.parse(lines(odd, *plain, *usual).encode(), 1)
    assert parsed is not None
    assert parsed.rejected.tolist() == [0]
    assert reading.labels.names == ("a", "c, d", "a, b", "c")


def test_lines_of_no_shape_are_soon_given_up() -> None:
    reading = Reading("ground_truth")
    mixed = lines('{"id": "0", "label": "x", "n": 1}', '{"label": "x", "id": "1"}', '{"id": "2"}')
    assert all(reading.plain.parse(mixed.encode(), 1) is None for _ in range(4))
    assert reading.piece(lines('{"id": "0", "label": "x"}')) is None


def test_many_classes() -> None:
    classes = tuple(f"c{number}" for number in range(1500))
    rng = random.Random(1)
    scores = [[rng.random() for _ in classes] for _ in range(3)]
    text = lines(*(json.dumps({"id": f"{n}", "gt": "c1", "probs": scores[n]}) for n in range(3)))
    assert [row[4] for row in Reading(classes=classes).rows(text)] == scores
    as_object = [dict(zip(classes, one, strict=True)) for one in scores]
    text = lines(*(json.dumps({"id": f"{n}", "gt": "c1", "probs": as_object[n]}) for n in range(3)))
    assert [dict(row[4]) for row in Reading().rows(text)] == as_object
