"""Text generation as users run it: their files, their mistakes, and what they read afterwards."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Valor
from tests.cli.judged import complaints, refused, result_of
from tests.program import invoke

Row = Mapping[str, Any]

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


def written(path: Path, rows: Iterable[Row]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def configured(
    folder: Path, data: Any = "samples.jsonl", metrics: Any = None, name: str = "run", **more: Any
) -> str:
    """The name of a config; JSON is YAML."""
    inputs = data if isinstance(data, dict) and "samples" in data else {"samples": data}
    config = {"task": "text_generation", "data": inputs, "report": {"out": "out"}, **more}
    if metrics is not None:
        config["metrics"] = metrics
    (folder / f"{name}.yaml").write_text(json.dumps(config), encoding="utf-8")
    return f"{name}.yaml"


class Run:
    """What a run wrote, and what its results.json says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.result = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        lines = (folder / "samples.jsonl").read_text(encoding="utf-8").splitlines()
        self.samples = [json.loads(line) for line in lines]

    def values(self, metric: str, output: str = "value", cut: str | None = None) -> dict[str, Any]:
        """By model, the value over all labels; of a slice, where one is named."""
        return {
            row["model"]: row["value"]
            for row in self.result["metrics"]
            if (row["metric"], row["output"], row["label"], row["slice"])
            == (metric, output, None, cut)
        }

    def each(self, metric: str) -> dict[str, Any]:
        """By sample, its entry; of a metric that is called once."""
        return {line["sample_id"]: line["metrics"][metric] for line in self.samples}

    def problems(self, kind: str) -> list[Any]:
        """Those of a kind."""
        return [problem for problem in self.result["problems"] if problem["kind"] == kind]


Evaluate = Callable[..., Run]


