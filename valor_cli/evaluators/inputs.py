"""Parts of the `data:` block shared by all wings."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Generic, TypeAlias, TypeVar

from annotated_types import MinLen
from pydantic import BaseModel, ConfigDict, Field

from valor_cli.data.source.files import STDIN
from valor_cli.paths import InputPath, is_url, is_web, stem_source

F = TypeVar("F", bound=str)

ByModel: TypeAlias = InputPath | Annotated[dict[str, InputPath], MinLen(1)]
"""A path, or one per model."""


class Strict(BaseModel):
    """A config block that forbids unknown keys and type conversion."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class SideFormats(Strict, Generic[F]):
    """Formats of ground truth and predictions; F is the wing's type of format names."""

    ground_truth: F | None = Field(None, description="format of the ground truth")
    predictions: F | None = Field(None, description="format of the predictions")


def format_given(given: F | SideFormats[F] | None, side: str) -> F | None:
    """The format given in the config for one side, if any."""
    if not isinstance(given, SideFormats):
        return given
    return given.ground_truth if side == "ground_truth" else given.predictions


def model_paths(given: str | Mapping[str, str]) -> Mapping[str, str]:
    """Path of each model's files; a single path is named after its file or folder.

    A glob is named after the text before its first pattern: `runs/unet-*.csv` is "unet", and
    `unet/*.csv` too. A folder `labels`, as YOLO writes it, is named after the folder that holds it.
    """
    if not isinstance(given, str):
        return given
    if given == STDIN:
        return {"stdin": given}
    plain = given
    if not is_web(given) and not os.path.lexists(given):
        plain = re.split(r"[*?\[]", given, maxsplit=1)[0]
    # The query of a URL is no part of a name: it may be a signature.
    last = stem_source(plain) if is_url(given) else os.path.basename(os.path.normpath(plain))
    if last == "labels" and not is_url(given):
        last = os.path.basename(os.path.dirname(os.path.abspath(plain))) or last
    name = last.split(".")[0]
    return {(name if plain == given else name.rstrip("-_ ")) or "model": given}


def searchable(pattern: str) -> str:
    """A regular expression as it is.

    Raises:
        ValueError: It is none.
    """
    from valor_cli.kernels.patterns.regex import PatternError, parse_pattern

    try:
        parse_pattern(pattern)
    except PatternError as error:
        raise ValueError(f"not a regular expression: {error}") from None
    return pattern


def one_standard_input(paths: Iterable[object]) -> None:
    """Reject more than one input from standard input, which can be read only once.

    Raises:
        ValueError: More than one of the paths is `-`.
    """
    if [*paths].count(STDIN) > 1:
        raise ValueError("standard input (-) can be one input only; name files for the others")
