"""Log-probabilities in files of text samples: forms, faults, and when they are read at all."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from valor_cli.data.inputs.samples import read_samples
from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleReading
from valor_cli.errors import DataError

pytestmark = pytest.mark.usefixtures("in_a_folder")


def read(text: str, name: str = "a.jsonl", **reading: Any) -> SampleFile:
    Path(name).write_text(text, encoding="utf-8")
    return read_samples(name, SampleReading(**{"logprobs": True, **reading}))


def line(value: str) -> str:
    return f'{{"id": 1, "answer": "a", "token_logprobs": {value}}}\n'


def cell(value: str) -> str:
    told = StringIO()
    csv.writer(told).writerows([["id", "answer", "token_logprobs"], ["1", "a", value]])
    return told.getvalue()


def fault(text: str, name: str = "a.jsonl") -> str:
    with pytest.raises(DataError) as caught:
        read(text, name)
    return str(caught.value).split("\n")[0]


FORMS: list[tuple[str, tuple[float | None, ...] | None]] = [
    ("[null, -0.5, -1]", (None, -0.5, -1.0)),
    ("[-2, 0, 1e-6]", (-2.0, 0.0, 1e-6)),
    ("[]", ()),
    ('[{"token": "a", "logprob": -0.25, "top_logprobs": [{"logprob": 1}]}]', (-0.25,)),
    ('[null, {"logprob": null}, {"logprob": -9999.0}]', (None, None, -9999.0)),
    ('[-0.5, {"logprob": -1}]', (-0.5, -1.0)),
]


@pytest.mark.parametrize(("value", "found"), [*FORMS, ("null", None)])
def test_lists_in_lines_and_in_documents(value: str, found: object) -> None:
    assert read(line(value)).rows[0].token_logprobs == found
    assert read(f"[{line(value)}]", "a.json").rows[0].token_logprobs == found
    assert read(f'{{"results": [{line(value)}]}}', "b.json").rows[0].token_logprobs == found


@pytest.mark.parametrize(("value", "found"), [*FORMS, ("", None), ("[None, -0.5]", (None, -0.5))])
def test_lists_in_cells(value: str, found: object) -> None:
    assert read(cell(value), "a.csv").rows[0].token_logprobs == found


FAULTS = [
    ("[-1, 0.5, 0.7]", "[1]: expected the natural logarithm of a probability, 0 or less, found"),
    ("[null, true]", "[1]: expected a number or null, found true"),
    ('["-1"]', '[0]: expected a number or null, found the string "-1"'),
    ("[[-1]]", "[0]: expected a number or null, found a list"),
    ("[-1e999]", "[0]: expected a finite number, found -1e999"),
    ("[NaN]", "[0]: NaN is not a number in JSON; write null where there is none"),
    ('[{"prob": 1}]', '[0]: expected a number, null, or an object with "logprob", found none'),
    ('[{"logprob": 2e-6}]', "[0].logprob: expected the natural logarithm of a probability, 0 or"),
]


@pytest.mark.parametrize(("value", "message"), FAULTS)
def test_what_is_wrong_is_told_with_its_place(value: str, message: str) -> None:
    assert fault(line(value)).startswith(f"a.jsonl:1: token_logprobs{message}")
    assert fault(cell(value), "a.csv").startswith(f"a.csv:2: token_logprobs{message}")


def test_what_is_no_list() -> None:
    assert fault(line("-0.5")) == (
        "a.jsonl:1: token_logprobs: expected a list of numbers, found -0.5"
    )
    assert fault(cell("-0.5"), "a.csv") == (
        "a.csv:2: token_logprobs: expected a list of numbers, found -0.5"
    )
    for odd in ("a | b", "[-0.5", "[" * 9999, "[nan]"):
        assert fault(cell(odd), "a.csv") == (
            "a.csv:2: token_logprobs: expected a JSON list of numbers, and null for tokens "
            "without one"
        )


def test_a_row_has_one_fault_however_many_of_its_numbers_are_wrong() -> None:
    found = read(line("[0.5, 0.5, 0.5]") + '{"id": 2, "answer": "b"}\n', invalid="skip")
    assert [one.sample_id for one in found.rows] == ["2"]
    assert (found.files[0].rows, found.files[0].skipped) == (2, 1)
    with pytest.raises(DataError) as caught:
        read(line("[0.5, 0.5, 0.5]"))
    assert caught.value.total == 1


@pytest.mark.parametrize(("text", "name"), [(line("[7]"), "a.jsonl"), (cell("[7]"), "a.csv")])
def test_what_nothing_needs_is_neither_kept_nor_looked_at(text: str, name: str) -> None:
    found = read(text, name, logprobs=False)
    assert found.rows[0].token_logprobs is None
    assert found.rows[0].response == "a"
    assert found.names == ["id", "answer", "token_logprobs"]


def test_a_column_of_another_name_or_inside_an_object() -> None:
    row = {"id": 1, "answer": "a", "out": {"content": [{"token": "a", "logprob": -1.5}]}}
    columns = {"token_logprobs": "out.content"}
    assert read(json.dumps(row), columns=columns).rows[0].token_logprobs == (-1.5,)
    assert read(json.dumps(row), columns=columns, logprobs=False).rows[0].token_logprobs is None
    named = read(line("[-1]").replace("token_logprobs", "lp"), columns={"token_logprobs": "lp"})
    assert named.rows[0].token_logprobs == (-1.0,)
    told = fault(line("[7]").replace("token_logprobs", "Token Logprobs"))
    assert told.startswith("a.jsonl:1: Token Logprobs[0]: expected the natural logarithm")


def test_promptfoo_s_are_read() -> None:
    row = {
        "testIdx": 0, "promptIdx": 0, "prompt": {"raw": "q"}, "vars": {},
        "response": {"output": "a", "logProbs": [-0.5, -1]}, "provider": "m",
    }  # fmt: skip
    assert read(json.dumps(row)).rows[0].token_logprobs == (-0.5, -1.0)
