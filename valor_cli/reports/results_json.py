"""A run in, the bytes of results.json out; and the way back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import orjson

from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.reports.disagreements import disagreements
from valor_cli.reports.finite import refuse_nan
from valor_cli.reports.judge_usage import totals
from valor_cli.reports.schema import ORDER, misfits, results_schema
from valor_cli.results import (
    SCHEMA_VERSION,
    AgreementResult,
    ComparisonResult,
    CoverageResult,
    CurveResult,
    ExampleObject,
    ExampleResult,
    FoundSlice,
    GateResult,
    InputFile,
    InsightResult,
    IntervalsResult,
    MetricResult,
    Picture,
    ProblemResult,
    PromptUsed,
    RunInfo,
    RunResult,
    ShownText,
    SliceSearchResult,
    TableResult,
    UsageResult,
    Verdict,
)

_OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_PASSTHROUGH_DATETIME
_NEXT = "evaluate again, or read it with the valor that wrote it"
_RECORDS = (
    *("primary", "prompts", "usage", "metrics", "comparisons", "searches", "coverage"),
    *("agreements", "curves", "tables", "examples", "problems", "insights", "gates", "warnings"),
)


def to_json(result: RunResult) -> bytes:
    """The file: a key per line, and a row per line where there are rows.

    Raises:
        ValueError: A number is NaN or infinite, which JSON does not have.
    """
    refuse_nan(result)
    document = {name: getattr(result, name, []) for name in ORDER}
    document |= {"schema_version": SCHEMA_VERSION, "run": _run(result.run)}
    lines = [dumps(name) + b": " + _value(name, value) for name, value in document.items()]
    return b"{\n  " + b",\n  ".join(lines) + b"\n}\n"


def from_json(content: bytes, path: str | Path) -> RunResult:
    """The run that `to_json` wrote. Sequences come back as tuples.

    Args:
        content: The file's bytes.
        path: Where they were read, for messages.

    Raises:
        DataError: Not JSON, another schema version, or a row that does not fit.
    """
    document = _loads(content, path)
    found = list(misfits(document, results_schema()))
    found = found or list(disagreements(document))
    problems = [Problem(f"{path}: {place}", message) for place, message in found]
    if problems:
        raise DataError(problems[:LISTED], total=len(problems), hint=_NEXT)
    return _result(document)


def _run(run: RunInfo) -> dict[str, Any]:
    """The `run` block, which alone says what judges took and what was kept from before."""
    names = ("valor_version", "started_at", "duration_s", "command", "config", "config_sha256")
    whole = totals(run.usage)
    tokens = {"input": whole.tokens_in, "output": whole.tokens_out}
    return {
        **{name: getattr(run, name) for name in names},
        "inputs": run.inputs,
        "models_used": run.models_used,
        "calls": whole.calls,
        "tokens": tokens if run.usage else {},
        "cost_usd": whole.cost_usd if run.usage else None,
        "saved_usd": whole.saved_usd if run.usage else None,
        "usage": run.usage,
        "stopped": run.stopped,
        "stopped_by": run.stopped_by,
        "packages": run.packages,
    }


def _value(name: str, value: Any, margin: bytes = b"\n  ") -> bytes:
    deeper = margin + b"  "
    if name == "run":
        parts = [dumps(key) + b": " + _value(key, part, deeper) for key, part in value.items()]
        return b"{" + deeper + (b"," + deeper).join(parts) + margin + b"}"
    if name in _RECORDS and value:
        return b"[" + deeper + (b"," + deeper).join(map(dumps, value)) + margin + b"]"
    return dumps(value)


def dumps(value: Any) -> bytes:
    """A value as JSON, records and numpy arrays included."""
    try:
        return orjson.dumps(value, default=_default, option=_OPTIONS)
    except TypeError as error:
        # File names that are not UTF-8 carry lone surrogates, which JSON cannot hold.
        if "surrogates" not in str(error):
            raise
        import json

        text = json.dumps(value, ensure_ascii=False, default=_default)
        return orjson.dumps(orjson.loads(text.encode("utf-8", "replace")))


def _default(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"no JSON for {type(value).__name__}")


def _loads(content: bytes, path: str | Path) -> dict[str, Any]:
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        place = f"{path}:{error.lineno}:{error.colno}"
        raise DataError(Problem(place, f"not JSON: {error.msg}"), hint=_NEXT) from None
    if not isinstance(document, dict) or "schema_version" not in document:
        message = "not a results.json of valor: it has no schema_version"
        raise DataError(Problem(str(path), message), hint="name a results.json, or its folder")
    version = document["schema_version"]
    if version != SCHEMA_VERSION or isinstance(version, bool):
        message = f"schema version {version!r:.40}; this valor reads {SCHEMA_VERSION}"
        raise DataError(Problem(f"{path}: schema_version", message), hint=_NEXT)
    return document


def _result(document: Mapping[str, Any]) -> RunResult:
    return RunResult(
        task=document["task"],
        models=tuple(document["models"]),
        primary=_frozen(document["primary"]),
        data=document["data"],
        settings=document["settings"],
        run=_run_info(document["run"]),
        metrics=tuple(MetricResult(**_identified(row, "interval")) for row in document["metrics"]),
        curves=tuple(CurveResult(**_identified(row, "points")) for row in document["curves"]),
        tables=tuple(TableResult(**_identified(row, *row)) for row in document["tables"]),
        examples=tuple(map(_example, document["examples"])),
        gates=tuple(GateResult(**_identified(row)) for row in document["gates"]),
        warnings=tuple(document["warnings"]),
        missing_prediction_labels=_frozen(document["missing_prediction_labels"]),
        ignored_prediction_labels=_frozen(document["ignored_prediction_labels"]),
        coverage=tuple(CoverageResult(**_identified(row)) for row in document.get("coverage", ())),
        agreements=tuple(
            AgreementResult(**_identified(row, "raters", "values", "disagreements"))
            for row in document.get("agreements", ())
        ),
        prompts=tuple(PromptUsed(**row) for row in document.get("prompts", ())),
        intervals=_intervals(document.get("intervals")),
        comparisons=tuple(
            ComparisonResult(**_identified(row, "interval"))
            for row in document.get("comparisons", ())
        ),
        searches=tuple(map(_search, document.get("searches", ()))),
        problems=tuple(
            ProblemResult(**_identified(row, "sample_ids")) for row in document["problems"]
        ),
        insights=tuple(
            InsightResult(**row | {name: tuple(row[name]) for name in ("models", "sample_ids")})
            for row in document["insights"]
        ),
    )


def _intervals(row: Mapping[str, Any] | None) -> IntervalsResult | None:
    return None if row is None else IntervalsResult(**row)


def _search(row: Mapping[str, Any]) -> SliceSearchResult:
    found = tuple(FoundSlice(**one) for one in row["found"])
    return SliceSearchResult(**_identified(row, "columns") | {"found": found})


def _run_info(run: Mapping[str, Any]) -> RunInfo:
    kept = {name: run[name] for name in RunInfo.__slots__ if name in run}
    return RunInfo(
        **{
            **kept,
            "inputs": tuple(InputFile(**file) for file in run["inputs"]),
            "models_used": tuple(run["models_used"]),
            "usage": tuple(UsageResult(**row) for row in run.get("usage", ())),
        }
    )


def _identified(row: Mapping[str, Any], *columns: str) -> dict[str, Any]:
    """A row with its parameters, and those columns, as the record has them."""
    frozen = {name: _frozen(row[name]) for name in columns if name != "parameters"}
    return {**row, **frozen, "parameters": _all_frozen(row["parameters"])}


def _example(row: Mapping[str, Any]) -> ExampleResult:
    picture = row["picture"]
    return ExampleResult(
        **{
            **_identified(row),
            "picture": None if picture is None else Picture(**picture),
            "objects": tuple(ExampleObject(**one) for one in row["objects"]),
            "texts": tuple(
                ShownText(**one | {"marks": tuple(map(tuple, one["marks"]))})
                for one in row.get("texts", ())
            ),
            "verdicts": tuple(Verdict(**one) for one in row.get("verdicts", ())),
        }
    )


def _frozen(value: Any) -> Any:
    """Lists as tuples, two levels deep: columns and matrices have no deeper ones."""
    if isinstance(value, list):
        return tuple(tuple(item) if isinstance(item, list) else item for item in value)
    if isinstance(value, dict):
        return {
            name: tuple(item) if isinstance(item, list) else item for name, item in value.items()
        }
    return value


def _all_frozen(value: Any) -> Any:
    """Lists as tuples, however deep."""
    if isinstance(value, list):
        return tuple(map(_all_frozen, value))
    if isinstance(value, dict):
        return {name: _all_frozen(item) for name, item in value.items()}
    return value
