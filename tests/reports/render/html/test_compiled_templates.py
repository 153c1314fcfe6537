"""Templates are compiled once, by the rules that Python has for its modules."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from jinja2 import Environment, FileSystemLoader
from valor_cli.reports.render.html.compiled_templates import CompiledTemplates


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    (tmp_path / "page.j2").write_text("Hello {{ name }}")
    return tmp_path


def rendered(folder: Path) -> str:
    page = Environment(
        loader=FileSystemLoader(folder), bytecode_cache=CompiledTemplates(folder), autoescape=True
    )
    return page.get_template("page.j2").render(name="<you>")


def compiled(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.pyc"))


def test_a_second_process_finds_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert rendered(folder) == "Hello &lt;you&gt;"
    assert [path.parent for path in compiled(folder)] == [folder / "__pycache__"]
    # Nothing else is left there.
    assert len(list(folder.rglob("*"))) == 3
    monkeypatch.setattr(Environment, "compile", None)
    assert rendered(folder) == "Hello &lt;you&gt;"


def test_a_changed_template_is_compiled_again(folder: Path) -> None:
    rendered(folder)
    (folder / "page.j2").write_text("Good bye {{ name }}")
    assert rendered(folder) == "Good bye &lt;you&gt;"
    assert rendered(folder) == "Good bye &lt;you&gt;"


@pytest.mark.parametrize("content", [b"", b"\0" * 9, b"half"])
def test_a_damaged_file_is_replaced(folder: Path, content: bytes) -> None:
    rendered(folder)
    (path,) = compiled(folder)
    whole = path.read_bytes()
    # Also one cut off after the part that says what it was compiled from.
    for broken in (content, whole[:-9]):
        path.write_bytes(broken)
        assert rendered(folder) == "Hello &lt;you&gt;"
        assert path.read_bytes() == whole


def test_where_python_writes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert rendered(folder) == "Hello &lt;you&gt;"
    assert not compiled(folder)


def test_a_folder_that_cannot_be_written(folder: Path) -> None:
    (folder / "__pycache__").write_text("a file stands in the way")
    assert rendered(folder) == "Hello &lt;you&gt;"


def test_another_folder_for_what_python_writes(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.setattr(sys, "pycache_prefix", str(elsewhere))
    rendered(folder)
    assert not compiled(folder)
    assert len(compiled(elsewhere)) == 1
