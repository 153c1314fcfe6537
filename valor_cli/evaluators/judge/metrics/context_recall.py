"""Context recall: whether the contexts support the statements of the reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from valor_cli.evaluators.judge.evidence.conversation import Conversation
from valor_cli.evaluators.judge.evidence.parameters import JudgeRetries
from valor_cli.evaluators.judge.evidence.reply_readings import Judged, verdicts
from valor_cli.evaluators.judge.evidence.shares import Trait, share, statements_of
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.metric import Metric
from valor_cli.models.judge.prompts import Numbered, Passages

ATTRIBUTED = Trait("statement", "statements", "attributed", "not attributed")


class _Recalled(NamedTuple):
    """What was found of a reference."""

    statements: Sequence[str]
    found: Sequence[Judged]

    @property
    def value(self) -> float | None:
        """The share that is attributable; None: it states nothing."""
        if not self.found:
            return None
        return sum(one.verdict for one in self.found) / len(self.found)


async def context_recall(asking: Conversation, *, judge_retries: JudgeRetries = None) -> Outcome:
    """The share of the reference's statements that the retrieved contexts support.

    For each reference the judge lists the statements, then says of each whether a context supports
    it, and which: contexts are numbered from 1. The best reference counts; one that states nothing
    is left out, and where none states anything the metric is not applicable.

    Formula:
        value = max over references of attributed statements / its statements

    Pitfalls:
        Retrieving more tends to raise it: read it with `context_precision`. A reference of one
        statement is 0 or 1, and one that says what no document has keeps it low. Judges may credit
        what they know themselves. Two calls a reference.

    Example:
        The contexts support 3 of the reference's 4 statements: 3 / 4 = 0.75.
    """
    references, contexts = asking.sample.references, asking.sample.contexts
    recalled = []
    for reference in references:
        statements = await statements_of(asking, reference, judge_retries)
        if not statements:
            recalled.append(_Recalled((), ()))
            continue
        found = await asking.ask(
            "context_recall",
            verdicts(len(statements), contexts=len(contexts)),
            {"statements": Numbered(statements), "contexts": Passages(contexts)},
            retries=judge_retries,
        )
        recalled.append(_Recalled(statements, found))
    return _best(recalled)


def _best(recalled: Sequence[_Recalled]) -> Outcome:
    """The outcome by the reference of which most can be attributed, the first of equals."""
    values = [-1.0 if one.value is None else one.value for one in recalled]
    best = recalled[values.index(max(values))]
    if best.value is None:
        some = "the reference makes" if len(recalled) == 1 else "the references make"
        return Outcome(status="not_applicable", reason=f"{some} no statements")
    outcome = share(ATTRIBUTED, best.statements, best.found)
    of = f" (best of {len(recalled)} references)" if len(recalled) > 1 else ""
    return outcome._replace(
        reason=f"{outcome.reason}{of}",
        details={
            "references": [
                {
                    "value": one.value,
                    "best": one is best,
                    "statements": [
                        {**ATTRIBUTED.detail(at, text, judged), "context": judged.context}
                        for at, (text, judged) in enumerate(
                            zip(one.statements, one.found, strict=True)
                        )
                    ],
                }
                for one in recalled
            ]
        },
    )


CONTEXT_RECALL = Metric(
    name="context_recall",
    measure=context_recall,
    compute=mean_of_samples,
    reference="valor-lite's ContextRecall; Ragas' ContextRecall; H2O Sonar's Context Recall "
    "Evaluator",
    citation="Es et al., RAGAS: Automated Evaluation of Retrieval Augmented Generation, EACL 2024",
    aliases=("ContextRecall", "Context Recall Evaluator"),
    needs=("references", "retrieved_contexts"),
    asks=("judge",),
    prompts=("statements", "context_recall"),
    threshold=0.75,
)
