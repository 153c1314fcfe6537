"""Runs made apart and read from their files: compared as the same models of one run are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from valor_cli import catalogue, pipeline
from valor_cli.config import load_config
from valor_cli.pipeline.compare.compare import compare_runs
from valor_cli.pipeline.compare.pairing import against_baseline, comparisons_of
from valor_cli.reports.files import resamples_jsonl, samples_jsonl
from valor_cli.reports.run_files import read_run
from valor_cli.results import ComparisonResult, RunResult
from valor_cli.results.document import to_json

DATA = Path(__file__).resolve().parents[2] / "sample_data"


def _evaluated(folder: Path, name: str, document: dict[str, object]) -> RunResult:
    """A run, as it comes back from its files."""
    config = folder / f"{name}.yaml"
    config.write_text(json.dumps(document))
    result = pipeline.evaluate(pipeline.make_plan(load_config(config, catalogue)), command="valor")
    out = folder / name
    out.mkdir()
    (out / "results.json").write_bytes(to_json(result))
    (out / "samples.jsonl").write_bytes(b"".join(samples_jsonl.jsonl_blocks(result)))
    (out / "resamples.jsonl").write_bytes(resamples_jsonl.to_jsonl(result))
    return read_run(str(out))


def _as_in_one_run(row: ComparisonResult) -> ComparisonResult:
    return replace(row, baseline=False)


def test_detection(tmp_path: Path) -> None:
    def run(name: str, *models: str) -> RunResult:
        folder = DATA / "object_detection"
        predictions = {model: str(folder / f"{model}.json") for model in models}
        data = {"ground_truth": str(folder / "ground_truth.json"), "predictions": predictions}
        asked = {"method": "bootstrap", "resamples": 50, "seed": 1}
        return _evaluated(tmp_path, name, {
            "task": "object_detection",
            "data": data,
            "metrics": ["coco", "image_scores"],
            "interval": asked,
        })  # fmt: skip

    small, large, both = run("small", "small"), run("large", "large"), run("both", "small", "large")
    expected = comparisons_of(both)
    tests = {row.test for row in expected}
    assert tests == {"paired_bootstrap", "sign_permutation"}
    assert list(map(_as_in_one_run, against_baseline(large, small))) == expected
    found = compare_runs(small, large, first_path="small", second_path="large")
    assert list(map(_as_in_one_run, found.comparisons)) == expected
    assert found.warnings == ()
    ap = next(row for row in expected if row.output == "AP50")
    assert (ap.test, ap.n) == ("paired_bootstrap", 100)
    assert ap.p == 1 / 51  # none of fifty differences is as far from their mean as from 0
    other_seed = replace(small.resamples[0], drawn="other")
    unlike = replace(small, resamples=(other_seed, *small.resamples[1:]))
    assert against_baseline(large, unlike)[0].test is None


def test_texts(tmp_path: Path) -> None:
    answers = (DATA / "text_generation/answers.jsonl").read_text()
    lines = [json.loads(line) for line in answers.splitlines()]

    def run(name: str, *models: str) -> RunResult:
        file = tmp_path / f"{name}.jsonl"
        kept = [json.dumps(line) for line in lines if line["model"] in models]
        file.write_text("\n".join(kept))
        return _evaluated(tmp_path, name, {
            "task": "text_generation",
            "data": {"samples": str(file)},
            "metrics": ["rouge_l", "exact_match", "corpus_bleu", "ter"],
            "interval": {"resamples": 50},
        })  # fmt: skip

    fid, gpt, both = run("fid", "fid"), run("gpt4", "gpt4"), run("both", "fid", "gpt4")
    expected = comparisons_of(both)
    tests = {(row.metric, row.output): row.test for row in expected}
    assert tests["rouge_l", "f1"] == "sign_permutation"
    assert tests["exact_match", "value"] == "mcnemar"
    # Of a corpus, though its sentences have values, too.
    assert tests["corpus_bleu", "value"] == tests["ter", "value"] == "paired_bootstrap"
    found = compare_runs(fid, gpt, first_path="fid", second_path="gpt4")
    assert list(map(_as_in_one_run, found.comparisons)) == expected
    assert found.warnings == ()
    one = found.changed[0]
    assert {text.field for text in one.shared} == {"user_input", "references[0]"}
    assert [text.field for text in one.texts] == ["response"]


@pytest.mark.parametrize("resamples", [0, 20])
def test_without_the_files_beside_it_a_run_says_so(tmp_path: Path, resamples: int) -> None:
    samples = DATA / "text_generation/answers.jsonl"
    document: dict[str, object] = {
        "task": "text_generation",
        "data": {"samples": str(samples)},
        "metrics": ["rouge_l", "corpus_bleu"],
    }
    if resamples:
        document["interval"] = {"resamples": resamples}
    run = _evaluated(tmp_path, "run", document)
    bare = read_run(str(tmp_path / "run/results.json"), beside=())
    assert (bare.samples, bare.resamples, bare.texts) == ((), (), ())
    rows = against_baseline(run, bare)
    assert {row.test for row in rows} == {None}
    assert all("resamples.jsonl beside its results.json" in (row.reason or "") for row in rows)
    assert all(row.difference == 0.0 for row in rows)
