"""A comparison as terminal text, Markdown, JSON and HTML."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from tests.oracles.compared import (
    classification_compared,
    detection_compared,
    equal_compared,
    hostile_compared,
    models_compared,
    nothing_compared,
    row,
    text_change,
    texts_compared,
    unpaired_compared,
)
from tests.reports.rendered import markdown, terminal
from valor_cli.results import ComparedRuns, ShownText
from valor_cli.results.document import compared_json

ALL = (
    texts_compared,
    detection_compared,
    classification_compared,
    models_compared,
    equal_compared,
    unpaired_compared,
    nothing_compared,
    hostile_compared,
)

every = pytest.mark.parametrize("made", ALL, ids=[made.__name__ for made in ALL])


def _cells(text: str, first: str) -> list[str]:
    line = next(line for line in text.split("\n") if line.startswith(first))
    return re.split(r" {2,}", line.strip())


def test_a_line_says_all_of_a_value() -> None:
    text = terminal(texts_compared(), width=100)
    assert text.startswith("WORSE  2 of 7 headline values")
    assert _cells(text, "exact_match") == [
        "exact_match", "0.580", "0.500", "−0.080 [−0.130, −0.030]", "0.020", "g −0.25", "✗ worse",
        "200",
    ]  # fmt: skip
    assert _cells(text, "custom_judge") == [
        "custom_judge", "–", "0.800", "–", "–", "–", "? not tested", "–",
    ]  # fmt: skip


def test_answers_begin_before_the_first_word_that_differs() -> None:
    same = "word " * 200
    texts = {
        "texts": (ShownText("response", same + "new end"),),
        "other_texts": (ShownText("response", same + "old end"),),
    }
    text = " ".join(terminal(texts_compared(changed=[text_change(0, **texts)])).split())
    assert "A · Response … word word" in text
    assert "word new end" in text
    assert text.count("word ") < 60


def test_every_pair_is_told() -> None:
    lines = terminal(models_compared(tuple(f"m{at}" for at in range(7)))).split("\n")
    told = [line for line in lines if line.endswith("2 worse, 1 better, 1 equal, 2 cannot tell")]
    assert len(told) == 21
    assert len(lines) < 120


def test_markdown_marks_the_words_that_differ() -> None:
    text = markdown(texts_compared())
    assert "  - A · Response: The harbour bridge was opened <b>on 19 March 1932</b>." in text
    assert "  - B · Response: The harbour bridge was opened <b>in the 1950s</b>." in text
    assert "| 0.820 | 0.710 | −0.110 [−0.160, −0.061] | &lt;0.001 | d −0.41 | ✗ worse |" in text


def test_markdown_says_what_it_leaves_out() -> None:
    long = ShownText("response", "other words " * 300)
    samples = [replace(text_change(at), texts=(long,)) for at in range(200)]
    text = markdown(texts_compared(changed=samples))
    assert "- … 188 more are left out here" in text
    assert len(text) < 40_000


@every
def test_json_holds_the_record(made: Callable[[], ComparedRuns]) -> None:
    compared = made()
    document = json.loads(compared_json(compared))
    assert list(document) == list(ComparedRuns.__struct_fields__)
    assert document["worse"] == compared.worse
    assert len(document["comparisons"]) == len(compared.comparisons)
    assert compared_json(made()) == compared_json(compared)


def test_json_refuses_nan() -> None:
    bad = texts_compared(comparisons=[row("a", math.nan, 0.5)])
    with pytest.raises(ValueError, match=r"comparisons\.0\.value: NaN"):
        compared_json(bad)
    change = replace(text_change(0).changes[0], value=math.inf)
    with pytest.raises(ValueError, match=r"changed\.0\.changes\.0\.value: NaN"):
        compared_json(texts_compared(changed=[text_change(0, changes=(change,))]))
