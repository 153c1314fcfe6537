"""The reading between the quick and the slow one: what it takes, the slow one finds too."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valor_cli.data.formats.jsonl.score_objects import DecodedScoreLines
from valor_cli.data.formats.jsonl.score_rows import ScoreLineReader
from valor_cli.data.shapes.scores.rows import ParsedRows, ScorePiece
from valor_cli.data.shapes.scores.score_file import ScoreReading, Side
from valor_cli.data.values import LineProblems
from valor_cli.kernels.columns.vocabulary import Vocabulary

READING = ScoreReading(metadata=["site"], probabilities=True)

# Usual values stand more often, so that whole lines of them come up.
TEXTS = st.sampled_from(["a", "b", "ä", 3, -1] * 6 + ["", "a:b", '"', 0, 1.5, True, None, [], {}])
SCORES = st.sampled_from([0, 1, 0.5] * 6 + [1.5, -0.5, "1", True, None, {}])
PREDICTIONS = st.one_of(
    st.dictionaries(st.sampled_from(["a", "b", "", "a:b"]), SCORES, max_size=2),
    st.lists(
        st.one_of(
            st.fixed_dictionaries({"label": TEXTS, "score": SCORES}),
            st.fixed_dictionaries({"class": TEXTS, "conf": SCORES, "label": TEXTS}),
            st.tuples(TEXTS, SCORES).map(list),
            SCORES,
        ),
        max_size=3,
    ),
    st.sampled_from([None, "a", {"k": {"a": 1}}]),
)
RECORDS = st.fixed_dictionaries(
    {"id": TEXTS},
    optional={
        "label": TEXTS,
        "predictions": PREDICTIONS,
        "prediction": TEXTS,
        "score": SCORES,
        "key": TEXTS,
        "site": TEXTS,
        "metadata": st.sampled_from([{"site": 2}, {"other": [1]}, 3, None]),
        "more": TEXTS,
        "gt": TEXTS,
    },
)


def readings(
    block: bytes, side: Side, reading: ScoreReading
) -> tuple[tuple[ParsedRows, Any], tuple[ScorePiece, Any], int]:
    """What both readings make of the lines that the first reads, the names, and the faults."""
    names = [(Vocabulary(), Vocabulary()) for _ in range(2)]
    problems = LineProblems("a.jsonl")
    lines = block.split(b"\n")
    numbers = np.arange(3, 3 + len(lines))
    parsed = DecodedScoreLines(side, reading, *names[0]).parse(lines, numbers)
    assert parsed.lines == len(lines)
    # The slow one reads the same lines.
    left = set(parsed.rejected.tolist())
    good = [at for at in range(len(lines)) if at not in left]
    assert parsed.piece.line.tolist() == numbers[good].tolist()
    slow = ScoreLineReader(side, reading, *names[1], problems).piece(
        [lines[at] for at in good], numbers[good].tolist()
    )
    (one, other) = [(labels.names, keys.names) for labels, keys in names]
    return (parsed, one), (slow, other), problems.total


def plain(piece: ScorePiece) -> dict[str, Any]:
    return {
        name: repr(None if column is None else np.asarray(column).tolist())
        for name, column in [
            *(
                (name, getattr(piece, name))
                for name in piece.__struct_fields__
                if name != "metadata"
            ),
            *piece.metadata.items(),
        ]
    }


@settings(max_examples=100)
@given(records=st.lists(RECORDS, min_size=1, max_size=3))
@pytest.mark.parametrize("side", ["ground_truth", "predictions", "samples"])
def test_what_is_read_is_what_the_slow_reading_finds(side: Side, records: list[Any]) -> None:
    block = "\n".join(json.dumps(one, ensure_ascii=False) for one in records).encode()
    (parsed, names), (slow, slow_names), faults = readings(block, side, READING)
    assert faults == 0
    assert plain(parsed.piece) == plain(slow)
    assert names == slow_names


@pytest.mark.parametrize(
    "line",
    [
        '{"id":"a","label":"\\u00e4","predictions":{"b":1,"a":0.5}}',
        '{"id":7,"label":12,"predictions":[["a",0],["b",1]]}',
        '{"id":"a","label":"b","prediction":"a","score":0.5,"site":null}',
        '{"id":"a","label":"b","prediction":null,"metadata":{"site":1.5,"more":2}}',
        '{"id":"a","label":"b","key":"k","predictions":{}}',
    ],
)
def test_usual_lines_are_read(line: str) -> None:
    (parsed, names), (slow, slow_names), faults = readings(line.encode(), "samples", READING)
    assert not len(parsed.rejected)
    assert faults == 0
    assert plain(parsed.piece) == plain(slow)
    assert names == slow_names


@pytest.mark.parametrize(
    "line",
    [
        '{"id":"a","id":"b","label":"c"}',
        '{"id":"a","label":"c","predictions":{"a":1,"a":0}}',
        '{"id":"a","label":"c","predictions":{"a" :1,"a":0},"x":"\\":"}',
        '{"id":"a","label":"c","predictions":[{"label":"a","label":"a","score":0}]}',
        '{"id":"a","label":"c","predictions":[["a",1],["a",0]]}',
        '{"id":"a","label":"c","predictions":[["a",1],["b"]]}',
        '{"id":"a","label":"c","predictions":{"a":1.5}}',
        '{"id":"a","label":"c","predictions":{"a":true}}',
        '{"id":"a","label":"c","predictions":{"":1}}',
        '{"id":"a","label":"c","predictions":[{"label":3,"score":0.5}]}',
        '{"id":"a","label":"c","predictions":[{"label":[],"score":0.5}]}',
        '{"id":-0,"label":"c"}',
        '{"id":1e2,"label":"c"}',
        '{"id":"a\\u0000","label":"c"}',
        '{"id":"a","label":"\\ud800"}',
        '{"id":"a","label":1.50}',
        '{"id":"a","label":"c","site":[1]}',
        "",
        "[1]",
        "{",
    ],
)
def test_unusual_lines_are_left_one_by_one(line: str) -> None:
    good = '{"id":"z","label":"l","predictions":{"m":1}}'
    for block in ([line], [good, line], [line, good, line]):
        text = "\n".join(block).encode()
        (parsed, names), (slow, _), faults = readings(text, "samples", READING)
        assert parsed.rejected.tolist() == [at for at, one in enumerate(block) if one == line]
        assert faults == 0
        assert plain(parsed.piece) == plain(slow)
        assert names == ((("l", "m"), ()) if good in block else ((), ()))


@pytest.mark.parametrize(
    "form",
    [
        dict,
        lambda listed: [{"score": score, "label": name} for name, score in listed],
        lambda listed: [{"class": name, "conf": score, "rank": 1} for name, score in listed],
        lambda listed: [[name, score] for name, score in listed],
    ],
)
def test_lines_may_list_now_more_now_fewer_labels(form: Callable[[Any], Any]) -> None:
    rng = random.Random(5)
    # json.dumps escapes what is not ASCII, and the quote and the backslash.
    names = ["cat", "größe", 'a "b"', "back\\slash", "a:b", *(f"c{number}" for number in range(20))]
    lines, rows = [], []
    for line in range(3, 500):
        listed = [(name, rng.random()) for name in rng.sample(names, rng.randrange(5))]
        record = {"id": rng.choice([f"{line}é", line]), "label": rng.choice(names)}
        if rng.random() < 0.5:
            record["note"] = "more: or less"
        lines.append(json.dumps({**record, "predictions": form(listed)}))
        rows.append((str(record["id"]), record["label"], listed))
    (parsed, (labels, _)), (slow, slow_names), faults = readings(
        "\n".join(lines).encode(), "samples", READING
    )
    assert faults == 0
    assert not len(parsed.rejected)
    assert plain(parsed.piece) == plain(slow)
    assert labels == slow_names[0]
    piece = parsed.piece
    assert piece.count is not None
    assert piece.label is not None
    assert piece.score is not None
    assert piece.truth is not None
    ends = np.cumsum(piece.count).tolist()
    found = [
        (
            piece.sample_id[row].decode(),
            labels[piece.truth[row]],
            [
                (labels[code], score)
                for code, score in zip(
                    piece.label[end - size : end].tolist(),
                    piece.score[end - size : end].tolist(),
                    strict=True,
                )
            ],
        )
        for row, (end, size) in enumerate(zip(ends, piece.count.tolist(), strict=True))
    ]
    assert found == rows
    met = [name for _, truth, listed in rows for name in (truth, *dict(listed))]
    assert labels == tuple(dict.fromkeys(met))
