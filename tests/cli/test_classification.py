"""Classification as a hostile user runs it: bad files, bad configs, bad places."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import ROOT, Shell, Valor
from tests.cli.judged import complaints, refused, result_of

GROUND_TRUTH = "sample_id,label,camera\na,cat,1\nb,dog,2\nc,cat,2\n"
WIDE = "sample_id,cat,dog\na,0.75,0.25\nb,0.25,0.75\nc,0.1,0.9\n"
OBJECTS = [
    {"sample_id": "a", "predictions": {"cat": 0.75, "dog": 0.25}},
    {"sample_id": "b", "predictions": {"cat": 0.25, "dog": 0.75}},
    {"sample_id": "c", "predictions": {"cat": 0.1, "dog": 0.9}},
]
LINES = "".join(json.dumps(row) + "\n" for row in OBJECTS)
DATA = "data: {ground_truth: gt.csv, predictions: pr.csv}\n"
ACCURACY = 2 / 3
"""a and b are right, c is not."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three samples, of which the model has two right, as CSV and as JSONL."""
    (tmp_path / "gt.csv").write_text(GROUND_TRUTH)
    (tmp_path / "pr.csv").write_text(WIDE)
    (tmp_path / "pr.jsonl").write_text(LINES)
    configured(tmp_path)
    return tmp_path


def configured(folder: Path, data: str = DATA, rest: str = "", name: str = "run.yaml") -> None:
    (folder / name).write_text(f"task: classification\n{data}{rest}report: {{out: out}}\n")


def accuracy(result: Any) -> list[float | None]:
    return [row["value"] for row in result["metrics"] if row["metric"] == "accuracy"]


def first_score(text: str) -> str:
    return WIDE.replace("0.75", text, 1)


BAD_CSV: dict[str, tuple[str | bytes, str]] = {
    "nan": (first_score("NaN"), 'pr.csv:2: cat: expected a finite number, found the string "NaN"'),
    "infinite": (first_score("-inf"), "pr.csv:2: cat: expected a finite number"),
    "overflow": (first_score("1e999"), "pr.csv:2: cat: expected a finite number"),
    "no score": (first_score(""), "pr.csv:2: cat: expected a number, found nothing"),
    "decimal comma": (
        first_score("0,75").replace(",", ";").replace("0;75", "0,75"),
        "write decimals with a point",
    ),
    "too many fields": (first_score("0,75"), "pr.csv:2: expected 3 fields as in the first line"),
    "too few fields": (WIDE.replace(",0.25", "", 1), "pr.csv:2: expected 3 fields"),
    "wrong delimiter": (WIDE.replace(",", ":"), "pr.csv:1: expected fields between commas"),
    "sample twice": (WIDE + "a,0,1\n", "pr.csv:5: the sample 'a' is also on line 2"),
    "unknown sample": (WIDE + "d,0,1\n", "pr.csv:5: sample_id: no sample 'd' in gt.csv"),
    "empty id": (WIDE.replace("\na,", "\n,"), "pr.csv:2: sample_id: expected the id of a sample"),
    "nul": (WIDE.replace("a,", "\0,", 1), "NUL character"),
    "column twice": (WIDE.replace("dog", "cat"), "duplicate column 'cat' (columns 2 and 3)"),
    "no quote closes": (WIDE.replace("\na", '\n"a'), "pr.csv:2: a double quote opens a field here"),
    "no first line": (WIDE.split("\n", 1)[1], "pr.csv:1: the column 'sample_id'"),
    "empty": ("", "pr.csv: the file is empty"),
    "byte order mark alone": ("\ufeff", "pr.csv: the file is empty"),
    "line ends alone": ("\n\r\n\n", "pr.csv: the file is empty"),
    "first line alone": ("sample_id,cat,dog\n", "pr.csv: there are no rows below the first line"),
    "utf-16": (WIDE.encode("utf-16"), "pr.csv: this looks like UTF-16"),
    "latin-1": (WIDE.replace("dog", "chèvre").encode("latin-1"), "not UTF-8 text (byte 0xe8 at"),
    "columns without end": ("sample_id,cat\na" + "," * 1_000_000, "found 1000001"),
}


