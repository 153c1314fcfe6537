"""Run metrics that use models over all samples of a dataset.

datasets ─gather─▶ outcomes per model and metric ─▶ evidence

A metric's `measure` gets the samples with the models of the run (`ModelTexts`), requests
everything it needs for all samples at once, and returns an outcome for each.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators.samples.evidence import SampleEvidence, merge_samples, plan_samples
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes, Texts
from valor_cli.kernels.secrets.spans import Span, masked
from valor_cli.kernels.text.sentences import split_sentences
from valor_cli.kernels.vectors.cosines import units
from valor_cli.metric import Call, Metric, Wing
from valor_cli.models.protocols import Unavailable
from valor_cli.models.requests import NoAnswer, Stopped

if TYPE_CHECKING:
    from valor_cli.models.session import Session
    from valor_cli.models.text_models import TextModels

Floats = NDArray[np.float64]
H = TypeVar("H", bound=Hashable)
T = TypeVar("T")

QUOTED = 300
"""Characters of a text that details quote, at most."""


class ModelTexts(Texts):
    """The samples of a dataset, with the models that measure them."""

    __slots__ = ("models",)

    def __init__(self, data: TextDataset, models: TextModels) -> None:
        super().__init__(data)
        self.models = models

    def sentences(self, text: str) -> tuple[tuple[int, int], ...]:
        """Sentence spans of a text, (start, end); the same for every metric.

        A text in which the splitter finds none is one, unless it is blank.
        """
        whole = ((0, len(text)),) if text.strip() else ()
        return self.once(("sentences", text), lambda: tuple(split_sentences(text)) or whole)

    def quoted(self, text: str, start: int, end: int) -> str:
        """A quotation for details: secrets masked, shortened."""
        said = text[start:end]
        if said != text.strip() or len(said) > QUOTED:
            # A key may reach over the ends of the part, and what is left of it is not seen as one.
            places = self.once(("secrets", text), lambda: tuple(self.data.secrets(text)))
            if places:
                said = masked(text, [Span(first, last, "") for first, last in places])[start:end]
        return said if len(said) <= QUOTED else said[: QUOTED - 1] + "…"

    def unit_vectors(self, groups: Sequence[Sequence[str]]) -> Iterator[Floats]:
        """Unit vectors (texts, dimensions) of each group of texts; zero vectors stay zero.

        All are embedded before the first group comes out, each distinct text once.
        """
        distinct = dict.fromkeys(text for group in groups for text in group)
        places = {text: at for at, text in enumerate(distinct)}
        vectors = units(self.models.embed(list(places)))
        for group in groups:
            yield vectors[np.array([places[text] for text in group], np.intp)]


class ModelOutcomes(Struct, frozen=True):
    """Outcomes of one model's samples, by call."""

    calls: tuple[Call, ...]
    outcomes: tuple[Outcomes, ...]


def gather(
    datasets: Mapping[str, TextDataset], calls: tuple[Call, ...], session: Session | None
) -> dict[str, ModelOutcomes]:
    """Run the models of a run on every sample.

    Args:
        datasets: By model under evaluation.
        calls: The metrics, in the order of the config.
        session: The models to ask; None: every sample is skipped.

    Raises:
        ValorError: A model will never answer.
    """
    if session is None:
        nobody = Outcome(status="skipped", reason="not asked")
        return {
            name: ModelOutcomes(calls, tuple(_all(call, data, nobody) for call in calls))
            for name, data in datasets.items()
        }
    with session.models.halting():
        return {
            name: _measured(ModelTexts(data, session.models), calls)
            for name, data in datasets.items()
        }


def each_once(asked: Iterable[H], answers: Callable[[list[H]], Iterable[T]]) -> dict[H, T]:
    """The answer to each of what is asked; what is asked several times, a model is asked once.

    Args:
        asked: Texts, pairs of texts, or passages.
        answers: Asks the model about all of them, in their order.
    """
    distinct = list(dict.fromkeys(asked))
    return dict(zip(distinct, answers(distinct), strict=True))


def _measured(texts: ModelTexts, calls: tuple[Call, ...]) -> ModelOutcomes:
    return ModelOutcomes(calls, tuple(_outcomes(texts, call) for call in calls))


def _outcomes(texts: ModelTexts, call: Call) -> Outcomes:
    """What one metric finds of the samples, or why it finds nothing."""
    measure = call.metric.measure
    if measure is None:
        raise ValueError(f"{call.metric.name} has no measure")
    try:
        found: Outcomes = measure(texts, **call.parameters)
    except Unavailable as lack:
        return _all(call, texts.data, Outcome(status="model_unavailable", reason=str(lack)))
    except NoAnswer as failure:
        return _all(call, texts.data, Outcome(status="judge_error", reason=str(failure)))
    except Stopped as stop:
        return _all(call, texts.data, Outcome(status="skipped", reason=str(stop)))
    return found


def _all(call: Call, data: TextDataset, outcome: Outcome) -> Outcomes:
    """The same of every sample; which model was to be asked stands beside it all the same."""
    outputs = [output.name for output in call.metric.outputs]
    beside = {} if call.model is None else {"model": call.model}
    return Outcomes.of([outcome] * data.unit_count, outputs, beside=beside)


def measured_evidence(data: TextDataset, measured: ModelOutcomes) -> SampleEvidence:
    """Evidence from the outcomes of a dataset."""
    return SampleEvidence.of_all(
        measured.calls,
        tuple(one.without_secrets(data.secrets, quoted=True) for one in measured.outcomes),
        data.sample_ids,
        data.number,
    )


def model_wing(*metrics: Metric[Any]) -> Wing[TextDataset, SampleEvidence]:
    """A wing of metrics that run models on all samples at once."""
    return asking_wing(gather, metrics)


def asking_wing(
    gather: Callable[
        [Mapping[str, TextDataset], tuple[Call, ...], Session | None], Mapping[str, ModelOutcomes]
    ],
    metrics: tuple[Metric[Any], ...],
) -> Wing[TextDataset, SampleEvidence]:
    """A wing of metrics whose outcomes are gathered before evidence is built.

    Args:
        gather: As `Wing.gather`.
        metrics: In the order of the catalogue.
    """
    return Wing(
        metrics=metrics,
        plan=plan_samples,
        evidence=measured_evidence,
        merge=merge_samples,
        built_from="whole",
        gather=gather,
    )
