"""Text samples as columns: question, response, contexts and references."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import compress, islice, tee
from typing import Any, Final

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import NDArray

from valor_cli.data.shapes.samples.schema import SCHEMA
from valor_cli.kernels.columns.text_columns import Constant, TextColumn
from valor_cli.kernels.secrets.spans import Span, disjoint, masked
from valor_cli.results import (
    CONTEXTS,
    LONG_TEXTS,
    SHORT_TEXT,
    TEXT,
    Illustration,
    Mark,
    MetricExample,
    Scalar,
    ShownText,
)

Texts = Sequence[str | None]
"""(n,) a text of each sample; None where it has none. An empty text is a text."""

MOST_SHOWN = CONTEXTS
"""Maximum references, and contexts, of a sample shown in reports."""

NEAR = 500
"""Characters behind the end of a cut text in which a secret that the cut runs through is found."""

REPLIES, REPLY_LENGTH = 3, 600
"""Replies of judges that reports show of a sample, the last ones, and characters of each."""


def secret_characters(text: str) -> tuple[tuple[int, int], ...]:
    """Spans of personal data and credentials, including encoded ones."""
    # Their many patterns are made when they are needed.
    from valor_cli.kernels.secrets.places import secret_spans

    return tuple((start, end) for start, end, _ in secret_spans(text))


class Prepared(Struct, frozen=True):
    """Data of many samples prepared for reports.

    Attributes:
        texts: As `TextDataset.sample_texts`, fields that no sample has included.
        digests: (n,) hashes of the sample ids (`TextColumn.digests`).
    """

    texts: Mapping[str, Texts]
    digests: NDArray[np.uint64]


class TextDataset(Struct, frozen=True):
    """The samples of one model, columns of equal length.

    Attributes:
        number: (n,) position of each sample in the whole data, from 0; ascending.
        sample_ids: (n,) as the file has them, else the number of the row, from 1.
        user_input: (n,) question, prompt, or the text to summarise.
        response: (n,) what the model answered.
        references: (n,) the right answers; none: an empty tuple.
        retrieved_contexts: (n,) passages in their order; None where the sample has no such thing.
        condition: (n,) what `text_matching` asks of a sample.
        categories: (n,) what kind of sample it is.
        group: (n,) the cluster it belongs to; None: it stands alone.
        perturbed_from: (n,) the sample it is a changed copy of.
        artifacts: (n,) the folder an agent left, as a path that can be opened.
        token_logprobs: (n,) of each token of the response, the natural logarithm of the probability
            that its model gave it; NaN: it was not scored. None where the sample has none, or no
            metric of the run needs them.
        history: (n,) the turns of a chat before the question, "role: text" each.
        more: (n,) further columns that metrics read, by name; lists and objects as JSON.
        label_map: Label as in the files to label as evaluated.
        secrets: Where in a text are characters that no report may show.
        prepared: What reports need of many samples, where it is made already; their texts are then
            columns, whose bytes need not be in memory.
    """

    number: NDArray[np.int64]
    sample_ids: Sequence[str]
    user_input: Texts
    response: Texts
    references: Sequence[tuple[str, ...]]
    retrieved_contexts: Sequence[tuple[str, ...] | None]
    condition: Texts
    categories: Sequence[tuple[str, ...]]
    group: Texts
    perturbed_from: Texts
    artifacts: Texts
    token_logprobs: Sequence[NDArray[np.float64] | None]
    history: Texts
    more: Mapping[str, Sequence[Scalar]] = field(default_factory=dict)
    label_map: Mapping[str, str] = field(default_factory=dict)
    secrets: Callable[[str], Iterable[tuple[int, int]]] = secret_characters
    prepared: Prepared | None = None

    @property
    def unit_count(self) -> int:
        """Number of samples."""
        return len(self.sample_ids)

    @property
    def unit_ids(self) -> Sequence[str]:
        """(units,) ids in the input files."""
        return self.sample_ids

    def shard(self, units: NDArray[np.bool_]) -> TextDataset:
        """Select samples."""
        chosen = units.tolist()
        columns: dict[str, Any] = {
            name: tuple(compress(getattr(self, name), chosen)) for name in ("sample_ids", *COLUMNS)
        }
        more = {name: tuple(compress(own, chosen)) for name, own in self.more.items()}
        return replace(self, number=self.number[units], prepared=None, more=more, **columns)

    def verify(self) -> None:
        """Do nothing: all data is already checked."""

    def sample_texts(self) -> Mapping[str, Sequence[str | None]]:
        """The question, response, first reference, contexts and original of each, as reports do."""
        if self.prepared is not None:
            return self.prepared.texts
        return {
            name: list(self._safe(column))
            for name, column in self._report_columns().items()
            if any(text is not None for text in column)
        }

    def image_files(self) -> Mapping[str, str]:
        """None: samples are texts."""
        return {}

    def prepare(self) -> TextDataset:
        """The dataset with the data that reports need prepared."""
        texts = {
            name: TextColumn.of(self._safe(column))
            if any(text is not None for text in column)
            else Constant(None, self.unit_count)
            for name, column in self._report_columns().items()
        }
        digests = TextColumn.of(self.sample_ids).digests()
        return replace(self, prepared=Prepared(texts, digests))

    def _report_columns(self) -> dict[str, Texts]:
        first = [references[0] if references else None for references in self.references]
        return {
            "user_input": self.user_input,
            "response": self.response,
            "references[0]": first,
            "perturbed_from": self.perturbed_from,
            **{f"retrieved_contexts[{at}]": self._contexts(at) for at in range(CONTEXTS)},
        }

    def _contexts(self, at: int) -> Texts:
        """(n,) the context at a place; of samples beyond the first ones none."""
        count = int(np.searchsorted(self.number, LONG_TEXTS))
        first = islice(self.retrieved_contexts, count)
        found = [one[at] if one is not None and at < len(one) else None for one in first]
        if not any(text is not None for text in found):
            return Constant(None, self.unit_count)
        return [*found, *(None,) * (self.unit_count - count)]

    def _safe(self, column: Texts) -> Iterator[str | None]:
        """Texts as reports show them: cut, without secrets."""
        lengths = np.where(self.number < LONG_TEXTS, TEXT, SHORT_TEXT).tolist()
        near, looked_at = tee(
            None if text is None else text[: length + NEAR]
            for text, length in zip(column, lengths, strict=True)
        )
        secrets = self._secrets_of_all(text or "" for text in looked_at)
        for text, length, places in zip(near, lengths, secrets, strict=True):
            secret = [Span(start, end, "") for start, end in places]
            yield text and (masked(text, secret) if secret else text)[:length]

    def _secrets_of_all(self, texts: Iterable[str]) -> Iterator[Iterable[tuple[int, int]]]:
        if self.secrets is not secret_characters:
            return map(self.secrets, texts)
        from valor_cli.kernels.secrets.places import spans_of_all

        return (((start, end) for start, end, _ in spans) for spans in spans_of_all(texts))

    def illustrate(self, examples: Sequence[MetricExample]) -> list[Illustration]:
        """The texts of each example with marks, then judge replies."""
        at = {sample_id: number for number, sample_id in enumerate(self.sample_ids)}
        return [self.illustration(at[str(example.sample_id)], example) for example in examples]

    def illustration(self, number: int, example: MetricExample) -> Illustration:
        """The texts shown for an example, whose sample has that number."""
        shown = self._shown(number, example.marks)
        return Illustration(texts=(*shown, *_shown_replies(example.replies)))

    def texts_of(self, number: int) -> list[tuple[str, str]]:
        """(field, text) of all texts of a sample, in reading order."""
        names = ("history", "user_input", "response")
        single = [(name, getattr(self, name)[number]) for name in names]
        contexts = self.retrieved_contexts[number] or ()
        return [
            *((name, text) for name, text in single if text is not None),
            *((f"references[{i}]", one) for i, one in enumerate(self.references[number])),
            *((f"retrieved_contexts[{i}]", one) for i, one in enumerate(contexts)),
        ]

    def _shown(self, number: int, marks: Sequence[Mark]) -> Iterable[ShownText]:
        """What reports show of a sample: the first of long lists, and those with a mark."""
        marked = {mark.field for mark in marks}
        for name, text in self.texts_of(number):
            position = int(name.split("[")[1].rstrip("]")) if "[" in name else 0
            if position < MOST_SHOWN or name in marked:
                own = [mark for mark in marks if mark.field == name]
                yield shown_text(name, text, own, self.secrets(text))


COLUMNS: Final = tuple(name for name in SCHEMA.names if name in TextDataset.__struct_fields__)
"""The fields that metrics and reports read."""


def _shown_replies(replies: Sequence[str]) -> Iterable[ShownText]:
    """The last ones, cut; what is secret in them is masked already."""
    first = max(0, len(replies) - REPLIES)
    for at, text in enumerate(replies[first:], first):
        shown = text[:REPLY_LENGTH]
        yield ShownText(f"judge_replies[{at}]", shown, (), len(text) - len(shown))


def shown_text(
    name: str, text: str, marks: Sequence[Mark], secrets: Iterable[tuple[int, int]]
) -> ShownText:
    """A text shortened to about `TEXT` characters, starting shortly before its first mark.

    Args:
        name: The field.
        text: All of it.
        marks: The places to mark in it.
        secrets: (start, end) of characters that are masked, beside those of secret marks.
    """
    hidden = [Span(start, end, "") for start, end in secrets]
    hidden += [Span(mark.start, mark.end, "") for mark in marks if mark.secret]
    safe = masked(text, hidden)
    spans = disjoint(Span(mark.start, mark.end, mark.kind) for mark in marks)
    start = 0
    if len(text) > TEXT and spans and spans[0].end > TEXT:
        start = max(0, spans[0].start - TEXT // 4)
    end = min(len(text), start + TEXT)
    inside = [
        (max(span.start, start) - start, min(span.end, end) - start, span.kind)
        for span in spans
        if span.end > start and span.start < end
    ]
    return ShownText(name, safe[start:end], tuple(inside), len(text) - (end - start))
