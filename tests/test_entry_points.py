"""Metrics, readers and judges of packages: a tiny distribution in a folder on `sys.path`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests import program
from valor_cli import ConfigError, DataError, RunResult, catalogue, evaluate
from valor_cli.config import json_schema

CODE = '''
def politeness(sample, *, word: str = "please") -> bool:
    """Whether the response has a word."""
    return word in sample.response.lower()


def right(columns):
    """Share of the right labels."""
    return (columns.ground_truth == columns.prediction).mean()


def pipes(path):
    """One row a line, its columns named in the first one."""
    with open(path) as file:
        names, *rows = [line.rstrip("\\n").split("|") for line in file]
    if rows == [["boom"]]:
        raise RuntimeError("cannot read this")
    if rows == [["list"]]:
        return [["a", "b"]]
    return [dict(zip(names, row)) for row in rows]


def boxes(path):
    """Objects: image, label, x, y, width, height, score."""
    with open(path) as file:
        for line in file:
            image, label, *numbers = line.split()
            x, y, width, height, *score = map(float, numbers)
            row = {"image_id": image, "label": label, "x": x, "y": y}
            row |= {"width": width, "height": height}
            yield row | {"score": score[0]} if score else row


class Judge:
    """Says what its model is called; or fails, as that says."""

    def __init__(self, settings):
        if settings.model == "none":
            raise RuntimeError("no weights")
        self.model = settings.model

    async def answer(self, request):
        if self.model == "boom":
            raise RuntimeError("a fault\\nof two lines")
        return 7 if self.model == "seven" else '{"verdict": %s}' % self.model


class Mute:
    def __init__(self, settings):
        pass
'''

ENTRY_POINTS = """
[valor.metrics]
rubric.politeness = rubric.inside:politeness
rubric.right = rubric.inside:right
rubric.missing = rubric.inside:nothing
rubric.broken = rubric.nowhere:politeness

[valor.formats]
rubric.pipes = rubric.inside:pipes
rubric.boxes = rubric.inside:boxes

[valor.judges]
rubric.judge = rubric.inside:Judge
rubric.mute = rubric.inside:Mute
"""


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the distribution `rubric` installed in it."""
    folder = tmp_path / "site"
    about = folder / "rubric-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: rubric\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    (folder / "rubric").mkdir()
    (folder / "rubric/__init__.py").write_text("")
    (folder / "rubric/inside.py").write_text(CODE)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.chdir(tmp_path)
    Path("answers.txt").write_text("sample_id|response\na|Please wait.\nb|Wait.\n")
    yield folder
    for name in [one for one in sys.modules if one.partition(".")[0] == "rubric"]:
        del sys.modules[name]


def texts(*metrics: Any, **data: Any) -> dict[str, Any]:
    given = {"samples": "answers.txt", "format": "rubric.pipes", **data}
    return {"task": "text_generation", "data": given, "metrics": [*metrics]}


def values(result: RunResult) -> dict[str, float | None]:
    return {row.metric: row.value for row in result.metrics if row.label is None}


def test_a_metric_of_a_package() -> None:
    rows = [{"sample_id": one, "response": "please" * at} for at, one in enumerate("abc")]
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    entry = {"python": "rubric.politeness", "word": "se"}
    asked = texts(entry, samples="rows.jsonl", format=None)
    jsonschema.validate(
        texts(entry, samples="rows.jsonl"), json_schema(catalogue), jsonschema.Draft202012Validator
    )
    result = evaluate(asked)
    assert values(result) == {"own.politeness": pytest.approx(2 / 3)}
    assert result.settings["own.politeness"].startswith("rubric.inside:politeness sha256:")  # type: ignore[union-attr]


def test_formats_of_every_shape() -> None:
    result = evaluate(texts({"python": "rubric.politeness"}))
    assert values(result) == {"own.politeness": 0.5}
    Path("truth.txt").write_text("sample_id|label\na|cat\nb|dog\n")
    Path("found.txt").write_text("sample_id|prediction\na|cat\nb|cat\n")
    classes = {
        "task": "classification",
        "data": {
            "ground_truth": "truth.txt",
            "predictions": "found.txt",
            "format": {"ground_truth": "rubric.pipes", "predictions": "rubric.pipes"},
        },
        "metrics": ["accuracy", {"python": "rubric.right"}],
    }
    assert values(evaluate(classes)) == {"accuracy": 0.5, "own.right": 0.5}
    Path("boxes.txt").write_text("1 cat 0 0 10 10\n2 dog 5 5 10 10\n")
    Path("found.txt").write_text("1 cat 0 0 10 10 0.9\n2 dog 50 50 10 10 0.8\n")
    objects = {
        "task": "object_detection",
        "data": {"ground_truth": "boxes.txt", "predictions": "found.txt", "format": "rubric.boxes"},
        "metrics": ["mAP@0.50"],
    }
    # One of two labels is found.
    assert values(evaluate(objects)) == {"mean_average_precision": pytest.approx(0.5)}
    jsonschema.validate(classes, json_schema(catalogue), jsonschema.Draft202012Validator)


