"""One sample as shown to a judge, with missing inputs reported."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators.missing_inputs import ABSENT, BLANK
from valor_cli.metric import written
from valor_cli.results import Scalar


class Missing(Exception):  # noqa: N818  # what it says of the sample
    """The sample is missing an input of a metric."""


class Sample(Struct, frozen=True):
    """The texts of a sample. An empty text is a text.

    Attributes:
        model: Who answered.
        sample_id: As in the file.
        row: Where it stands among the samples of its model, from 0.
        asked: What was asked, or the text to summarise; None: nothing.
        answered: What was answered; None: nothing.
        right: The right answers, as given.
        retrieved: The passages in their order; None where there is no such thing.
        history: The turns of a chat before the question; None: it was the first.
        more: Further columns, by name.
    """

    model: str
    sample_id: str
    row: int
    asked: str | None
    answered: str | None
    right: tuple[str, ...]
    retrieved: tuple[str, ...] | None
    history: str | None = None
    more: Mapping[str, Scalar] = field(default_factory=dict)

    @staticmethod
    def of(data: TextDataset, row: int, model: str) -> Sample:
        """A sample of a dataset."""
        return Sample(
            model,
            data.sample_ids[row],
            row,
            data.user_input[row],
            data.response[row],
            data.references[row],
            data.retrieved_contexts[row],
            data.history[row],
            {name: column[row] for name, column in data.more.items()},
        )

    @property
    def user_input(self) -> str:
        """The user input.

        Raises:
            Missing: Nothing.
        """
        if self.asked is None:
            raise Missing(ABSENT["user_input"])
        return self.asked

    @property
    def response(self) -> str:
        """The response.

        Raises:
            Missing: Nothing.
        """
        if self.answered is None:
            raise Missing(ABSENT["response"])
        return self.answered

    @property
    def references(self) -> tuple[str, ...]:
        """The references that are not blank, at least one.

        Raises:
            Missing: There is none.
        """
        if not self.right:
            raise Missing(ABSENT["references"])
        said = tuple(one for one in self.right if one.strip())
        if not said:
            raise Missing(BLANK["references"])
        return said

    @property
    def contexts(self) -> tuple[str, ...]:
        """The retrieved contexts, at least one of them not blank.

        Raises:
            Missing: There is none.
        """
        if self.retrieved is None:
            raise Missing(ABSENT["retrieved_contexts"])
        if not any(one.strip() for one in self.retrieved):
            raise Missing(BLANK["retrieved_contexts"])
        return self.retrieved

    def column(self, name: str) -> str:
        """The text of a further column.

        Raises:
            Missing: There is none.
        """
        value = self.more.get(name)
        if value is None:
            raise Missing(f"no {name}")
        return written(value)
