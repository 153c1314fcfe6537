"""The explorer's data: columns that hold what the run has, joined by id."""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from tests.reports.explorer.object_runs import detection_run, large_objects
from tests.reports.task_runs import classified, run_of
from tests.reports.text_runs import text_run
from valor_cli import api, masking
from valor_cli.masking import keep_secret
from valor_cli.reports.explorer.blobs import Blobs, json_of
from valor_cli.reports.explorer.data import Explorer, explorer_of, explorer_of_runs
from valor_cli.reports.lists.listing import Query
from valor_cli.reports.lists.samples import sample_list
from valor_cli.reports.run_files import read_run
from valor_cli.reports.writer import SAMPLES, is_own
from valor_cli.results import (
    EmbeddedImages,
    ExampleResult,
    JudgeCalls,
    SamplesResult,
    ShownText,
    SlicesResult,
    TextsResult,
    ThresholdUsed,
    Verdict,
)


class Read:
    """What a page reads of an explorer."""

    def __init__(self, explorer: Explorer | None) -> None:
        assert explorer is not None
        self.document: dict[str, Any] = json.loads(explorer.data)
        self.files: dict[str, Any] = {}
        for name, content in explorer.files.items():
            assert is_own(name)
            text = b"".join(content).decode()
            assert text.startswith("valorExplorer(")
            assert text.endswith(");\n")
            self.files[name] = json.loads(text[len("valorExplorer(") : -3])

    def raw(self, index: int) -> Any:
        entry = self.document["blobs"][index]
        held = entry["d"] if "d" in entry else self.files[entry["f"]][f"c{index}"]
        content = base64.b64decode(held)
        return zlib.decompress(content) if entry.get("z") else content

    def json(self, index: int) -> Any:
        return json.loads(self.raw(index))

    def column(self, index: int) -> list[float]:
        entry = self.document["blobs"][index]
        values = np.frombuffer(
            self.raw(index), np.dtype(f"<{entry['t'][0]}{int(entry['t'][1:]) // 8}")
        )
        found = values / entry["s"] if "s" in entry else values.astype(float)
        if "m" in entry:
            found = np.where(values == entry["m"], np.nan, found)
        assert len(found) == entry["n"]
        return list(found.tolist())


def test_numbers_are_kept_exactly() -> None:
    for values in (
        *([0.0, 1.0, math.nan], [0.123456, 0.5, 1.0], [255.0, 0.0], [65535.0]),
        *([1 / 3, 2 / 3], [-1.5, 2.0], [math.inf, 1.0], [1e300], []),
    ):
        blobs = Blobs("c", 10_000)
        index = blobs.numbers(values)
        blobs.finish()
        reader = Read(Explorer(json_of({"blobs": blobs.table}), {}))
        assert np.array_equal(reader.column(index), values, equal_nan=True)


def test_the_same_column_is_stored_once_and_large_ones_beside_the_page() -> None:
    blobs = Blobs("c", 200)
    first, again = blobs.json(["a"] * 10), blobs.json(["a"] * 10)
    blobs.finish()
    large = blobs.numbers(np.random.default_rng(0).random(100))
    blobs.finish()
    assert first == again
    assert "d" in blobs.table[first]
    assert list(blobs.files) == [blobs.table[large]["f"]]


def test_no_text_ends_the_script_and_secrets_are_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masking, "_KEPT", {})
    keep_secret("API_KEY", "s3cr3t-token-abc123", "", "")
    bad = "</script><!-- \u2028\u2029\u202e \ud800"
    run = run_of("text_generation", ("m",))
    texts = TextsResult("m", [bad], {"user_input": ["the key is s3cr3t-token-abc123"]})
    explorer = explorer_of(replace(run, texts=[texts]))
    assert explorer is not None
    assert explorer.data.isascii()
    assert b"<" not in explorer.data
    reader = Read(explorer)
    assert reader.json(reader.document["ids"]) == [bad]
    assert reader.json(reader.document["titles"]) == ["the key is …"]


