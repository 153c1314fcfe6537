"""A run read back from disk: all that was written, and clear words where a file is broken."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.oracles.paired_runs import row, run, values
from tests.reports.conftest import HOSTILE
from valor_cli.errors import DataError
from valor_cli.reports.files import resamples_jsonl, samples_jsonl
from valor_cli.reports.run_files import read_run
from valor_cli.results import IntervalsResult, JudgeCalls, ResampledResult, RunResult, SamplesResult
from valor_cli.results.document import to_json

Write = Callable[[RunResult], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a run into a folder of its own, as `valor evaluate` does."""

    def written(result: RunResult) -> Path:
        (tmp_path / "results.json").write_bytes(to_json(result))
        (tmp_path / "samples.jsonl").write_bytes(b"".join(samples_jsonl.jsonl_blocks(result)))
        (tmp_path / "resamples.jsonl").write_bytes(resamples_jsonl.to_jsonl(result))
        return tmp_path

    return written


def _lists(one: SamplesResult) -> SamplesResult:
    """With lists where the file gives lists."""
    return replace(
        one,
        sample_ids=tuple(one.sample_ids),
        columns={name: list(column) for name, column in one.columns.items()},
        undefined=list(one.undefined),
        statuses=None if one.statuses is None else list(one.statuses),
        details=None if one.details is None else list(one.details),
        asked=None if one.asked is None else list(one.asked),
    )


IDS = ("a", 1, True, "1")
GROUPS = ("x", "x", None, 7)


def _of_model(model: str) -> list[Any]:
    """A metric asked twice, one of a judge, one without coverage; groups."""
    found: list[Any] = [
        values("f1", model, [0.1, None, 0.3, 0.4], IDS, groups=GROUPS, parameters={"beta": beta})
        for beta in (1.0, 2.0)
    ]
    mean, samples, coverage = values("fact", model, [1.0, 0.0, 0.0, None], IDS, groups=GROUPS)
    replied = (JudgeCalls(2, 1, ("yes", "\x1b[31mno")), JudgeCalls(1, 0, ("{}",)))
    details = ({"claims": [1, {"text": "<b>"}]}, None, {"n": 1.5}, None)
    samples = replace(samples, details=details, asked=(*replied, JudgeCalls(), JudgeCalls()))
    found.append((replace(mean, parameters={"judge": "gpt"}), samples, coverage))
    columns = {"f1": [0.5, None, 1.0, 0.0], "tp": [1, 0, 2, 3]}
    parts = (IDS, columns, (None, "empty", None, None))
    images = SamplesResult("image_scores", model, {}, *parts, groups=GROUPS)
    return [*found, (row("image_scores", model, 0.5, output="f1", n=3), images, None)]


def _rich() -> RunResult:
    """Two models, with texts and resamples."""
    order = ("f1", "fact", "image_scores")
    found = [*_of_model("small"), *_of_model("large")]
    found.sort(key=lambda one: order.index(one[0].metric))
    texts = {
        model: {"user_input": (None, "q1", "", "q3"), "response": (*HOSTILE[:3], f"of {model}")}
        for model in ("small", "large")
    }
    resamples = tuple(
        ResampledResult("f1", "value", model, None, None, {"beta": 1.0}, "d", (0.5, None, 0.25))
        for model in ("small", "large")
    )
    return run(
        found,
        texts=texts,
        resamples=resamples,
        coverage=tuple(one for _, _, one in found if one is not None),
        intervals=IntervalsResult(0.95, 3, 0, "group"),
    )


