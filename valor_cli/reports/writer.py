"""Write report files atomically."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from valor_cli.atomic_files import clear, put, temporary
from valor_cli.errors import DataError, Problem, UnknownNameError, did_you_mean
from valor_cli.masking import masked_bytes
from valor_cli.results import EmbeddedImages, RunResult

if TYPE_CHECKING:
    from valor_cli.reports.document import Document

FILES = {
    "json": "results.json",
    "markdown": "report.md",
    "html": "report.html",
    "junit": "junit.xml",
    "csv": "results.csv",
}
"""The file each format is written to."""

TEXTS = tuple(name for name in FILES if name != "html")
"""Formats that go to a standard output; a page with pictures is a file."""

SAMPLES = "samples.jsonl"
"""Values of single samples, written with json where there are any."""

RESAMPLES = "resamples.jsonl"
"""Values at every resample, likewise."""

EVIDENCE = "evidence.bin"
"""What values rest on that were not resampled, likewise."""

BESIDE: Final = "report_files"
"""The folder of files that report.html reads."""

IMAGES: Final = f"{BESIDE}/images"
"""The folder of images in it."""

OWN: Final = re.compile(r"[a-z]+(?:-[0-9a-f]+)+\.(?:js|jpg|png)")
"""Names of files in these folders, as tile-0.js: others there are somebody's own."""

OBJECTS = "objects.bin"
"""Every object of a detection run with its outcome, likewise."""

SLICES = "slices.bin"
"""Which samples are in which slices, likewise."""

DATA: Final = (SAMPLES, RESAMPLES, EVIDENCE, OBJECTS, SLICES)
"""What is written with json, where there is any."""

Content: TypeAlias = bytes | Iterable[bytes | memoryview]
"""What a file holds, all at once or one part after the other."""


class Page(NamedTuple):
    """A report that reads files beside it.

    Attributes:
        content: Of its own file.
        beside: Of the files in `BESIDE` that it reads, by name below it: "tile-0.js".
    """

    content: Content
    beside: Mapping[str, Content]


class Rendered:
    """A run as renderers get it; the document is made once, and only if something shows it."""

    def __init__(self, result: RunResult, pictures: EmbeddedImages) -> None:
        self.result = result
        self.pictures = pictures

    @cached_property
    def document(self) -> Document:
        """What pages show."""
        from valor_cli.reports.sections.report import report

        return report(self.result)


Render = Callable[[Rendered], Content | Page]

_FOLDERS = (IMAGES, BESIDE)
_NO_PICTURES = EmbeddedImages()
_FOLDER = "name another folder with --out DIR"
_FILE = "name another file"


def write_reports(
    result: RunResult,
    out: Path,
    formats: Sequence[str],
    pictures: EmbeddedImages = _NO_PICTURES,
    *,
    beside: bool = False,
) -> list[Path]:
    """Write the requested formats into `out`, as `write_rendered`."""
    return write_rendered(Rendered(result, pictures), out, formats, beside=beside)


def write_rendered(
    run: Rendered, out: Path, formats: Sequence[str], *, beside: bool = False
) -> list[Path]:
    """Write the requested formats into `out`, in order.

    Existing files of other formats, or of per-sample values, are removed: they would be taken for
    this run's.

    Args:
        run: The run. Images that it links to in `IMAGES` are there already.
        out: The folder, made if there is none.
        formats: Names in `FILES`; json brings those of `DATA` that there is something for.
        beside: Whether existing files belong to this run and are kept.

    Raises:
        UnknownNameError: There is no such format.
        DataError: As `write_files`.
    """
    result, pictures = run.result, run.pictures
    names = list(dict.fromkeys(formats))
    tables = {
        SAMPLES: bool(result.samples),
        RESAMPLES: bool(result.resamples),
        EVIDENCE: bool(result.evidence),
        OBJECTS: bool(result.objects),
        SLICES: bool(result.slices),
    }
    if "json" in names:
        names += [name for name, there in tables.items() if there]
    renderers = {name: _renderer(name) for name in names}
    rendered = {FILES.get(name, name): render(run) for name, render in renderers.items()}
    known = () if beside else (*FILES.values(), *tables)
    stale = [name for name in known if name not in rendered]
    linked = {*pictures.links.values(), *pictures.overlay_links.values()}
    if beside:
        linked.update(_own_files(out, IMAGES))
    return write_files(out, rendered, stale, linked=linked)


def content_of(result: RunResult, name: str) -> bytes:
    """The content of a format's file, without pictures.

    Raises:
        UnknownNameError: There is no such format.
    """
    made = _renderer(name)(Rendered(result, _NO_PICTURES))
    content = made.content if isinstance(made, Page) else made
    return content if isinstance(content, bytes) else b"".join(content)


