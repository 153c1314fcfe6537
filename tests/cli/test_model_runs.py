"""Runs that ask models of this machine, as users start them."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli import conftest
from tests.cli.conftest import Valor, read_run, written
from tests.models.server import FaultServer

ROWS = [
    {
        "id": "a",
        "question": "Where did the cat sit?",
        "answer": "The cat sat on the mat. It was black.",
        "reference": "On the mat sat a black cat.",
        "contexts": ["A black cat was sitting on a mat.", "Dogs bark."],
        "token_logprobs": [None, -0.5, -1.5],
    },
    {
        "id": "b",
        "question": "How high is the tower?",
        "answer": "Bananas are yellow.",
        "reference": "It is 300 metres high.",
        "contexts": ["The weather was fine.", "The tower is 300 metres high."],
        "token_logprobs": [-0.25, -0.75],
    },
    {"id": "c", "question": "Why?", "answer": "", "reference": "", "contexts": []},
]
METRICS = ["groundedness_semantic", "semantic_similarity", "context_mrr"]


def configured(folder: Path, **said: Any) -> Path:
    """A config of those rows."""
    written(folder / "samples.jsonl", ROWS)
    told = {"report": {"out": "out", "formats": ["json"]}, "metrics": METRICS, **said}
    conftest.configured(folder, "text_generation", "samples.jsonl", **told)
    return folder / "run.yaml"


def results(folder: Path) -> Any:
    return read_run(folder / "out").result


def embedder_of(folder: Path, vectors: Mapping[str, Sequence[float]]) -> dict[str, str]:
    """One of drawn vectors, by text."""
    rows = [{"text": text, "vector": [*vector]} for text, vector in sorted(vectors.items())]
    name = written(folder / "vectors.jsonl", rows)
    return {"backend": "precomputed", "vectors": name, "model": "mine"}


def by_metric(result: dict[str, Any]) -> dict[str, Any]:
    """The row of each metric's first output."""
    return {row["metric"]: row for row in reversed(result["metrics"])}


def test_the_packaged_model_measures_and_says_who_it_is(valor: Valor, tmp_path: Path) -> None:
    ran = valor("evaluate", configured(tmp_path), VALOR_CACHE_DIR=str(tmp_path / "cache"))
    assert ran.returncode == 0, ran.stderr
    result = results(tmp_path)
    rows = by_metric(result)
    for name in METRICS:
        row = rows[name]
        assert row["parameters"]["model"] == "minilm-int8"
        assert row["parameters"]["model_sha256"].startswith("8199be6f")
    # Of the tower the second passage speaks, of the cat the first.
    assert rows["context_mrr"]["value"] == (1 + 1 / 2) / 2
    assert rows["context_mrr"]["n"] == 2
    grounded = read_run(tmp_path / "out").each("groundedness_semantic")
    # "It was black." alone is near no passage: the least grounded sentence counts.
    assert grounded["a"]["value"] > grounded["b"]["value"]
    assert grounded["a"]["details"]["worst_sentence"]["text"] == "It was black."
    assert grounded["c"]["status"] == "missing_input"
    assert any("minilm-int8 (sha256 8199be6f" in one for one in result["run"]["models_used"])
    assert "onnxruntime" in result["run"]["packages"]


def test_vectors_are_kept_and_change_nothing(valor: Valor, tmp_path: Path) -> None:
    config = configured(tmp_path)
    cache = tmp_path / "cache"
    assert valor("evaluate", config, VALOR_CACHE_DIR=str(cache)).returncode == 0
    first = results(tmp_path)
    (kept,) = cache.glob("vectors*.sqlite3")
    with sqlite3.connect(kept) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master")]
        assert tables
    database.close()
    # Texts of the data stand nowhere in it.
    assert b"tower" not in kept.read_bytes()
    assert valor("evaluate", config, VALOR_CACHE_DIR=str(cache)).returncode == 0
    second = results(tmp_path)
    fresh = tmp_path / "fresh"
    assert valor("evaluate", config, VALOR_CACHE_DIR=str(fresh)).returncode == 0
    third = results(tmp_path)
    for result in (first, second, third):
        del result["run"]
    assert first == second == third