def test_bad_csv(valor: Valor, folder: Path) -> None:
    for number, (content, _) in enumerate(BAD_CSV.values()):
        raw = content if isinstance(content, bytes) else content.encode()
        (folder / str(number)).mkdir()
        (folder / str(number) / "pr.csv").write_bytes(raw)
        configured(folder, DATA.replace("pr.csv", f"{number}/pr.csv"), name=f"{number}.yaml")
    found = complaints(valor, folder, len(BAD_CSV))
    for said, (name, (_, message)) in zip(found, BAD_CSV.items(), strict=True):
        assert message in said, name
    done = valor("evaluate", "0.yaml", cwd=folder)
    refused(done, found[0], folder=folder)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x" * 400, id="text"),
        pytest.param("0." + "1" * 400, id="number"),
    ],
)
def test_a_long_field_among_the_scores(valor: Valor, folder: Path, text: str) -> None:
    (folder / "pr.csv").write_text(first_score(text))
    done = valor("evaluate", "run.yaml", "--out", "-", cwd=folder)
    assert "Traceback" not in done.stderr
    if text.startswith("x"):
        refused(done, "pr.csv:2: cat: expected a number, found the string")
    else:
        assert accuracy(result_of(done)) == [ACCURACY - 1 / 3]  # 0.111… is below dog's 0.25


def one_object(line: str) -> str:
    return line + "\n" + LINES.split("\n", 1)[1]


BAD_JSONL = {
    "half an object": (LINES[:-12], "pr.jsonl:3: not JSON"),
    "true": (LINES.replace("0.75", "true", 1), "pr.jsonl:1: predictions.cat: expected a number"),
    "nan": (LINES.replace("0.75", "NaN", 1), "expected a finite number, found NaN"),
    "infinity": (LINES.replace("0.75", "Infinity", 1), "expected a finite number, found Infinity"),
    "text": (LINES.replace("0.75", '"0.75"', 1), 'expected a number, found the string "0.75"'),
    "label twice": (LINES.replace("dog", "cat", 1), "predictions.cat: duplicate key"),
    "key twice": (
        one_object('{"sample_id": "a", "sample_id": "b", "predictions": {}}'),
        "pr.jsonl:1: sample_id: duplicate key in this object",
    ),
    "id true": (one_object('{"sample_id": true, "predictions": {}}'), "pr.jsonl:1: sample_id"),
    "nul": (one_object('{"sample_id": "\\u0000", "predictions": {}}'), "NUL character"),
    "half a letter": (one_object('{"sample_id": "\\ud800", "predictions": {}}'), "sample_id"),
    "no label": (LINES.replace("cat", "", 1), "expected a label, found an empty text"),
    "numbers without classes": (
        one_object('{"sample_id": "a", "predictions": [0.5, 0.5]}'),
        "a list of numbers needs the names of its classes",
    ),
    "nested without end": ("[" * 100_000, "pr.jsonl:1: the JSON is nested too deeply"),
    "a list": (json.dumps(OBJECTS), "pr.jsonl:1: expected an object with a sample_id"),
    "csv": (WIDE, "pr.jsonl:1: not JSON"),
}


def test_bad_jsonl(valor: Valor, folder: Path) -> None:
    for number, (content, _) in enumerate(BAD_JSONL.values()):
        (folder / str(number)).mkdir()
        (folder / str(number) / "pr.jsonl").write_text(content)
        configured(folder, DATA.replace("pr.csv", f"{number}/pr.jsonl"), name=f"{number}.yaml")
    found = complaints(valor, folder, len(BAD_JSONL))
    for said, (name, (_, message)) in zip(found, BAD_JSONL.items(), strict=True):
        assert message in said, name
    done = valor("evaluate", "0.yaml", cwd=folder)
    refused(done, found[0], folder=folder)


@pytest.mark.parametrize("suffix", ["gz", "zst"])
@pytest.mark.parametrize("cut", [False, True])
def test_compressed_files(valor: Valor, folder: Path, suffix: str, cut: bool) -> None:
    import zstandard

    press = gzip.compress if suffix == "gz" else zstandard.compress
    packed = press(WIDE.encode())
    (folder / f"pr.csv.{suffix}").write_bytes(packed[:-6] if cut else packed)
    configured(folder, DATA.replace("pr.csv", f"pr.csv.{suffix}"))
    done = valor("evaluate", "run.yaml", "--out", "-", cwd=folder)
    if cut:
        refused(done, f"pr.csv.{suffix}: the", "file is damaged or cut off")
    else:
        assert accuracy(result_of(done)) == [ACCURACY]


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(lambda text: "\ufeff" + text, id="byte order mark"),
        pytest.param(lambda text: text.replace("\n", "\r\n"), id="crlf"),
        pytest.param(lambda text: text.replace("\n", "\r"), id="cr"),
        pytest.param(lambda text: text.replace("\n", "\n\n\n"), id="empty lines"),
        pytest.param(lambda text: text.rstrip("\n"), id="no last line end"),
        pytest.param(lambda text: text.replace(",", ";"), id="semicolons"),
        pytest.param(lambda text: text.replace(",", "\t"), id="tabs"),
    ],
)
def test_files_of_other_tools(valor: Valor, folder: Path, written: Any) -> None:
    (folder / "gt.csv").write_text(written(GROUND_TRUTH), newline="")
    (folder / "pr.csv").write_text(written(WIDE), newline="")
    result = result_of(valor("evaluate", "run.yaml", "--out", "-", cwd=folder))
    assert accuracy(result) == [ACCURACY]
    assert result["warnings"] == []


