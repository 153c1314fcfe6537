"""What trackers get of a run: keys, settings, tags, files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.oracles.nights import COMMIT, night, written
from tests.oracles.paired_runs import row
from valor_cli.errors import ConfigError, DataError, UnknownNameError
from valor_cli.reports.export.send import send
from valor_cli.reports.export.tracked_run import tracked_run
from valor_cli.results import MetricResult, RunResult

ALLOWED = re.compile(r"[\w.\- ]+(/[\w.\- ]+)*")
"""Names that MLflow takes on every system, in parts that are no folders of a path."""


def with_rows(*rows: MetricResult, models: tuple[str, ...] = ("m",)) -> RunResult:
    return replace(night(1, 6), metrics=rows, models=models)


@pytest.mark.parametrize(
    ("rows", "keys"),
    [
        ([row("accuracy", "m", 0.5)], ["accuracy"]),
        ([row("coco", "m", 0.5, output="AP")], ["coco/AP"]),
        ([row("coco", "m", 0.5, output="AR@1")], ["coco/AR_1"]),
        ([row("recall", "m", 0.5, label="traffic light")], ["recall/label/traffic light"]),
        ([row("recall", "m", 0.5, label="自転車")], ["recall/label/自転車"]),
        ([row("recall", "m", 0.5, slice="a.b=c & d")], ["recall/slice/a.b_c _ d"]),
        ([row("recall", "m", 0.5, label=label) for label in ("..", "")], None),
        # Of a label in a slice results.json says enough.
        ([row("recall", "m", 0.5, label="a", slice="b")], []),
        ([row("recall", "m", None)], []),
        (
            [row("ap", "m", 0.5, parameters={"iou": iou}) for iou in (0.5, 0.75)],
            ["ap/iou 0.5", "ap/iou 0.75"],
        ),
    ],
)
def test_keys(rows: list[MetricResult], keys: list[str] | None) -> None:
    found = list(tracked_run(with_rows(*rows), "reports/x").metrics)
    assert keys is None or found == keys
    assert all(ALLOWED.fullmatch(key) and "/../" not in f"/{key}/" for key in found)
    told = [one for one in rows if one.value is not None and not (one.label and one.slice)]
    assert len(found) == len(told)


def test_names_that_differ_in_forbidden_characters_alone_stay_apart() -> None:
    rows = [
        row("recall", "m", at / 10, label=label) for at, label in enumerate(("a/b", "a:b", "c"))
    ]
    found = tracked_run(with_rows(*rows), "x").metrics
    assert len(found) == 3
    assert found["recall/label/c"] == 0.2
    # They are called so in every run, whatever the order.
    assert set(tracked_run(with_rows(*rows[::-1]), "x").metrics) == set(found)


def test_long_names_are_cut_and_stay_apart() -> None:
    rows = [row("recall", "m", 0.1, label="x" * 300 + end) for end in "ab"]
    found = tracked_run(with_rows(*rows), "x").metrics
    assert len(found) == 2
    assert max(map(len, found)) <= 250


def test_several_models_come_first() -> None:
    rows = [row("accuracy", model, 0.5) for model in ("a", "b")]
    found = tracked_run(with_rows(*rows, models=("a", "b")), "x").metrics
    assert list(found) == ["a/accuracy", "b/accuracy"]


def test_settings_tags_and_files(tmp_path: Path) -> None:
    one = night(1, 6, gate=0.9)
    one = replace(one, run=replace(one.run, commit=COMMIT))
    (path,) = written(tmp_path, one)
    (Path(path) / "report.html").write_text("<html>")
    found = tracked_run(one, path)
    assert found.name == "night-0"
    assert found.settings["task"] == "text_generation"
    assert found.settings["data.samples"] == "12"
    assert found.tags == {
        "valor.verdict": "failed",
        "valor.version": "0.1.0",
        "valor.task": "text_generation",
        "valor.failed_gates": "1",
        "mlflow.source.git.commit": COMMIT,
    }
    assert [Path(file).name for file in found.files] == [
        "results.json",
        "report.html",
        "samples.jsonl",
    ]
    # 2026-03-01T02:30:00Z
    assert (found.started, found.duration_ms) == (1_772_332_200_000, 1000)


def test_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = written(tmp_path, night(1, 6))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    with pytest.raises(UnknownNameError, match="did you mean 'mlflow'"):
        send(path, "mlfow")
    with pytest.raises(ConfigError, match="needs --to mlflow"):
        send(path, "wandb", tracking_uri="http://x")
    with pytest.raises(DataError, match="no server is named") as caught:
        send(path, "mlflow")
    assert "--tracking-uri" in caught.value.hint
