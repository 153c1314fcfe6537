"""A run, a folder and names of formats in; the report files out, each of them whole."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from valor_cli.errors import DataError, Problem, UnknownNameError, did_you_mean
from valor_cli.results import Pictures, RunResult

FILES = {"json": "results.json", "markdown": "report.md", "html": "report.html"}
"""The file each format is written to."""

SAMPLES = "samples.jsonl"
"""Values of single samples, written with json where there are any."""

Render = Callable[[RunResult, Pictures], bytes]

_NO_PICTURES = Pictures()


def write_reports(
    result: RunResult,
    out: Path,
    formats: Sequence[str],
    pictures: Pictures = _NO_PICTURES,
) -> list[Path]:
    """Write the formats asked for into `out`, in the order asked.

    All files are rendered and written beside their places before the first is renamed. So each
    file is whole, the new one or what stood there before; only a failed rename can leave some
    new beside some old, and the error names the new ones.

    Args:
        result: The run.
        out: The folder, made if there is none.
        formats: Names in `FILES`; json brings samples.jsonl where there are values of samples.
        pictures: Images that the HTML report embeds.

    Raises:
        UnknownNameError: There is no such format.
        DataError: The folder or a file cannot be written; no half-written file is left behind.
    """
    renderers = {name: _renderer(name) for name in dict.fromkeys(formats)}
    if "json" in formats and result.samples:
        renderers[SAMPLES] = _renderer(SAMPLES)
    rendered = {
        FILES.get(name, name): render(result, pictures) for name, render in renderers.items()
    }
    waiting = {out / name: out / f".{name}.{os.getpid()}.tmp" for name in rendered}
    at = out
    new: list[str] = []
    try:
        out.mkdir(parents=True, exist_ok=True)
        for target, content in zip(waiting, rendered.values(), strict=True):
            at = target
            if target.is_dir():
                raise IsADirectoryError(None, "a folder stands where the file goes")
            waiting[target].write_bytes(content)
        for at, temporary in waiting.items():
            os.replace(temporary, at)
            new.append(at.name)
        if "json" in formats and not result.samples:
            # That of an earlier run would pass for this run's.
            (out / SAMPLES).unlink(missing_ok=True)
    except OSError as error:
        message = f"cannot be written: {error.strerror or error}"
        if new:
            message += f"; already new: {', '.join(new)}"
        hint = "name another folder with --out DIR"
        raise DataError(Problem(str(at), message), hint=hint) from error
    finally:
        for temporary in waiting.values():
            with contextlib.suppress(OSError):  # renamed, or never written
                temporary.unlink()
    return list(waiting)


def _renderer(name: str) -> Render:
    """A format's renderer, imported on use: a run that writes JSON alone needs no Jinja."""
    if name == "json":
        from valor_cli.reports.results_json import to_json

        return lambda result, _: to_json(result)
    if name == SAMPLES:
        from valor_cli.reports.samples_jsonl import to_jsonl

        return lambda result, _: to_jsonl(result)
    if name == "markdown":
        from valor_cli.reports.markdown import to_markdown

        return lambda result, _: to_markdown(result).encode()
    if name == "html":
        from valor_cli.reports.html import to_html

        return lambda result, pictures: to_html(result, pictures).encode()
    message = f"there is no report format '{name}'{did_you_mean(name, FILES)}"
    raise UnknownNameError(Problem("formats", message), hint=f"formats: {', '.join(FILES)}")