def test_probabilities_are_asked_of_those_who_need_them(valor: Valor, folder: Path) -> None:
    (folder / "pr.csv").write_text(first_score("1.5"))
    result = result_of(valor("evaluate", "run.yaml", "--out", "-", cwd=folder))
    (warning,) = result["warnings"]
    assert warning.startswith("scores of pr outside 0..1: 1 (")
    metrics = "metrics=[log_loss]"
    done = valor("evaluate", "run.yaml", "--set", metrics, cwd=folder)
    refused(done, "pr.csv:2: cat: expected a probability from 0 to 1, found 1.5", folder=folder)


def test_rows_that_do_not_sum_to_one_are_told_and_normalized_on_request(
    valor: Valor, folder: Path
) -> None:
    (folder / "pr.csv").write_text("sample_id,cat,dog\na,0.25,0.25\nb,0,1\nc,1,0\n")
    metrics = "metrics=[brier_score, {brier_score: {normalize: true}}]"
    result = result_of(valor("evaluate", "run.yaml", "--out", "-", "--set", metrics, cwd=folder))
    # (1 - 0.25)² + 0.25² = 0.625 of three samples; 2 * 0.5² of three where the row is halves.
    assert [row["value"] for row in result["metrics"]] == pytest.approx([0.625 / 3, 0.5 / 3])
    assert len(result["warnings"]) == 1 + 1  # and the tie of a
    assert "do not sum to 1 as probabilities do: 1 (the first: 'a', which sums to 0.5)" in str(
        result["warnings"]
    )


def test_scores_near_the_largest_number(valor: Valor, folder: Path) -> None:
    (folder / "pr.csv").write_text(first_score("1e308"))
    result = result_of(valor("evaluate", "run.yaml", "--out", "-", cwd=folder))
    assert accuracy(result) == [ACCURACY]


def test_a_threshold_may_name_a_label_that_the_filter_leaves_no_row_of(
    valor: Valor, folder: Path
) -> None:
    (folder / "long.csv").write_text("sample_id,prediction,score\na,cat,0.75\nb,dog,0.5\n")
    configured(
        folder,
        DATA.replace("pr.csv", "long.csv"),
        "filter: {sample_id: [a]}\nmetrics: [{counts: {score_threshold: {cat: 0.5, dog: 0.9}}}]\n",
    )
    result = result_of(valor("evaluate", "run.yaml", "--out", "-", cwd=folder))
    counted = {row["output"]: row["value"] for row in result["metrics"] if row["label"] == "cat"}
    assert counted == {"tp": 1, "fp": 0, "fn": 0, "tn": 0}


def test_ids_on_one_side_only(valor: Valor, folder: Path) -> None:
    (folder / "gt.csv").write_text(GROUND_TRUTH + "".join(f"g{i},cat,1\n" for i in range(7)))
    (folder / "pr.csv").write_text(WIDE + "".join(f"p{i},1,0\n" for i in range(30)))
    done = valor("evaluate", "run.yaml", cwd=folder)
    refused(done, "pr.csv:5: sample_id: no sample 'p0' in gt.csv", "… and 10 more problems")
    assert "look like 'a', 'b', 'c'" in done.stderr
    skip = ["--set", "data.on_invalid=skip"]
    result = result_of(valor("evaluate", "run.yaml", "--out", "-", *skip, cwd=folder))
    one_side, other_side = sorted(result["warnings"])
    assert one_side == (
        "pr.csv: left out, for gt.csv does not have their sample: 30 of 33 rows "
        "('p0', 'p1', 'p10' …); sample ids of the ground truth look like 'a', 'b', 'c'"
    )
    assert "without a prediction of pr, counted as wrong: 7 ('g0', " in other_side
    assert accuracy(result) == [2 / 10]
    assert [one["skipped"] for one in result["run"]["inputs"]] == [0, 30]


