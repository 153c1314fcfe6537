"""SQuAD's data set and answers by id, with and without a config, against SQuAD's own scripts."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Run, Valor, read_run
from tests.oracles.squad import exact_match, token_f1, words

WORDS = ["cat", "mat", "The", "a", "sat", "on", "Paris,", "1889", "tower.", "an"]
QUESTIONS = 60

Questions = Mapping[str, list[str]]


def drawn(draw: random.Random) -> str:
    return " ".join(draw.choice(WORDS) for _ in range(draw.randint(1, 4)))


def dataset(questions: Questions, *, second: bool) -> dict[str, Any]:
    """The JSON of SQuAD 1.1, or of SQuAD 2, with five questions a paragraph."""
    qas: list[dict[str, Any]] = []
    for name, answers in questions.items():
        listed = [{"text": one, "answer_start": 0} for one in answers]
        asked: dict[str, Any] = {"id": name, "question": f"{name}?", "answers": listed}
        qas.append(asked | ({"is_impossible": not answers} if second else {}))
    parts = [{"context": "The cat sat.", "qas": qas[at : at + 5]} for at in range(0, len(qas), 5)]
    articles = [{"title": f"T{at}", "paragraphs": [part]} for at, part in enumerate(parts)]
    return {"version": "v2.0" if second else "1.1", "data": articles}


def scripts(questions: Questions, answers: Mapping[str, str], *, second: bool) -> tuple[Any, Any]:
    """Exact match and F1 of each question that has an answer."""
    exact, f1 = {}, {}
    for name, listed in questions.items():
        references = listed
        if second:
            # evaluate-v2.0.py, get_raw_scores
            references = [one for one in listed if words(one)] or [""]
        if name in answers:
            exact[name] = exact_match(answers[name], references)
            f1[name] = token_f1(answers[name], references)[0]
    return exact, f1


class Scene:
    """Drawn questions with one to three right answers, or none, and answers to most of them."""

    def __init__(self, *, second: bool) -> None:
        draw = random.Random(3)
        names = [f"56be{at:04}" for at in range(QUESTIONS)]
        self.questions: dict[str, list[str]] = {}
        for name in names:
            count = 0 if second and draw.random() < 0.3 else draw.randint(1, 3)
            answers = [drawn(draw) for _ in range(count)]
            # evaluate-v1.1.py has no rule for right answers without a word.
            self.questions[name] = answers if second else [f"{one} cat" for one in answers]
        self.answers = {}
        for name, listed in self.questions.items():
            said = draw.choice(listed) if listed and draw.random() < 0.4 else drawn(draw)
            self.answers[name] = "" if second and draw.random() < 0.2 else said
        self.second = second
        Path("dev.json").write_text(json.dumps(dataset(self.questions, second=second)))
        self.answered()

    def answered(self) -> None:
        Path("answers.json").write_text(json.dumps(self.answers))

    def assert_equal(self, run: Run) -> None:
        exact, f1 = scripts(self.questions, self.answers, second=self.second)
        own = {line["sample_id"]: line["metrics"] for line in run.samples}
        assert list(own) == list(self.questions)
        for name, metrics in own.items():
            assert metrics["exact_match"]["value"] == exact.get(name)
            assert metrics["token_f1"]["value"] == pytest.approx(f1.get(name), abs=1e-12)
        mean = sum(f1.values()) / len(f1)
        assert run.value("token_f1", output="f1") == pytest.approx(mean, abs=1e-12)
        mean = sum(exact.values()) / len(exact)
        assert run.value("exact_match") == pytest.approx(mean, abs=1e-12)


@pytest.fixture(params=[False, True], ids=["v1.1", "v2.0"])
def scene(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.chdir(tmp_path)
    return Scene(second=request.param)


METRICS = ["--metric", "exact_match", "--metric", "token_f1"]


def test_two_files_are_enough(scene: Scene, valor: Valor, tmp_path: Path) -> None:
    saved = ["--save-config", "own.yaml"]
    # Either order: the file without responses is the ground truth.
    done = valor(
        "evaluate", "answers.json", "dev.json", *METRICS, *saved, "--out", "out", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(
        "text generation · JSON · joined by sample id · ground truth: dev.json · "
    )
    scene.assert_equal(read_run(tmp_path / "out"))
    said = yaml.safe_load(Path("own.yaml").read_text())["data"]
    assert said == {"ground_truth": "dev.json", "predictions": "answers.json"}
    again = valor("evaluate", "own.yaml", "--out", "again", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert (
        read_run(tmp_path / "again").result["metrics"]
        == (read_run(tmp_path / "out").result["metrics"])
    )


def test_a_question_without_an_answer_is_missing_input(
    scene: Scene, valor: Valor, tmp_path: Path
) -> None:
    first, *_ = scene.answers
    del scene.answers[first]
    scene.answered()
    done = valor("evaluate", "dev.json", "answers.json", *METRICS, "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    run = read_run(tmp_path / "out", done.stdout)
    scene.assert_equal(run)
    assert run.samples[0]["metrics"]["exact_match"]["status"] == "missing_input"
    assert run.result["warnings"] == [
        f"answers: no response to samples that the ground truth has: 1 of 60 (the first: '{first}')"
    ]


def test_unknown_ids_are_reported(scene: Scene, valor: Valor, tmp_path: Path) -> None:
    scene.answers = {"other": "cat", **scene.answers}
    scene.answered()
    run = ["evaluate", "dev.json", "answers.json", *METRICS, "--out", "out"]
    done = valor(*run, cwd=tmp_path)
    assert done.returncode == 2
    there = "'56be0000', '56be0001', '56be0002', …"
    assert done.stderr.splitlines()[1:] == [
        "error: answers.json: entry [0]: sample_id: no sample 'other' in dev.json",
        f"Ids are compared as they are written: here 'other'; there {there}.",
        "Fix these rows, or add --set data.on_invalid=skip to leave them out.",
    ]
    done = valor(*run, "--set", "data.on_invalid=skip", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = read_run(tmp_path / "out")
    scene.assert_equal(found)
    inputs = {Path(one["path"]).name: one for one in found.result["run"]["inputs"]}
    assert (inputs["answers.json"]["rows"], inputs["answers.json"]["skipped"]) == (61, 1)


def test_several_models_slices_and_pieces(scene: Scene, valor: Valor, tmp_path: Path) -> None:
    lines = [{"id": name, "answer": one} for name, one in reversed(scene.answers.items())]
    Path("lines.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    config = {
        "task": "text_generation",
        "data": {
            "ground_truth": "dev.json",
            "predictions": {"one": "answers.json", "two": "lines.jsonl"},
        },
        "metrics": ["exact_match", "token_f1"],
        "slices": ["metadata.title"],
        "interval": {"resamples": 50},
    }
    Path("own.yaml").write_text(yaml.safe_dump(config))
    results = []
    for out, more, environment in (
        ("whole", [], {}),
        ("pieces", ["--jobs", "2"], {"VALOR_PIECE_BYTES": "400"}),
    ):
        done = valor("evaluate", "own.yaml", "--out", out, *more, cwd=tmp_path, **environment)
        assert done.returncode == 0, done.stderr
        run = read_run(tmp_path / out)
        assert run.values("exact_match")["one"] == run.values("exact_match")["two"]
        results.append(({**run.result, "run": None}, run.samples))
    assert results[0] == results[1]
    assert len({row["slice"] for row in results[0][0]["metrics"]}) == 1 + QUESTIONS // 5
