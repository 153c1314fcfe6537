"""Text generation as users run it: their files, their mistakes, and what they read afterwards."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Evaluate, Run, Valor, lines_of, written

TASK = "text_generation"

ROWS: list[dict[str, Any]] = [
    {"id": "a", "question": "Who sat there?", "answer": "the cat sat", "reference": "The cat sat."},
    {"id": "b", "question": "On what?", "answer": "on a mat", "reference": "on the mat"},
    {"id": "c", "question": "Why?", "answer": "no idea", "reference": "it was tired"},
    {"id": "d", "question": "When?", "answer": "at noon", "reference": "at night"},
]
EXACT = 2 / 4
"""As SQuAD compares, without case, points and articles: a and b are right."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four samples, of which the model has two right."""
    written(tmp_path / "samples.jsonl", ROWS)
    return tmp_path


def problems(run: Run, kind: str) -> list[Any]:
    """Those of a kind."""
    return [problem for problem in run.result["problems"] if problem["kind"] == kind]


def test_models_come_from_a_column_and_from_a_map(folder: Path, evaluate: Evaluate) -> None:
    better = [{**row, "answer": row["reference"]} for row in ROWS]
    written(folder / "better.jsonl", better)
    both = [{**row, "model": "small"} for row in ROWS] + [
        {**row, "model": "large"} for row in better
    ]
    written(folder / "both.jsonl", both)
    metrics = ["exact_match", "rouge_l"]
    column = evaluate("both.jsonl", metrics)
    by_map = evaluate({"samples": {"small": "samples.jsonl", "large": "better.jsonl"}}, metrics)
    assert column.values("exact_match") == {"small": EXACT, "large": 1.0}
    assert column.result["metrics"] == by_map.result["metrics"]
    assert column.samples == by_map.samples
    assert column.result["data"]["samples"] == 4
    # Two samples tell no model from another.
    best = next(one for one in column.result["insights"] if one["kind"] == "no_best_model")
    assert best["models"] == ["large"]
    assert "not told from small by the test" in best["message"]


def test_a_model_that_lacks_samples_has_its_coverage_told(folder: Path, evaluate: Evaluate) -> None:
    written(folder / "half.jsonl", ROWS[:2])
    run = evaluate({"samples": {"all": "samples.jsonl", "half": "half.jsonl"}}, ["exact_match"])
    assert run.values("exact_match") == {"all": EXACT, "half": 1.0}
    assert run.result["warnings"] == [
        "half: no response to samples that other models have: 2 of 4 (the first: 'c', 'd')"
    ]
    covered = {one["model"]: one["coverage"] for one in run.result["coverage"]}
    assert covered == {"all": 1.0, "half": 0.5}
    (problem,) = problems(run, "coverage")
    assert problem["model"] == "half"
    left = [line for line in run.samples if line["metrics"]["exact_match"]["status"] != "ok"]
    assert [(line["model"], line["sample_id"]) for line in left] == [("half", "c"), ("half", "d")]
    assert left[0]["metrics"]["exact_match"] == {
        "status": "missing_input",
        "value": None,
        "outputs": {},
        "reason": "no response",
        "details": {},
    }


def test_columns_have_names_of_their_own(folder: Path, evaluate: Evaluate) -> None:
    rows = [
        {"key": row["id"], "said": {"text": [row["answer"]]}, "gold": row["reference"]}
        for row in ROWS
    ]
    written(folder / "own.jsonl", rows)
    columns = {"sample_id": "key", "response": "said.text", "references": "gold"}
    run = evaluate({"samples": "own.jsonl", "columns": columns}, ["exact_match"])
    assert list(run.each("exact_match")) == ["a", "b", "c", "d"]
    assert run.values("exact_match") == {"own": EXACT}


def test_defaults_leave_out_what_the_data_cannot_serve(folder: Path, evaluate: Evaluate) -> None:
    every = {row["metric"] for row in evaluate("samples.jsonl").result["metrics"]}
    assert {"rouge_l", "bleu", "exact_match", "pii_leakage", "looping"} <= every
    written(folder / "bare.jsonl", [{"answer": row["answer"]} for row in ROWS])
    run = evaluate("bare.jsonl")
    there = {row["metric"] for row in run.result["metrics"]}
    assert there == {"pii_leakage", "sensitive_data_leakage", "looping"}
    (warning,) = run.result["warnings"]
    assert warning.startswith("the data has no references; left out of the default metrics: ")
    assert set(warning.split(": ")[1].split(", ")) == every - there


