"""Context relevancy: the share of context sentences needed to answer the question.

As in early Ragas (0.1), and in H2O Sonar: the judge copies the sentences that it needs. Only
sentences that are in the contexts count, not those that it made up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from valor_cli.evaluators.judge.evidence.conversation import Conversation
from valor_cli.evaluators.judge.evidence.parameters import JudgeRetries
from valor_cli.evaluators.judge.evidence.reply_readings import sentences
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.kernels.text.sentences import split_sentences
from valor_cli.metric import Metric
from valor_cli.models.judge.prompts import Passages, UntrustedText
from valor_cli.results import Verdict


async def context_relevancy(asking: Conversation, *, judge_retries: JudgeRetries = None) -> Outcome:
    """The share of context sentences that the judge selects as relevant to the question.

    A copy counts when it stands in a context, whatever its case and white space, and once for each
    context that it stands in at most; the value is 1 at most. Sentences are those of sentencex;
    items of lists, headings, rows of tables and blocks of code are sentences too.

    Formula:
        value = sentences that the judge copies / sentences of the contexts, at most 1

    Pitfalls:
        It falls with the size of the passages: one needed sentence in a good passage of twenty is
        0.05. A judge that rewords what it should copy lowers it. One call. Not to be confused with
        `context_relevance`, which counts contexts.

    Example:
        3 of the 12 sentences of the contexts are copied: 3 / 12 = 0.25.
    """
    user_input, contexts = asking.sample.user_input, asking.sample.contexts
    total = sum(len(split_sentences(context)) for context in contexts)
    if not total:
        return Outcome(status="not_applicable", reason="the retrieved contexts have no sentences")
    copied = await asking.ask(
        "context_relevancy",
        sentences("\n".join(contexts)),
        {"user_input": UntrustedText(user_input), "contexts": Passages(contexts)},
        retries=judge_retries,
    )
    return _counted(copied, contexts, total)


def _counted(copied: Sequence[str], contexts: Sequence[str], total: int) -> Outcome:
    """The outcome by the copied sentences that occur in a context."""
    places = [_folded(context) for context in contexts]
    times = Counter(map(_folded, copied))
    written = {_folded(sentence): sentence for sentence in reversed(copied)}
    stands = {folded: sum(folded in place for place in places) for folded in times}
    relevant = [
        written[folded] for folded in times for _ in range(min(times[folded], stands[folded]))
    ]
    strange = [written[folded] for folded in times if not stands[folded]]
    count = min(len(relevant), total)
    stand = "stands" if len(strange) == 1 else "stand"
    made_up = f"; {len(strange)} copied {stand} in no context" if strange else ""
    return Outcome(
        {"value": count / total},
        reason=f"{count} of {total} sentences relevant{made_up}",
        details={"sentences": total, "relevant": relevant, "in_no_context": strange},
        verdicts=(
            *(Verdict(sentence, "relevant", True) for sentence in relevant),
            *(Verdict(sentence, "in no context") for sentence in strange),
        ),
    )


def _folded(text: str) -> str:
    """A text as copies of it are compared."""
    return " ".join(text.casefold().split())


CONTEXT_RELEVANCY = Metric(
    name="context_relevancy",
    measure=context_relevancy,
    compute=mean_of_samples,
    reference="H2O Sonar's Context Relevancy Evaluator; Ragas 0.1's ContextRelevancy",
    citation="Es et al., RAGAS: Automated Evaluation of Retrieval Augmented Generation, EACL 2024",
    aliases=("ContextRelevancy", "Context Relevancy Evaluator"),
    needs=("user_input", "retrieved_contexts"),
    asks=("judge",),
    prompts=("context_relevancy",),
    threshold=0.75,
)