def test_all_that_was_written_is_read(write: Write) -> None:
    result = _rich()
    folder = write(result)
    for path in (str(folder), str(folder / "results.json")):
        found = read_run(path)
        assert list(map(_lists, found.samples)) == list(map(_lists, result.samples))
        assert found.texts == result.texts
        assert [replace(one, values=tuple(one.values)) for one in found.resamples] == [
            *result.resamples
        ]
    again = samples_jsonl.jsonl_blocks(found)
    assert b"".join(again) == b"".join(samples_jsonl.jsonl_blocks(result))
    assert resamples_jsonl.to_jsonl(found) == resamples_jsonl.to_jsonl(result)
    line = json.loads((folder / "samples.jsonl").read_bytes().split(b"\n")[1])
    assert list(line) == ["sample_id", "model", "group", "texts", "metrics"]
    assert (line["group"], line["texts"]) == ("x", {"user_input": "q1", "response": HOSTILE[1]})
    third = json.loads((folder / "samples.jsonl").read_bytes().split(b"\n")[2])
    assert "group" not in third
    assert third["texts"]["user_input"] == ""


def test_the_files_beside_it_are_read_where_they_are(write: Write) -> None:
    folder = write(_rich())
    bare = read_run(str(folder), beside=())
    assert (bare.samples, bare.texts, bare.resamples) == ((), (), ())
    (folder / "samples.jsonl").unlink()
    assert read_run(str(folder)).resamples
    (folder / "resamples.jsonl").unlink()
    found = read_run(str(folder))
    assert (found.samples, found.resamples) == ((), ())
    assert found.metrics


def test_metrics_of_other_samples_keep_their_own(write: Write) -> None:
    found = [values("a", "m", [0.1, 0.2], ("x", "y"), groups=("g", "h")),
             values("b", "m", [0.3, 0.4], ("y", "z"), groups=("h", None))]  # fmt: skip
    first, second = read_run(str(write(run(found)))).samples
    assert (first.sample_ids, first.groups) == (("x", "y"), ("g", "h"))
    assert (second.sample_ids, second.groups) == (("y", "z"), ("h", None))


def test_long_files_are_read_piece_by_piece(write: Write) -> None:
    count = 1_201
    late = (None,) * 900 + ("late",) * (count - 900)
    column = [at / count for at in range(count)]
    result = run([values("f1", model, column) for model in ("a", "b")],
                 texts={"b": {"reply": late}})  # fmt: skip
    found = read_run(str(write(result)))
    assert list(map(_lists, found.samples)) == list(map(_lists, result.samples))
    assert found.texts == result.texts


def _with_line(folder: Path, number: int, change: Callable[[Any], Any] | bytes) -> str:
    """The file with one line changed; what a message says of its place."""
    path = folder / "samples.jsonl"
    lines = path.read_bytes().splitlines()
    old = lines[number - 1]
    lines[number - 1] = (
        change if isinstance(change, bytes) else json.dumps(change(json.loads(old))).encode()
    )
    path.write_bytes(b"\n".join(lines))
    return f"{path}:{number}: "


def _metric(name: str, **fields: Any) -> Callable[[Any], Any]:
    def changed(line: Any) -> Any:
        record = {**line["metrics"][name], **fields}
        kept = {key: value for key, value in record.items() if value is not ...}
        return {**line, "metrics": {**line["metrics"], name: kept}}

    return changed


def _key(**fields: Any) -> Callable[[Any], Any]:
    return lambda line: {**line, **fields}


EXPECTED = 'expected {"sample_id", "model", "metrics"'
SCALAR = "sample_id, group: expected a text or a number"
STRANGE = "a metric that is not in results.json: 'bleu'; is it from another run?"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (b'{"sample_id": 1,', "not JSON: "),
        (b"\xff\xfe", "not JSON: "),
        (b"[1]", "not a JSON object"),
        (_key(model="tiny"), "no model 'tiny' in results.json; it has 'small'"),
        (_key(model=["small"]), "no model ['small'] in results.json"),
        (_key(sample_id=[1]), SCALAR),
        (_key(sample_id="a"), "sample 'a' is a duplicate"),
        (_key(group={}), SCALAR),
        (_key(texts={"response": 1}), "texts: expected {field: text}"),
        (_key(texts=["a"]), "texts: expected {field: text}"),
        (_key(metrics=None), EXPECTED),
        (lambda line: {"model": "small", "metrics": {}}, EXPECTED),
        (lambda line: {**line, "metrics": {**line["metrics"], "bleu": {}}}, STRANGE),
        *(
            (_metric("fact", **{name: value}), "metrics.fact: expected")
            for name, value in (
                *(("value", "0.5"), ("value", True), ("value", ...), ("status", "fine")),
                *(("status", ["ok"]), ("outputs", []), ("outputs", [1, 2]), ("reason", 1)),
                *(("outputs", {"new": 1.0}), ("replies", None), ("replies", [1])),
                *(("calls", "2"), ("prompts", [1]), ("details", [1])),
            )
        ),
        (_metric("image_scores", outputs={}), "metrics.image_scores: expected"),
    ],
)
def test_a_broken_line_is_named(write: Write, change: Any, words: str) -> None:
    folder = write(_rich())
    place = _with_line(folder, 2, change)
    with pytest.raises(DataError) as caught:
        read_run(str(folder))
    assert str(caught.value).startswith(place + words)