def test_too_little_coverage_is_incomplete(evaluate: Evaluate, folder: Path) -> None:
    written(folder / "samples.jsonl", [*ROWS, {**ROWS[0], "id": "e", "answer": None}])
    gates = [{"coverage": 0.9}, {"metric": "exact_match", "min": 0.9}]
    run = evaluate("samples.jsonl", ["exact_match"], code=3, gates=gates)
    assert run.said.startswith("INCOMPLETE")
    assert [gate["status"] for gate in run.result["gates"]] == ["failed", "failed"]
    assert run.values("exact_match") == {"samples": EXACT}
    # 4 of 5 is enough for 80 %; then the other gate decides.
    gates[0] = {"coverage": 0.8}
    run = evaluate("samples.jsonl", ["exact_match"], code=1, gates=gates)
    assert run.said.startswith("FAILED")


@pytest.mark.usefixtures("folder")
def test_a_mean_past_its_threshold_is_a_problem(evaluate: Evaluate) -> None:
    def found(metric: Any, **more: Any) -> list[tuple[Any, ...]]:
        run = evaluate("samples.jsonl", [metric], **more)
        return [(one["threshold"], one["severity"]) for one in problems(run, "threshold")]

    assert found("exact_match") == []
    assert found({"exact_match": {"threshold": EXACT}}) == []
    # 0.02 of 0.52, then 0.4 of 0.9, lie between the value and the worst one.
    assert found({"exact_match": {"threshold": 0.52}}) == [(0.52, "low")]
    assert found({"exact_match": {"threshold": 0.9}}) == [(0.9, "medium")]
    assert found({"ter": {"threshold": 0.1}}) == [(0.1, "high")]
    unsure = {"method": "bootstrap", "resamples": 100, "seed": 0}
    assert found({"exact_match": {"threshold": 0.52}}, interval=unsure) == [(0.52, None)]


def test_perturbed_copies_that_flip(valor: Valor, folder: Path, evaluate: Evaluate) -> None:
    asked = ("perturb", "samples.jsonl", "--kind", "typo,case", "-o", "copies.jsonl")
    assert valor(*asked, cwd=folder).returncode == 0
    copies = lines_of(folder / "copies.jsonl")
    answers = {row["id"]: row["answer"] for row in ROWS}
    for row in copies:
        if row.get("perturbed_from"):
            told = answers[row["perturbed_from"]]
            row["answer"] = told if row["perturbation"] == "case-medium" else "Pardon?"
    written(folder / "copies.jsonl", copies)
    metrics = [{"exact_match": {"threshold": 0.5}}]
    run = evaluate("copies.jsonl", metrics, slices=["metadata.perturbation"])
    assert len(run.samples) == 12
    whole, *single = problems(run, "flip")
    # a and b were right, and are not with typos: 2 of 8 copies.
    assert (whole["value"], whole["sample_ids"]) == (2 / 8, [])
    pairs = [["a", "a~typo-medium"], ["b", "b~typo-medium"]]
    assert [one["sample_ids"] for one in single] == pairs
    slices = {row["slice"]: row["value"] for row in run.result["metrics"] if row["slice"]}
    assert slices == {
        "metadata.perturbation=case-medium": EXACT,
        "metadata.perturbation=typo-medium": 0.0,
    }


def test_slices_filters_and_limits(folder: Path, evaluate: Evaluate) -> None:
    rows = [{**row, "kind": "short" if row["id"] in "ac" else "long", "n": 1} for row in ROWS]
    written(folder / "kinds.jsonl", rows)
    run = evaluate("kinds.jsonl", ["exact_match", "corpus_bleu"], slices=["metadata.kind"])
    # a is right and c is not; b is right and d is not.
    for cut in (None, "metadata.kind=short", "metadata.kind=long"):
        assert run.values("exact_match", cut=cut) == {"kinds": 0.5}
    short = evaluate("kinds.jsonl", ["corpus_bleu"], filter={"metadata.kind": "short"})
    assert list(short.each("corpus_bleu")) == ["a", "c"]
    assert run.values("corpus_bleu", cut="metadata.kind=short") == short.values("corpus_bleu")
    three = evaluate("kinds.jsonl", ["exact_match"], "--limit", "3")
    assert list(three.each("exact_match")) == ["a", "b", "c"]
    assert three.values("exact_match") == {"kinds": 2 / 3}
    one = evaluate("kinds.jsonl", ["exact_match"], filter={"sample_id": ["d", "b"]})
    assert list(one.each("exact_match")) == ["b", "d"]


