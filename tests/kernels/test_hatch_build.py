"""The compiled kernel as a part of the package's build, with and without a compiler."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
pytest.importorskip("setuptools")
pytestmark = [
    pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler"),
    # What compiles is not this package's.
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture
def hatch_build(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("VALOR_REQUIRE_KERNEL", raising=False)
    path = ROOT / "valor_cli" / "kernels" / "c" / "hatch_build.py"
    spec = importlib.util.spec_from_file_location("hatch_build", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made(hatch_build: ModuleType, root: Path, version: str) -> tuple[Any, dict[str, Any]]:
    """The hook, and what it says of a wheel; editable builds put the module below `root`."""
    hook = hatch_build.KernelHook(str(root), {}, None, None, str(root), "wheel")
    data: dict[str, Any] = {"force_include": {}, "pure_python": True}
    hook.initialize(version, data)
    return hook, data


@pytest.mark.slow
def test_a_wheel_of_this_platform(hatch_build: ModuleType, tmp_path: Path) -> None:
    hook, data = made(hatch_build, tmp_path, "standard")
    ((source, place),) = data["force_include"].items()
    assert place.startswith("valor_cli/kernels/_compiled.")
    assert data["tag"].startswith("cp311-abi3-")
    assert data["pure_python"] is False
    spec = importlib.util.spec_from_file_location("_compiled", source)
    assert spec is not None
    assert spec.loader is not None
    kernel = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(kernel)
    assert kernel.REVISION
    hook.finalize("standard", data, "")
    assert not os.path.exists(source)


@pytest.mark.slow
def test_a_checkout_has_it_beside_its_modules(hatch_build: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "valor_cli" / "kernels"
    folder.mkdir(parents=True)
    hook, data = made(hatch_build, tmp_path, "editable")
    hook.finalize("editable", data, "")
    assert [path.name.partition(".")[0] for path in folder.iterdir()] == ["_compiled"]
    assert data["force_include"] == {}


def test_without_a_compiler_the_wheel_is_pure(
    hatch_build: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CC", "/bin/false")
    hook, data = made(hatch_build, tmp_path, "standard")
    hook.finalize("standard", data, "")
    assert data == {"force_include": {}, "pure_python": True}
    assert "without the compiled kernel" in "".join(capfd.readouterr())


def test_where_it_is_required_a_build_without_it_fails(
    hatch_build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "/bin/false")
    monkeypatch.setenv("VALOR_REQUIRE_KERNEL", "1")
    with pytest.raises(BaseException, match="false"):
        made(hatch_build, tmp_path, "standard")


def test_a_source_distribution_is_not_compiled(hatch_build: ModuleType, tmp_path: Path) -> None:
    hook = hatch_build.KernelHook(str(tmp_path), {}, None, None, str(tmp_path), "sdist")
    data: dict[str, Any] = {}
    hook.initialize("standard", data)
    hook.finalize("standard", data, "")
    assert data == {}
