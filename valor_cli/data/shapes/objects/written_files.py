"""The content a writer produced, and what it could not store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from valor_cli.kernels.geometry.shapes import Floats


class Written(Struct, frozen=True):
    """The content of an output.

    Attributes:
        files: Bytes by file name in the output folder; the one name "" for a format of one file.
        warnings: What is lost, with counts.
    """

    files: Mapping[str, bytes]
    warnings: Sequence[str] = ()


class WriteOptions(Struct, frozen=True):
    """The user's options for a writer.

    Attributes:
        names: Labels in the order of their numbers (YOLO); none for the order of the categories.
        results: A COCO results list in place of a dictionary.
        box: (n, 4) the boxes that the input states beside its shapes, NaN where it states none;
            None for none at all.
    """

    names: Sequence[str] = ()
    results: bool = False
    box: Floats | None = None
