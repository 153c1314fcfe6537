"""Images of a run for its HTML report: embedded, copied beside it, or linked."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Final
from urllib.parse import quote

from msgspec.structs import replace

from valor_cli import catalogue
from valor_cli.atomic_files import put, temporary
from valor_cli.config import load_config
from valor_cli.config.models import Report
from valor_cli.data.formats.images import ImageFolder, small_copies
from valor_cli.errors import DataError, Problem, UnreachableError, ValorError, printable
from valor_cli.paths import is_url
from valor_cli.pipeline.plan import Plan, make_plan
from valor_cli.pipeline.run import selection_of
from valor_cli.reports.writer import IMAGES
from valor_cli.results import EmbeddedImages, ExampleResult, RunResult

BUDGET: Final = 20.0
"""MB of embedded images, where the config says nothing."""

SHOWN: Final = (".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp", ".mpo")
"""How the names of images end that a browser shows."""

LISTED: Final = 10
"""Reasons, and images with a fault, that are named; the rest is counted."""

_WORST: Final = "worst_image"
_HITS: Final = ("true_positive", "true_negative")
_ABSENT: Final = "there is no such file in the folder of images"


def report_images(plan: Plan, result: RunResult, out: Path) -> tuple[EmbeddedImages, Sequence[str]]:
    """The images of a run as the config wants them in the report in `out`, and warnings.

    Copies in a folder are written at once. An image that cannot be shown fails no run.

    Raises:
        DataError: A copy cannot be written.
    """
    report = plan.config.report
    drawn, warnings = EmbeddedImages(), list[str]()
    if plan.task.overlays is not None:
        selection = selection_of(plan, None)
        drawn, told = plan.task.overlays(plan.config.data, selection, result.examples)
        warnings += told
    kept = _Kept(report, out)
    for key in _by_rank(drawn.overlays):
        kept.add_overlay(key, drawn.overlays[key])
    folder: str | None = getattr(plan.config.data, "images", None)
    if folder is not None:
        kept.add_images(*_located(folder, _most_telling(result)))
    images = replace(kept.images(), colours=drawn.colours)
    return images, [*warnings, *kept.faults]


def _most_telling(result: RunResult) -> list[str]:
    """All image files, each once: of the worst images, of mistakes, of hits, then all others."""

    def rank(example: ExampleResult) -> int:
        return 0 if example.kind == _WORST else 2 if example.kind in _HITS else 1

    pictures = (example.picture for example in sorted(result.examples, key=rank))
    first = (one.file for one in pictures if one is not None and one.file is not None)
    return list(dict.fromkeys([*first, *result.images.values()]))


def _by_rank(overlays: Collection[tuple[str, str]]) -> list[tuple[str, str]]:
    """The first overlay of every model before the second of any."""
    seen: dict[str, int] = {}
    ranked = []
    for model, file in overlays:
        seen[model] = seen.get(model, 0) + 1
        ranked.append((seen[model], model, file))
    return [(model, file) for _, model, file in sorted(ranked, key=lambda one: one[0])]


def _located(folder: str, files: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """The path or URL of each file, and why others have none."""
    try:
        paths = ImageFolder(folder).paths(files)
    except (DataError, UnreachableError) as error:
        return {}, dict.fromkeys(files, str(error.problems[0]))
    return paths, {file: _ABSENT for file in files if file not in paths}


class _Kept:
    """Images of a report, as far as the budget goes."""

    def __init__(self, report: Report, out: Path) -> None:
        self._report = report
        self._out = out
        budget = report.budget_mb or (BUDGET if report.images == "embed" else float("inf"))
        self._budget = f"the budget of {budget:g} MB is used"
        self._room = budget * 1e6
        self._photos: dict[str, bytes] = {}
        self._links: dict[str, str] = {}
        self._overlays: dict[tuple[str, str], bytes] = {}
        self._overlay_links: dict[tuple[str, str], str] = {}
        self._left_out: dict[str, str] = {}
        self._undrawn = 0
        self.faults: list[str] = []

    def add_overlay(self, key: tuple[str, str], content: bytes) -> None:
        """Embed or write an overlay."""
        if not self._fits(content):
            self._undrawn += 1
        elif self._report.images == "embed":
            self._overlays[key] = content
        else:
            self._overlay_links[key] = self._written("overlay", key, content)

    def add_images(self, paths: Mapping[str, str], missing: Mapping[str, str]) -> None:
        """Embed, write or link the images, the most telling first."""
        if self._report.images == "link":
            self._link(paths)
        else:
            self._copy(paths)
        self._left_out |= missing

    def images(self) -> EmbeddedImages:
        """All of it, and what the report says of it."""
        return EmbeddedImages(
            photos=self._photos,
            overlays=self._overlays,
            links=self._links,
            overlay_links=self._overlay_links,
            left_out=self._left_out,
            notes=[*self._how(), *self._why_not()],
        )

    def _copy(self, paths: Mapping[str, str]) -> None:
        copying = small_copies(
            list(paths.values()), self._report.size, as_is=self._report.images == "folder"
        )
        with contextlib.closing(copying) as copies:
            for file, made in zip(paths, copies, strict=True):
                if isinstance(made, Problem):
                    self._fault(file, made)
                elif not self._fits(made):
                    self._left_out[file] = self._budget
                    break
                elif self._report.images == "embed":
                    self._photos[file] = made
                else:
                    self._links[file] = self._written("image", (file,), made)
        known = {*self._photos, *self._links, *self._left_out}
        self._left_out |= {file: self._budget for file in paths if file not in known}

    def _fault(self, file: str, problem: Problem) -> None:
        self._left_out[file] = problem.message
        if len(self.faults) < LISTED:
            self.faults.append(f"not shown: {problem}")
        elif len(self.faults) == LISTED:
            self.faults.append(f"not shown: more than {LISTED} images; the report names them")

    def _link(self, paths: Mapping[str, str]) -> None:
        for file, path in paths.items():
            if is_url(path):
                self._left_out[file] = "the page asks nothing of a network"
            elif not path.lower().endswith(SHOWN):
                self._left_out[file] = f"browsers do not show {os.path.splitext(path)[1]}"
            else:
                try:
                    self._links[file] = _relative_url(path, self._out)
                except ValueError:
                    self._left_out[file] = "it is on another drive than the report"

    def _fits(self, content: bytes) -> bool:
        """Whether there is room; it is taken."""
        # A data URL has four characters for three bytes.
        size = len(content) * 4 / 3 if self._report.images == "embed" else len(content)
        self._room -= size
        return self._room >= 0

    def _written(self, kind: str, key: Sequence[str], content: bytes) -> str:
        """Write a copy; returns its URL.

        Raises:
            DataError: It cannot be written.
        """
        url = f"{IMAGES}/{_name(kind, key)}"
        path = self._out / url
        beside = temporary(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(content)
            put(beside, path, synced=False)
        except OSError as error:
            message = f"cannot be written: {error.strerror or error}"
            hint = "name another folder with --out DIR, or set report.images: embed"
            raise DataError(Problem(str(path), message), hint=hint) from error
        finally:
            with contextlib.suppress(OSError):  # renamed, or never written
                beside.unlink()
        return url

    def _how(self) -> Iterator[str]:
        shown = len(self._photos) + len(self._links)
        total = shown + len(self._left_out)
        if not total:
            return
        size = f"at most {self._report.size:,} pixels wide and high"
        yield (
            f"{shown:,} of {total:,} images are "
            + {
                "embed": f"in this page, {size}.",
                "folder": f"copied to {IMAGES} beside this page, {size}.",
                "link": "linked: they are read from where they were when the run was made.",
            }[self._report.images]
        )

    def _why_not(self) -> Iterator[str]:
        reasons: dict[str, list[str]] = {}
        for file, reason in self._left_out.items():
            reasons.setdefault(reason, []).append(file)
        for reason, files in islice(reasons.items(), LISTED):
            first = f" (the first: {printable(files[0])})" if len(files) > 1 else ""
            what = f"{len(files):,} images are" if len(files) > 1 else f"{printable(files[0])} is"
            hint = "; report.budget_mb sets it, and report.images: folder has all of them"
            yield f"{what} left out: {reason}{hint * (reason == self._budget)}{first}."
        if len(reasons) > LISTED:
            rest = sum(map(len, islice(reasons.values(), LISTED, None)))
            yield f"{rest:,} more images are left out for other reasons."
        if self._undrawn:
            yield f"{self._undrawn:,} images of errors are left out: {self._budget}."


def copied_images(result: RunResult, run: Path, out: Path) -> EmbeddedImages:
    """The images that a run has copies of, for a page that is made again.

    Args:
        result: The run.
        run: Its folder.
        out: The folder of the page.
    """
    try:
        there = set(os.listdir(run / IMAGES))
        base = _relative_url(str(run / IMAGES), out)
    except (OSError, ValueError):  # there are none, or they are on another drive
        return EmbeddedImages()
    pictures = (one.picture for one in result.examples)
    files = {one.file: None for one in pictures if one is not None and one.file is not None}
    files |= {file: None for one in result.objects for file in one.files if file is not None}
    names = {file: _name("image", (file,)) for file in files}
    drawn = {
        (model, file): _name("overlay", (model, file)) for model in result.models for file in files
    }
    return EmbeddedImages(
        links={file: f"{base}/{name}" for file, name in names.items() if name in there},
        overlay_links={key: f"{base}/{name}" for key, name in drawn.items() if name in there},
    )


def compared_images(runs: Sequence[tuple[str, RunResult, str]], out: Path) -> EmbeddedImages:
    """The images of runs that a page in `out` compares; of two copies of one, the first.

    Args:
        runs: Name, result and path of each. Images that it has no copies of are those of the
            folder that its config names, if that file is as it was.
        out: The folder of the page.
    """
    found = EmbeddedImages()
    for name, result, path in runs:
        own = copied_images(result, Path(path if os.path.isdir(path) else Path(path).parent), out)
        if not own.links and not own.overlay_links:
            own = _of_config(result, out)
        sides = {model: f"{name} {model}" if name else model for model in result.models}
        overlays = {(sides[model], file): one for (model, file), one in own.overlays.items()}
        links = {(sides[model], file): one for (model, file), one in own.overlay_links.items()}
        found = EmbeddedImages(
            photos={**own.photos, **found.photos},
            overlays={**found.overlays, **overlays},
            colours={**own.colours, **found.colours},
            links={**own.links, **found.links},
            overlay_links={**found.overlay_links, **links},
            left_out={**own.left_out, **found.left_out},
            notes=tuple(dict.fromkeys((*found.notes, *own.notes))),
        )
    return found


def _of_config(result: RunResult, out: Path) -> EmbeddedImages:
    """Images of the folder that a run's config names; copies of them are in the page."""
    path = Path(result.run.config)
    try:
        if sha256(path.read_bytes()).hexdigest() != result.run.config_sha256:
            return EmbeddedImages()
        # A report runs no code of a config; what names some has no images.
        config = load_config(path, catalogue, plugins=False)
        if getattr(config.data, "images", None) is None:
            return EmbeddedImages()
        if config.report.images == "folder":
            report = config.report.model_copy(update={"images": "embed"})
            config = config.model_copy(update={"report": report})
        files = {file: file for one in result.objects for file in one.files if file is not None}
        return report_images(make_plan(config), replace(result, images=files), out)[0]
    except (OSError, ValorError):  # the run may be of another machine
        return EmbeddedImages()


def _name(kind: str, key: Sequence[str]) -> str:
    """The name of a copy: what data call an image is no part of it."""
    digest = sha256("\0".join(key).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return f"{kind}-{digest}.{'png' if kind == 'overlay' else 'jpg'}"


def _relative_url(path: str, out: Path) -> str:
    """A file as a page in `out` links to it.

    Raises:
        ValueError: No path leads from one to the other.
    """
    relative = os.path.relpath(path, out).replace(os.sep, "/")
    return quote(os.fsencode(relative))
