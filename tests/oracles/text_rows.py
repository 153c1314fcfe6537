"""The real texts of `tests/real_data/text` out: rows of a file, and pairs to be compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "real_data" / "text"

Rows = list[tuple[str, tuple[str, ...]]]
"""Responses, each with its references."""

SYSTEMS = ("BERTS2S", "PtGen", "TConvS2S", "TranS2S")
"""Whose summaries of the same documents there are."""


def lines(path: str) -> list[dict[str, Any]]:
    """The rows of a JSONL file in the folder."""
    return [json.loads(line) for line in (DATA / path).read_text(encoding="utf-8").splitlines()]


def e2e() -> Rows:
    """Responses with one to many references."""
    return _pairs(lines("e2e-nlg-retrieval-60/retrieval.jsonl"))


def summaries(system: str) -> Rows:
    """Summaries of a sentence each, with the right one."""
    return _pairs(lines(f"xsum-a/{system}.jsonl"))


def answers(model: str) -> tuple[Rows, dict[str, Any]]:
    """Short answers with several right ones, and what SQuAD's script says of them all."""
    rows = [row for row in lines("qa-eval-nq/responses.jsonl") if row["model"] == model]
    stored = json.loads((DATA / "qa-eval-nq" / "expected.json").read_text(encoding="utf-8"))
    expected: dict[str, Any] = stored["per_model"][model]
    assert len(rows) == expected["rows"]
    return _pairs(rows), expected


def _pairs(rows: list[dict[str, Any]]) -> Rows:
    return [(row["prediction"], tuple(row["references"])) for row in rows]
