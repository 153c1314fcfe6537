"""Object formats that can be written: what each can hold, and its writer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

from valor_cli.data.formats import voc, yolo
from valor_cli.data.formats.coco import writer as coco
from valor_cli.data.formats.csv import object_writer as table_csv
from valor_cli.data.formats.json import object_writer as jsonl
from valor_cli.data.shapes.objects.object_file import ObjectFile
from valor_cli.data.shapes.objects.scene import WriteOptions, Written
from valor_cli.errors import Problem, UnknownNameError, did_you_mean
from valor_cli.kernels.geometry.shapes import KINDS, Kind

Writer: TypeAlias = Callable[[ObjectFile, WriteOptions], Written]


class Format(Struct, frozen=True):
    """A format that objects can be written in.

    Attributes:
        kinds: The geometries it can hold.
        write: Its writer.
        endings: How the name of a file in this format ends.
        in_folder: Whether it is a folder of such files, in place of one file.
        boxes_beside: Whether an object can have a box beside its shape.
    """

    kinds: tuple[Kind, ...]
    write: Writer
    endings: tuple[str, ...]
    in_folder: bool = False
    boxes_beside: bool = False


FORMATS = {
    "coco": Format(coco.KINDS, coco.write_coco, (".json",), boxes_beside=True),
    "jsonl": Format(KINDS, jsonl.write_jsonl, (".jsonl", ".ndjson"), boxes_beside=True),
    "csv": Format(table_csv.KINDS, table_csv.write_csv, (".csv",)),
    "yolo": Format(yolo.KINDS, yolo.write_yolo, (".txt",), in_folder=True),
    "voc": Format(voc.KINDS, voc.write_voc, (".xml",), in_folder=True),
}


def format_named(name: str) -> Format:
    """A format by the name that `--to` gives.

    Raises:
        UnknownNameError: There is none.
    """
    if name in FORMATS:
        return FORMATS[name]
    problem = Problem("--to", f"no format '{name}'{did_you_mean(name, FORMATS)}")
    raise UnknownNameError(problem, hint=f"formats: {', '.join(FORMATS)}")


def format_of(out: str) -> str:
    """The format that matches the extension of a file name.

    Raises:
        UnknownNameError: The extension is unknown.
    """
    plain = out.removesuffix(".gz")
    for name, each in FORMATS.items():
        if not each.in_folder and plain.lower().endswith(each.endings):
            return name
    endings = ", ".join(each.endings[0] for each in FORMATS.values() if not each.in_folder)
    hint = f"name the format with --to: {', '.join(FORMATS)}; files may end in {endings}"
    raise UnknownNameError(Problem(out, "its name does not say the format"), hint=hint)
