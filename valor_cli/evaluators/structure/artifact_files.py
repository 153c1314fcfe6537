"""List and read the files of an artifacts folder.

Links are not followed, and nothing outside the folder is read.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from fnmatch import translate
from functools import lru_cache
from typing import NamedTuple

MOST_FILES = 10_000
"""Files of a folder that are looked at."""

DEEPEST = 50
"""Folders inside each other that are looked into."""

LARGEST = 1 << 26
"""Bytes of a file that are read."""


class TooMuchError(Exception):
    """Content that was skipped because of its size."""


class UnusableFileError(Exception):
    """A file that cannot be read."""


class ArtifactFile(NamedTuple):
    """A file: its path in the folder, with `/`, and its size in bytes."""

    path: str
    size: int


class Artifacts:
    """The files of a folder, in the order of their paths.

    Raises:
        OSError: The folder cannot be listed.
        TooMuchError: It holds more than `MOST_FILES` files, or deeper folders than `DEEPEST`.
    """

    __slots__ = ("_folder", "files")

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.files = sorted(_walk(folder))

    def matching(self, pattern: str) -> list[ArtifactFile]:
        """The files that match a path or pattern."""
        parts = pattern.split("/")
        return [file for file in self.files if _matches(file.path.split("/"), parts)]

    def read(self, file: ArtifactFile) -> bytes:
        """The content of a file.

        Raises:
            UnusableFileError: It cannot be read, or is no ordinary file any more.
            TooMuchError: It has more than `LARGEST` bytes.
        """
        if file.size > LARGEST:
            raise TooMuchError(f"{file.size:,} bytes; at most {LARGEST:,} are read")
        # A pipe would wait for ever, and a link lead out of the folder.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            handle = os.open(os.path.join(self._folder, file.path), flags)
            with open(handle, "rb") as opened:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    raise UnusableFileError("no ordinary file")
                return opened.read(LARGEST)
        except OSError as error:
            raise UnusableFileError(f"cannot be read: {error.strerror or error}") from None


def _walk(folder: str) -> Iterator[ArtifactFile]:
    todo, count = [("", 0)], 0
    while todo:
        inner, depth = todo.pop()
        if depth > DEEPEST:
            raise TooMuchError(f"folders more than {DEEPEST} levels deep")
        with os.scandir(os.path.join(folder, inner)) as entries:
            for entry in entries:
                path = f"{inner}/{entry.name}" if inner else entry.name
                if entry.is_dir(follow_symlinks=False):
                    todo.append((path, depth + 1))
                elif entry.is_file(follow_symlinks=False):
                    count += 1
                    yield ArtifactFile(path, entry.stat(follow_symlinks=False).st_size)
                if count > MOST_FILES or len(todo) > MOST_FILES:
                    raise TooMuchError(f"more than {MOST_FILES:,} files")


def is_pattern(path: str) -> bool:
    """Whether a path is a pattern."""
    return any(each in path for each in "*?[")


@lru_cache(maxsize=1024)
def _part(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern))


def _matches(path: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether the parts of a path are those of a pattern, in which ** stands for any number."""
    # The beginnings of the pattern that the path so far fits.
    fits = _with_none({0}, pattern)
    for part in path:
        nexts = set()
        for at in fits:
            if at < len(pattern):
                if pattern[at] == "**":
                    nexts.add(at)
                elif _part(pattern[at]).match(part):
                    nexts.add(at + 1)
        fits = _with_none(nexts, pattern)
    return len(pattern) in fits


def _with_none(fits: set[int], pattern: Sequence[str]) -> set[int]:
    """With the beginnings that go on by ** standing for no part at all."""
    for at in range(len(pattern)):
        if at in fits and pattern[at] == "**":
            fits.add(at + 1)
    return fits
