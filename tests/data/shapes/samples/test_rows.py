"""Rows of text samples: what values become, what is refused and where, one row at a time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valor_cli.data.formats.json.samples import read_lines
from valor_cli.data.inputs.samples import read_samples
from valor_cli.data.json_records import parsed
from valor_cli.data.shapes.samples.parse import SampleParser
from valor_cli.data.shapes.samples.sample_file import SampleFile, SampleReading, SampleRow
from valor_cli.data.shapes.samples.schema import SCHEMA
from valor_cli.data.shapes.samples.values import RowCheck
from valor_cli.data.values import LineProblems
from valor_cli.errors import DataError
from valor_cli.kernels import engine

pytestmark = pytest.mark.usefixtures("in_a_folder")


def read(text: str | bytes, name: str = "a.jsonl", **reading: Any) -> SampleFile:
    Path(name).write_bytes(text.encode() if isinstance(text, str) else text)
    return read_samples(name, SampleReading(**reading))


def row(**record: Any) -> SampleRow:
    """The one row of a file with one object."""
    (found,) = read(json.dumps(record)).rows
    return found


def error(text: str | bytes, name: str = "a.jsonl", **reading: Any) -> list[str]:
    with pytest.raises(DataError) as caught:
        read(text, name, **reading)
    return str(caught.value).split("\n")


def test_texts_are_taken_as_they_are_and_numbers_as_they_are_written() -> None:
    line = '{"id": 7, "input": 3.10, "output": true, "reference": [1e3, "x", false], "group": 0}'
    (found,) = read(line).rows
    assert found.sample_id == "7"
    assert found.user_input == "3.10"
    assert found.response == "true"
    assert found.references == ("1e3", "x", "false")
    assert found.group == "0"


def test_null_is_no_text_and_an_empty_text_is_one() -> None:
    assert row(id="a", response=None, query="q").response is None
    assert row(id="a", response="").response == ""


def test_a_response_of_objects_is_compact_json_with_numbers_as_written() -> None:
    (found,) = read('{"id": "a", "response": {"a": [1.50, null, "ü\\n"], "b": {"c": true}}}').rows
    assert found.response == '{"a":[1.50,null,"ü\\n"],"b":{"c":true}}'


def test_contexts_are_texts_or_objects_with_a_text() -> None:
    contexts = ["a", {"text": "b", "id": 1}, {"content": "c"}, {"page_content": "d", "meta": {}}]
    assert row(id="x", contexts=contexts).retrieved_contexts == ("a", "b", "c", "d")
    assert row(id="x", contexts=[], query="q").retrieved_contexts == ()
    assert row(id="x", contexts=None, query="q").retrieved_contexts is None


def test_contexts_of_one_text_are_one_context_and_are_told() -> None:
    found = read('{"id": 1, "context": "a, b"}\n{"id": 2, "context": ["a"]}\n')
    assert [one.retrieved_contexts for one in found.rows] == [("a, b",), ("a",)]
    (told,) = found.warnings
    assert told.startswith("a.jsonl: contexts written as one text, not as a list, count as one")
    assert ": 1 rows; " in told


def test_no_reference_is_an_empty_tuple() -> None:
    assert row(id="x", reference=None, query="q").references == ()
    assert row(id="x", reference=[], query="q").references == ()
    assert row(id="x", query="q").references == ()


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ('"references": ["a", null]', "references[1]: expected a text, found null"),
        ('"reference": ["a", {}]', "reference[1]: expected a text, found an object"),
        ('"reference": {"a": 1}', "reference: expected a text, found an object"),
        ('"question": ["a"]', "question: expected a text, found a list"),
        ('"contexts": ["a", null]', "contexts[1]: expected a text, found null"),
        ('"contexts": [{"text": null}]', "contexts[0].text: expected a text, found null"),
        (
            '"contexts": [{"id": 1}]',
            (
                'contexts[0]: expected a text, or an object with one of "text", "content", '
                '"page_content", found none of them'
            ),
        ),
        ('"contexts": {"a": 1}', "contexts: expected a list of texts, found an object"),
        ('"latency_s": -0.5', "latency_s: expected 0 or more, found -0.5"),
        ('"latency_s": "1s"', 'latency_s: expected a number, found the string "1s"'),
        ('"latency_s": true', "latency_s: expected a number, found true"),
        ('"cost": NaN', "cost: NaN is not a number in JSON; write null where there is none"),
        ('"cost": 1e999', "cost: expected a finite number, found 1e999"),
        ('"response": {"a": {"b": 1, "b": 2}}', "response.a.b: duplicate key in this object"),
        ('"response": "a", "response": "b"', "response: duplicate key in this object"),
        ('"response": "a", "response" : "b"', "response: duplicate key in this object"),
        ('"response": "\\ud800"', 'response: expected Unicode text, found the string "\\ud800"'),
        ('"response": ["\\ud800"]', "response: expected Unicode text, found half a character"),
        ('"id": ""', "id: expected the id of a sample, found an empty text"),
        ('"id": "a\\u0000"', "id: expected the id of a sample, found one with a NUL character"),
        ('"id": true', "id: expected a string or a number, found true"),
        ('"artifacts": "a\\u0000"', "artifacts: expected a path, found one with a NUL character"),
        ('"response": "a"}, {"b": 1', "not JSON (Extra data, column 18); each line is one JSON"),
        ('"response": "a', "not JSON (Unterminated string starting at, column 14); each line is"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(record: str, message: str) -> None:
    first = '{"id": "first", "query": "q"}\n'
    end = "\n" if message.startswith("not JSON (Unt") else "}\n"
    told = error(first + "{" + record + end)
    if '"id"' not in record and not message.startswith("not JSON"):
        told = error(first + '{"id": "second", ' + record + end)
    assert told[0].startswith(f"a.jsonl:2: {message}")
    assert told[-1].startswith("Fix these rows, or set `on_invalid: skip`")


def test_rows_that_are_no_objects_are_told() -> None:
    told = error('[1]\n"a"\n{"id": 1, "query": "q"}\n')
    assert told[:2] == [
        "a.jsonl:1: expected an object, one a sample, found a list",
        'a.jsonl:2: expected an object, one a sample, found the string "a"',
    ]


def test_deep_nesting_is_told_and_not_a_traceback() -> None:
    deep = '{"id": 1, "response": ' + "[" * 5000 + "]" * 5000 + "}"
    assert error(deep)[0] == "a.jsonl:1: the JSON is nested too deeply to be read"
    assert row(id=1, response=json.loads("[" * 100 + "]" * 100)).response == "[" * 100 + "]" * 100


@given(st.integers(40, 1100))
@settings(max_examples=30)
def test_no_depth_is_a_traceback(levels: int) -> None:
    deep = "[" * levels + "]" * levels
    text = '{"id": 1, "query": "q", "response": ' + deep + '}\n{"id": 2, "query": "q"}'
    rows = read(text, invalid="skip").rows
    assert rows[-1].sample_id == "2"
    if levels < 400:
        assert rows[0].response == deep


def test_bytes_that_are_no_text_are_told() -> None:
    told = error(b'{"id": 1, "query": "\xff"}')
    assert told == ["a.jsonl:1: not UTF-8 text (byte 0xff at offset 20); save it as UTF-8 text"]


def test_control_characters_and_large_fields_are_texts() -> None:
    large = "word \x07\t\n" * 1_500_000
    assert row(id="a", response=large).response == large


def test_rows_may_be_left_out_and_are_counted() -> None:
    text = '{"id": 1, "query": "q"}\nhalf {\n{"id": 2, "query": []}\n\n{"id": 1, "query": "r"}\n'
    found = read(text, invalid="skip")
    assert [one.sample_id for one in found.rows] == ["1"]
    assert (found.files[0].rows, found.files[0].skipped) == (4, 3)


def test_all_rows_left_out_is_an_error() -> None:
    told = error("half {\n", invalid="skip")
    assert told[0].endswith(
        "there are no samples; at least one is needed; 1 were left out as invalid"
    )


def test_every_alias_is_read_in_its_order() -> None:
    found = row(
        uid="u", question="q", query="other", actual_output="a", expected_output="e",
        context=["not"], retrieval_context=["yes"], actual_duration=2, cost=1, model_key="m",
        output_condition='"a"',
    )  # fmt: skip
    assert found[:7] == ("u", "m", "q", "a", ("e",), ("yes",), '"a"')
    assert (found.duration_s, found.cost_usd) == (2.0, 1.0)


def test_names_may_be_written_in_other_ways() -> None:
    found = row(**{"ID": "u", "User Input": "q", "actualOutput": "a", "retrievalContext": ["c"]})
    assert found[:6] == ("u", None, "q", "a", (), ("c",))


def test_milliseconds_become_seconds() -> None:
    assert row(id=1, latency_ms=250, query="q").duration_s == 0.25
    for name in ("LATENCY_MS", "latencyms", "Duration-Ms", "durationMs"):
        assert row(id=1, query="q", **{name: 250}).duration_s == 0.25
    assert row(id=1, latency_s=250, query="q").duration_s == 250
    assert row(id=1, latencyMs=500, query="q").duration_s == 0.5


def test_columns_are_mapped_by_name_and_by_path() -> None:
    line = '{"id": 1, "out.text": "a", "vars": {"question": "q", "n": {"x": 3}}, "answer": "no"}'
    columns = {"response": "out.text", "user_input": "vars.question", "group": "vars.n.x"}
    (found,) = read(line, columns=columns).rows
    assert (found.response, found.user_input, found.group) == ("a", "q", "3")


def test_columns_of_promptfoo_s_results_are_mapped_by_path() -> None:
    line = (
        '{"testIdx": 0, "prompt": {"raw": "Q?"}, "response": {"output": "o"},'
        ' "vars": {"gold": "g"}, "testCase": {"description": "d"}}'
    )
    columns = {"references": "vars.gold", "group": "testCase.description"}
    (found,) = read(line, columns=columns).rows
    assert (found.user_input, found.response, found.references) == ("Q?", "o", ("g",))
    assert found.group == "d"


def test_vars_beside_a_prompt_and_a_response_are_not_yet_promptfoo_s() -> None:
    line = (
        '{"id": 7, "vars": {"river": "Danube"}, "prompt": "p", "response": {"text": "r"},'
        ' "provider": "x", "model": "m", "reference": "g", "cat": "c"}'
    )
    columns = {"response": "response.text"}
    (found,) = read(line, columns=columns, metadata=["cat", "vars.river"]).rows
    assert (found.sample_id, found.model, found.user_input) == ("7", "m", "p")
    assert (found.response, found.references) == ("r", ("g",))
    assert found.metadata == ("c", "Danube")


def test_a_mapped_column_that_is_not_there_is_told() -> None:
    told = error('{"id": 1, "query": "q"}', columns={"response": "words"})
    assert told == ["a.jsonl: there is no column 'words' for response; there is: id, query"]


def test_a_standard_name_that_is_none_is_told() -> None:
    told = error('{"id": 1, "query": "q"}', columns={"respones": "said"})
    assert told[0] == "columns: there is no 'respones' (did you mean 'response'?)"


def test_a_file_without_any_known_column_lists_those_there_are() -> None:
    told = error('{"a": 1, "b": 2}')
    assert told[0] == "a.jsonl: no column is one that text samples have; there is: a, b"


def test_metadata_is_a_column_or_stands_in_an_object() -> None:
    text = (
        '{"id": 1, "query": "q", "cam": 3, "metadata": {"day": "mon"}}\n'
        '{"id": 2, "query": "q", "additional_metadata": {"day": true}, "vars": {"x": 1.5}}\n'
    )
    found = read(text, metadata=["cam", "day", "vars.x", "none"])
    assert [one.metadata for one in found.rows] == [
        (3, "mon", None, None),
        (None, True, 1.5, None),
    ]
    assert found.metadata == {"cam", "day", "vars.x"}


def test_metadata_that_is_no_single_value_is_told() -> None:
    told = error('{"id": 1, "query": "q", "metadata": {"day": [1]}}', metadata=["day"])
    assert told[0] == "a.jsonl:1: metadata.day: expected a single value, found a list"


def test_rows_without_ids_are_numbered_blank_lines_apart() -> None:
    found = read('{"query": "a"}\n\n{"query": []}\n{"query": "b"}\n', invalid="skip")
    # The row left out keeps its number, as it must where rows of models are joined by it.
    assert [(one.sample_id, one.line) for one in found.rows] == [("1", 1), ("3", 4)]


def test_ids_are_for_all_rows_or_none() -> None:
    told = error('{"id": "a", "query": "q"}\n{"query": "q"}\n')
    assert told[0] == "a.jsonl:2: expected a sample_id as in other rows, found nothing"


def test_a_sample_twice_names_both_lines() -> None:
    told = error('{"id": "a", "query": "q"}\n{"id": "b", "query": "q"}\n{"id": "a", "query": "r"}')
    assert told[0] == "a.jsonl:3: the sample 'a' is also on line 1"


def test_a_sample_may_stand_once_for_each_model() -> None:
    rows = [("a", "m"), ("a", "n"), ("a", "m")]
    text = "\n".join(json.dumps({"id": i, "model": m, "query": "q"}) for i, m in rows)
    assert error(text)[0] == "a.jsonl:3: the sample 'a' of the model 'm' is also on line 1"


def test_a_row_without_a_model_beside_rows_with_one_is_told() -> None:
    told = error('{"id": 1, "model": "m", "query": "q"}\n{"id": 2, "query": "q"}')
    assert told[0] == "a.jsonl:2: expected a model as in other rows, found nothing"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 2**70) | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["text", "content", "a", "role", "messages", "logprob"]),
            inner,
            max_size=2,
        )
    ),
    max_leaves=4,
)
NAMES = (
    "id", "model", "question", "answer", "reference", "contexts", "condition", "categories",
    "group", "perturbed_from", "latency_ms", "cost", "artifacts", "token_logprobs", "metadata", "m",
    "messages", "output", "context", "vars", "testIdx", "epoch", "input", "target", "doc_id",
    "arguments", "filtered_resps",
)  # fmt: skip


RECORDS = st.lists(
    st.dictionaries(st.sampled_from(NAMES), JSON, max_size=8), min_size=1, max_size=4
)


@given(RECORDS)
def test_rows_are_left_out_exactly_if_they_have_faults(records: list[dict[str, Any]]) -> None:
    reading = SampleReading(metadata=["m", "a"], logprobs=True)
    check = RowCheck(reading)
    faults = [check.faults(parsed(json.dumps(record).encode())) for record in records]
    text = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    for blocks in ([text], text.splitlines(True)):
        problems = LineProblems("a.jsonl")
        parser = SampleParser(reading, problems)
        read_lines(parser, blocks, 1)
        part = parser.part()
        assert list(part.numbers) == [at for at, one in enumerate(faults, 1) if not one]
        assert part.faulty == sum(map(bool, faults))
        assert problems.total == sum(map(len, faults))


@given(RECORDS)
def test_the_kernel_and_python_read_the_same_rows(records: list[dict[str, Any]]) -> None:
    reading = SampleReading(metadata=["m", "a"], logprobs=True)
    text = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    found = []
    for compiled in (engine.compiled, None):
        with mock.patch.object(engine, "compiled", compiled):
            parser = SampleParser(reading, LineProblems("a.jsonl"))
            read_lines(parser, [text], 1)
            found.append(parser.part())
    assert found[0].rows == found[1].rows
    assert [list(map(type, row.metadata)) for row in found[0].rows] == [
        list(map(type, row.metadata)) for row in found[1].rows
    ]
    assert [str(one) for one in found[0].problems.kept] == [
        str(one) for one in found[1].problems.kept
    ]
    assert found[0].names == found[1].names
    assert found[0].metadata == found[1].metadata


def test_columns_that_could_each_be_the_response() -> None:
    assert SCHEMA.ambiguous(
        ["question", "answer", "prediction", "ground_truth", "reference"], {}
    ) == {
        "response": ["answer", "prediction"],
        "references": ["reference", "ground_truth"],
    }
    assert SCHEMA.ambiguous(["response", "answer"], {}) == {}
    assert SCHEMA.ambiguous(["answer", "prediction"], {"response": "prediction"}) == {}
