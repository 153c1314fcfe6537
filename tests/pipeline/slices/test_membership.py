"""Which samples are in which slices, as a run records it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from valor_cli import api
from valor_cli.pipeline.slices import membership
from valor_cli.results import RunResult


def run(folder: Path, **more: Any) -> RunResult:
    """Four answers, one of them without a language."""
    rows = [
        {"id": n, "response": "a", "references": ["a"], "language": language, "length": n}
        for n, language in enumerate(("de", "fr", None, "de"))
    ]
    path = folder / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = {
        "task": "text_generation",
        "data": {"samples": {"m": str(path)}, "columns": {"sample_id": "id"}},
        "metrics": ["exact_match"],
        "slices": ["metadata.language"],
    }
    return api.evaluate({**config, **more})


def test_the_samples_of_each_slice(tmp_path: Path) -> None:
    (one,) = run(tmp_path).slices
    assert list(one.names) == ["metadata.language=de", "metadata.language=fr"]
    assert [str(name) for name in one.sample_ids] == ["0", "1", "2", "3"]
    assert one.members.tolist() == [[True, False, False, True], [False, True, False, False]]


def test_slices_beyond_what_a_file_may_hold_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(membership, "MOST_FLAGS", 7)
    (one,) = run(tmp_path).slices
    assert list(one.names) == ["metadata.language=de"]


def test_runs_without_slices_record_none(tmp_path: Path) -> None:
    assert run(tmp_path, slices=[]).slices == ()
