"""Read objects from JSONL, one image per line.

A line is `{"image_id": …, "width": …, "height": …, "file_name": …, "metadata": {…}, "objects":
…}`; all but `image_id` are optional. An object has a `label`, one or more of `box`, `polygon`,
`rotated_box` and `mask`, a `score` in predictions, and optionally `id`, `crowd` and `area` in
ground truth. `object_names` lists aliases. A second list of objects is an error, because it would
not be read; unknown keys are ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from valor_cli.data.formats.coco.metadata import metadata_of
from valor_cli.data.formats.jsonl.object_geometry import MaskFiles
from valor_cli.data.formats.jsonl.object_lines import PlainLines
from valor_cli.data.formats.jsonl.object_rows import LineReader
from valor_cli.data.shapes.objects.object_file import ObjectFile, Role, Wanted
from valor_cli.data.shapes.objects.rows import (
    Codes,
    ImageRows,
    Named,
    Piece,
    checked_ids,
    id_column,
    joined_pieces,
    object_file,
)
from valor_cli.data.source.files import TextSource, blocks_of_lines
from valor_cli.data.table import LINE, SKIP_HINT, InvalidRows
from valor_cli.data.values import LineProblems, stop_on
from valor_cli.errors import DataError, Problem
from valor_cli.results import InputFile


def read_jsonl(
    path: str,
    role: Role,
    *,
    wanted: Wanted = "box",
    metadata: Sequence[str] = (),
    invalid: InvalidRows = "error",
) -> ObjectFile:
    """Read objects from a JSONL file; a line without objects is an image without objects.

    Args:
        path: The file, plain or compressed, or "-" for standard input. Paths of PNG masks in it
            are relative to its folder.
        role: Which side it is: predictions need scores; ids, crowd and area of objects are read
            of ground truth alone.
        wanted: Which geometry to take of an object that has several.
        metadata: Names to read for every image, from its "metadata" object or else from the line.
        invalid: "skip" leaves out objects that cannot be used and counts them; faults of a line
            itself are errors always.

    Raises:
        DataError: The file cannot be read; a line is not such JSON; a value is wrong; an image
            is on two lines; no image has metadata of a name.
    """
    source = TextSource(path)
    lines, problems = LineProblems(path), LineProblems(path)
    images, labels = ImageRows(), Codes()
    masks = MaskFiles(path)
    records: list[dict[str, Any]] = []
    keep = records if metadata and role == "ground_truth" else None
    plain = PlainLines(role, wanted, labels, images, keep)
    slow = LineReader(role, wanted, labels, images, keep, masks, lines, problems)
    pieces: list[Piece] = []
    first = 1
    for block in blocks_of_lines(source):
        piece = plain.piece(block, first)
        pieces.append(slow.piece(block, first) if piece is None else piece)
        first += block.count(b"\n")
    images.check(lines, "image_id")
    found = joined_pieces(pieces, role)
    total = slow.found + plain.found
    if role == "ground_truth":
        found = checked_ids(found, problems)
    if invalid == "error":
        stop_on([lines, problems], SKIP_HINT * bool(problems.total))
    stop_on([lines])
    if role == "ground_truth" and not images.ids:
        raise DataError(Problem(path, "there are no images; at least one is needed"))
    skipped = total - len(found.shapes)
    return object_file(
        path,
        found,
        images=images.table(path, LINE),
        image_ids=id_column(images.ids),
        labels=Named.in_order(labels),
        files=[InputFile(path, source.sha256, total, skipped), *masks.input_files()],
        metadata=metadata_of(records, metadata, path, images.lines) if keep is not None else {},
        skipped=skipped,
    )
