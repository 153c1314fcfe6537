"""Agent sanity: each kind of check, folders that are odd, and what reports say."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from PIL import Image

from tests.oracles.text_samples import found, measured, outcome, samples, values
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.evaluators.structure import artifact_files
from valor_cli.evaluators.structure.checks import check_of
from valor_cli.evaluators.structure.metrics import agent_sanity
from valor_cli.evaluators.structure.metrics.agent_sanity import AGENT_SANITY
from valor_cli.kernels.patterns import regex as patterns

FILES = Path("tests/real_data/text/artifacts")

UNQUOTED = "expecting property name enclosed in double quotes at"


def write(folder: Path, **files: bytes) -> None:
    """Files by name; `_` stands for the dot, `__` for the slash."""
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def checked(folder: Path | str, *checks: dict[str, Any]) -> Outcome:
    data = samples(["x"], artifacts=[str(folder)])
    parameters = {"checks": checks} if checks else {}
    return outcome(measured(AGENT_SANITY, data, **parameters), 0)


def results(found: Outcome) -> list[tuple[str, str, bool | None, str | None]]:
    assert found.details is not None
    return [tuple(one.values()) for one in found.details["results"]]


def reason(folder: Path, check: dict[str, Any]) -> str | None:
    """Why the only file does not pass; None where it does."""
    ((_, _, passed, why),) = results(checked(folder, check))
    assert passed is (why is None)
    return why


def test_without_configuration(tmp_path: Path) -> None:
    write(tmp_path, report_md=b"# Done", log_txt=b" \n")
    write(tmp_path, data__a_json=b'{"a": 1}', data__b_json=b"{")
    found = checked(tmp_path)
    # There is a file; of four one is white space; of two JSON files one parses: 5 of 7.
    assert found.values == {"value": 1 - 2 / 7}
    assert found.status == "ok"
    assert found.reason == "log.txt: nothing but white space (and 1 more)"
    assert found.details is not None
    assert (found.details["checks"], found.details["passed"]) == (7, 5)
    assert results(found)[:3] == [
        ("not_empty", "log.txt", False, "nothing but white space"),
        (
            "parses",
            "data/b.json",
            False,
            f"{UNQUOTED} line 1, column 2",
        ),
        ("exists", "**/*", True, None),
    ]


def test_all_passes(tmp_path: Path) -> None:
    write(tmp_path, a_json=b"[1]")
    found = checked(tmp_path)
    assert (found.values, found.reason) == ({"value": 1.0}, None)


def test_folders_that_are_not_there(tmp_path: Path) -> None:
    write(tmp_path, file_txt=b"x")
    for folder in (tmp_path / "nowhere", tmp_path / "file.txt"):
        found = checked(folder)
        assert (found.values, found.status) == ({"value": 0.0}, "ok")
        assert found.reason == "the artifacts folder does not exist"


def test_an_empty_folder(tmp_path: Path) -> None:
    assert checked(tmp_path).values == {"value": 0.0}
    assert checked(tmp_path).reason == "**/*: no such file"


def test_a_folder_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifact_files, "MOST_FILES", 1)
    write(tmp_path, a_txt=b"x", b_txt=b"x")
    found = checked(tmp_path)
    assert (found.values, found.status) == ({}, "parse_failure")
    assert found.reason == "the artifacts folder: more than 1 files"


def test_a_folder_that_cannot_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: str) -> None:
        raise PermissionError(13, "Permission denied", folder)

    monkeypatch.setattr(agent_sanity, "Artifacts", refuse)
    found = checked(tmp_path)
    assert (found.status, found.reason) == (
        "parse_failure",
        "the artifacts folder: Permission denied",
    )


def test_no_folder_is_missing_input() -> None:
    found = outcome(measured(AGENT_SANITY, samples(["x"])), 0)
    assert (found.status, found.reason) == ("missing_input", "no artifacts folder")


def test_paths_and_patterns_that_no_file_has(tmp_path: Path) -> None:
    write(tmp_path, a_txt=b"x")
    # A path has to be there; a pattern is about what is there.
    assert reason(tmp_path, {"check": "min_size", "path": "b", "bytes": 1}) == "no such file"
    found = checked(tmp_path, {"check": "min_size", "path": "*.b", "bytes": 1})
    assert (found.status, found.reason) == ("not_applicable", "no file that the checks are about")


def test_layout(tmp_path: Path) -> None:
    write(tmp_path, src__main_py=b"x", README_md=b"x")
    paths = ("src/*.py", "README.md", "tests/**", "src")
    found = checked(tmp_path, {"check": "layout", "paths": paths})
    assert [(path, passed) for _, path, passed, _ in results(found)] == [
        ("tests/**", False),
        ("src", False),
        ("src/*.py", True),
        ("README.md", True),
    ]


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.json", b'{"a": [1, 2.5e3, null]}', None),
        ("a.json", b'\xef\xbb\xbf{"a": 1}', None),
        ("a.json", b"", "the text is empty"),
        (
            "a.json",
            b"{'a': 1}",
            f"{UNQUOTED} line 1, column 2",
        ),
        ("a.json", b"NaN", "NaN is not a number in JSON"),
        ("a.json", b'"\xff"', "not UTF-8: byte 1"),
        ("a.JSON", b"{", f"{UNQUOTED} line 1, column 2"),
        ("a.jsonl", b'{"a": 1}\n\n[2]\r\n', None),
        (
            "a.jsonl",
            b"{}\n{]\n",
            f"line 2: {UNQUOTED} column 2",
        ),
        ("a.ndjson", b" \n", "the text is empty"),
        ("a.yaml", b"a: &x [1, 2]\nb: *x\n---\nc: 1\n", None),
        ("a.yml", b"a: [1\nb: 2\n", "did not find expected ',' or ']' at line 2, column 2"),
        ("a.yaml", b"a: &x 1\n---\nb: *x\n", "undefined alias at line 3, column 4"),
        ("a.yaml", b"a: \x07", "control characters are not allowed"),
        ("a.yaml", b"!!python/object/apply:os.system ['true']", None),
        ("a.csv", b'a,b\n1,"2\n3"\n\n4,5\n', None),
        ("a.csv", b"a;b\n1,5;2\n", None),
        ("a.tsv", b"a\tb\n1\t2\n", None),
        ("a.csv", b"a,b\n1,2\n3\n", "line 3: 1 fields, and the header has 2"),
        ("a.csv", b'a,b\n1,"2\n', "line 2: unexpected end of data"),
        ("a.csv", b"\n\n", "the text is empty"),
    ],
)
def test_parses(tmp_path: Path, name: str, content: bytes, why: str | None) -> None:
    (tmp_path / name).write_bytes(content)
    assert reason(tmp_path, {"check": "parses", "path": "**/*", "format": None}) == why


def test_parses_as_it_is_told(tmp_path: Path) -> None:
    write(tmp_path, a_txt=b"{", b_bin=b"\0")
    found = checked(tmp_path, {"check": "parses", "path": "**/*", "format": None})
    assert found.status == "not_applicable"
    assert reason(tmp_path, {"check": "parses", "path": "*.txt", "format": "json"}) is not None
    assert reason(tmp_path, {"check": "parses", "path": "*.txt", "format": "csv"}) is None


def test_aliases_do_not_multiply(tmp_path: Path) -> None:
    # A billion values, were they built.
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"]
    lines += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    write(tmp_path, a_yaml="\n".join(lines).encode(), b_yaml=b"[" * 500)
    found = checked(tmp_path, {"check": "parses", "path": "**/*", "format": None})
    assert [(path, passed) for _, path, passed, _ in results(found)] == [
        ("b.yaml", None),
        ("a.yaml", True),
    ]
    assert found.reason == "b.yaml: it is nested deeper than the 100 levels that are read"


def test_sizes(tmp_path: Path) -> None:
    write(tmp_path, a_bin=b"12345")
    assert reason(tmp_path, {"check": "min_size", "path": "*", "bytes": 5}) is None
    assert (
        reason(tmp_path, {"check": "min_size", "path": "*", "bytes": 6}) == "5 bytes, fewer than 6"
    )


def test_pages(tmp_path: Path) -> None:
    picture, file = Image.new("L", (8, 8)), io.BytesIO()
    picture.save(file, "pdf", save_all=True, append_images=[picture])
    write(tmp_path, a_pdf=file.getvalue())
    assert reason(tmp_path, {"check": "min_pages", "path": "a.pdf", "pages": 2}) is None
    why = reason(tmp_path, {"check": "min_pages", "path": "a.pdf", "pages": 3})
    assert why == "2 pages, fewer than 3"
    write(tmp_path, a_pdf=b"plain text")
    assert reason(tmp_path, {"check": "min_pages", "path": "a.pdf", "pages": 1}) == "not a PDF"


def test_pages_that_cannot_be_counted() -> None:
    found = checked(FILES, {"check": "min_pages", "path": "*.pdf", "pages": 7})
    assert (found.values, found.status) == ({}, "parse_failure")
    assert found.reason == (
        "encrypted_object_streams.pdf: its pages cannot be counted: "
        "no page tree that can be followed"
    )
    assert [(path, passed) for _, path, passed, _ in results(found)] == [
        ("encrypted_object_streams.pdf", None),
        ("eight_pages_after_an_update.pdf", True),
        ("seven_pages_in_object_streams.pdf", True),
    ]


def test_schemas(tmp_path: Path) -> None:
    write(tmp_path, a_json=b'{"a": {"b": "sk-secret"}}')
    schema = {"properties": {"a": {"properties": {"b": {"type": "integer"}}}}}
    check = {"check": "json_schema", "path": "a.json", "schema": schema}
    # Its values are not told.
    assert reason(tmp_path, check) == "$.a.b: does not keep to 'type'"
    assert reason(tmp_path, {**check, "schema": {"required": ["a"]}}) is None
    write(tmp_path, a_json=b"{")
    assert reason(tmp_path, check) is not None


def test_patterns(tmp_path: Path) -> None:
    write(tmp_path, a_txt="naïve text".encode())
    check = {"check": "regex", "path": "a.txt", "pattern": "na.ve", "expected": "found"}
    assert reason(tmp_path, check) is None
    assert reason(tmp_path, {**check, "expected": "absent"}) == "the pattern is found"
    assert reason(tmp_path, {**check, "pattern": "x$"}) == "the pattern is not found"


def test_a_pattern_that_takes_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*arguments: object) -> None:
        raise patterns.PatternTimeout("took longer than 1 s")

    monkeypatch.setattr(patterns.Patience, "search", stopped)
    write(tmp_path, a_txt=b"aaaa", b_txt=b"")
    check = {"check": "regex", "path": "a.txt", "pattern": "(a|a)+$", "expected": "found"}
    found = checked(tmp_path, check, {"check": "not_empty", "path": "**/*"})
    # What cannot be told is told before what does not pass.
    assert (found.values, found.status) == ({}, "parse_failure")
    assert found.reason == "a.txt: the pattern took longer than 1 s (and 1 more)"
    assert [passed for _, _, passed, _ in results(found)] == [None, False, True]


def test_files_that_are_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifact_files, "LARGEST", 3)
    write(tmp_path, a_json=b"[1, 2]")
    found = checked(tmp_path, {"check": "parses", "path": "**/*", "format": None})
    assert (found.status, found.reason) == ("parse_failure", "a.json: 6 bytes; at most 3 are read")


def test_a_warning_where_no_folder_is_there(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    nowhere = [str(tmp_path / "a"), str(tmp_path / "b"), None]
    report = found(AGENT_SANITY, samples(["x"] * 3, artifacts=nowhere))
    (warning,) = report.warnings
    assert warning == (
        "agent_sanity: none of 2 artifacts folders exists; paths under `artifacts` start from the "
        "folder of the samples' file, or from `data.artifacts`"
    )
    assert report.values[0].value == 0
    assert report.samples is not None
    assert [one.kind for one in report.examples] == ["worst_sample"] * 2
    some = samples(["x"] * 2, artifacts=[nowhere[0], str(tmp_path / "there")])
    assert not found(AGENT_SANITY, some).warnings


def test_means(tmp_path: Path) -> None:
    write(tmp_path, a__x_json=b"[]", b__x_json=b"[")
    folders = [str(tmp_path / "a"), str(tmp_path / "b"), str(tmp_path / "c"), None]
    data = samples(["x"] * 4, artifacts=folders)
    # 3/3, 2/3 and 0.
    assert values(AGENT_SANITY, data)["value"] == pytest.approx(5 / 9, abs=1e-15)


def test_details_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_sanity, "LISTED", 2)
    write(tmp_path, a_txt=b"x", b_txt=b"x", c_txt=b"")
    found = checked(tmp_path)
    assert found.details is not None
    assert found.details["checks"] == 4
    assert [(name, path) for name, path, _, _ in results(found)] == [
        ("not_empty", "c.txt"),
        ("exists", "**/*"),
    ]


def test_names_are_shown_safely(tmp_path: Path) -> None:
    (tmp_path / "ann@example.com\u202e.json").write_text("{")
    (tmp_path / b"\xff.json".decode("utf-8", "surrogateescape")).write_text("{")
    data = replace(
        samples(["x"], artifacts=[str(tmp_path)]),
        secrets=lambda text: [(0, 15)] if text.startswith("ann@") else [],
    )
    found = outcome(measured(AGENT_SANITY, data), 0)
    told = json.dumps([found.reason, found.details], ensure_ascii=False)
    told.encode("utf-8")
    assert "ann" not in told
    assert "•••@•••••••.•••\\\\u202e.json" in told
    assert "\ufffd.json" in told


def test_the_default_checks_can_be_made() -> None:
    assert [check_of(one).check for one in agent_sanity.SANE] == ["exists", "not_empty", "parses"]
