"""Write files atomically: to a temporary name, then renamed."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

_LEFT = re.compile(r"\.(?P<name>.+)\.(?P<pid>[0-9]{1,10})\.(?P<kind>tmp|old)", re.DOTALL)


def temporary(path: Path, kind: str = "tmp") -> Path:
    """The temporary path for a new file at `path`, or ("old") for the file it replaces."""
    return path.parent / f".{path.name}.{os.getpid()}.{kind}"


def put(temporary: Path, path: Path, *, synced: bool = True) -> None:
    """Rename a file to its place.

    Args:
        temporary: The file.
        path: Its place.
        synced: Whether to wait until its bytes are on the disk, about 10 ms a file. Otherwise a
            power cut may leave an empty file in place of the old one: enough for what can be made
            again from another file.

    Raises:
        OSError: It cannot be renamed, or the disk does not take its bytes.
    """
    if synced:
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
    os.replace(temporary, path)


def clear(folder: Path, is_own: Callable[[str], bool]) -> None:
    """Remove temporary files of runs that were killed.

    What belongs to a process that is alive stays, and so does the only copy of an output.

    Args:
        folder: Where they are looked for; it need not exist.
        is_own: Whether a file of that name may have been written there.
    """
    try:
        with os.scandir(folder) as entries:
            found = [(entry, _LEFT.fullmatch(entry.name)) for entry in entries]
    except OSError:
        return
    for entry, left in found:
        if left is None or not is_own(left["name"]) or _is_alive(int(left["pid"])):
            continue
        if left["kind"] == "old" and not os.path.lexists(folder / left["name"]):
            continue
        try:
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)
        except OSError:
            continue  # of another user


def _is_alive(pid: int) -> bool:
    """Whether another process of this number runs here.

    A file with this process's own number is left of one before: in a container all have number 1.
    """
    if pid == os.getpid():
        return False
    if os.name != "posix":
        return True  # to Windows a signal 0 is Ctrl-C
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        pass
    return True