def write_files(
    out: Path,
    contents: Mapping[str, Content | Page],
    stale: Sequence[str] = (),
    *,
    linked: Collection[str] = (),
    hint: str = _FOLDER,
) -> list[Path]:
    """Write files into one folder atomically.

    Each is written beside its place before the first is renamed. So each file is whole, the new
    one or what stood there before; only a failed rename can leave some new beside some old, and
    the error names the new ones.

    What a page reads in `BESIDE` is written before it in the same way. What an earlier page read
    there is removed once report.html is new or stale.

    Args:
        out: The folder, made if there is none.
        contents: Of each file, by its name.
        stale: Names of files to remove, if present, once the others are written.
        linked: Names of files in `BESIDE` that stay, as "report_files/images/image-0.jpg".
        hint: The next step, where that fails.

    Returns:
        The files, in the order of `contents`.

    Raises:
        DataError: The folder or a file cannot be written; no half-written file is left behind.
    """
    files: dict[str, Content] = {}
    for name, content in contents.items():
        if isinstance(content, Page):
            files |= {f"{BESIDE}/{one}": what for one, what in content.beside.items()}
            files[name] = content.content
        else:
            files[name] = content
    waiting = {out / name: temporary(out / name) for name in files}
    clear(out, {*contents, *FILES.values(), *DATA}.__contains__)
    for folder in _FOLDERS:
        clear(out / folder, is_own)
    paged = FILES["html"] in (*contents, *stale)
    if paged:
        found = (name for folder in _FOLDERS for name in _own_files(out, folder))
        stale = [*stale, *(name for name in found if name not in files and name not in linked)]
    at = out
    new: list[str] = []
    try:
        for at in dict.fromkeys((out, *(target.parent for target in waiting))):
            at.mkdir(parents=True, exist_ok=True)
        for target, content in zip(waiting, files.values(), strict=True):
            at = target
            if target.is_dir():
                raise IsADirectoryError(None, "a folder has the name of the file")
            if isinstance(content, bytes):
                waiting[target].write_bytes(masked_bytes(content))
                continue
            with waiting[target].open("wb") as file:
                # Arrays, which come as memory, hold no text.
                file.writelines(
                    masked_bytes(one) if isinstance(one, bytes) else one for one in content
                )
        for at, written in waiting.items():
            # The other reports can be rendered again from it.
            put(written, at, synced=at.name == FILES["json"])
            if at.parent == out:
                new.append(at.name)
        for name in stale:
            at = out / name
            if not at.is_dir():
                at.unlink(missing_ok=True)
    except OSError as error:
        message = f"cannot be written: {error.strerror or error}"
        if new:
            message += f"; already written: {', '.join(new)}"
        raise DataError(Problem(str(at), message), hint=hint) from error
    finally:
        for written in waiting.values():
            with contextlib.suppress(OSError):  # renamed, or never written
                written.unlink()
        for folder in _FOLDERS * paged:
            with contextlib.suppress(OSError):  # there is something in it
                (out / folder).rmdir()
    return [out / name for name in contents]


def write_file(path: Path, content: bytes) -> Path:
    """Write a file atomically, creating its folder.

    Raises:
        DataError: It cannot be written.
    """
    return write_files(path.parent, {path.name: content}, hint=_FILE)[0]


def is_own(name: str) -> bool:
    """Whether a file in `BESIDE` or `IMAGES` is one that reports write, by its name."""
    return OWN.fullmatch(name) is not None


def _own_files(out: Path, folder: str) -> list[str]:
    """Names of the files that reports have written to a folder beside the page."""
    try:
        names = sorted(os.listdir(out / folder))
    except OSError:  # there is none
        return []
    return [f"{folder}/{name}" for name in names if is_own(name)]


def _renderer(name: str) -> Render:
    """A format's renderer, imported on use."""
    found = _of_rows(name) or _of_pages(name)
    if found is None:
        message = f"there is no report format '{name}'{did_you_mean(name, FILES)}"
        raise UnknownNameError(Problem("formats", message), hint=f"formats: {', '.join(FILES)}")
    return found


def _of_rows(name: str) -> Render | None:
    """What programs read."""
    if name == "json":
        from valor_cli.results.document import to_json

        return lambda run: to_json(run.result)
    if name == SAMPLES:
        from valor_cli.reports.files.samples_jsonl import jsonl_blocks

        return lambda run: jsonl_blocks(run.result)
    if name == RESAMPLES:
        from valor_cli.reports.files import resamples_jsonl

        return lambda run: resamples_jsonl.to_jsonl(run.result)
    if name == EVIDENCE:
        from valor_cli.reports.files import evidence_bin

        return lambda run: evidence_bin.to_blocks(run.result)
    if name == OBJECTS:
        from valor_cli.reports.files import objects_bin

        return lambda run: objects_bin.to_blocks(run.result)
    if name == SLICES:
        from valor_cli.reports.files import slices_bin

        return lambda run: slices_bin.to_blocks(run.result)
    if name == "csv":
        from valor_cli.reports.files.csv_rows import to_csv

        return lambda run: to_csv(run.result)
    return None


def _of_pages(name: str) -> Render | None:
    """Formats for people, and what shows them."""
    if name == "junit":
        from valor_cli.reports.files.junit import to_junit

        return lambda run: to_junit(run.result)
    if name == "markdown":
        from valor_cli.reports.render.markdown import to_markdown

        return lambda run: to_markdown(run.document).encode()
    if name == "html":
        from valor_cli.reports.explorer.data import explorer_of
        from valor_cli.reports.render.html import to_html

        def page(run: Rendered) -> Page:
            explored = explorer_of(run.result, run.pictures)
            linked = bool(run.pictures.links or run.pictures.overlay_links)
            text = to_html(run.document, explored, linked=linked)
            return Page(text.encode(), {} if explored is None else explored.files)

        return page
    return None