def test_a_baseline_of_another_model_is_not_compared(valor: Valor, tmp_path: Path) -> None:
    texts = {text for row in ROWS for text in row["contexts"] + [row["question"], row["answer"]]}
    texts |= {"The cat sat on the mat.", "It was black.", "On the mat sat a black cat."}
    texts |= {"It is 300 metres high.", "Bananas are yellow."}
    own = embedder_of(tmp_path, {text: (len(text), 1.0) for text in texts})
    gates = [{"metric": "semantic_similarity", "max_drop": 0.5}]
    assert valor("evaluate", configured(tmp_path, embedder=own)).returncode == 0
    (tmp_path / "out").rename(tmp_path / "before")
    ran = valor("evaluate", configured(tmp_path, gates=gates), "--baseline", tmp_path / "before")
    assert ran.returncode == 2
    assert "evaluated in another way" in ran.stderr
    assert "embedder: mine" in ran.stderr


def test_another_model_without_a_threshold_warns(valor: Valor, tmp_path: Path) -> None:
    references = dict.fromkeys((row["reference"] for row in ROWS[:2]), (1.0, 0.5))
    own = embedder_of(
        tmp_path, references | dict.fromkeys((row["answer"] for row in ROWS[:2]), (0.5, 1.0))
    )
    config = configured(tmp_path, embedder=own, metrics=["semantic_similarity"])
    assert valor("evaluate", config).returncode == 0
    result = results(tmp_path)
    assert any("threshold 0.75 was chosen for bge-small-en" in one for one in result["warnings"])
    # 0.5 + 0.5 over 1.25: the same pair of vectors twice.
    assert by_metric(result)["semantic_similarity"]["value"] == pytest.approx(0.8, abs=1e-12)
    told = [{"semantic_similarity": {"threshold": 0.7}}]
    assert valor("evaluate", configured(tmp_path, embedder=own, metrics=told)).returncode == 0
    assert not results(tmp_path)["warnings"]


def test_a_text_that_the_file_of_vectors_lacks_is_named(valor: Valor, tmp_path: Path) -> None:
    own = embedder_of(tmp_path, {"x": (1.0,)})
    ran = valor("evaluate", configured(tmp_path, embedder=own, metrics=["semantic_similarity"]))
    assert ran.returncode == 2
    assert "has no vector of the text 'The cat sat on the mat" in ran.stderr
    assert not (tmp_path / "out").exists()


def test_the_data_s_own_log_probabilities(valor: Valor, tmp_path: Path) -> None:
    config = configured(tmp_path, metrics=[{"perplexity": {"logprobs": "data"}}])
    ran = valor("evaluate", config)
    assert ran.returncode == 0, ran.stderr
    rows = {row["output"]: row for row in results(tmp_path)["metrics"]}
    # exp((0.5 + 1.5) / 2) and exp((0.25 + 0.75) / 2); all four tokens: exp(3 / 4).
    assert rows["value"]["value"] == pytest.approx((math.exp(1) + math.exp(0.5)) / 2, abs=1e-9)
    assert rows["corpus"]["value"] == pytest.approx(math.exp(0.75), abs=1e-9)
    assert "model_sha256" not in rows["value"]["parameters"]


def test_a_remote_embedder_keeps_its_budget_and_what_it_paid_for(
    valor: Valor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALOR_CACHE_DIR", str(tmp_path / "cache"))

    def run(server: FaultServer, code: int, **more: Any) -> dict[str, Any]:
        # The server counts a token a text; each costs a dollar.
        price = {"input_usd": 1e6, "output_usd": 0}
        asked = {"backend": "litellm", "model": "e", "api_base": server.url, "batch_size": 1}
        configured(
            tmp_path, metrics=["semantic_similarity"], embedder={**asked, "price": price, **more}
        )
        rows = [
            {"id": at, "answer": f"answer {at}", "reference": f"refers {at}"} for at in range(4)
        ]
        written(tmp_path / "samples.jsonl", rows)
        assert valor("evaluate", "run.yaml", cwd=tmp_path).returncode == code
        found: dict[str, Any] = results(tmp_path)["run"]
        return found

    def paid(found: dict[str, Any]) -> list[tuple[Any, ...]]:
        keys = ("metric", "model", "judge", "calls", "tokens_in", "cost_usd")
        return [tuple(row[key] for key in keys) for row in found["usage"]]

    # Eight texts of 8 bytes, each at most (8 + 12 + 12) / 2.5 = 13 tokens: 3 + 13 fit, 4 + 13 not.
    with FaultServer() as server:
        stopped = run(server, 4, budget_usd=16)
        assert stopped["stopped"] == "the budget of 16.00 US dollars is reached"
        assert paid(stopped) == [("embeddings", "", "e", 4, 4, 4.0)]
        assert paid(run(server, 0)) == [("embeddings", "", "e", 4, 4, 4.0)]
        assert len(server.requests) == 8
