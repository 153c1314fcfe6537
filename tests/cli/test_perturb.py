"""`valor perturb`: copies linked to their originals, in every form, and what it refuses."""

from __future__ import annotations

import csv
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Valor, lines_of, written
from valor_cli.kernels.text.perturbations import CHANGES

ROWS = [
    {"id": "a", "question": "Where is the film shown?", "answer": "Rome", "n": 1.5},
    {"id": "b", "question": "Who wrote it?", "answer": None, "tags": ["x"]},
]


Perturbed = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    written(tmp_path / "in.jsonl", ROWS)
    return tmp_path


@pytest.fixture
def perturbed(folder: Path, valor: Valor) -> Perturbed:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return valor("perturb", *arguments, cwd=folder)

    return run


def test_copies_stand_behind_their_originals(folder: Path, perturbed: Perturbed) -> None:
    done = perturbed("in.jsonl", "--kind", "typo,base64", "-o", "out.jsonl")
    assert done.returncode == 0, done.stderr
    found = lines_of(folder / "out.jsonl")
    assert [row["id"] for row in found] == [
        "a", "a~typo-medium", "a~base64-medium", "b", "b~typo-medium", "b~base64-medium",
    ]  # fmt: skip
    assert (found[0], found[3]) == (ROWS[0], ROWS[1])
    typo = found[1]
    assert typo["question"] != ROWS[0]["question"]
    assert "answer" not in typo
    assert (typo["perturbed_from"], typo["perturbation"], typo["n"]) == ("a", "typo-medium", 1.5)
    assert found[2]["categories"] == ["base64"]
    assert "4 perturbed copies" in done.stderr
    assert "no response yet" in done.stderr


def test_the_seed_decides(folder: Path, perturbed: Perturbed) -> None:
    def made(name: str, *more: str) -> str:
        done = perturbed("in.jsonl", "--kind", "typo", "-o", name, *more)
        assert done.returncode == 0, done.stderr
        return (folder / name).read_text()

    assert made("1.jsonl") == made("2.jsonl")
    assert made("1.jsonl", "--force") != made("3.jsonl", "--seed", "1")
    assert made("4.jsonl", "--intensity", "high") != made("2.jsonl", "--force")


def test_what_is_a_copy_already_is_not_copied_again(folder: Path, perturbed: Perturbed) -> None:
    perturbed("in.jsonl", "--kind", "case", "-o", "once.jsonl")
    done = perturbed("once.jsonl", "--kind", "comma", "-o", "twice.jsonl", "--only-copies")
    assert done.returncode == 0, done.stderr
    assert [row["id"] for row in lines_of(folder / "twice.jsonl")] == [
        "a~comma-medium", "b~comma-medium",
    ]  # fmt: skip


def test_several_copies_and_responses_that_are_kept(folder: Path, perturbed: Perturbed) -> None:
    more = ("--kind", "copy", "--intensity", "medium", "--keep-response", "--only-copies")
    assert perturbed("in.jsonl", *more, "-o", "out.json").returncode == 0
    found = json.loads((folder / "out.json").read_text())
    assert len(found) == 6
    assert {row["answer"] for row in found} == {"Rome", None}
    assert len({row["id"] for row in found}) == 6


def test_csv_to_csv(folder: Path, perturbed: Perturbed) -> None:
    (folder / "in.csv").write_text('question;answer\n"Who; me?";Rome\n')
    done = perturbed("in.csv", "--kind", "case", "-o", "out.csv")
    assert done.returncode == 2
    assert "a copy has no response yet, which a CSV file cannot say" in done.stderr
    done = perturbed("in.csv", "--kind", "case", "-o", "out.csv", "--keep-response")
    assert done.returncode == 0, done.stderr
    with open(folder / "out.csv", newline="") as file:
        found = list(csv.DictReader(file, delimiter=";"))
    # Rows without an id are numbered, so that the copies can name them.
    assert [(row["sample_id"], row["perturbed_from"]) for row in found] == [
        ("1", ""), ("1~case-medium", "1"),
    ]  # fmt: skip
    assert found[1]["question"].casefold() == "who; me?"


def test_another_field_by_a_name_of_its_own(folder: Path, perturbed: Perturbed) -> None:
    (folder / "own.jsonl").write_text('{"asked": "a b", "passages": ["one two", "three four"]}\n')
    done = perturbed("own.jsonl", "--kind", "word_swap", "--field", "retrieved_contexts",
        "--column", "retrieved_contexts=passages", "-o", "-",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    original, copy = map(json.loads, done.stdout.splitlines())
    assert original["passages"] == ["one two", "three four"]
    assert copy["passages"] == ["two one", "four three"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("in.jsonl", "--kind", "tipo", "-o", "x.jsonl"), "no kind 'tipo' (did you mean 'typo'?)"),
        (("none.jsonl", "--kind", "typo", "-o", "x.jsonl"), "no such file"),
        (
            ("in.txt", "--kind", "typo", "-o", "x.jsonl"),
            "in.txt: the extension does not name a format",
        ),
        (("bad.jsonl", "--kind", "typo", "-o", "x.jsonl"), "bad.jsonl:2: not JSON (Expecting"),
        (("list.jsonl", "--kind", "typo", "-o", "x.jsonl"), "list.jsonl:1: expected an object"),
        (("in.jsonl", "--kind", "typo", "-o", "in.jsonl"), "in.jsonl: exists already"),
        (("in.jsonl", "--kind", "typo", "--field", "references", "-o", "x"), "no column 'refer"),
        (("ragged.csv", "--kind", "typo", "-o", "x.csv"), "ragged.csv:3: expected 2 fields"),
        (("in.jsonl", "--kind", "typo", "-o", "x.jsonl", "--column", "a"), "NAME=COLUMN"),
    ],
)
def test_what_it_refuses(
    folder: Path, perturbed: Perturbed, arguments: tuple[str, ...], said: str
) -> None:
    (folder / "bad.jsonl").write_text('{"question": "a"}\n{oops}\n')
    (folder / "list.jsonl").write_text("[1]\n")
    (folder / "in.txt").write_text("x")
    (folder / "ragged.csv").write_text("question,answer\na,b\nc\n")
    done = perturbed(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (folder / "x.jsonl").exists()


def test_the_help_names_every_kind(perturbed: Perturbed) -> None:
    kinds = perturbed("--help").stdout.split("Kinds:\n")[1].split("\n\n")[0]
    assert [line.split()[0] for line in kinds.splitlines()] == list(CHANGES)
