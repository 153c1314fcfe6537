"""Metrics that ask a judge by their names, and a sample that has every text."""

from __future__ import annotations

from typing import Any

from tests.oracles.text_samples import samples
from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators.judge import WING

JUDGED = {one.name: one for one in WING.metrics}

QUESTION, ANSWER, REFERENCE = "The question?", "The answer.", "The reference."
PASSAGES = ("First passage.", "Second passage.")

VECTORS = {
    **dict.fromkeys((QUESTION, ANSWER, "same"), (1.0, 0.0)),
    **dict.fromkeys((REFERENCE, "near"), (3.0, 4.0)),
    "other": (0.0, 1.0),
    "against": (-4.0, 3.0),
}
"""The cosines with question and answer: of what is near 0.6, other 0, against -0.8."""


def texts(**changed: Any) -> TextDataset:
    """A sample with every text, some of them changed."""
    columns: dict[str, Any] = {
        "response": ANSWER,
        "user_input": QUESTION,
        "references": [REFERENCE],
        "retrieved_contexts": PASSAGES,
    }
    return samples(**{name: [text] for name, text in (columns | changed).items()})
