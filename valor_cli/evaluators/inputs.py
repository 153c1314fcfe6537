"""What the `data:` blocks of all wings have in common."""

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
    """A part of a config: unknown keys are refused, and values are not converted."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class SideFormats(Strict, Generic[F]):
    """Formats of the two sides; F is a wing's own names of them."""

    ground_truth: F | None = Field(None, description="format of the ground truth")
    predictions: F | None = Field(None, description="format of the predictions")


def format_given(given: F | SideFormats[F] | None, side: str) -> F | None:
    """The format that a config gives a side, if it does."""
    if not isinstance(given, SideFormats):
        return given
    return given.ground_truth if side == "ground_truth" else given.predictions


def model_paths(given: str | Mapping[str, str]) -> Mapping[str, str]:
    """Path of each model's files; a lone path is named after its file or folder.

    A glob is named after what stands before its first pattern: `runs/unet-*.csv` is "unet", and
    `unet/*.csv` too.
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
    name = last.split(".")[0]
    return {(name if plain == given else name.rstrip("-_ ")) or "model": given}


def one_standard_input(paths: Iterable[object]) -> None:
    """Refuse several inputs from standard input: it holds one file, and is read once.

    Raises:
        ValueError: More than one of the paths is `-`.
    """
    if [*paths].count(STDIN) > 1:
        raise ValueError("standard input (-) can be one input only; name files for the others")
