"""What a page tells to add comes in; a copy of the package that has it, and its program, go out."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.docs.pages import ROOT, blocks, text_of

GAP = " ..."
"""The line of a diff that stands for lines that are not shown."""


class PackageCopy:
    """The package in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "valor_cli", folder / "valor_cli", ignore=ignored)

    def follow(self, page: str, added: Sequence[str], changed: Sequence[str]) -> None:
        """Do what a page tells to: its blocks of Python are files, its diffs change others."""
        for path in (*added, *changed):
            assert f"`{path}`" in text_of(page)
        for path, block in zip(added, blocks(page, "python"), strict=True):
            self.add(path, block.text)
        for path, block in zip(changed, blocks(page, "diff"), strict=True):
            self.change(path, block.text)

    def add(self, path: str, text: str) -> None:
        """A new file."""
        assert not (self.folder / path).exists(), path
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text, encoding="utf-8")

    def change(self, path: str, diff: str) -> None:
        """Lines of a file, of which each run that the diff shows stands in it once."""
        text = (self.folder / path).read_text(encoding="utf-8")
        for shown in diff.split(f"{GAP}\n"):
            lines = shown.splitlines(keepends=True)
            old = "".join(line[1:] for line in lines if line[0] in " -")
            new = "".join(line[1:] for line in lines if line[0] in " +")
            assert f"\n{text}".count(f"\n{old}") == 1, f"{path} has not once:\n{old}"
            text = f"\n{text}".replace(f"\n{old}", f"\n{new}")[1:]
        (self.folder / path).write_text(text, encoding="utf-8")

    def run(self, *command: str, code: int = 0) -> str:
        """What `python` prints with the copy in the place of the package."""
        done = subprocess.run(
            [sys.executable, *command],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder), "NO_PROXY": "*"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == code, (done.stdout, done.stderr)
        return done.stdout + done.stderr

    def valor(self, *arguments: str, code: int = 0) -> str:
        """What `valor` prints."""
        return self.run("-m", "valor_cli", *arguments, code=code)

    def pytest(self, test: str) -> str:
        """What pytest prints of a file of tests that passes."""
        return self.run("-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=.", test)