def test_samples_of_another_run_are_refused(write: Write) -> None:
    folder = write(_rich())
    path = folder / "samples.jsonl"
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join(lines[:-1]))
    told = "3 samples of f1 (beta=1); results.json says 4; is it from another run?"
    with pytest.raises(DataError, match="3 samples of f1") as caught:
        read_run(str(folder))
    assert str(caught.value).startswith(f"{path}: {told}")
    write(_rich())
    _with_line(folder, 1, _metric("image_scores", value=None))
    with pytest.raises(DataError, match="2 samples with a value of image_scores"):
        read_run(str(folder))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"values": [1.0, "a", 2.0]}, ":1: expected metric, output"),
        ({"values": [True, 1.0, 2.0]}, ":1: expected metric, output"),
        ({"values": [1.0]}, ":1: 1 resamples; results.json says 3"),
        ({"more": 1}, ":1: expected metric, output"),
        ({"drawn": 1}, ":1: expected metric, output"),
        ({"parameters": {"beta": 9}}, ":1: results.json has no value f1 value of 'small'"),
        ({"parameters": None}, ":1: expected metric, output"),
        ({"label": "cat"}, ":1: results.json has no value f1 value of 'small'"),
        ({"model": "large"}, ":2: f1 value of 'large' is a duplicate"),
    ],
)
def test_a_broken_line_of_resamples_is_named(
    write: Write, change: dict[str, Any], words: str
) -> None:
    folder = write(_rich())
    path = folder / "resamples.jsonl"
    first, second = path.read_bytes().splitlines()
    path.write_bytes(json.dumps({**json.loads(first), **change}).encode() + b"\n" + second)
    with pytest.raises(DataError) as caught:
        read_run(str(folder))
    assert str(caught.value).startswith(str(path) + words)


@pytest.mark.parametrize("name", ["samples.jsonl", "resamples.jsonl"])
def test_a_file_that_was_cut_off_at_its_start_is_not_taken_for_none(
    write: Write, name: str
) -> None:
    folder = write(_rich())
    (folder / name).write_bytes(b"\n")
    with pytest.raises(DataError, match=f"{name}: the file is empty; was it truncated"):
        read_run(str(folder))


def test_a_path_that_leads_nowhere(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^RUN: expected a path, found an empty text"):
        read_run("")
    with pytest.raises(DataError, match=r"results.json: no such file; `valor evaluate` writes it"):
        read_run(str(tmp_path))
    with pytest.raises(DataError, match=r"old: no such file"):
        read_run(str(tmp_path / "old"))
    with pytest.raises(DataError, match="cannot be read: embedded null byte"):
        read_run("a\0b")
    (tmp_path / "results.json").write_bytes(b"\xef\xbb\xbf{}")
    with pytest.raises(DataError, match="it has no schema_version"):
        read_run(str(tmp_path))


def test_nan_stops_the_resamples() -> None:
    result = _rich()
    bad = replace(result.resamples[0], values=(0.5, float("nan"), 1.0))
    with pytest.raises(ValueError, match="resamples of small, f1 value: NaN"):
        resamples_jsonl.to_jsonl(replace(result, resamples=(bad,)))
