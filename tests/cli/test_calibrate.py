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
    # A second column is a second annotator, who here says nothing.
    alone = valor("calibrate", path, *human, "--human", "custom_judge=blank", "--format", "json")
    assert alone.stdout == valor("calibrate", path, *human, "--format", "json").stdout
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


def test_several_annotators_in_the_terminal_and_in_reports(valor: Valor, tmp_path: Path) -> None:
    """The judge agrees with Anna on all of 30 samples, and with Ben on none of the last 8."""
    said = [{"sample_id": f"{at:040}", "user_input": "Q?", "response": "A."} for at in range(30)]
    path = written(tmp_path, said, {"j": ["4"] * 30}, [CUSTOM])
    rows = [f"{one['sample_id']},{who},4" for one in said for who in ("anna", "cy")]
    rows += [f"{one['sample_id']},ben,{4 if at < 22 else 1}" for at, one in enumerate(said)]
    labels = tmp_path / "labels.csv"
    labels.write_text("\n".join(["sample_id,annotator,label", *rows]))
    given = ("calibrate", path, "--labels", labels)
    out = valor(*given, "--out", tmp_path / "out").stdout
    lines_of = [" ".join(line.split()) for line in out.splitlines()]
    # Others of Anna and Cy tie on the last 8: 22 of 22 each; of Ben 22 of 30.
    assert "judge 74 1.000 [1.000, 1.000] – –" in lines_of
    assert any(line.startswith("people 74 0.892 [") for line in lines_of)
    assert any(line.startswith("ben 30 0.733 0.000") for line in lines_of)
    assert "annotators 3 with labels of 30 samples" in lines_of
    written_files = ["calibration.json", "calibration.md", "calibration.html"]
    assert lines_of[-3:] == [f"Report {tmp_path / 'out' / one}" for one in written_files]
    found = json.loads((tmp_path / "out" / "calibration.json").read_text())
    assert list(found) == ["calibrations", "usage", "annotators", "thresholds", "differences"]
    assert (
        valor(*given, "--format", "json").stdout.encode()
        == (tmp_path / "out" / "calibration.json").read_bytes()
    )
    page = (tmp_path / "out" / "calibration.html").read_text()
    assert "judge 1.000, people among themselves 0.892" in page


def test_reports_of_one_column_name_all_samples_that_differ(valor: Valor, tmp_path: Path) -> None:
    said = [{**one, "sample_id": f"{at:060}"} for at, one in enumerate(samples(*[1] * 25))]
    path = written(tmp_path, said, {"j": ["4"] * 25}, [CUSTOM])
    plain = valor("calibrate", path)
    done = valor("calibrate", path, "--out", tmp_path / "out")
    assert done.stdout.startswith(plain.stdout)
    found = json.loads((tmp_path / "out" / "calibration.json").read_text())
    assert [one["sample_id"] for one in found["differences"]] == [one["sample_id"] for one in said]
    for name in ("calibration.md", "calibration.html"):
        text = (tmp_path / "out" / name).read_text()
        assert all(one["sample_id"] in text for one in said)
    refused(valor("calibrate", path, "--out", ""), "--out: expected a folder")