def test_invalid_rows_can_be_left_out_and_are_counted(valor: Valor, folder: Path) -> None:
    (folder / "gt.csv").write_text(GROUND_TRUTH + "a,dog,1\nd,,1\n")
    (folder / "pr.csv").write_text(WIDE + "a,0,1\nb,nan,1\n")
    done = valor("evaluate", "run.yaml", "--out", "-", "--set", "data.on_invalid=skip", cwd=folder)
    result = result_of(done)
    assert result["warnings"] == [
        "gt.csv: left out as invalid: 2 of 5 rows",
        "pr.csv: left out as invalid: 2 of 5 rows",
    ]
    assert accuracy(result) == [ACCURACY]


def test_ten_thousand_broken_rows(valor: Valor, folder: Path) -> None:
    (folder / "pr.csv").write_text("sample_id,cat,dog\n" + "a,x,y\n" * 5_000)
    done = valor("evaluate", "run.yaml", cwd=folder)
    refused(done, "pr.csv:2: cat: ", "… and 4,997 more like this", folder=folder)
    assert len(done.stderr.splitlines()) < 25


BAD_CONFIGS = {
    "columns: to nowhere": (
        "columns: {label: species}",
        "",
        "gt.csv:1: there is no column 'species' for label; there is: sample_id, label, camera",
    ),
    "columns: unknown": ("columns: {lable: x}", "", "no 'lable' (did you mean 'label'?)"),
    "classes: no file": ("classes: classes.json", "", "classes.json: no such file"),
    "classes: twice": ("classes: [cat, cat]", "", "data.classes: the class 'cat' is listed twice"),
    "classes: no column": ("classes: [cat, cow]", "", "pr.csv:1: there is no column 'cow'"),
    "both ways": ("samples: gt.csv", "", "samples holds both sides: leave out ground_truth"),
    "format": ("format: xml", "", "data.format: expected one of jsonl, csv, json"),
    "label map": ("", "label_map: {cat: null}", "label_map.cat: expected text, found nothing"),
    "filter: label": ("", "filter: {label: cow}", "filter.label: no label 'cow'\nlabels: cat, dog"),
    "filter: sample": ("", "filter: {sample_id: z}", "filter.sample_id: no sample 'z'"),
    "filter: none left": (
        "",
        "filter: {metadata.camera: 1, label: dog}",
        "filter: leaves no sample of gt.csv\nmetadata.camera has: 1, 2",
    ),
    "slice: column": (
        "",
        "slices: [metadata.camra]",
        "gt.csv:1: there is no column 'camra' for this metadata (did you mean 'camera'?)",
    ),
    "slice: value": ("", "slices: [{metadata.camera: [9]}]", "slices.0: no metadata.camera is 9"),
    "gate: label": (
        "",
        "gates: [{metric: recall, label: dgo, min: 0}]",
        "gates.0.label: no label 'dgo' (did you mean 'dog'?)",
    ),
    "gate: per label": (
        "",
        "gates: [{metric: accuracy, label: cat, min: 0}]",
        "accuracy has no value per label; leave label: out",
    ),
    "threshold: label": (
        "",
        "metrics: [{f1: {score_threshold: {cow: 0.5}}}]",
        "metrics.0.score_threshold: no label 'cow'",
    ),
    "threshold: nan": (
        "",
        "metrics: [{f1: {score_threshold: {cat: .nan}}}]",
        "metrics.0.score_threshold.cat: expected a finite number, found .nan",
    ),
    "k": ("", "metrics: [{top_k_accuracy: {k: 0}}]", "metrics.0.k: expected a number of at least"),
    "bins": (
        "",
        "metrics: [{expected_calibration_error: {bins: 100000000}}]",
        "metrics.0.bins: expected a number of at most 1000",
    ),
}


def test_bad_configs(valor: Valor, folder: Path) -> None:
    for number, (data, rest, _) in enumerate(BAD_CONFIGS.values()):
        given = DATA.replace("}", f", {data}}}") if data else DATA
        configured(folder, given, rest and f"{rest}\n", name=f"{number}.yaml")
    found = complaints(valor, folder, len(BAD_CONFIGS))
    for said, (name, (_, _, message)) in zip(found, BAD_CONFIGS.items(), strict=True):
        assert message in said, name


