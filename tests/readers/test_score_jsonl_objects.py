"""The reading between the quick and the slow one: what it takes, the slow one finds too."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valor_cli.kernels.vocabulary import Vocabulary
from valor_cli.readers.checks import LineProblems
from valor_cli.readers.score_files import ScoreReading, Side
from valor_cli.readers.score_jsonl_objects import DecodedScoreLines
from valor_cli.readers.score_jsonl_rows import ScoreLineReader
from valor_cli.readers.score_rows import ScorePiece

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
) -> tuple[tuple[ScorePiece | None, Any], tuple[ScorePiece, Any], int]:
    """What both readings make of a block with the names that they met, and the faults found."""
    names = [(Vocabulary(), Vocabulary()) for _ in range(2)]
    problems = LineProblems("a.jsonl")
    decoded = DecodedScoreLines(side, reading, *names[0]).piece(block, 3)
    slow = ScoreLineReader(side, reading, *names[1], problems).piece(block, 3)
    (one, other) = [(labels.names, keys.names) for labels, keys in names]
    return (decoded, one), (slow, other), problems.total


def plain(piece: ScorePiece) -> dict[str, Any]:
    return {
        name: repr(None if column is None else np.asarray(column).tolist())
        for name, column in [
            *((name, getattr(piece, name)) for name in piece.__slots__ if name != "metadata"),
            *piece.metadata.items(),
        ]
    }


@settings(max_examples=400)
@given(records=st.lists(RECORDS, min_size=1, max_size=3))
@pytest.mark.parametrize("side", ["ground_truth", "predictions", "samples"])
def test_what_is_read_is_what_the_slow_reading_finds(side: Side, records: list[Any]) -> None:
    block = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records).encode()
    (decoded, names), (slow, slow_names), faults = readings(block, side, READING)
    if decoded is not None:
        assert faults == 0
        assert plain(decoded) == plain(slow)
        assert names == slow_names


@pytest.mark.parametrize(
    "line",
    [
        '{"id":"a","label":"\\u00e4","predictions":{"b":1,"a":0.5}}',
        '{"id":7,"label":12,"predictions":[{"label":"a","score":0},["b",1]]}',
        '{"id":"a","label":"b","prediction":"a","score":0.5,"site":null}',
        '{"id":"a","label":"b","prediction":null,"metadata":{"site":1.5,"more":2}}',
        '{"id":"a","label":"b","key":"k","predictions":{}}',
    ],
)
def test_usual_lines_are_read(line: str) -> None:
    (decoded, names), (slow, slow_names), faults = readings(line.encode(), "samples", READING)
    assert decoded is not None
    assert faults == 0
    assert plain(decoded) == plain(slow)
    assert names == slow_names


@pytest.mark.parametrize(
    "line",
    [
        '{"id":"a","id":"b","label":"c"}',
        '{"id":"a","label":"c","predictions":{"a":1,"a":0}}',
        '{"id":"a","label":"c","predictions":[["a",1],["a",0]]}',
        '{"id":"a","label":"c","predictions":{"a":1.5}}',
        '{"id":"a","label":"c","predictions":{"a":true}}',
        '{"id":-0,"label":"c"}',
        '{"id":"a","label":1.50}',
        '{"id":"a","label":"c"}\n\n{"id":"b","label":"c"}',
        "[1]",
        "{",
    ],
)
def test_unusual_lines_are_left(line: str) -> None:
    (decoded, names), _, _ = readings(line.encode(), "samples", READING)
    assert decoded is None
    assert names == ((), ())
