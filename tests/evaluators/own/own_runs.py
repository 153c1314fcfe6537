"""Runs with own metrics: their files and configs in the folder of the test, what comes of them."""

from __future__ import annotations

import json
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from valor_cli import RunResult, catalogue
from valor_cli.config import json_schema
from valor_cli.reports.files import resamples_jsonl
from valor_cli.reports.files.samples_jsonl import jsonl_blocks
from valor_cli.results.document import to_json


def write_rows(path: str, rows: list[dict[str, Any]]) -> None:
    """A file of samples."""
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def config(*metrics: Any, samples: Any = "answers.jsonl", **more: Any) -> dict[str, Any]:
    """A config with these metrics, by default with `politeness`."""
    return {
        "task": "text_generation",
        "data": {"samples": samples},
        "metrics": list(metrics or [{"python": "metrics.py:politeness"}]),
        **more,
    }


def function(code: str, name: str = "f") -> dict[str, str]:
    """An entry for a function in a file of its own."""
    file = f"own_{sha256(code.encode()).hexdigest()[:8]}.py"
    Path(file).write_text(code, encoding="utf-8")
    return {"python": f"{file}:{name}"}


def values(result: RunResult) -> dict[tuple[str, str, str | None], float | None]:
    """By metric, output and slice."""
    return {(row.metric, row.output, row.slice): row.value for row in result.metrics}


def content(result: RunResult) -> tuple[bytes, ...]:
    """All that a run tells, but when and by which command."""
    document = json.loads(to_json(result))
    for name in ("started_at", "duration_s", "command"):
        del document["run"][name]
    samples = b"".join(map(bytes, jsonl_blocks(result)))
    return json.dumps(document).encode(), samples, resamples_jsonl.to_jsonl(result)


@cache
def schema() -> Draft202012Validator:
    """That of configs."""
    return Draft202012Validator(json_schema(catalogue))