def test_a_column_of_ten_thousand_values_is_no_slice(valor: Valor, folder: Path) -> None:
    (folder / "gt.csv").write_text(
        "sample_id,label,camera\n" + "".join(f"{i},cat,{i}\n" for i in range(10_000))
    )
    (folder / "pr.csv").write_text("sample_id,prediction\n0,cat\n")
    configured(folder, rest="slices: [metadata.camera]\n")
    done = valor("evaluate", "run.yaml", cwd=folder)
    refused(done, "slices.0: metadata.camera has 10,000 values; list the ones to slice by")


def test_one_side_comes_from_standard_input(valor: Valor, folder: Path) -> None:
    line = "data.predictions=-"
    done = valor("evaluate", "run.yaml", "--out", "-", "--set", line, cwd=folder, stdin=WIDE)
    assert accuracy(result_of(done)) == [ACCURACY]
    empty = valor("evaluate", "run.yaml", "--set", line, cwd=folder, stdin="")
    refused(empty, "-: the file is empty", folder=folder)
    both = DATA.replace("gt.csv", '"-"').replace("pr.csv", '"-"')
    configured(folder, both)
    done = valor("evaluate", "run.yaml", cwd=folder, stdin=WIDE)
    refused(done, "standard input (-) can be one input only", folder=folder)


WRONG_PLACES = {
    "shards": "shards: this is a folder",
    "shards/*.txt": "shards/*.txt: no file matches",
    "pr.csw": "pr.csw: no such file",
    "shards/*.csv": "shards/2.csv:2: the sample 'c' is also in shards/1.csv:4",
    "{m: pr.csv, m: pr.jsonl}": "data.predictions.m: duplicate key",
}


def test_wrong_places(valor: Valor, folder: Path) -> None:
    (folder / "shards").mkdir()
    (folder / "shards" / "1.csv").write_text(WIDE)
    (folder / "shards" / "2.csv").write_text("sample_id,cat,dog\nc,0.1,0.9\n")
    for number, path in enumerate(WRONG_PLACES):
        given = path if "{" in path else f'"{path}"'
        configured(folder, DATA.replace("pr.csv", given), name=f"{number}.yaml")
    found = complaints(valor, folder, len(WRONG_PLACES))
    for said, message in zip(found, WRONG_PLACES.values(), strict=True):
        assert message in said


def test_a_huge_id_is_shown_shortened(valor: Valor, folder: Path) -> None:
    (folder / "pr.csv").write_text(WIDE + "x" * 100_000 + ",0,1\n")
    done = valor("evaluate", "run.yaml", cwd=folder)
    refused(done, "pr.csv:5: sample_id: no sample 'xxx")
    assert len(done.stderr) < 2_000


EVIL = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "a|b",
    "`code`",
    "[x](javascript:alert(1))",
    "\x1b[31mred",
    "\x07bell",
    "\u202elive",
    "line\nbreak",
    "--> </style>",
    "חתול",
    "😀",
    "null",
    "=1+1",
]


