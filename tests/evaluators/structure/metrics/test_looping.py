"""Looping: values by hand, what is undefined, and what reports show of it."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.text_samples import found, measured, outcome, samples, values
from valor_cli.evaluators.structure.metrics import looping
from valor_cli.evaluators.structure.metrics.looping import LOOPING
from valor_cli.results import Mark

SORRY = "I am sorry, I cannot help. "


def test_by_hand() -> None:
    # Five sentences of ten characters or more, "Yes." aside; three of them differ.
    twice = "I like red apples. You like pears! "
    text = f"{twice}Yes. {twice}They all do it."
    assert len(text) == 90
    data = samples([text])
    found = outcome(measured(LOOPING, data), 0)
    assert found.values["unique_sentences"] == 3 / 5
    # Its 35 characters stand twice.
    assert found.values["longest_repeated_substring"] == 70 / 90
    assert "compression_ratio" not in found.values
    assert found.details == {
        "splitter": "valor-2",
        "sentences": 5,
        "unique": 3,
        "repeated": {"start": 0, "length": 35, "times": 2},
    }
    assert found.marks == (
        Mark("response", 0, 35, "repeated"),
        Mark("response", 40, 75, "repeated"),
    )


def test_a_loop() -> None:
    text = SORRY * 40
    found = outcome(measured(LOOPING, samples([text])), 0)
    data = text.encode()
    assert found.values == {
        "unique_sentences": 1 / 40,
        "longest_repeated_substring": 1.0,
        "compression_ratio": len(zlib.compress(data, 9)) / len(data),
    }
    assert len(found.marks) == 40


def test_marks_are_bounded() -> None:
    found = outcome(measured(LOOPING, samples([SORRY * 500])), 0)
    assert len(found.marks) == looping.MARKED
    assert found.details is not None
    assert found.details["repeated"] == {"start": 0, "length": 27, "times": 500}


@pytest.mark.parametrize(("length", "defined"), [(199, False), (200, True)])
def test_compression_needs_bytes(length: int, defined: bool) -> None:
    # Of UTF-8: "é" has two.
    text = "é" + "x" * (length - 2)
    found = outcome(measured(LOOPING, samples([text])), 0)
    assert ("compression_ratio" in found.values) is defined


def test_no_sentence_of_ten_characters() -> None:
    # There is nothing to count, and yet it is a loop: the other outputs say so.
    found = outcome(measured(LOOPING, samples(["No. " * 60])), 0)
    assert found.status == "not_applicable"
    assert found.reason == "no sentence of 10 characters or more"
    assert found.values["longest_repeated_substring"] == 1.0
    assert 0 < found.values["compression_ratio"] < 0.2
    assert "unique_sentences" not in found.values


def test_an_empty_response_has_no_value() -> None:
    found = outcome(measured(LOOPING, samples([""])), 0)
    assert (found.values, found.status) == ({}, "not_applicable")


def test_a_lone_surrogate_is_a_character() -> None:
    found = outcome(measured(LOOPING, samples(["\ud800 is no character at all."])), 0)
    assert found.values == {"unique_sentences": 1.0, "longest_repeated_substring": 0.0}


def test_means_are_of_the_samples_that_have_the_output() -> None:
    data = samples([SORRY * 10, "No. " * 60, None, "Something else was said here."])
    report = found(LOOPING, data)
    by_output = {row.output: (row.value, row.n) for row in report.values}
    assert by_output["unique_sentences"] == (pytest.approx(0.55, abs=1e-15), 2)
    # 1, 1 and 0; the loop without sentences counts here.
    assert by_output["longest_repeated_substring"] == (pytest.approx(2 / 3, abs=1e-15), 3)
    assert by_output["compression_ratio"][1] == 2
    assert report.statuses == {"ok": 2, "missing_input": 1, "not_applicable": 1}
    assert values(LOOPING, samples([None]))["unique_sentences"] is None


def test_long_texts_are_searched_from_the_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looping, "SEARCHED", 100)
    text = "This stands once and no more. " * 2 + "".join(map(chr, range(0x4E00, 0x4F00)))
    found = outcome(measured(LOOPING, samples([text])), 0)
    assert found.values["longest_repeated_substring"] == 60 / 100
    assert found.reason == "repetitions were looked for in the first 100 characters"


def test_a_search_that_was_cut_short_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = looping.most_repeated
    monkeypatch.setattr(looping, "most_repeated", lambda text, least: whole(text, least, 0))
    text = "a" * 100 + "b" + "a" * 77 + "c" + "a" * 55
    found = outcome(measured(LOOPING, samples([text])), 0)
    assert found.reason is not None
    assert found.reason.startswith("the search for repetitions was cut short; none makes up more")


@given(st.text("ab. \n", max_size=80))
def test_bounds(text: str) -> None:
    found = outcome(measured(LOOPING, samples([text])), 0)
    for name in ("unique_sentences", "longest_repeated_substring"):
        assert 0 <= found.values.get(name, 0) <= 1
    assert ("unique_sentences" in found.values) is (found.status == "ok")
