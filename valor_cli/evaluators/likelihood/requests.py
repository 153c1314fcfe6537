"""Request target log-probabilities, each distinct passage once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, TypeAlias

from annotated_types import Interval

from valor_cli.evaluators.model_metrics import each_once
from valor_cli.kernels.text.likelihood import NegativeLogLikelihood, negative_log_likelihood
from valor_cli.models.protocols import Passage

if TYPE_CHECKING:
    from valor_cli.models.language_models.transformers_language_model import (
        TransformersLanguageModel,
    )

Stride: TypeAlias = Annotated[int, Interval(ge=1)] | None
"""Tokens by which the window moves over what is longer than the model's context."""


def surprises(
    model: TransformersLanguageModel, passages: Sequence[Passage], stride: Stride
) -> dict[Passage, NegativeLogLikelihood | None]:
    """Negative log-likelihood of each passage's target; None if no token was scored.

    All are asked for in one call: batches are the model's own business.

    Raises:
        Stopped: The run ends.
    """
    return each_once(
        passages,
        lambda some: map(negative_log_likelihood, model.log_probabilities(some, stride=stride)),
    )
