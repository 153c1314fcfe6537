"""Build the compiled kernel during the package build.

Without a compiler the package is built without the kernel, and NumPy is used instead.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = Path(__file__).parent
MODULE = "valor_cli.kernels._compiled"
REQUIRED = "VALOR_REQUIRE_KERNEL"
"""Set to 1, as for wheels that are published, a build without the kernel fails."""

GNU = [
    *("-O3", "-g0", "-std=c11", "-Wall", "-Wextra", "-Werror=implicit", "-fvisibility=hidden"),
    # a * b + c in one instruction rounds once where the references round twice.
    "-ffp-contract=off",
    # Loops that are marked work on several numbers at once; nothing is linked for it.
    "-fopenmp-simd",
    # Sums and products in double precision, on old 32-bit processors too.
    *(("-msse2", "-mfpmath=sse") if sysconfig.get_platform() in ("linux-i686", "win32") else ()),
]
MSVC = ["/O2", "/std:c11", "/fp:precise"]


class KernelHook(BuildHookInterface[Any]):
    """Compiles valor_cli/kernels/c into one module of Python's stable ABI."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the kernel, and say what the wheel is for.

        Args:
            version: "standard", or "editable" for a checkout.
            build_data: What hatchling puts into the wheel.
        """
        if self.target_name != "wheel":
            return
        self._folder = tempfile.mkdtemp(prefix="valor-kernel-")
        try:
            built = build(Path(self._folder))
        except (
            BaseException
        ) as error:  # A compiler that fails raises what it likes, SystemExit too.
            if os.environ.get(REQUIRED) == "1" or isinstance(error, KeyboardInterrupt):
                shutil.rmtree(self._folder, ignore_errors=True)
                raise
            self.app.display_warning(f"without the compiled kernel: {error}")
            return
        inside = Path("valor_cli/kernels", built.name)
        if version == "editable":
            put(built, Path(self.root, inside))
        else:
            build_data["force_include"][str(built)] = str(inside)
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{_platform()}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Leave nothing behind."""
        shutil.rmtree(getattr(self, "_folder", ""), ignore_errors=True)


def build(folder: Path, more: tuple[str, ...] = ()) -> Path:
    """Compile the kernel into a folder.

    Args:
        folder: Where the module and what is made on the way are put.
        more: Further options for compiler and linker.

    Returns:
        The module's file.
    """
    # Only where something is built.
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    class BuildExt(build_ext):  # type: ignore[misc] # setuptools has no types
        """As setuptools builds, but a file on each core: it compiles them one after the other."""

        def build_extensions(self) -> None:
            compile_all = self.compiler.compile

            def side_by_side(sources: list[str], **options: Any) -> list[str]:
                with ThreadPoolExecutor(os.cpu_count()) as pool:
                    made = pool.map(lambda source: compile_all([source], **options), sources)
                    return [each for objects in made for each in objects]

            self.compiler.compile = side_by_side
            super().build_extensions()

    gnu = not (sys.platform == "win32" and "MSC" in sys.version)
    kernel = Extension(
        MODULE,
        sorted(os.path.relpath(source) for source in HERE.glob("*.c")),
        depends=[str(header) for header in HERE.glob("*.h")],
        define_macros=[("Py_LIMITED_API", "0x030B0000")],
        extra_compile_args=[*(GNU if gnu else MSVC), *more],
        extra_link_args=[*more],
        py_limited_api=True,
    )
    command = BuildExt(Distribution({"ext_modules": [kernel]}))
    command.build_lib, command.build_temp = str(folder / "lib"), str(folder / "temp")
    command.ensure_finalized()
    command.run()
    return Path(*command.get_outputs())


def put(module: Path, place: Path) -> None:
    """Copy a module to its place; processes that have the old one keep it."""
    beside = place.with_name(f"{place.name}.{os.getpid()}")
    shutil.copy(module, beside)
    os.replace(beside, place)


def _platform() -> str:
    """The platform tag of the wheel."""
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


if __name__ == "__main__":
    # Into the checkout: python valor_cli/kernels/c/hatch_build.py [options of the compiler]
    with tempfile.TemporaryDirectory() as scratch:
        made = build(Path(scratch), tuple(sys.argv[1:]))
        put(made, HERE.parent / made.name)
