"""Ask all judges about all samples and build evidence from their replies.

datasets ─gather─▶ an outcome per judge, repeat, model, sample, metric ─▶ combined ─▶ evidence
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators.judge.evidence.combining import combined
from valor_cli.evaluators.judge.evidence.conversation import Conversation, ParseFailure, Shared
from valor_cli.evaluators.judge.evidence.one_word import RATING
from valor_cli.evaluators.judge.evidence.sample import Missing, Sample
from valor_cli.evaluators.model_metrics import ModelOutcomes, asking_wing
from valor_cli.evaluators.samples.evidence import SampleEvidence
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes, missing
from valor_cli.evaluators.verdicts import is_verdict, unreadable
from valor_cli.metric import Call, Metric, Wing
from valor_cli.models.protocols import Unavailable
from valor_cli.models.requests import NoAnswer, Stopped
from valor_cli.models.settings import Combine

if TYPE_CHECKING:
    from valor_cli.models.panel import Member
    from valor_cli.models.session import Session

Found = list[list[Outcome]]
"""By sample, an outcome of every call."""


def gather(
    datasets: Mapping[str, TextDataset], calls: tuple[Call, ...], session: Session | None
) -> dict[str, ModelOutcomes]:
    """Ask the judges about every sample of every model.

    Args:
        datasets: By model.
        calls: The metrics, in the order of the config.
        session: The models to ask; None: every sample is skipped.

    Raises:
        ValorError: A judge will never answer.
    """
    if session is None:
        skipped = Outcome(status="skipped", reason="not asked")
        return {
            model: _judgements(calls, [[[skipped] * len(calls)] * data.unit_count], (), None)
            for model, data in datasets.items()
        }
    raters = [(juror, again) for juror in session.jurors for again in range(juror.repeats)]
    not_begun = Outcome(status="skipped", reason="the run stopped before it was asked")
    found: dict[str, list[Found]] = {
        model: [[[not_begun] * len(calls) for _ in range(data.unit_count)] for _ in raters]
        for model, data in datasets.items()
    }
    shared = Shared(session.jurors[0], next(iter(datasets)))
    work = []
    first = 0
    for juror in session.jurors:
        columns = {model: own[first : first + juror.repeats] for model, own in found.items()}
        total = juror.repeats * sum(data.unit_count for data in datasets.values())
        work.append((total, _pieces(datasets, calls, juror, shared, columns)))
        first += juror.repeats
    session.run(work)
    session.told |= shared.told
    names = [(juror.name, again) for juror, again in raters]
    return {model: _judgements(calls, own, names, session.combine) for model, own in found.items()}


def _pieces(
    datasets: Mapping[str, TextDataset],
    calls: Sequence[Call],
    juror: Member,
    shared: Shared,
    columns: Mapping[str, list[Found]],
) -> Iterator[Callable[[], Awaitable[None]]]:
    """The calls of one juror: by sample, then model, then repeat.

    So a run that stops has judged the same samples of every model.
    """
    for model, row in _in_turn(datasets):
        for again, column in enumerate(columns[model]):
            sample = Sample.of(datasets[model], row, model)
            asking = Conversation(sample, juror, again, _shared=shared)
            yield _piece(asking, calls, column, row)


def _in_turn(datasets: Mapping[str, TextDataset]) -> Iterator[tuple[str, int]]:
    """Models and rows: all rows of a sample, in the order of the models, before the next sample."""
    order = zip_longest(*(data.sample_ids for data in datasets.values()))
    samples = dict.fromkeys(one for row in order for one in row if one is not None)
    rows = [
        (model, {one: row for row, one in enumerate(data.sample_ids)})
        for model, data in datasets.items()
    ]
    for one in samples:
        for model, places in rows:
            if one in places:
                yield model, places[one]


def _piece(
    asking: Conversation, calls: Sequence[Call], column: Found, row: int
) -> Callable[[], Awaitable[None]]:
    async def judge() -> None:
        for at, call in enumerate(calls):
            column[row][at] = await _outcome(asking, call)

    return judge


async def _outcome(asking: Conversation, call: Call) -> Outcome:
    """What one metric finds of one sample, or why it finds nothing."""
    asking.metric = call.metric.name
    measure = call.metric.measure
    if measure is None:
        raise ValueError(f"{call.metric.name} has no measure")
    try:
        found = await asking.measured(call.metric.name, measure, call.parameters)
    except Missing as lack:
        found = missing(str(lack))
    except ParseFailure as failure:
        found = _unread(call.metric, str(failure))
    except NoAnswer as failure:
        found = Outcome(status="judge_error", reason=str(failure))
    except Unavailable as lack:
        found = Outcome(status="model_unavailable", reason=str(lack))
    except Stopped as stop:
        found = Outcome(status="skipped", reason=str(stop))
    return found._replace(asked=asking.judge_calls())


def _unread(metric: Metric[Any], reason: str) -> Outcome:
    """Rates of unparsable replies."""
    if is_verdict(metric.outputs):
        return unreadable(reason)
    return Outcome(status="parse_failure", reason=reason)


def _judgements(
    calls: tuple[Call, ...],
    found: Sequence[Found],
    names: Sequence[tuple[str, int]],
    combine: Combine | None,
) -> ModelOutcomes:
    """The raters' outcomes as one column of outcomes per call."""
    outcomes = []
    for at, call in enumerate(calls):
        outputs = [output.name for output in call.metric.outputs]
        columns = [[row[at] for row in own] for own in found]
        if len(columns) == 1:
            outcomes.append(Outcomes.of(columns[0], outputs))
            continue
        one = [combined(call.metric, names, each, combine) for each in zip(*columns, strict=True)]
        # A custom judge has a rating with a rubric alone.
        rated = any(RATING in outcome.values for column in columns for outcome in column)
        compared = RATING if rated else outputs[0]
        raters = {
            name: np.array([_value(outcome, compared) for outcome in column], np.float64)
            for name, column in zip(names, columns, strict=True)
        }
        outcomes.append(replace(Outcomes.of(one, outputs), raters=raters))
    return ModelOutcomes(calls, tuple(outcomes))


def _value(outcome: Outcome, output: str) -> float | None:
    return outcome.values.get(output) if outcome.status == "ok" else None


def judge_wing(*metrics: Metric[Any]) -> Wing[TextDataset, SampleEvidence]:
    """A wing of metrics that ask judges about single samples."""
    return asking_wing(gather, metrics)
