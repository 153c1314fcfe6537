"""`valor convert`: convert objects to another format."""

from __future__ import annotations

import re
from typing import Annotated, Literal

import typer

from valor_cli.cli.output import say, warn
from valor_cli.errors import ValorError
from valor_cli.masking import without_secrets

_KEYS = {"on_invalid": "--on-invalid", "images": "--images", "names": "--names", "format": "--from"}
"""Keys of a config, as hints of the readers have them, to options."""

_KEY_IN_HINT = re.compile(r"`(\w+):( \w+)?` under `data:`")


def convert(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="File or folder to convert; - is standard input.")
    ],
    out: Annotated[
        str,
        typer.Argument(metavar="OUT", help="File or folder to write; - is standard output."),
    ],
    from_: Annotated[
        str | None,
        typer.Option("--from", metavar="FORMAT", help="Format of IN, if it cannot be detected."),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="Format of OUT: coco, jsonl, csv, or a folder of yolo or voc. "
            "By default, from its extension.",
        ),
    ] = None,
    role: Annotated[
        Literal["ground_truth", "predictions"] | None,
        typer.Option(help="What the objects are. By default predictions if they have scores."),
    ] = None,
    geometry: Annotated[
        Literal["box", "rotated_box", "polygon", "mask"] | None,
        typer.Option(help="Convert every object to this shape. By default shapes are kept."),
    ] = None,
    names: Annotated[
        str | None,
        typer.Option(
            metavar="FILE_OR_LIST",
            help="Labels in the order of YOLO's numbers: a file with one a line, or cat,dog,….",
        ),
    ] = None,
    images: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Folder of the images, if IN has no image sizes."),
    ] = None,
    split: Annotated[
        Literal["val", "test", "train"] | None,
        typer.Option(help="Split of a YOLO data set. By default the first of these."),
    ] = None,
    ground_truth: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Ground truth that predictions take ids, labels and images from. "
            "A COCO results list as IN needs it for its labels; "
            "with it, predictions become a COCO results list.",
        ),
    ] = None,
    on_invalid: Annotated[
        Literal["error", "skip"], typer.Option(help="What to do with invalid objects.")
    ] = "error",
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it exists.")] = False,
) -> None:
    """Convert objects between COCO, JSONL, CSV, YOLO and Pascal VOC.

    What the other format cannot store is reported on stderr; an unsupported shape is an error
    unless --geometry converts it.

    \b
    Example:
      valor convert sample_data/object_detection/ground_truth.json ground_truth.jsonl
    """
    from valor_cli.pipeline.convert import Conversion
    from valor_cli.pipeline.convert import convert as run

    options = Conversion(
        source=source,
        out=out,
        source_format=from_,
        target=to,
        role=role,
        geometry=geometry,
        names=names,
        images=images,
        split=split,
        ground_truth=ground_truth,
        invalid=on_invalid,
        force=force,
    )
    try:
        done = run(options)
    except ValorError as error:
        # There is no config here to set a key in.
        raise type(error)(error.problems, total=error.total, hint=_options(error.hint)) from None
    for warning in dict.fromkeys(done.warnings):
        warn(warning)
    if done.content is not None:
        say(done.content)
    typer.echo(without_secrets(done.summary), err=True)


def _options(hint: str) -> str:
    """A hint that names options in place of the keys of a config."""
    return _KEY_IN_HINT.sub(lambda found: f"{_KEYS.get(found[1], found[1])}{found[2] or ''}", hint)
