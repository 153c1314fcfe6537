"""The history of a config: changes, paired tests, gates, and the first bad run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.oracles.nights import COMMIT, night, written
from valor_cli import catalogue, pipeline
from valor_cli.config import load_config
from valor_cli.errors import ConfigError, DataError, UnknownNameError
from valor_cli.pipeline.compare.compare import compare_runs
from valor_cli.pipeline.history import Chosen, history_of
from valor_cli.reports.run_files import read_run
from valor_cli.reports.writer import RESAMPLES, SAMPLES, write_reports
from valor_cli.results import RunResult
from valor_cli.results.history import History, HistoryRow

DATA = Path(__file__).parents[2] / "sample_data" / "object_detection"


def values(history: History) -> list[HistoryRow]:
    return [row for row in history.rows if row.trend]


def test_a_fall_is_worse_than_the_run_before(tmp_path: Path) -> None:
    """Eight of twelve samples turn wrong and none right: McNemar's p is 2 / 2^8."""
    found = history_of(written(tmp_path, night(1, 10), night(2, 10), night(3, 2), night(4, 10)))
    rows = values(found)
    assert [row.verdict for row in rows] == [None, "cannot tell", "worse", "better"]
    assert (rows[2].p, rows[2].bad, rows[2].previous) == (pytest.approx(2 / 2**8), ("previous",), 1)
    assert rows[2].change == pytest.approx(-8 / 12)
    assert rows[3].first_change == 0
    assert found.first_bad == 2
    assert [run.bad for run in found.runs] == [0, 0, 1, 0]


def test_a_slow_fall_is_worse_than_the_best(tmp_path: Path) -> None:
    """Three samples a night: 2 / 2^3 cannot tell; six since the best night, 2 / 2^6, can."""
    rows = values(history_of(written(tmp_path, night(1, 12), night(2, 9), night(3, 6))))
    assert [row.verdict for row in rows] == [None, "cannot tell", "cannot tell"]
    # The second night's best is the run before, which it is compared with in any case.
    assert [(row.best, row.best_verdict, row.best_p) for row in rows[1:]] == [
        (None, None, None),
        (0, "worse", pytest.approx(2 / 2**6)),
    ]
    assert rows[2].bad == ("best",)


def test_a_failed_gate_is_bad_and_its_limit_may_move(tmp_path: Path) -> None:
    found = history_of(
        written(tmp_path, night(1, 9, gate=0.5), night(2, 9, gate=0.7), night(3, 9, gate=0.8))
    )
    rows = values(found)
    assert [(row.gate, row.gate_min) for row in rows] == [
        ("passed", 0.5),
        ("passed", 0.7),
        ("failed", 0.8),
    ]
    assert [row.bad for row in rows] == [(), (), ("gate",)]
    assert found.first_bad == 2
    assert [run.verdict for run in found.runs] == ["passed", "passed", "failed"]


def test_a_verdict_claims_only_what_was_tested(tmp_path: Path) -> None:
    paths = written(tmp_path, night(1, 12), night(2, 0))
    for path in paths:
        for name in (SAMPLES, RESAMPLES):
            Path(path, name).unlink(missing_ok=True)
    found = history_of(paths)
    row = values(found)[1]
    assert (row.verdict, row.p, row.bad, found.first_bad) == ("not tested", None, (), None)
    assert "keep samples.jsonl" in str(row.reason)


def of_both(day: int, *right: int) -> RunResult:
    """A night of two models, a and b."""
    a, b = (night(day, count, model=model) for model, count in zip("ab", right, strict=True))
    return replace(
        a,
        **{
            name: getattr(a, name) + getattr(b, name)
            for name in ("models", "metrics", "samples", "coverage")
        },
    )


def test_each_model_has_the_verdict_of_its_own_test(tmp_path: Path) -> None:
    for right, verdicts in (
        ((2, 10), ("worse", "cannot tell")),
        ((10, 2), ("cannot tell", "worse")),
    ):
        paths = written(tmp_path / str(right[0]), of_both(1, 10, 10), of_both(2, *right))
        found = {row.model: row.verdict for row in values(history_of(paths)) if row.run == 1}
        assert found == dict(zip("ab", verdicts, strict=True))


def test_labels_that_got_worse_between_the_last_two_runs(tmp_path: Path) -> None:
    """Dogs were worse a night earlier, which is not asked; now cats are, by 9/12 - 6/12."""
    found = history_of(written(tmp_path, night(1, 6), night(2, 9), night(3, 6)))
    (one,) = found.regressions
    assert (one.label, one.metric, one.before, one.value) == ("cat", "f1", 0.75, 0.5)
    assert one.change == -0.25
    # Both models got worse; of those that are asked for, one.
    paths = written(tmp_path / "both", of_both(1, 9, 9), of_both(2, 6, 6))
    for chosen, models in ((Chosen(), ["a", "b"]), (Chosen(models=("b",)), ["b"])):
        assert [row.model for row in history_of(paths, chosen=chosen).regressions] == models