@pytest.fixture
def evaluate(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Evaluate:
    """`evaluate(data, metrics, *options, code=0, **config)`, in this process."""
    monkeypatch.chdir(folder)

    def run(
        data: Any = "samples.jsonl", metrics: Any = None, *options: str, code: int = 0, **more: Any
    ) -> Run:
        config = configured(folder, data, metrics, **more)
        done = invoke(["evaluate", config, *options], catch_exceptions=False)
        assert done.exit_code == code, done.output
        return Run(folder / "out")

    return run


def test_models_come_from_a_column_and_from_a_map(folder: Path, evaluate: Evaluate) -> None:
    better = [{**row, "answer": row["reference"]} for row in ROWS]
    written(folder / "better.jsonl", better)
    both = [{**row, "model": "small"} for row in ROWS] + [
        {**row, "model": "large"} for row in better
    ]
    written(folder / "both.jsonl", both)
    metrics = ["exact_match", "rouge_l"]
    column = evaluate("both.jsonl", metrics)
    by_map = evaluate({"small": "samples.jsonl", "large": "better.jsonl"}, metrics)
    assert column.values("exact_match") == {"small": EXACT, "large": 1.0}
    assert column.result["metrics"] == by_map.result["metrics"]
    assert column.samples == by_map.samples
    assert column.result["data"]["samples"] == 4
    # Two samples tell no model from another.
    best = next(one for one in column.result["insights"] if one["kind"] == "no_best_model")
    assert best["models"] == ["large"]
    assert "not told from small by the test" in best["message"]
    report = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "small" in report
    assert "large" in report


def test_a_model_that_lacks_samples_has_its_coverage_told(folder: Path, evaluate: Evaluate) -> None:
    written(folder / "half.jsonl", ROWS[:2])
    run = evaluate({"all": "samples.jsonl", "half": "half.jsonl"}, ["exact_match"])
    assert run.values("exact_match") == {"all": EXACT, "half": 1.0}
    assert run.result["warnings"] == [
        "half: no response to samples that other models have: 2 of 4 (the first: 'c', 'd')"
    ]
    covered = {one["model"]: one["coverage"] for one in run.result["coverage"]}
    assert covered == {"all": 1.0, "half": 0.5}
    (problem,) = run.problems("coverage")
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


def test_csv_and_json_say_the_same(folder: Path, evaluate: Evaluate) -> None:
    metrics = ["exact_match", "pii_leakage"]
    expected = evaluate("samples.jsonl", metrics)
    names = list(ROWS[0])
    lines = [",".join(names), *(",".join(row[name] for name in names) for row in ROWS)]
    (folder / "samples.csv").write_text("\ufeff" + "\r\n".join(lines) + "\r\n", encoding="utf-8")
    (folder / "samples.json").write_text(json.dumps(ROWS))
    for name in ("samples.csv", "samples.json"):
        assert evaluate(name, metrics).result["metrics"] == expected.result["metrics"]


def test_defaults_leave_out_what_the_data_cannot_serve(folder: Path, evaluate: Evaluate) -> None:
    every = {row["metric"] for row in evaluate().result["metrics"]}
    assert {"rouge_l", "bleu", "exact_match", "pii_leakage", "looping"} <= every
    written(folder / "bare.jsonl", [{"answer": row["answer"]} for row in ROWS])
    run = evaluate("bare.jsonl")
    there = {row["metric"] for row in run.result["metrics"]}
    assert there == {"pii_leakage", "sensitive_data_leakage", "looping"}
    (warning,) = run.result["warnings"]
    assert warning.startswith("the data has no references; left out of the default metrics: ")
    assert set(warning.split(": ")[1].split(", ")) == every - there


def test_too_little_coverage_is_incomplete(valor: Valor, folder: Path) -> None:
    written(folder / "samples.jsonl", [*ROWS, {**ROWS[0], "id": "e", "answer": None}])
    gates = [{"coverage": 0.9}, {"metric": "exact_match", "min": 0.9}]
    done = valor("evaluate", configured(folder, metrics=["exact_match"], gates=gates), cwd=folder)
    assert done.returncode == 3, done.stderr
    assert done.stdout.startswith("INCOMPLETE")
    run = Run(folder / "out")
    assert [gate["status"] for gate in run.result["gates"]] == ["failed", "failed"]
    assert run.values("exact_match") == {"samples": EXACT}
    # 4 of 5 is enough for 80 %; then the other gate decides.
    gates[0] = {"coverage": 0.8}
    done = valor("evaluate", configured(folder, metrics=["exact_match"], gates=gates), cwd=folder)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("FAILED")


def test_a_mean_past_its_threshold_is_a_problem(evaluate: Evaluate) -> None:
    def found(metric: Any, **more: Any) -> list[tuple[Any, ...]]:
        run = evaluate(metrics=[metric], **more)
        return [(one["threshold"], one["severity"]) for one in run.problems("threshold")]

    assert found("exact_match") == []
    assert found({"exact_match": {"threshold": EXACT}}) == []
    # 0.02 of 0.52, then 0.4 of 0.9, lie between the value and the worst one.
    assert found({"exact_match": {"threshold": 0.52}}) == [(0.52, "low")]
    assert found({"exact_match": {"threshold": 0.9}}) == [(0.9, "medium")]
    assert found({"ter": {"threshold": 0.1}}) == [(0.1, "high")]
    unsure = {"method": "bootstrap", "resamples": 100, "seed": 0}
    assert found({"exact_match": {"threshold": 0.52}}, interval=unsure) == [(0.52, None)]


def test_perturbed_copies_that_flip(folder: Path, evaluate: Evaluate) -> None:
    arguments = ["perturb", "samples.jsonl", "--kind", "typo,case", "-o", "copies.jsonl"]
    assert invoke(arguments, catch_exceptions=False).exit_code == 0
    copies = [json.loads(line) for line in (folder / "copies.jsonl").read_text().splitlines()]
    answers = {row["id"]: row["answer"] for row in ROWS}
    for row in copies:
        if row.get("perturbed_from"):
            told = answers[row["perturbed_from"]]
            row["answer"] = told if row["perturbation"] == "case-medium" else "Pardon?"
    written(folder / "copies.jsonl", copies)
    metrics = [{"exact_match": {"threshold": 0.5}}]
    run = evaluate("copies.jsonl", metrics, slices=["metadata.perturbation"])
    assert len(run.samples) == 12
    whole, *single = run.problems("flip")
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


def test_two_processes_write_the_same_bytes(folder: Path, evaluate: Evaluate) -> None:
    rows = [
        {**row, "id": f"{row['id']}{n}", "model": f"m{n % 2}"} for n in range(40) for row in ROWS
    ]
    written(folder / "many.jsonl", rows)
    metrics = ["rouge_l", "corpus_bleu", "looping", "self_consistency", "llm_classification"]
    interval = {"method": "bootstrap", "resamples": 30, "seed": 1}

    def files(*options: str) -> tuple[str, bytes]:
        run = evaluate("many.jsonl", metrics, *options, interval=interval)
        text = (run.folder / "results.json").read_text(encoding="utf-8")
        before, rest = text.split('"run": ')
        return before + rest.split('"metrics": ', 1)[1], (run.folder / "samples.jsonl").read_bytes()

    assert files() == files("--jobs", "2")


def test_a_baseline_is_compared_with(folder: Path, evaluate: Evaluate) -> None:
    evaluate(metrics=["exact_match"]).folder.rename(folder / "before")
    gates = [{"metric": "exact_match", "max_drop": 0.1}]
    written(folder / "samples.jsonl", [{**row, "answer": "no idea"} for row in ROWS])
    run = evaluate("samples.jsonl", ["exact_match"], "--baseline", "before", code=1, gates=gates)
    (gate,) = run.result["gates"]
    assert (gate["rule"], gate["value"], gate["status"]) == ("max_drop", EXACT, "failed")
    written(folder / "samples.jsonl", ROWS)
    evaluate("samples.jsonl", ["exact_match"], "--baseline", "before", gates=gates)


def test_json_to_standard_output_from_standard_input(valor: Valor, folder: Path) -> None:
    config = configured(folder, "-", ["exact_match"])
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    arguments = ("evaluate", config, "--out", "-", "--format", "json")
    result = result_of(valor(*arguments, cwd=folder, stdin=lines))
    assert [row["value"] for row in result["metrics"]] == [EXACT]
    assert not (folder / "out").exists()


def test_the_sample_project(valor: Valor, tmp_path: Path) -> None:
    assert valor("init", "text_generation", "here", cwd=tmp_path).returncode == 0
    config = "here/configs/text_generation.yaml"
    done = valor("validate", config, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"{config}: ok\n")
    done = valor("evaluate", config, "--set", "interval.resamples=20", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    out = tmp_path / "here" / "reports" / "text_generation"
    assert {path.name for path in out.iterdir()} == {
        "results.json", "samples.jsonl", "resamples.jsonl", "report.md", "report.html",
    }  # fmt: skip


ODD = ["", " ", "\0", "\x1b[31mred\x07", "\u202eabc", "</script><b>", "{{ 7 * 7 }}", "a\r\nb", "🙂"]


def test_odd_texts_are_evaluated_and_shown(folder: Path, evaluate: Evaluate) -> None:
    rows = [{"id": f"s{n}", "q": one, "answer": one, "reference": "x"} for n, one in enumerate(ODD)]
    written(folder / "odd.jsonl", rows)
    run = evaluate({"samples": "odd.jsonl", "columns": {"user_input": "q"}})
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
    run = evaluate("secret.jsonl", metrics)
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
    run = evaluate("asked.jsonl", ["text_matching", "encoding_guardrail"])
    assert run.values("text_matching", "pass") == {"asked": 0.0}
    check_nothing_is_told(run.folder)


def second(**changed: Any) -> str:
    """The lines of a file, the second of which is changed."""
    return "".join(json.dumps(row) + "\n" for row in [ROWS[0], {**ROWS[1], **changed}])


BAD_DATA: dict[str, tuple[str | bytes, str]] = {
    "other columns": ('{"text": "x"}', "no column is one that text samples have; there is: text"),
    "no reference": ('{"answer": "x"}', "no row has 'references', 'reference'"),
    "what is there": ('{"answer": "x", "z": 1}', "there is: answer, z"),
    "latin-1": (
        second(answer="chèvre").replace("\\u00e8", "è").encode("latin-1"),
        "not UTF-8 text",
    ),
    "utf-16": (second().encode("utf-16"), "this looks like UTF-16"),
    "empty": ("", "the file is empty"),
    "half an object": (second()[:-9], "samples.jsonl:2: not JSON"),
    "a list": ("[1]\n", "samples.jsonl:1: expected an object"),
    "control character": (second(answer="a").replace('"a"', '"\x01"'), "Invalid control character"),
    "half a letter": (second(answer="\ud800"), "samples.jsonl:2: answer: expected Unicode text"),
    "nested without end": ("[" * 100_000, "the JSON is nested too deeply"),
    "mixed references": (
        second(reference=None, references=["a", None]),
        "samples.jsonl:2: references[1]: expected a text, found null",
    ),
    "references by name": (
        second(reference={"a": 1}),
        "reference: expected a text, found an object",
    ),
    "sample twice": (second(id="a"), "samples.jsonl:2: the sample 'a' is also on line 1"),
    "id true": (second(id=True), "samples.jsonl:2: id: expected a string or a number, found true"),
    "duration": (
        second(duration_s="long"),
        'duration_s: expected a number, found the string "long"',
    ),
    "copy of nothing": (
        second(perturbed_from="z"),
        "jsonl:2: perturbed_from: expected the id of another sample of the model, found 'z'",
    ),
    "copy of itself": (second(perturbed_from="b"), "found the sample itself"),
    "condition": (
        second(condition='"a" AND ("b"'),
        'samples.jsonl:2: condition: this bracket is never closed, at character 9: "a" AND ▸("b"',
    ),
    "caret": (second(condition='"a" AND ("b"'), '\n"a" AND ("b"\n        ^\n'),
    "pattern": (second(condition='regexp("(a")'), "condition: not a regular expression: missing )"),
}


def test_bad_data(valor: Valor, folder: Path) -> None:
    for number, (content, _) in enumerate(BAD_DATA.values()):
        raw = content if isinstance(content, bytes) else content.encode()
        (folder / str(number)).mkdir()
        (folder / str(number) / "samples.jsonl").write_bytes(raw)
        metrics = ["exact_match", {"text_matching": {}}] if b"condition" in raw else ["exact_match"]
        configured(folder, f"{number}/samples.jsonl", metrics, name=str(number))
    found = complaints(valor, folder, len(BAD_DATA))
    for said, (name, (_, message)) in zip(found, BAD_DATA.items(), strict=True):
        assert message in said, name
    done = valor("evaluate", "0.yaml", cwd=folder)
    refused(done, found[0], folder=folder)


BAD_CONFIGS: dict[str, tuple[Mapping[str, Any], str]] = {
    "condition": (
        {"metrics": [{"text_matching": {"condition": '"a" ANDD "b"'}}]},
        'put strings in double quotes, "ANDD", at character 5: "a" ▸ANDD "b"',
    ),
    "schema": (
        {"metrics": [{"json_schema": {"schema": {"type": "strin"}}}]},
        "metrics.0.schema: no JSON Schema: $.type: 'strin' is not valid",
    ),
    "schema file": (
        {"metrics": [{"json_schema": {"schema": "none.json"}}]},
        "metrics.0.schema: cannot read none.json",
    ),
    "parameter": (
        {"metrics": [{"rouge_l": {"use_stemer": True}}]},
        "metrics.0.use_stemer: unknown parameter (did you mean 'use_stemmer'?)",
    ),
    "metric": ({"metrics": ["rouge_k"]}, "did you mean 'rouge_"),
    "baselines": (
        {"metrics": [{"bertscore": {"rescale_with_baseline": True}}]},
        "metrics.0: bertscore needs a file of baselines to rescale with",
    ),
    "baselines file": (
        {"metrics": [{"bertscore": {"rescale_with_baseline": True, "baseline": "none.tsv"}}]},
        "none.tsv: cannot be read: No such file or directory",
    ),
    "weights of summac": (
        {"metrics": ["summac_conv"]},
        "metrics.0: summac_conv needs the file of its trained weights",
    ),
    "weights": ({"metrics": [{"bleu": {"weights": [0.5, 0.6]}}]}, "these sum to 1.1"),
    "entity": ({"metrics": [{"pii_leakage": {"entities": ["emial"]}}]}, "found 'emial'"),
    "column": (
        {"data": {"samples": "samples.jsonl", "columns": {"response": "answr"}}},
        "there is no column 'answr' for response (did you mean 'answer'?); there is: id, question",
    ),
    "standard column": (
        {"data": {"samples": "samples.jsonl", "columns": {"respons": "answer"}}},
        "there is no column 'respons' (did you mean 'response'?)",
    ),
    "no such file": ({"data": {"samples": "none.jsonl"}}, "none.jsonl: no such file"),
    "artifacts": (
        {"data": {"samples": "agents.jsonl", "artifacts": "nowhere"}},
        "nowhere: no such folder",
    ),
    "several models for one": (
        {"data": {"samples": {"m": "models.jsonl"}}},
        "models.jsonl: holds samples of several models (x, y), for 'm'",
    ),
    "filter": ({"filter": {"metadata.kind": "z"}}, "there is no column 'kind' for metadata.kind"),
    "filter by label": ({"filter": {"label": "z"}}, "filter"),
    "slice": ({"slices": ["metadata.kind"]}, "there is no column 'kind' for metadata.kind"),
    "coverage": ({"gates": [{"coverage": 2}]}, "gates.0.coverage: expected a number of at most 1"),
}


def test_bad_configs(valor: Valor, folder: Path) -> None:
    written(folder / "agents.jsonl", [{**row, "artifacts": "run"} for row in ROWS])
    written(folder / "models.jsonl", [{**ROWS[0], "model": "x"}, {**ROWS[1], "model": "y"}])
    for number, (changed, _) in enumerate(BAD_CONFIGS.values()):
        configured(folder, **{"metrics": ["exact_match"], "name": str(number), **changed})
    found = complaints(valor, folder, len(BAD_CONFIGS))
    for said, (name, (_, message)) in zip(found, BAD_CONFIGS.items(), strict=True):
        assert message in said, name


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