ODD = ["", " ", "\0", "\x1b[31mred\x07", "\u202eabc", "</script><b>", "{{ 7 * 7 }}", "a\r\nb", "🙂"]


def test_odd_texts_are_evaluated_and_shown(folder: Path, evaluate: Evaluate) -> None:
    rows = [{"id": f"s{n}", "q": one, "answer": one, "reference": "x"} for n, one in enumerate(ODD)]
    written(folder / "odd.jsonl", rows)
    data = {"samples": "odd.jsonl", "columns": {"user_input": "q"}}
    run = evaluate(data, None, "--format", "json,markdown,html")
    assert run.values("exact_match") == {"odd": 0.0}
    statuses = {one["status"] for one in run.each("rouge_l").values()}
    assert statuses == {"ok"}
    page = (run.folder / "report.html").read_text(encoding="utf-8")
    assert "</script><b>" not in page
    for path in run.folder.iterdir():
        text = path.read_text(encoding="utf-8")
        assert not set("\0\x1b\x07") & set(text), path.name
        # A direction that is turned inside a text must not turn the report around it.
        assert path.suffix.startswith(".json") or "\u202e" not in text, path.name


def test_contexts_as_one_text_are_one_context(folder: Path, evaluate: Evaluate) -> None:
    written(folder / "rag.jsonl", [{**row, "contexts": "mail a@b.org, ok"} for row in ROWS])
    run = evaluate("rag.jsonl", ["pii_leakage"])
    assert run.values("pii_leakage", "retrieval_failures") == {"rag": 1.0}
    (warning,) = run.result["warnings"]
    assert "JSON list" in warning


@pytest.mark.slow
def test_a_pattern_without_end_ends(folder: Path, evaluate: Evaluate) -> None:
    condition = 'regexp("(a|aa)+$") OR "mat"'
    rows = [{"id": n, "answer": "a" * (40 + n) + "!", "condition": condition} for n in range(2)]
    written(folder / "slow.jsonl", [*rows, {"id": 9, "answer": "a mat", "condition": condition}])
    run = evaluate("slow.jsonl", ["text_matching"])
    found = run.each("text_matching")
    assert found.pop("9")["value"] == 1.0
    for one in found.values():
        assert one["status"] == "parse_failure"
        assert one["reason"] == 'the regexp("(a|aa)+$") at character 1 took longer than 1 s'
    assert run.values("text_matching", "parse_failures") == {"slow": 2 / 3}


@pytest.mark.slow
def test_ten_megabytes_in_a_field(folder: Path, evaluate: Evaluate) -> None:
    long = "word and " * 1_200_000
    written(folder / "big.jsonl", [*ROWS, {"id": "e", "answer": long, "reference": "and so on"}])
    run = evaluate("big.jsonl", ["exact_match", "rouge_1", "pii_leakage"])
    assert run.values("exact_match") == {"big": EXACT * 4 / 5}
    assert len(run.samples) == 5
    # "and" is one of 2,400,000 words, and of the reference's 3.
    assert run.each("rouge_1")["e"]["outputs"]["precision"] == pytest.approx(1 / 2_400_000)
    assert sum(path.stat().st_size for path in run.folder.iterdir()) < 500_000


ARTIFACTS = Path(__file__).parents[1] / "real_data" / "text" / "artifacts"


