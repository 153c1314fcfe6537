"""`valor calibrate` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict
from sklearn.metrics import cohen_kappa_score

from tests.cli.conftest import Valor, refused, result_of
from tests.pipeline.calibrating import (
    CUSTOM,
    calibrated,
    in_some_form,
    lines,
    median_of,
    mtrag,
    ratings_of,
    written,
)


def samples(*words: Any) -> list[dict[str, Any]]:
    return [
        {
            "sample_id": chr(97 + at),
            "user_input": "Q?",
            "response": "A.",
            "human_custom_judge": word,
            "blank": None,
        }
        for at, word in enumerate(words)
    ]


def replies(*ratings: int) -> list[str]:
    return [in_some_form(one, at) for at, one in enumerate(ratings)]


def test_json_is_what_the_pipeline_finds_and_scikit_learn_says(
    valor: Valor, tmp_path: Path
) -> None:
    path, rows = mtrag(tmp_path)
    found = result_of(valor("calibrate", path, "--format", "json"))
    assert list(found) == ["calibrations", "usage"]
    expected = [asdict(one) for one in calibrated(path).rows]
    assert found["calibrations"] == json.loads(json.dumps(expected))
    first = next(
        one for one in found["calibrations"] if (one["model"], one["judge"]) == (None, "first")
    )
    pairs = [(median_of(one), ratings_of(one)[0]) for one in rows if median_of(one) is not None]
    assert first["kappa"] == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)), abs=1e-12)
    assert {(one["judge"], one["calls"]) for one in found["usage"]} == {
        (judge, 74) for judge in ("first", "second", "third")
    }


def test_the_table_names_judges_people_and_where_they_differ(valor: Valor, tmp_path: Path) -> None:
    # 4/4, 1/1, 2/4, 4/3: agreement 0.5; quadratic weights: see the matrix in the table.
    path = written(tmp_path, samples(4, 1, 2, 4), {"j": replies(4, 1, 4, 3)}, [CUSTOM])
    done = valor("calibrate", path)
    assert (done.returncode, done.stderr) == (0, "")
    out = done.stdout
    assert "custom  " in out
    assert "against human_custom_judge" in out
    assert "4 that both judged" in out
    assert "human 2.750, judge 3.000" in out
    assert "disagree on    c, d" in out
    lines_of = [line.split() for line in out.splitlines()]
    assert ["1", "1", "0", "0", "0"] in lines_of
    assert ["2", "0", "0", "0", "1"] in lines_of
    assert ["4", "0", "0", "1", "1"] in lines_of


def test_human_names_another_column(valor: Valor, tmp_path: Path) -> None:
    said = [{**one, "people": one["human_custom_judge"]} for one in samples(4, 1)]
    told = [{k: v for k, v in one.items() if k != "human_custom_judge"} for one in said]
    path = written(tmp_path, told, {"j": replies(4, 1)}, [CUSTOM])
    human = ("--human", "custom_judge=people")
    found = result_of(valor("calibrate", path, *human, "--format", "json"))
    assert [(one["column"], one["kappa"]) for one in found["calibrations"]] == [("people", 1.0)]
    refused(
        valor("calibrate", path), "the data have no labels in human_custom_judge", "--human METRIC="
    )
    refused(valor("calibrate", path, "--human", "custom_judge"), "--human: expected METRIC=COLUMN")
    refused(
        valor("calibrate", path, *human, "--human", "custom_judge=blank"),
        "--human: custom_judge has two columns, people and blank",
    )
    refused(
        valor("calibrate", path, "--human", "custom_judg=people"),
        "no judge metric 'custom_judg'",
        "custom_judge",
    )
    refused(valor("calibrate", path, "--human", "custom_judge=nowhere"), "'nowhere'")


def test_words_off_the_scale_are_refused_with_their_place(valor: Valor, tmp_path: Path) -> None:
    path = written(tmp_path, samples(4, 7), {"j": replies(4, 1)}, [CUSTOM])
    refused(
        valor("calibrate", path),
        "samples: sample b: human_custom_judge: expected a whole number from 1 to 4, found 7",
        "leave cells empty",
    )


def test_a_judge_that_does_not_reply_is_exit_3(valor: Valor, tmp_path: Path) -> None:
    path = written(tmp_path, samples(4, 1), {"j": [{"error": "unanswerable"}, "1"]}, [CUSTOM])
    done = valor("calibrate", path)
    assert done.returncode == 3
    assert "incomplete: judges gave no reply for 1 values" in done.stderr
    assert "1 that both judged, 1 more without a verdict of the judge" in done.stdout


def test_a_reached_budget_is_exit_4_and_keeps_what_was_found(valor: Valor, tmp_path: Path) -> None:
    path = written(
        tmp_path,
        samples(4, 1, 1),
        {"j": [{"reply": "4", "tokens_in": 10, "tokens_out": 10}] * 3},
        [CUSTOM],
        judge={
            "price": {"input_usd": 0, "output_usd": 1000},
            "max_tokens": 10,
            "budget_usd": 0.02,
        },
    )
    done = valor("calibrate", path, "--format", "json")
    assert done.returncode == 4, done.stderr
    assert "stopped: the budget of" in done.stderr
    assert "continue with --resume" in done.stderr
    (found,) = json.loads(done.stdout)["calibrations"]
    assert (found["n"], found["unjudged"]) == (2, 1)


def test_limit_and_what_is_left_out(valor: Valor, tmp_path: Path) -> None:
    path = written(
        tmp_path, samples(4, 1, 2), {"j": ["absent", "4"]}, ["contact_information", CUSTOM]
    )
    done = valor("calibrate", path, "--limit", 1)
    assert done.returncode == 0
    assert done.stderr == (
        "warning: not compared, because the data have no labels in human_contact_information\n"
    )
    assert "1 that both judged" in done.stdout


def test_offline_refuses_remote_judges(valor: Valor, tmp_path: Path) -> None:
    path = written(tmp_path, samples(4), {"j": []}, [CUSTOM])
    said = json.loads(path.read_text())
    path.write_text(json.dumps({**said, "judge": {"model": "openai/gpt-4o-mini"}}))
    refused(valor("calibrate", path, "--offline"), "--offline forbids that")
    lines(tmp_path / "j.jsonl", [])
