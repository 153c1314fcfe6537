"""Load text datasets."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators.text_generation.inputs import TextInputs
from valor_cli.evaluators.text_generation.piece_summary import summary_of
from valor_cli.evaluators.text_generation.ranges import join_ranges, load_range
from valor_cli.evaluators.text_generation.reading import metadata_there, read_inputs
from valor_cli.evaluators.text_generation.sources import InputPieces, Place, sources_of
from valor_cli.evaluators.text_generation.survey import place_samples, spans_of
from valor_cli.metric import Loaded, NoOptions, Selection


def load_text(inputs: TextInputs, options: NoOptions, selection: Selection) -> Loaded[TextDataset]:
    """Read the samples of every model, and join them by sample id: all in one range.

    Raises:
        DataError: A file cannot be used, a column that metrics need is missing, `perturbed_from`
            names no sample, or the selection leaves none.
    """
    if selection.every_metadata:
        # Not every file need have all of it.
        optional = dict.fromkeys([*selection.optional, *metadata_there(inputs)])
        selection = replace(selection, optional=tuple(optional))
    files = read_inputs(inputs, selection)
    codes: dict[str | None, int] = {}
    read = {}
    for at, (model, file) in enumerate(files.items()):
        ids = [codes.setdefault(one, len(codes)) for one in file.rows.text("sample_id")]
        paths = [one.path for one in file.files]
        summary = summary_of(file, paths, selection, np.array(ids, np.uint64))
        read[model] = InputPieces(file.without_texts(), [(at, summary, Place())])
    sources = sources_of(inputs, read)
    summaries = [summary for own in read.values() for _, summary, _ in own.pieces]
    ground, placed = place_samples(
        inputs, selection, sources, sources.digests(), summaries, whole=True
    )
    (span,) = spans_of(placed, max(one.end for one in placed))
    rows = [(at, file.rows) for at, file in enumerate(files.values())]
    return join_ranges(ground, [load_range(ground, span, rows)])
