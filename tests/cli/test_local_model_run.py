"""A whole run with a real small model as judge: that it ends well, never how well it judges."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Valor
from tests.models.judge.test_local_judge import model

SAMPLES = [
    {"sample_id": "a", "response": "Paris is the capital of France.", "user_input": "Capital?"},
    {"sample_id": "b", "response": "Write to ann@mail.org.", "user_input": "How do I reach Ann?"},
    {"sample_id": "c", "response": "It rains.", "user_input": "How is the weather?"},
]


@pytest.mark.local_model
def test_a_run_with_a_local_model(valor: Valor, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, SAMPLES)))
    config = {
        "task": "text_generation",
        "data": {"samples": "rows.jsonl"},
        "judge": {
            "backend": "local",
            "model": model(),
            "name": "small",
            "max_tokens": 120,
            "timeout_s": 300,
            "record": "cassette.jsonl",
        },
        "metrics": ["summary_coherence", "contact_information"],
    }
    path = tmp_path / "run.yaml"
    path.write_text(json.dumps(config))
    done = valor("evaluate", str(path), "--out", str(tmp_path / "out"), "--offline")
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "out/results.json").read_text())
    assert result["run"]["models_used"] == ["small"]
    assert result["run"]["calls"] >= 6
    for row in result["coverage"]:
        # The form of its replies is enforced; what does not fit all the same is no number.
        assert set(row["statuses"]) <= {"ok", "parse_failure"}
    assert sum(row["statuses"].get("ok", 0) for row in result["coverage"]) >= 2

    again = {"backend": "replay", "cassette": "cassette.jsonl", "name": "small"}
    path.write_text(json.dumps({**config, "judge": again}))
    done = valor("evaluate", str(path), "--out", str(tmp_path / "again"), "--offline")
    assert done.returncode == 0, done.stderr
    replayed = json.loads((tmp_path / "again/results.json").read_text())
    del result["run"], replayed["run"]
    assert replayed == result