def test_values_statuses_and_limits_by_metric_and_model() -> None:
    run = run_of("text_generation", ("a", "b"))
    values = _values("a", "xyz", [0.5, None, 1], [None, "no claim", None])
    values = replace(values, statuses=["ok", "not_applicable", "ok"])
    other = _values("b", "zw", [0.25, 1.0])
    used = ThresholdUsed("faithfulness", {}, 0.75, given=False)
    run = replace(run, samples=[values, other], run=replace(run.run, thresholds=(used,)))
    reader = Read(explorer_of(run))
    (metric,) = reader.document["metrics"]
    first, second = metric["models"]
    assert reader.json(reader.document["ids"]) == ["x", "y", "z", "w"]
    for one, column in (
        (first, [0.5, math.nan, 1, math.nan]),
        (second, [math.nan, math.nan, 0.25, 1]),
    ):
        assert np.array_equal(reader.column(one["values"]), column, equal_nan=True)
    statuses = reader.document["statuses"]
    told = [statuses[int(one)] for one in reader.column(first["status"])[:3]]
    assert told == ["ok", "not_applicable", "ok"]
    assert (first["limit"], second["limit"], metric["given"]) == (0.75, 0.75, True)


@pytest.mark.parametrize(
    ("threshold", "gates", "failed"),
    [
        # Recall of the reference's three words: all, two, none.
        ({"threshold": 0.5}, [], ["c"]),
        ({"threshold": 0.5}, [{"metric": "rouge_l", "output": "recall", "min": 0.9}], ["c"]),
        ({"threshold": 0.9}, [{"metric": "rouge_l", "min": 0.1}], ["b", "c"]),
        ({}, [{"metric": "rouge_l", "min": 0.9}], ["b", "c"]),
        ({}, [{"metric": "rouge_l", "min": 0.1}], ["c"]),
    ],
)
def test_the_page_and_the_list_have_the_same_samples_failed(
    tmp_path: Path, threshold: dict[str, float], gates: list[dict[str, Any]], failed: list[str]
) -> None:
    said = {"a": "one two three", "b": "one two four", "c": "five six"}
    lines = [
        json.dumps(
            {
                "sample_id": name,
                "user_input": "?",
                "response": text,
                "references": ["one two three"],
            }
        )
        for name, text in said.items()
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    config = {
        "task": "text_generation",
        "data": {"samples": {"m": str(tmp_path / "rows.jsonl")}},
        "metrics": [{"rouge_l": threshold}],
        "gates": gates,
    }
    run = api.evaluate(config, out=tmp_path / "run", formats=["json"])
    stored = read_run(tmp_path / "run", beside=(SAMPLES,))
    for result in (run, stored):
        listed = sample_list(result, Query("failed", metric="rouge_l"))
        assert [row[0] for row in listed.rows] == failed
        reader = Read(explorer_of(result))
        metric = reader.document["metrics"][0]
        assert metric["primary"]
        (one,) = metric["models"]
        values = reader.column(one["values"])
        below = [value < one["limit"] for value in values]
        ids = reader.json(reader.document["ids"])
        assert [name for name, is_below in zip(ids, below, strict=True) if is_below] == failed


def _values(
    model: str, ids: Sequence[Any], values: Sequence[float | None], why: Sequence[Any] = ()
) -> SamplesResult:
    undefined = why or [None] * len(ids)
    parts = (model, {}, list(ids), {"value": values}, undefined, ["ok"] * len(ids))
    return SamplesResult("faithfulness", *parts)


def test_objects_are_in_the_order_of_the_samples() -> None:
    # Images of the second model are in the opposite order: what its objects refer to stays theirs.
    run = detection_run(("small",))
    (own,) = run.objects
    flip = np.argsort(-own.images, kind="stable")
    gt_flip = np.argsort(-own.gt_images, kind="stable")
    at = np.argsort(gt_flip)
    last = len(own.image_ids) - 1
    turned = {name: getattr(own, name)[::-1] for name in ("image_ids", "files", "sizes")}
    gts = ("gt_labels", "gt_ids", "gt_boxes", "gt_ignored")
    turned |= {name: getattr(own, name)[gt_flip] for name in gts}
    found = ("detected", "scores", "boxes", "outcomes", "ious")
    turned |= {name: getattr(own, name)[flip] for name in found}
    turned |= {"gt_images": last - own.gt_images[gt_flip], "images": last - own.images[flip]}
    for name in ("matched", "nearest"):
        numbers = getattr(own, name)[flip]
        turned[name] = np.where(numbers < 0, -1, at[numbers])
    moved = replace(own, model="moved", **turned)
    both = replace(run, models=("small", "moved"), objects=[own, moved])
    reader = Read(explorer_of(both))
    first, second = reader.document["objects"]["models"]
    for name in first:
        if name != "parameters":
            assert first[name] == second[name], name  # the same content is the same blob
    assert reader.column(first["scores"]) == own.scores.tolist()
    matched = np.array(reader.column(first["matched"]))
    starts = np.concatenate([[0], np.cumsum(reader.column(first["gt_counts"]))])
    numbers = np.where(np.isnan(matched), -1, matched + starts[own.images])
    assert numbers.tolist() == own.matched.tolist()


def test_many_objects_stand_beside_the_page() -> None:
    run = replace(run_of("object_detection", ("m",)), objects=[large_objects("m", 200, 40_000, 5)])
    explorer = explorer_of(run)
    assert explorer is not None
    big = explorer_of(replace(run, objects=[large_objects("m", 2_000, 240_000, 80)]))
    assert big is not None
    assert len(explorer.data) < 3_000_000
    assert len(big.data) < 100_000
    assert sum(len(one) for blocks in big.files.values() for one in blocks) < 20 * 240_000
    reader = Read(big)
    (one,) = reader.document["objects"]["models"]
    assert len(reader.column(one["boxes"])) == 4 * 240_000


def test_runs_to_compare_are_joined_by_id() -> None:
    first, second = text_run(("small",), 20), text_run(("small",), 24)
    reader = Read(explorer_of_runs([("A", first), ("B", second)]))
    assert reader.document["models"] == ["A small", "B small"]
    assert reader.document["count"] == 24
    assert len({one["name"] for one in reader.document["metrics"]}) == len(
        reader.document["metrics"]
    )


def test_marks_verdicts_and_contexts_of_examples() -> None:
    run = run_of("text_generation", ("m",))
    texts = TextsResult("m", ["x"], {"response": ["It is red. It is 5 m."]})
    values = replace(_values("m", ["x"], [0.5]), details=[{"claims": []}])
    shown = (
        ShownText("response", "It is red. It is 5 m.", [(0, 9, "unsupported")]),
        ShownText("retrieved_contexts[0]", "It is 5 m."),
    )
    verdicts = [Verdict("It is red", "unsupported", False, "not said")]
    parts = (None, None, {}, "worst_sample", "x", 0.5, None, (), shown, "1 of 2", verdicts)
    example = ExampleResult("faithfulness", "m", *parts)
    reader = Read(explorer_of(replace(run, texts=[texts], samples=[values], examples=[example])))
    cards = reader.document["cards"]
    assert cards["good"] == {"0": {"unsupported": False}}
    chunk = reader.json(cards["chunks"][0])
    own = chunk["shown"]["0"]["0"]
    assert own["texts"]["response"]["marks"] == [[0, 9, "unsupported"]]
    assert own["texts"]["retrieved_contexts[0]"]["text"] == "It is 5 m."
    assert own["metrics"]["0"]["verdicts"] == [["It is red", "unsupported", False, "not said"]]


def test_labels_of_a_classification_are_those_of_its_examples() -> None:
    reader = Read(explorer_of(classified()))
    pairs = reader.document["pairs"]
    assert pairs["labels"]
    assert any(pairs["models"])


def test_images_are_embedded_or_linked() -> None:
    run = detection_run(("small",))
    files = run.objects[0].files
    images = EmbeddedImages(
        photos={files[0]: b"\xff\xd8jpeg"},
        links={files[1]: "report_files/images/image-0.jpg"},
        left_out={files[2]: "too large"},
        notes=("two",),
    )
    explorer = explorer_of(run, images)
    assert explorer is not None
    document = json.loads(explorer.data)
    found = document["images"]
    assert found["links"] == {"1": "report_files/images/image-0.jpg"}
    assert found["photos"][0]["keys"] == ["0"]
    photo = document["photos"][found["photos"][0]["blob"]]
    assert photo["d"]["0"].startswith("data:image/jpeg;base64,")
    assert (found["left"], found["notes"]) == ({"2": "too large"}, ["two"])


def test_a_run_without_samples_has_none() -> None:
    assert explorer_of(run_of("object_detection", ("m",))) is None


def test_slices_are_bits_of_the_samples_that_are_listed() -> None:
    run = run_of("text_generation", ("a", "b"))
    texts = [TextsResult(model, [1, 2, 3], {"response": ["x"] * 3}) for model in run.models]
    names = ["lang=de", "lang=fr", "lang=de & len=1"]
    members = np.array([[1, 0, 1, 1], [0, 1, 0, 0], [1, 0, 0, 1]], bool)
    sliced = SlicesResult("a", names, [3, 2, 1, 9], members)
    reader = Read(explorer_of(replace(run, texts=texts, slices=[sliced])))
    found = reader.document["slices"]
    assert [(one["name"], one["key"]) for one in found] == [
        ("lang=de", "lang"), ("lang=fr", "lang"), ("lang=de & len=1", "lang=de & len=1"),
    ]  # fmt: skip
    assert [one["models"][1] for one in found] == [None] * 3
    assert [reader.column(one["models"][0]) for one in found] == [[5], [2], [4]]
    assert Read(explorer_of(replace(run, texts=texts))).document["slices"] is None


def test_replies_with_their_prompts_as_much_as_there_is_room_for() -> None:
    run = run_of("text_generation", ("a",))
    asked = [JudgeCalls(2, 0, ("", "{}"), ("p", "q" * 20_005)), JudgeCalls(1, 0, ("no",))]
    values = replace(_values("a", [1, 2], [1, 1]), asked=asked)
    reader = Read(explorer_of(replace(run, samples=[values])))
    ((pairs, plain),) = reader.json(reader.document["cards"]["chunks"][0])["replies"]["0"]
    assert pairs == [["", "p"], ["{}", "q" * 20_000 + " … 5 characters left out"]]
    assert plain == [["no"]]


@pytest.mark.parametrize(
    ("count", "length", "said"),
    [
        (2_000, 1_999, []),
        (2_000, 2_000, ["Texts are cut at 2,000 characters"]),
        (2_001, 499, []),
        (2_001, 500, ["From sample 2,001 on they are cut at 500, without contexts."]),
    ],
)
def test_the_report_says_where_texts_are_cut(count: int, length: int, said: list[str]) -> None:
    texts = TextsResult("a", list(range(count)), {"response": ["x" * length, *"y" * (count - 1)]})
    run = replace(run_of("text_generation", ("a",)), texts=[texts])
    notes = Read(explorer_of(run)).document["notes"]
    assert len(notes) == len(said)
    assert all(one in note for one, note in zip(said, notes, strict=True))


def test_every_perturbed_copy_knows_its_original() -> None:
    run = run_of("text_generation", ("a", "b"))
    columns = {"response": ["x"] * 3, "perturbed_from": [None, "1", None]}
    other = {"response": ["x"] * 3, "perturbed_from": [None, None, "1"]}
    texts = [TextsResult("a", ["1", "2", "3"], columns), TextsResult("b", ["1", "2", "3"], other)]
    reader = Read(explorer_of(replace(run, texts=texts)))
    found = reader.column(reader.document["originals"])
    assert np.array_equal(found, [math.nan, 0, 0], equal_nan=True)
    chunk = reader.json(reader.document["cards"]["chunks"][0])
    assert list(chunk["texts"]) == ["response"]