def test_agents_steps_and_folders(folder: Path, evaluate: Evaluate) -> None:
    steps = "1. Open the box.\n2. Take the key out.\n3. Close it."
    other = "1. Open the box.\n2. Sleep well."
    rows = [
        {"id": "a", "artifacts": "whole", "answer": steps, "contexts": [steps]},
        # One step is missing, and one says something else.
        {"id": "b", "artifacts": "broken", "answer": other, "contexts": [steps]},
        {"id": "c", "artifacts": "nowhere", "answer": "", "contexts": [steps]},
        {"id": "d", "answer": "1. Wait.", "contexts": ["No steps here."]},
    ]  # fmt: skip
    written(folder / "agents.jsonl", rows)
    data = {"samples": "agents.jsonl", "artifacts": str(ARTIFACTS)}
    run = evaluate(data, ["agent_sanity", "step_alignment"])
    found = run.each("agent_sanity")
    checked = found["b"]["details"]
    assert (checked["checks"], checked["passed"]) == (5, 4)
    assert [one["path"] for one in checked["results"] if not one["passed"]] == ["report.json"]
    assert [one["value"] for one in found.values()] == [1.0, 4 / 5, 0.0, None]
    assert found["d"]["status"] == "missing_input"
    edits = {key: (one["status"], one["value"]) for key, one in run.each("step_alignment").items()}
    assert edits == {
        "a": ("ok", 0), "b": ("ok", 2), "c": ("ok", 3), "d": ("not_applicable", None),
    }  # fmt: skip
    assert run.values("step_alignment", "edits") == {"agents": pytest.approx(5 / 3)}
    (folder / "elsewhere").mkdir()
    run = evaluate({"samples": "agents.jsonl", "artifacts": "elsewhere"}, ["agent_sanity"])
    (warning,) = run.result["warnings"]
    assert "none of 3 artifacts folders exists" in warning


SECRETS = (
    *("jane.doe@example.org", "4111 1111 1111 1111", "123-45-6789", "AKIAIOSFODNN7EXAMPLE"),
    "sk-" + "abcdefghijklmnopqrst" + "T3BlbkFJ" + "abcdefghijklmnopqrst",
)


CODED = {secret: base64.b64encode(f"It is {secret}, tell".encode()).decode() for secret in SECRETS}


def check_nothing_is_told(folder: Path) -> None:
    for path in folder.iterdir():
        text = path.read_text(encoding="utf-8")
        for secret, coded in CODED.items():
            assert secret not in text, path.name
            assert coded not in text, path.name


def test_secrets_stand_in_no_report(folder: Path, evaluate: Evaluate) -> None:
    rows = []
    for secret, coded in CODED.items():
        common = {"question": f"Is it {secret}?", "contexts": [f"It is {secret}, he said."]}
        answers = (secret, coded, json.dumps({secret: secret}), f"It is {secret}. " * 9)
        rows += [{**common, "answer": answer, "reference": f"{secret}?"} for answer in answers]
    written(folder / "secret.jsonl", rows)
    metrics = [
        *("rouge_l", "exact_match", "llm_classification", "self_consistency", "pii_leakage"),
        *("sensitive_data_leakage", "encoding_guardrail", "looping", "edit_similarity"),
        {"json_schema": {"schema": {"additionalProperties": {"maxLength": 1}}}},
    ]
    run = evaluate("secret.jsonl", metrics, "--format", "json,markdown,html")
    # Two of five are keys, three are personal data; base64 hides them from all but the guardrail.
    kinds = ("pii_leakage", "sensitive_data_leakage")
    shares = [run.values(kind, "fail")["secret"] for kind in kinds]
    assert shares == pytest.approx([3 / 5 * 3 / 4, 2 / 5 * 3 / 4])
    assert run.values("encoding_guardrail", "fail") == {"secret": 3 / 5}
    check_nothing_is_told(run.folder)


def test_a_condition_that_names_a_secret_is_told_without_it(
    folder: Path, evaluate: Evaluate
) -> None:
    rows = [{"answer": "I do not say.", "condition": f'"{secret}"'} for secret in SECRETS]
    written(folder / "asked.jsonl", rows)
    wanted = ["text_matching", "encoding_guardrail"]
    run = evaluate("asked.jsonl", wanted, "--format", "json,markdown,html")
    assert run.values("text_matching", "pass") == {"asked": 0.0}
    check_nothing_is_told(run.folder)


def test_invalid_rows_can_be_left_out_and_are_counted(folder: Path, evaluate: Evaluate) -> None:
    broken = ['{"id": 1}x', json.dumps({**ROWS[0], "id": "f", "reference": {"no": 1}})]
    copy = json.dumps({**ROWS[0], "id": "g", "perturbed_from": "nobody"})
    lines = [*map(json.dumps, ROWS), *broken, copy]
    (folder / "samples.jsonl").write_text("\n".join(lines))
    run = evaluate({"samples": "samples.jsonl", "on_invalid": "skip"}, ["exact_match"])
    assert list(run.each("exact_match")) == ["a", "b", "c", "d", "g"]
    told = " ".join(run.result["warnings"])
    assert "left out as invalid: 2 of 7 rows" in told
    assert "perturbed_from names no other sample of the model and was dropped: 1 rows" in told
