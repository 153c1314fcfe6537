"""A text sample as own metrics read it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.data.shapes.samples.schema import LOGPROBS


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample with a model's response, by the standard names of its columns; read-only.

    Attributes:
        sample_id: As the file has it, else the number of the row, from 1.
        user_input: The question, the prompt, or the text to summarise.
        response: What the model answered.
        references: The right answers; none: an empty tuple.
        retrieved_contexts: Passages in their order; None where the sample has no such thing.
        condition: What `text_matching` requires of the sample.
        categories: What kind of sample it is.
        group: The cluster it belongs to.
        perturbed_from: The sample that it is an altered copy of.
        artifacts: The folder of an agent's output, as a path that can be opened.
        token_logprobs: Natural logarithms of the probabilities of the response's tokens; only for
            metrics that declare to need them.
        history: The turns of a chat before the question, "role: text" each.
    """

    sample_id: str
    user_input: str | None
    response: str | None
    references: tuple[str, ...]
    retrieved_contexts: tuple[str, ...] | None
    condition: str | None
    categories: tuple[str, ...]
    group: str | None
    perturbed_from: str | None
    artifacts: str | None
    token_logprobs: tuple[float, ...] | None
    history: str | None


COLUMNS: Final = tuple(name for name in Sample.__slots__ if name != "sample_id")
"""What a metric may need of a sample."""


def samples_of(data: TextDataset) -> Iterator[Sample]:
    """The samples of a dataset, in its order."""
    columns = [getattr(data, name) for name in COLUMNS]
    logprobs = COLUMNS.index(LOGPROBS)
    for sample_id, *values in zip(data.sample_ids, *columns, strict=True):
        if values[logprobs] is not None:
            values[logprobs] = tuple(values[logprobs].tolist())
        yield Sample(sample_id, *values)