def test_nothing_in_a_name_is_obeyed(valor: Valor, folder: Path) -> None:
    turned = EVIL[1:] + EVIL[:1]
    truth = [{"sample_id": f"{one}#", "label": one, "camera": one} for one in EVIL]
    found = [
        {"sample_id": f"{one}#", "predictions": {other: 0.9, one: 0.1}}
        for one, other in zip(EVIL, turned, strict=True)
    ]
    for name, rows in (("gt", truth), ("pr", found)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    models = json.dumps({EVIL[0]: "pr.jsonl", EVIL[5]: "pr.jsonl"})
    configured(
        folder,
        f"data: {{ground_truth: gt.jsonl, predictions: {models}}}\n",
        "slices: [metadata.camera]\n"
        "metrics: [accuracy, recall, confusion_matrix, detailed_pr_curve]\n",
    )
    done = valor("evaluate", "run.yaml", "-v", cwd=folder)
    assert done.returncode == 0, done.stderr
    markdown = (folder / "out" / "report.md").read_text()
    html = (folder / "out" / "report.html").read_text()
    for text in (done.stdout, done.stderr, markdown):
        assert not set(text) & {"\x1b", "\x07", "\u202e"}
    assert "<script>alert" not in html + markdown
    assert "<img src=x" not in html + markdown
    assert "](javascript:" not in markdown.replace("\\](", "")
    assert "--> </style>" not in html
    values = json.loads((folder / "out" / "results.json").read_text())["metrics"]
    assert {row["label"] for row in values} == {None, *EVIL}
    (folder / "pr.jsonl").write_text(json.dumps({"sample_id": EVIL[5], "predictions": {}}) + "\n")
    done = valor("evaluate", "run.yaml", cwd=folder)
    assert done.returncode == 2
    assert "no sample '\\x1b[31mred'" in done.stderr


@pytest.mark.parametrize("options", [["--limit", "1"], ["--jobs", "3", "--limit", "1"]])
def test_a_single_sample(valor: Valor, folder: Path, options: list[str]) -> None:
    result = result_of(valor("evaluate", "run.yaml", "--out", "-", *options, cwd=folder))
    assert accuracy(result) == [1]
    assert result["data"]["samples"] == 1


def test_options_out_of_range(valor: Valor, folder: Path) -> None:
    for option in ("--limit", "--jobs"):
        done = valor("evaluate", "run.yaml", option, "0", cwd=folder)
        assert done.returncode == 2
        assert f"'{option}': Input should be greater than or equal to 1" in done.stderr
    done = valor("evaluate", "run.yaml", "--out", "-", "--format", "html", cwd=folder)
    refused(done, "--out - prints one of json, markdown, junit, csv", folder=folder)
    done = valor("evaluate", "run.yaml", "--set", "data.class=[cat]", cwd=folder)
    refused(done, "--set data.class: unknown key", folder=folder)


def test_a_dry_run_writes_nothing(valor: Valor, folder: Path) -> None:
    done = valor("evaluate", "run.yaml", "--dry-run", cwd=folder)
    assert done.returncode == 0
    assert done.stdout.startswith("run.yaml: would compute accuracy, ")
    assert not (folder / "out").exists()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_leaves_nothing_half_written(
    folder: Path, number: signal.Signals, code: int
) -> None:
    rows = range(20_000)
    (folder / "gt.csv").write_text("sample_id,label\n" + "".join(f"{i},l{i % 7}\n" for i in rows))
    (folder / "pr.csv").write_text(
        "sample_id,prediction,score\n" + "".join(f"{i},l{i % 5},{i % 11 / 10}\n" for i in rows)
    )
    configured(folder, rest="interval: {method: bootstrap, resamples: 100000}\n")
    child = subprocess.Popen(
        [sys.executable, "-m", "valor_cli", "evaluate", "run.yaml", "-v"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stderr is not None
    for line in child.stderr:
        if line.startswith(b"building evidence"):
            break
    time.sleep(0.2)  # some way into the resampling; it ends the same way at any moment
    child.send_signal(number)
    output, talk = child.communicate(timeout=120)
    assert child.returncode == code
    assert output == b""
    assert b"Traceback" not in talk
    assert not (folder / "out").exists()


def test_a_closed_pipe_ends_quietly(shell: Shell, folder: Path) -> None:
    line = "valor evaluate run.yaml --out - | head -c 1; exit ${PIPESTATUS[0]}"
    done = shell(line, folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "{", "")


def test_forty_columns_without_colour(valor: Valor, folder: Path) -> None:
    (folder / "long.csv").write_text(WIDE)
    configured(folder, DATA.replace("pr.csv", "{a_model_with_a_long_name: pr.csv, b: long.csv}"))
    done = valor("evaluate", "run.yaml", cwd=folder, NO_COLOR="1", COLUMNS="40")
    assert done.returncode == 0, done.stderr
    assert "accuracy" in done.stdout
    assert "0.667" in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(valor: Valor, folder: Path) -> None:
    (folder / "out").mkdir(mode=0o500)
    done = valor("evaluate", "run.yaml", cwd=folder)
    assert done.returncode == 2
    assert "out/results.json: cannot be written: Permission denied" in done.stderr
    assert list((folder / "out").iterdir()) == []


def test_the_sample_project_runs_from_anywhere_and_is_never_overwritten(
    valor: Valor, tmp_path: Path
) -> None:
    assert valor("init", "classification", "new", cwd=tmp_path).returncode == 0
    config = tmp_path / "new" / "configs" / "classification.yaml"
    assert valor("validate", config, cwd=tmp_path).stdout == f"{config}: ok\n"
    few = ("--set", "interval.resamples=20")
    done = valor("evaluate", config, *few, "--out", tmp_path / "out", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("PASSED")
    config.write_text("mine")
    refused(valor("init", "classification", "new", cwd=tmp_path), "exists already")
    assert config.read_text() == "mine"
    (tmp_path / "file").write_text("")
    refused(valor("init", "classification", "file/x", cwd=tmp_path), "cannot be written")
    refused(valor("init", "classificaton", cwd=tmp_path), "did you mean 'classification'?")
