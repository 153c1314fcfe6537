"""Read test labs and results of H2O Eval Studio and Sonar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from valor_cli.data.json_records import Record, scalar_text

_LAB_ROW: Final = frozenset({"input", "actual_output", "model_key"})


def lab_rows(document: Record, rows: Sequence[Any]) -> list[Any]:
    """The rows of an H2O test lab, with model names for keys, and sample ids.

    A lab has every prompt once for each model. Rows of models with the same prompt are the same
    sample, whether or not their keys say so.
    """
    names = _lab_models(document)
    records = [row for row in rows if isinstance(row, dict)]
    models = {str(row.get("model_key")) for row in records}
    keys = Counter((str(row.get("model_key")), str(row.get("key") or "")) for row in records)
    shared = len({key for _, key in keys}) < len(keys) or len(models) == 1
    keyed = shared and all(key and count == 1 for (_, key), count in keys.items())
    counts: Counter[tuple[str, str]] = Counter()
    numbers: dict[tuple[str, int], str] = {}
    shaped: list[Any] = []
    for row in rows:
        if not isinstance(row, dict):
            shaped.append(row)
            continue
        model, prompt = str(row.get("model_key")), str(row.get("input"))
        counts[model, prompt] += 1
        number = numbers.setdefault((prompt, counts[model, prompt]), str(len(numbers) + 1))
        one = {name: value for name, value in row.items() if name != "model_key"}
        if model in names or "model_key" in row:
            one["model"] = names.get(model, row.get("model_key"))
        one["sample_id"] = row["key"] if keyed else number
        if not one.get("expected_output"):
            one["expected_output"] = None
        if not one.get("output_condition"):
            one["output_condition"] = _condition(one.get("output_constraints"))
        shaped.append(one)
    return shaped


def _condition(constraints: Any) -> str | None:
    """Older constraints as a condition: all of a list must hold, any of a list inside it."""
    found = constraints if isinstance(constraints, list) else []
    groups = [one if isinstance(one, list) else [one] for one in found]
    operands = [
        [_operand(one) for one in group if isinstance(one, str) and one] for group in groups
    ]
    parts = [
        f"({' OR '.join(group)})" if len(group) > 1 else group[0] for group in operands if group
    ]
    return " AND ".join(parts) or None


def _operand(constraint: str) -> str:
    """A constraint as an operand of a condition; a pattern begins with `REGEXP:`."""
    text = constraint.removeprefix("REGEXP:")
    quoted = '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return quoted if text == constraint else f"regexp({quoted})"


def is_lab(document: Mapping[str, Any]) -> bool:
    """Whether a JSON object is an H2O test lab."""
    dataset = document.get("dataset")
    return isinstance(dataset, dict) and isinstance(dataset.get("inputs"), list)


def has_lab_rows(rows: Sequence[Any]) -> bool:
    """Whether rows are of an H2O test lab or of its results."""
    return bool(rows) and isinstance(rows[0], dict) and rows[0].keys() >= _LAB_ROW


def _lab_models(document: Record) -> dict[str, str]:
    """Key of each model to its name: of its language model if that tells them apart."""
    models = [one for one in document.get("models") or () if isinstance(one, dict)]
    for name in ("llm_model_name", "name"):
        names = [scalar_text(one.get(name)) for one in models]
        if all(names) and len(set(names)) == len(names):
            return {str(one.get("key")): str(one[name]) for one in models}
    return {}