def test_runs_are_in_the_order_of_their_start(tmp_path: Path) -> None:
    paths = written(tmp_path, night(3, 12), night(1, 6), night(2, 9))
    by_start = history_of(paths)
    assert [row.value for row in values(by_start)] == [0.5, 0.75, 1.0]
    as_given = history_of(paths, as_given=True)
    assert [row.value for row in values(as_given)] == [1.0, 0.5, 0.75]
    assert [row.value for row in values(history_of(paths, last=2))] == [0.75, 1.0]
    # A folder of runs stands for those in it; each counts once.
    assert history_of([str(tmp_path), paths[0]]) == by_start


def test_a_run_without_a_time_is_ordered_by_hand(tmp_path: Path) -> None:
    one = night(1, 6)
    paths = written(tmp_path, replace(one, run=replace(one.run, started_at="")), night(2, 6))
    with pytest.raises(DataError, match=r"started_at: expected a time") as caught:
        history_of(paths)
    assert "--order given" in caught.value.hint
    assert len(history_of(paths, as_given=True).runs) == 2


def test_one_model_is_one_whatever_its_name(tmp_path: Path) -> None:
    found = history_of(written(tmp_path, night(1, 12, model="mon"), night(2, 2, model="tue")))
    rows = values(found)
    assert [(row.model, row.verdict) for row in rows] == [("tue", None), ("tue", "worse")]
    assert [list(run.models) for run in found.runs] == [["mon"], ["tue"]]


def test_a_value_that_a_run_lacks_is_compared_with_the_last_that_has_it(tmp_path: Path) -> None:
    without = night(2, 12)
    without = replace(without, metrics=without.metrics[1:], samples=(), coverage=())
    rows = values(history_of(written(tmp_path, night(1, 12), without, night(3, 2))))
    assert [(row.run, row.previous, row.verdict) for row in rows] == [
        (0, None, None),
        (2, 0, "worse"),
    ]


def test_what_is_shown(tmp_path: Path) -> None:
    paths = written(tmp_path, night(1, 6), night(2, 9))
    asked = history_of(paths, chosen=Chosen(metrics=("f1",)))
    # Of f1 there are labels alone: where it is asked for they are drawn.
    assert {(row.metric, row.label) for row in values(asked)} == {("f1", "cat"), ("f1", "dog")}
    assert {row.verdict for row in values(asked)} == {None, "not tested"}
    assert values(history_of(paths, chosen=Chosen(metrics=("exact_match.value",))))
    for wrong in (Chosen(metrics=("f2",)), Chosen(models=("n",))):
        with pytest.raises(UnknownNameError, match="no run has"):
            history_of(paths, chosen=wrong)


def test_one_run_is_a_history(tmp_path: Path) -> None:
    found = history_of(written(tmp_path, night(1, 6)))
    assert (len(found.rows), found.first_bad, found.regressions) == (1, None, [])


def test_runs_of_several_tasks_are_refused(tmp_path: Path) -> None:
    paths = written(tmp_path, night(1, 6), night(2, 6, task="classification"))
    with pytest.raises(ConfigError, match=r"night-1: a run of classification; .*night-0"):
        history_of(paths)


def test_what_else_changed_is_a_warning(tmp_path: Path) -> None:
    paths = written(tmp_path, night(1, 6), night(2, 6, data={"samples": 13}))
    (warning,) = history_of(paths).warnings
    assert "night-0 → " in warning
    assert "made from other data (first 12 samples; second 13 samples)" in warning


def test_evidence_that_is_resampled_once_says_what_a_comparison_says(tmp_path: Path) -> None:
    """Two detectors without intervals, as two nights: average precision rests on evidence."""
    paths = []
    for number, model in enumerate(("small", "large")):
        config = tmp_path / f"{model}.yaml"
        data = {"ground_truth": str(DATA / "ground_truth.json")}
        data["predictions"] = str(DATA / f"{model}.json")
        asked = {"task": "object_detection", "data": data, "metrics": ["coco"]}
        config.write_text(json.dumps(asked))
        plan = pipeline.make_plan(load_config(config, catalogue))
        result = pipeline.evaluate(plan, command="valor")
        started = replace(result.run, started_at=f"2026-03-0{number + 1}")
        write_reports(replace(result, run=started), tmp_path / model, ["json"])
        paths.append(str(tmp_path / model))
    first, second = map(read_run, paths)
    told = compare_runs(first, second, first_path="a", second_path="b").comparisons
    expected = {one.output: (one.verdict, one.p_adjusted) for one in told}
    found = [row for row in values(history_of(paths)) if row.run == 1]
    assert {row.verdict for row in found} == {"better"} | {"cannot tell"}
    assert len(found) == 7
    for row in found:
        assert (row.verdict, row.p) == expected[row.output]


def test_a_commit_is_kept(tmp_path: Path) -> None:
    one = night(1, 6)
    found = history_of(written(tmp_path, replace(one, run=replace(one.run, commit=COMMIT))))
    assert (found.runs[0].commit, found.rows[0].commit) == (COMMIT, COMMIT)
