"""Checks as configs write them: which there are, and what is wrong with others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from valor_cli.evaluators.structure.checks import _KINDS, Check, Checks, check_of
from valor_cli.evaluators.structure.metrics.agent_sanity import SANE

CHECKS: TypeAdapter[Any] = TypeAdapter(Checks)


def validated(*checks: Any, folder: str = "") -> Any:
    return CHECKS.validate_json(json.dumps(checks), context={"folder": folder})


def test_each_kind_has_its_name() -> None:
    assert {kind.model_fields["check"].annotation for kind in get_args(Check)} == {
        kind.model_fields["check"].annotation for kind in _KINDS.values()
    }
    for name, kind in _KINDS.items():
        assert get_args(kind.model_fields["check"].annotation) == (name,)


def test_checks_are_written_out_with_every_key() -> None:
    found = validated(
        {"check": "parses"},
        {"check": "min_size", "path": "a", "bytes": 3},
        {"check": "json_schema", "path": "a", "schema": {"type": "object"}},
        {"check": "regex", "path": "a", "pattern": "x"},
        {"check": "layout", "paths": ["a", "b/*"]},
    )
    assert json.loads(json.dumps(found)) == [
        {"check": "parses", "path": "**/*", "format": None},
        {"check": "min_size", "path": "a", "bytes": 3},
        {"check": "json_schema", "path": "a", "schema": {"type": "object"}},
        {"check": "regex", "path": "a", "pattern": "x", "expected": "found"},
        {"check": "layout", "paths": ["a", "b/*"]},
    ]
    again = [check_of(one) for one in found]
    assert [type(one) for one in again] == [_KINDS[one["check"]] for one in found]


def test_the_default_is_what_a_config_would_make_of_it() -> None:
    given = [{key: value for key, value in one.items() if value is not None} for one in SANE]
    assert validated(*given) == SANE


def test_a_schema_may_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"type": "array"}')
    (found,) = validated(
        {"check": "json_schema", "path": "a", "schema": "s.json"}, folder=str(tmp_path)
    )
    # The path stands in results; the schema goes along.
    assert json.dumps(found["schema"]) == '"s.json"'
    assert found["schema"].document == {"type": "array"}


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ({"check": "regx"}, r"one of exists, layout, .* \(did you mean 'regex'\?\)"),
        ({"path": "a"}, "expected a mapping whose `check` is one of exists"),
        ({"check": ["exists"]}, "expected a mapping whose `check` is one of exists"),
        ({"check": "exists"}, "Field required"),
        ({"check": "exists", "path": "a", "more": 1}, "not permitted"),
        ({"check": "exists", "path": ""}, "expected a path inside the folder"),
        ({"check": "exists", "path": "/etc/passwd"}, "expected a path inside the folder"),
        ({"check": "exists", "path": "../a"}, "without '.', '..'"),
        ({"check": "exists", "path": "a/../../b"}, "without '.', '..'"),
        ({"check": "exists", "path": "a//b"}, "without '.', '..'"),
        ({"check": "exists", "path": "a\\b"}, "expected a path inside the folder"),
        ({"check": "exists", "path": "a\0"}, "expected a path inside the folder"),
        ({"check": "layout", "paths": []}, "at least 1 item"),
        ({"check": "layout", "paths": ["a", "../b"]}, "without '.', '..'"),
        ({"check": "min_size", "path": "a", "bytes": 0}, "greater than or equal to 1"),
        ({"check": "min_size", "path": "a", "bytes": "3"}, "valid integer"),
        ({"check": "min_pages", "pages": 0}, "greater than or equal to 1"),
        ({"check": "parses", "format": "xml"}, "'json', 'jsonl', 'yaml' or 'csv'"),
        ({"check": "regex", "path": "a", "pattern": "("}, "not a regular expression: missing"),
        ({"check": "json_schema", "path": "a", "schema": {"type": "objec"}}, "no JSON Schema"),
        ({"check": "json_schema", "path": "a", "schema": "nowhere.json"}, "cannot read nowhere"),
        ("exists", "expected a mapping whose `check`"),
    ],
)
def test_what_is_wrong(check: Any, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        validated(check)


def test_checks_are_needed() -> None:
    with pytest.raises(ValidationError, match="at least 1 item"):
        validated()
