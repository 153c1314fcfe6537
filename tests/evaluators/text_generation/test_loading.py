"""Files of text samples to data sets: models, joins, selections, and what is warned of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.errors import DataError
from valor_cli.evaluators.text_generation.inputs import TextInputs
from valor_cli.evaluators.text_generation.loading import load_text
from valor_cli.metric import Loaded, ModelUsage, NoOptions, Selection


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def lines(*rows: Mapping[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def load(
    files: Mapping[str, str], selection: Selection | None = None, **block: Any
) -> Loaded[TextDataset]:
    """The files written, and all of them read, one a model; or what the block says."""
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8")
    named = {name.split(".")[0]: name for name in files}
    block = {"samples": named if len(named) > 1 else next(iter(files))} | block
    inputs = TextInputs.model_validate(block)
    return load_text(inputs, NoOptions(), selection or Selection())


def error(files: Mapping[str, str], selection: Selection | None = None, **block: Any) -> list[str]:
    with pytest.raises(DataError) as caught:
        load(files, selection, **block)
    return str(caught.value).split("\n")


A = lines(
    {"id": "x", "question": "q1", "answer": "a1", "reference": "r1", "cam": "front"},
    {"id": "y", "question": "q2", "answer": "a2", "reference": " r2 ", "cam": "rear"},
    {"id": "z", "question": "q3", "answer": None, "reference": "r1", "cam": "front"},
)


def test_a_file_is_a_model_named_after_it() -> None:
    loaded = load({"bot.jsonl": A})
    data = loaded.datasets["bot"]
    assert data.sample_ids == ("x", "y", "z")
    assert data.response == ("a1", "a2", None)
    assert data.references == (("r1",), (" r2 ",), ("r1",))
    assert data.number.tolist() == [0, 1, 2]
    assert loaded.sizes == {"samples": 3}
    assert [(one.path, one.rows, one.skipped) for one in loaded.files] == [("bot.jsonl", 3, 0)]
    assert not loaded.warnings


def test_models_of_one_file_stand_in_order_of_appearance() -> None:
    rows = [("q", "n"), ("q", "m"), ("r", "m"), ("r", "n")]
    text = lines(*({"id": i, "model": m, "answer": i + m} for i, m in rows))
    loaded = load({"a.jsonl": text})
    assert list(loaded.datasets) == ["n", "m"]
    assert loaded.datasets["m"].response == ("qm", "rm")
    assert loaded.sizes == {"samples": 2}
    assert len(loaded.files) == 1


def test_models_have_a_row_for_every_sample_that_any_has() -> None:
    b = lines(
        {"id": "w", "question": "q0", "answer": "b0", "contexts": ["c"], "latency_s": 9},
        {"id": "y", "question": "q2", "answer": "b2"},
    )
    loaded = load({"a.jsonl": A, "b.jsonl": b})
    one, two = loaded.datasets["a"], loaded.datasets["b"]
    assert one.sample_ids == two.sample_ids == ("x", "y", "z", "w")
    assert one.response == ("a1", "a2", None, None)
    assert two.response == (None, "b2", None, "b0")
    assert one.user_input == two.user_input == ("q1", "q2", "q3", "q0")
    assert one.retrieved_contexts == (None, None, None, ("c",))
    # What a model took for a sample is nobody else's.
    assert loaded.spent == {"a": ModelUsage(None, None), "b": ModelUsage(9.0, None)}
    # The file of b has no references; they belong to the samples, which a knows.
    assert two.references == (("r1",), (" r2 ",), ("r1",), ())
    assert loaded.sizes == {"samples": 4}
    assert list(loaded.warnings) == [
        "a: no response to samples that other models have: 1 of 4 (the first: 'w')",
        "b: no response to samples that other models have: 2 of 4 (the first: 'x', 'z')",
        "b.jsonl: has no references; what other files say of the same samples is used",
    ]


def test_models_without_a_sample_in_common_have_their_own() -> None:
    b = lines({"id": "w", "answer": "b"}, {"id": "v", "answer": "b"})
    loaded = load({"a.jsonl": A, "b.jsonl": b})
    assert loaded.datasets["b"].sample_ids == ("w", "v")
    assert loaded.sizes == {"samples": 5}
    (warning,) = loaded.warnings
    assert warning.startswith("b: none of 2 sample ids is one of a (here 'w', 'v'; there 'x', ")


def test_rows_without_ids_are_joined_by_number() -> None:
    loaded = load({"a.csv": "answer,x\na,1\nb,1\n", "b.csv": "answer,x\nc,1\n"})
    assert loaded.datasets["b"].sample_ids == ("1", "2")
    assert loaded.datasets["b"].response == ("c", None)


def test_models_that_were_asked_something_else_are_told() -> None:
    files = {"a.csv": "question,answer\np,a\nq,b\n", "b.csv": "question,answer\np,c\nr,d\n"}
    assert list(load(files).warnings) == [
        "models have another user_input under the same sample_id: 1 samples (the first: '2')"
    ]


def test_nothing_is_taken_from_models_that_were_asked_something_else() -> None:
    # Rows without ids, in another order: 2 is the one sample that both were asked.
    a = "question,answer,reference,x\np,a,P,1\nq,b,Q,2\nr,c,R,3\n"
    b = "question,answer\nr,a\n q ,b\np,c\n"
    loaded = load({"a.csv": a, "b.csv": b}, Selection(metadata=["x"]))
    assert loaded.datasets["a"].references == (("P",), ("Q",), ("R",))
    assert loaded.datasets["b"].references == ((), ("Q",), ())
    assert loaded.metadata["b"] == {"x": [None, "2", None]}
    assert next(iter(loaded.warnings)) == (
        "models have another user_input under the same sample_id: 2 samples (the first: '1', '3')"
    )


def test_a_file_that_does_not_say_what_was_asked_takes_all_of_the_others() -> None:
    loaded = load({"a.jsonl": A, "b.csv": "id,answer\ny,b\nx,c\n"})
    assert loaded.datasets["b"].user_input == ("q1", "q2", "q3")
    assert loaded.datasets["b"].references == (("r1",), (" r2 ",), ("r1",))


def test_one_of_several_files_may_not_hold_several_models() -> None:
    several = lines({"id": 1, "model": "m", "answer": "a"}, {"id": 1, "model": "n", "answer": "a"})
    told = error({"a.jsonl": A, "b.jsonl": several})
    assert told[0] == "b.jsonl: holds samples of several models (m, n), for 'b'"


def test_problems_of_all_files_are_told_together() -> None:
    told = error({"a.jsonl": "{\n", "b.jsonl": "[]\n"})
    assert [line.split(":")[0] for line in told[:2]] == ["a.jsonl", "b.jsonl"]


def test_a_column_that_metrics_need_lists_those_there_are() -> None:
    needs = Selection(needs=frozenset({"response", "retrieved_contexts", "predictions"}))
    assert error({"a.jsonl": A}, needs) == [
        (
            "a.jsonl: no row has 'retrieved_contexts', 'retrieval_context', 'contexts', 'context'; "
            "there is: id, question, answer, reference, cam"
        ),
        "Map other names under `data: columns:`, as {retrieved_contexts: my_column}.",
    ]


def test_a_column_that_metrics_need_and_that_is_empty_is_warned_of() -> None:
    needs = Selection(needs=frozenset({"response"}))
    silent = lines({"id": 1, "answer": None}, {"id": 2, "answer": None})
    found = load({"a.jsonl": silent}, needs)
    assert found.datasets["a"].response == (None, None)
    assert found.warnings == ["a.jsonl: no row has a value of 'answer'"]
    mapped = lines({"id": 1, "said": {"it": None}})
    told = error({"a.jsonl": mapped}, needs, columns={"response": "said.it"})
    assert told[0] == "a.jsonl: no row has a value of 'said.it'"
    of_two = lines(*({"id": 1, "model": m, "answer": a} for m, a in (("m", "a"), ("n", None))))
    found = load({"a.jsonl": of_two}, needs)
    assert found.warnings == ["a.jsonl: no row of the model 'n' has a value of 'answer'"]
    assert found.datasets["n"].response == (None,)


def test_wanted_columns_that_no_file_has_are_lacking() -> None:
    wanted = frozenset({"references", "retrieved_contexts", "condition"})
    loaded = load({"a.jsonl": A}, Selection(wanted=wanted))
    assert loaded.missing_columns == {"retrieved_contexts", "condition"}


def test_labels_are_the_references_without_spaces_under_their_new_names() -> None:
    selection = Selection(
        label_map={"r2": "two"}, needs=frozenset({"labels"}), keep={"metadata.cam": ["front"]}
    )
    loaded = load({"a.jsonl": A}, selection)
    assert list(loaded.labels) == ["r1"]
    assert list(loaded.known_labels) == ["r1", "two"]
    assert loaded.datasets["a"].label_map == {"r2": "two"}


def test_metadata_is_by_model_and_unit() -> None:
    b = lines({"id": "y", "answer": "b", "metadata": {"cam": "b's own"}})
    loaded = load({"a.jsonl": A, "b.jsonl": b}, Selection(metadata=["cam"]))
    assert loaded.metadata == {
        "a": {"cam": ["front", "rear", "front"]},
        "b": {"cam": ["front", "b's own", "front"]},
    }


def test_metadata_that_only_one_file_says_holds_for_its_samples() -> None:
    b = lines({"id": "y", "answer": "b"}, {"id": "x", "answer": "c"})
    loaded = load({"a.jsonl": A, "b.jsonl": b}, Selection(metadata=["cam"]))
    assert loaded.metadata["b"] == {"cam": ["front", "rear", "front"]}


def test_metadata_that_is_not_there_is_told() -> None:
    told = error({"a.jsonl": A}, Selection(metadata=["camera"]))
    assert told == [
        (
            "a.jsonl: there is no column 'camera' for metadata.camera "
            "(did you mean 'cam'?); there is: id, question, answer, reference, cam"
        )
    ]


def test_filters_keep_ids_and_metadata_and_limits_the_first() -> None:
    keep = {"metadata.cam": ["front"]}
    assert load({"a.jsonl": A}, Selection(keep=keep)).datasets["a"].sample_ids == ("x", "z")
    assert load({"a.jsonl": A}, Selection(keep=keep, limit=1)).sizes == {"samples": 1}
    two = load({"a.jsonl": A}, Selection(keep={"sample_id": ["z", "x"]}))
    assert two.datasets["a"].sample_ids == ("x", "z")


def test_filters_compare_what_is_written() -> None:
    text = lines({"id": 7, "answer": "a", "n": 1}, {"id": 8, "answer": "b", "n": "1"})
    loaded = load({"a.jsonl": text}, Selection(keep={"metadata.n": [1]}))
    assert loaded.sizes == {"samples": 2}
    assert load({"a.jsonl": text}, Selection(keep={"sample_id": [7]})).sizes == {"samples": 1}


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        ({"sample_id": ["no"]}, "filter.sample_id: no sample 'no'"),
        ({"metadata.cam": ["top"]}, "filter: leaves no sample of a.jsonl"),
        ({"label": ["r1"]}, "filter.label: text samples have no label; filter by sample_id, or by"),
        ({"image_id": [1]}, "filter.image_id: text samples have no image_id; filter by sample_id"),
    ],
)
def test_filters_that_cannot_be_are_told(keep: Mapping[str, list[Any]], message: str) -> None:
    assert error({"a.jsonl": A}, Selection(keep=keep))[0].startswith(message)


COPIES = (
    {"id": "x", "answer": "a"},
    {"id": "x2", "answer": "b", "perturbed_from": "x"},
    {"id": "y2", "answer": "c", "perturbed_from": "y"},
    {"id": "z", "answer": "c", "perturbed_from": "z"},
)


def test_copies_lead_to_their_originals() -> None:
    loaded = load({"a.jsonl": lines(*COPIES[:2])})
    assert loaded.perturbed == {"a": {"x2": "x"}}
    assert loaded.datasets["a"].perturbed_from == (None, "x")


def test_a_copy_of_nothing_is_told() -> None:
    assert error({"a.jsonl": lines(*COPIES)})[:2] == [
        (
            "a.jsonl:3: perturbed_from: expected the id of another sample of the model, "
            "found 'y', which is no sample"
        ),
        (
            "a.jsonl:4: perturbed_from: expected the id of another sample of the model, "
            "found the sample itself"
        ),
    ]


def test_a_copy_of_nothing_is_dropped_where_invalid_rows_are_left_out() -> None:
    loaded = load({"a.jsonl": lines(*COPIES)}, on_invalid="skip")
    assert loaded.perturbed == {"a": {"x2": "x"}}
    assert loaded.datasets["a"].perturbed_from == (None, "x", None, None)
    assert list(loaded.warnings) == [
        (
            "a: perturbed_from names no other sample of the model and was dropped: 2 rows "
            "(the first names 'y')"
        )
    ]


def test_the_original_may_be_filtered_out() -> None:
    loaded = load({"a.jsonl": lines(*COPIES[:2])}, Selection(keep={"sample_id": ["x2"]}))
    assert loaded.perturbed == {"a": {}}
    assert loaded.datasets["a"].perturbed_from == ("x",)


def test_what_models_took_is_a_mean_of_seconds_and_a_sum_of_money() -> None:
    text = "id,answer,latency_ms,cost\n1,a,500,0.1\n2,b,1500,0.2\n3,c,,0.3\n"
    spent = load({"a.csv": text}).spent["a"]
    # (0.5 + 1.5) / 2, and 0.1 + 0.2 + 0.3 summed exactly.
    assert spent == ModelUsage(1.0, 0.6)
    named = {"a.csv": text.replace("latency_ms", "took_ms")}
    assert load(named, columns={"duration_s": "took_ms"}).spent["a"] == spent


def test_artifacts_start_from_the_folder_of_the_file_or_the_one_given() -> None:
    Path("runs").mkdir()
    Path("kept").mkdir()
    text = lines({"id": 1, "answer": "a", "artifacts": "one"}, {"id": 2, "answer": "a"})
    files = {"runs/a.jsonl": text}
    assert load(files).datasets["a"].artifacts == ("runs/one", None)
    assert load(files, artifacts="kept").datasets["a"].artifacts == ("kept/one", None)
    assert error(files, artifacts="gone")[0] == "gone: no such folder"


LOGPROBS = Selection(needs=frozenset({"response", "token_logprobs"}))


def test_log_probabilities_are_there_for_the_metrics_that_need_them() -> None:
    text = lines(
        {"id": 1, "answer": "a b", "token_logprobs": [None, -0.5]}, {"id": 2, "answer": "a"}
    )
    first, second = load({"a.jsonl": text}, LOGPROBS).datasets["a"].token_logprobs
    np.testing.assert_array_equal(first, [np.nan, -0.5])
    assert second is None
    assert load({"a.jsonl": text}).datasets["a"].token_logprobs == (None, None)


def test_log_probabilities_that_are_needed_and_lack_are_told() -> None:
    text = lines({"id": 1, "answer": "a", "cam": "x"})
    assert error({"a.jsonl": text}, LOGPROBS)[0] == (
        "a.jsonl: no row has 'token_logprobs'; there is: id, answer, cam"
    )
    none = lines({"id": 1, "answer": "a", "token_logprobs": None})
    assert load({"a.jsonl": none}, LOGPROBS).warnings == [
        "a.jsonl: no row has a value of 'token_logprobs'"
    ]
    wrong = text + lines({"id": 2, "answer": "a", "token_logprobs": [0.9]})
    assert error({"a.jsonl": wrong}, LOGPROBS)[0].startswith("a.jsonl:2: token_logprobs[0]: ")


def test_log_probabilities_are_of_one_model_and_never_lent() -> None:
    a = lines(
        {"id": 1, "question": "q", "answer": "a", "token_logprobs": [-1]},
        {"id": 2, "question": "q", "answer": "b", "token_logprobs": [-2]},
    )
    b = lines({"id": 1, "question": "q", "answer": "c", "token_logprobs": [-3]})
    loaded = load({"a.jsonl": a, "b.jsonl": b}, LOGPROBS).datasets
    assert [None if one is None else one.tolist() for one in loaded["b"].token_logprobs] == [
        [-3.0],
        None,
    ]
    assert [None if one is None else one.tolist() for one in loaded["a"].token_logprobs] == [
        [-1.0],
        [-2.0],
    ]


CONDITIONS = lines(
    {"id": 1, "answer": "a", "condition": '"a" AND'},
    {"id": 2, "answer": "a", "condition": '"a"'},
    {"id": 3, "answer": "a", "condition": ' "a"  AND'},
    {"id": 4, "answer": "a", "condition": " "},
)


def test_a_condition_that_is_none_is_told_with_a_caret() -> None:
    needs = Selection(needs=frozenset({"condition"}))
    told = error({"a.jsonl": CONDITIONS}, needs)
    assert told[0].startswith("a.jsonl:1: condition: ")
    assert told[1].startswith("a.jsonl:3: condition: ")
    assert told[2] == '"a" AND'
    assert told[3].strip() == "^"
    loaded = load({"a.jsonl": CONDITIONS}, needs, on_invalid="skip")
    assert loaded.datasets["a"].condition == ('"a"', None)
    assert [(one.rows, one.skipped) for one in loaded.files] == [(4, 2)]


def test_conditions_that_no_metric_reads_are_not_looked_at() -> None:
    assert load({"a.jsonl": CONDITIONS}).datasets["a"].condition[0] == '"a" AND'


def test_rows_left_out_are_told() -> None:
    loaded = load({"a.jsonl": A + "half {\n"}, on_invalid="skip")
    assert list(loaded.warnings) == ["a.jsonl: left out as invalid: 1 of 4 rows"]
    assert error({"a.jsonl": A + "half {\n"})[0].startswith("a.jsonl:4: not JSON")


def test_a_shard_is_a_part_of_the_columns() -> None:
    data = load({"a.jsonl": A}).datasets["a"]
    part = data.shard(data.number > 0)
    assert (part.sample_ids, part.number.tolist()) == (("y", "z"), [1, 2])


TRUTH = lines(
    {"id": "x", "question": "q1", "reference": "r1", "contexts": ["c1"], "cam": "front"},
    {"id": "y", "question": "q2", "reference": "r2", "contexts": ["c2"], "cam": "rear"},
    {"id": "z", "question": "q3", "reference": "r3", "contexts": [], "cam": "front"},
)


def beside_truth(*predictions: str, **block: Any) -> Loaded[TextDataset]:
    named = {f"m{at}": f"m{at}.jsonl" for at in range(len(predictions))}
    files = {"right.jsonl": TRUTH, **dict(zip(named.values(), predictions, strict=True))}
    sides = {"samples": None, "ground_truth": "right.jsonl", "predictions": named}
    return load(files, **sides | block)


def test_a_file_of_ground_truth_lends_and_is_no_model() -> None:
    answers = lines({"id": "z", "answer": "a3"}, {"id": "x", "answer": "a1"})
    loaded = beside_truth(answers)
    (data,) = loaded.datasets.values()
    assert (data.sample_ids, data.response) == (("x", "y", "z"), ("a1", None, "a3"))
    assert (data.references, data.user_input) == ((("r1",), ("r2",), ("r3",)), ("q1", "q2", "q3"))
    assert data.retrieved_contexts == (("c1",), ("c2",), ())
    assert loaded.sizes == {"samples": 3}
    assert [one.path for one in loaded.files] == ["right.jsonl", "m0.jsonl"]
    assert loaded.warnings == [
        "m0: no response to samples that the ground truth has: 1 of 3 (the first: 'y')"
    ]


def test_contexts_that_a_model_found_are_its_own() -> None:
    found = {"id": "x", "answer": "a1", "contexts": ["own"]}, {"id": "y", "answer": "a2"}
    loaded = beside_truth(lines(*found), lines({"id": "x", "answer": "b1", "question": "q?"}))
    one, other = loaded.datasets.values()
    assert one.retrieved_contexts == (("own",), None, ())
    assert other.retrieved_contexts == (("c1",), ("c2",), ())
    # What the ground truth does not ask is said.
    assert loaded.warnings[0] == (
        "models have another user_input under the same sample_id: 1 samples (the first: 'x')"
    )


def test_ids_that_the_ground_truth_does_not_have() -> None:
    rows = lines({"id": "X", "answer": "a"}, {"id": "y", "answer": "b"}, {"id": "w", "answer": "c"})
    spelled = "here 'X', 'w'; there 'x', 'y', 'z'; they differ in capitals"
    with pytest.raises(DataError) as caught:
        beside_truth(rows)
    assert str(caught.value).split("\n") == [
        "m0.jsonl:1: sample_id: no sample 'X' in right.jsonl",
        "m0.jsonl:3: sample_id: no sample 'w' in right.jsonl",
        f"Ids are compared as they are written: {spelled}.",
        "Fix these rows, or set `on_invalid: skip` under `data:` to leave them out.",
    ]
    loaded = beside_truth(rows, on_invalid="skip")
    assert loaded.datasets["m0"].response == (None, "b", None)
    assert [(one.rows, one.skipped) for one in loaded.files] == [(3, 0), (3, 2)]
    with pytest.raises(DataError, match="no sample 'w'"):
        beside_truth(lines({"id": "w", "answer": "c"}), on_invalid="skip")


def test_ground_truth_of_several_models_is_refused() -> None:
    truth = lines(*({"id": "x", "model": one, "reference": "r"} for one in ("a", "b")))
    Path("several.jsonl").write_text(truth)
    with pytest.raises(DataError, match="holds samples of several models"):
        beside_truth(lines({"id": "x", "answer": "a"}), ground_truth="several.jsonl")


def test_rows_of_a_model_that_is_called_as_the_ground_truth_are_refused() -> None:
    rows = lines(*({"id": "x", "model": one, "answer": "a"} for one in ("m", "ground truth")))
    Path("models.jsonl").write_text(rows)
    with pytest.raises(DataError, match=r"^models\.jsonl: no model can be called 'ground truth'"):
        beside_truth(predictions="models.jsonl")