def test_code_runs_only_where_a_config_names_it() -> None:
    Path("rows.jsonl").write_text('{"sample_id": "a", "response": "x", "references": ["x"]}\n')
    plain = texts("exact_match", samples="rows.jsonl", format="jsonl")
    assert values(evaluate(plain, plugins=False)) == {"exact_match": 1.0}
    assert not any(name.partition(".")[0] == "rubric" for name in sys.modules)
    refused = "names code to run, which --no-plugins refuses"
    for asked, place in (
        (texts("looping"), "data.format"),
        (texts({"python": "rubric.politeness"}, format="jsonl"), "metrics.0.python"),
        (texts("looping", format="rubric.nothing"), "data.format"),
    ):
        with pytest.raises(ConfigError, match=f"{place}: {refused}"):
            evaluate(asked, plugins=False)
        Path("run.yaml").write_text(json.dumps(asked))
        for command in ("evaluate", "validate"):
            done = program.run(command, "run.yaml", "--no-plugins", cwd=Path.cwd())
            assert done.returncode == 2
            assert refused in done.stderr
    assert not any(name.partition(".")[0] == "rubric" for name in sys.modules)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            texts({"python": "rubric.politenes"}),
            (
                "metrics.0.python: unknown name 'rubric.politenes' (did you mean "
                "'rubric.politeness'?); installed packages offer rubric.broken, rubric.missing, "
                "rubric.politeness, rubric.right as valor.metrics"
            ),
        ),
        (texts({"python": "rubric.missing"}), "rubric/inside.py has no function 'nothing'"),
        (texts({"python": "rubric.broken"}), "no module 'rubric.nowhere' is installed"),
        (
            texts("looping", format="rubric.pips"),
            (
                "data.format: unknown name 'rubric.pips' (did you mean 'rubric.pipes'?); installed "
                "packages offer rubric.boxes, rubric.pipes as valor.formats"
            ),
        ),
        (texts("looping", samples="none.txt"), "none.txt: no such file"),
        (texts("looping", format="csw"), "data.format: expected one of jsonl, csv"),
    ],
)
def test_what_is_said_of_mistakes(asked: dict[str, Any], message: str) -> None:
    with pytest.raises((ConfigError, DataError)) as caught:
        evaluate(asked)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("boom", "the format rubric.pipes cannot read it: RuntimeError: cannot read this"),
        ("list", "the format rubric.pipes cannot read it: TypeError: a row is no mapping, but"),
    ],
)
def test_what_a_reader_cannot_read(row: str, message: str) -> None:
    Path("answers.txt").write_text(f"response\n{row}\n")
    with pytest.raises(DataError) as caught:
        evaluate(texts("looping"))
    assert f"answers.txt: {message}" in str(caught.value)


def test_rows_of_a_reader_are_checked_as_others() -> None:
    Path("answers.txt").write_text("sample_id|response\na|x\na|y\n")
    with pytest.raises(DataError, match="the sample 'a' is also on"):
        evaluate(texts("looping"))


def judged(model: str, backend: str = "rubric.judge") -> dict[str, Any]:
    named = {"custom_judge": {"name": "fine", "prompt": "Fine? {response}"}}
    judge = {"backend": backend, "model": model, "cache": False}
    return texts(named, samples="rows.jsonl", format="jsonl") | {"judge": judge}


@pytest.fixture
def rows() -> None:
    Path("rows.jsonl").write_text('{"sample_id": "a", "response": "x"}\n')


@pytest.mark.usefixtures("rows")
def test_a_judge_of_a_package() -> None:
    jsonschema.validate(judged("true"), json_schema(catalogue), jsonschema.Draft202012Validator)
    for model, value in (("true", 1.0), ("false", 0.0)):
        result = evaluate(judged(model))
        (row,) = [one for one in result.metrics if one.output == "pass"]
        assert (row.metric, row.value) == ("own.fine", value)
        assert [one.judge for one in result.run.usage] == [model]


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("boom", "rubric.judge: RuntimeError: a fault of two lines"),
        ("seven", "rubric.judge replied with int, not a Reply or a text"),
    ],
)
def test_a_judge_that_fails_gives_no_value(model: str, reason: str) -> None:
    result = evaluate(judged(model))
    assert all(row.value is None for row in result.metrics if row.output == "pass")
    (samples,) = result.samples
    assert list(samples.statuses or ()) == ["judge_error"]
    assert reason in str(samples.undefined[0])


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (judged("none"), "judge.backend: rubric.judge cannot be used: RuntimeError: no weights"),
        (judged("x", "rubric.mute"), "judge.backend: rubric.mute has no `async def answer"),
        (judged("x", "rubric.jude"), "judge.backend: unknown name 'rubric.jude' (did you mean"),
        (judged("x", "litelm"), "judge.backend: expected one of litellm, local, replay, scripted,"),
    ],
)
def test_a_judge_that_is_none(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        evaluate(asked)
    assert message in str(caught.value)


@pytest.mark.usefixtures("rows")
def test_a_judge_of_a_package_is_refused_on_request() -> None:
    several = judged("true")
    several["judges"] = [several.pop("judge")]
    for asked, place in ((judged("true"), "judge.backend"), (several, "judges.0.backend")):
        with pytest.raises(ConfigError, match=f"{place}: names code to run"):
            evaluate(asked, plugins=False)
    assert not any(name.partition(".")[0] == "rubric" for name in sys.modules)


def test_two_packages_with_one_name(installed: Path) -> None:
    other = installed / "other-1.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (other / "entry_points.txt").write_text("[valor.metrics]\nrubric.right = other:f\n")
    with pytest.raises(ConfigError, match=r"several installed packages offer rubric\.right"):
        evaluate(texts({"python": "rubric.right"}))
