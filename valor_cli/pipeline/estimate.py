"""Estimate the calls, tokens and cost of the judges of a plan, without calling any."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from valor_cli.errors import ConfigError, Problem
from valor_cli.metric import RunTerms
from valor_cli.pipeline.executor.executor import Progress, ThisProcess
from valor_cli.pipeline.plan import Plan
from valor_cli.pipeline.record import usage_of
from valor_cli.pipeline.rows import Computation
from valor_cli.pipeline.run import selection_of, session_of
from valor_cli.results import UsageResult


class Estimate(Struct, frozen=True):
    """Estimated usage by metric, model and judge.

    Attributes:
        usage: As `RunInfo.usage`, from the real prompts and replies of likely length.
        samples: How many samples there are, over all models.
        warnings: Problems of the data.
    """

    usage: Sequence[UsageResult]
    samples: int
    warnings: Sequence[str]


def estimate(
    plan: Plan,
    *,
    limit: int | None = None,
    progress: Progress = lambda stage, done, total: None,
) -> Estimate:
    """Run the judge metrics of a plan with simulated replies.

    Raises:
        ConfigError: No metric asks a judge.
        DataError: An input cannot be used.
    """
    judged = judges_part(plan)
    progress("reading", 0, 0)
    loaded = plan.task.load(plan.config.data, plan.config.options, selection_of(judged, limit))
    terms = RunTerms(
        "",
        dry_run=True,
        on_progress=lambda stage, done, total: progress("imagining replies", done, total),
    )
    with session_of(judged, terms) as session:
        Computation(judged, loaded, (), ThisProcess(), progress, illustrated=False, session=session)
    return Estimate(
        usage_of(session, judged, loaded),
        sum(dataset.unit_count for dataset in loaded.datasets.values()),
        loaded.warnings,
    )


def judges_part(plan: Plan) -> Plan:
    """The plan reduced to its judge metrics: no slices, intervals or gates.

    Raises:
        ConfigError: No metric asks a judge.
    """
    wings = tuple(part for part in plan.wings if part.asks("judge"))
    if not wings:
        problem = Problem(str(plan.config.path), "none of its metrics asks a judge")
        raise ConfigError(problem, hint="valor metrics --task text_generation lists those that do")
    bare = plan.config.model_copy(update={"interval": None, "slices": (), "gates": ()})
    return replace(plan, wings=wings, config=bare)
