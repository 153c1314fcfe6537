"""Answer correctness: agreement of the response's statements with a reference.

The default is the F1 of the statements alone (`weights: [1, 0]`); Ragas and H2O Sonar combine it
with the similarity of the texts' embeddings (`weights: [0.75, 0.25]`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum, inf
from typing import Annotated, Any, NamedTuple

from annotated_types import MaxLen, MinLen
from pydantic import AfterValidator

from valor_cli.evaluators.judge.evidence.conversation import Conversation
from valor_cli.evaluators.judge.evidence.parameters import JudgeRetries
from valor_cli.evaluators.judge.evidence.reply_readings import Correctness, correctness
from valor_cli.evaluators.judge.evidence.shares import statements_of
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.kernels.vectors.cosines import cosines
from valor_cli.metric import ByParameters, Metric, ModelKind
from valor_cli.models.judge.prompts import Numbered, UntrustedText
from valor_cli.results import Verdict


def _some(weights: tuple[float, ...]) -> tuple[float, ...]:
    """The weights as they are; refused where nothing can be weighted with them."""
    total = fsum(weights)
    if min(weights) < 0 or not 0 < total < inf:
        raise ValueError("weights must be 0 or more, one of them at least more than 0")
    return weights


Weights = Annotated[tuple[float, ...], MinLen(2), MaxLen(2), AfterValidator(_some)]


class Compared(NamedTuple):
    """A response with a reference.

    Attributes:
        found: What the judge found of the statements; None: it was not asked.
        similarity: Of the texts; None: not asked for.
        value: The two together, as the weights have it.
        why: Why it was not asked, in words.
    """

    found: Correctness | None
    similarity: float | None
    value: float
    why: str = ""

    @property
    def f1(self) -> float:
        """The F1 of the statements."""
        return 0.0 if self.found is None else f1_of(self.found)


async def answer_correctness(
    asking: Conversation, *, weights: Weights = (1.0, 0.0), judge_retries: JudgeRetries = None
) -> Outcome:
    """F1 of the statements of the response and of the reference; the best reference counts.

    The judge lists the statements of both, then says which of the response the reference bears out
    (TP), which it does not (FP), and which of the reference are lacking (FN): TP / (TP + (FP + FN)
    / 2). A response or a reference that states nothing gives 0. `weights` are those of this F1 and
    of the similarity of the two texts, the cosine of their vectors or 0 if that is negative;
    they need not sum to 1. A weight of 0 asks for nothing: by default no embedder is needed.

    Formula:
        F1 = TP / (TP + (FP + FN) / 2), 0 without TP
        value = (w₁ · F1 + w₂ · max(0, cosine)) / (w₁ + w₂), w = weights

    Pitfalls:
        What is right but not in the reference counts as wrong: fuller answers lose. The value
        depends on how finely a judge cuts statements; compare models under one judge. Calls: 1, and
        2 for each reference.

    Example:
        3 statements right, 1 wrong, 2 lacking: 3 / (3 + 1.5) = 0.667.
    """
    sample = asking.sample
    response, references = sample.response, sample.references
    factual, alike = (weight / fsum(weights) for weight in weights)
    judged: list[tuple[Correctness | None, str]] = [(None, "")] * len(references)
    if factual:
        judged = [await _judged(asking, response, one, judge_retries) for one in references]
    similarities: Sequence[float | None] = [None] * len(references)
    if alike:
        similarities = await _similarities(asking, response, references)
    compared = []
    for (found, why), similarity in zip(judged, similarities, strict=True):
        f1 = 0.0 if found is None else f1_of(found)
        value = factual * f1 + alike * (similarity or 0.0)
        compared.append(Compared(found, similarity, min(value, 1.0), why))
    return _best(compared)


def f1_of(found: Correctness) -> float:
    """F1 of the statements; 0 if none is shared."""
    tp, wrong = len(found.tp), len(found.fp) + len(found.fn)
    return tp / (tp + 0.5 * wrong) if tp else 0.0


async def _judged(
    asking: Conversation, response: str, reference: str, retries: int | None
) -> tuple[Correctness | None, str]:
    """The judge's verdicts on the statements, or None and why it was not asked."""
    statements = await statements_of(asking, response, retries)
    if not statements:
        return None, "the response makes no statements"
    expected = await statements_of(asking, reference, retries)
    if not expected:
        return None, "the reference makes no statements"
    asked = asking.sample.asked
    found = await asking.ask(
        "answer_correctness",
        correctness(statements, expected),
        {
            "user_input": None if asked is None else UntrustedText(asked),
            "statements": Numbered(statements),
            "reference_statements": Numbered(expected),
        },
        retries=retries,
    )
    return found, ""


async def _similarities(
    asking: Conversation, response: str, references: Sequence[str]
) -> list[float]:
    """How alike the response and each reference are, 0 to 1; nothing is like a blank text."""
    full = [at for at, reference in enumerate(references) if reference.strip()]
    alike = [0.0] * len(references)
    if response.strip() and full:
        vectors = await asking.embed([response, *(references[at] for at in full)])
        for at, cosine in zip(full, cosines(vectors[0], vectors[1:]).tolist(), strict=True):
            alike[at] = max(cosine, 0.0)
    return alike


def _best(compared: Sequence[Compared]) -> Outcome:
    """The outcome by the reference with the highest value, the first of equals."""
    best = max(compared, key=lambda one: one.value)
    of = f" (best of {len(compared)} references)" if len(compared) > 1 else ""
    return Outcome(
        {"value": best.value},
        reason=f"{_reason(best)}{of}",
        details={"references": [_told(one, best=one is best) for one in compared]},
        verdicts=() if best.found is None else _verdicts(best.found),
    )


def _reason(one: Compared) -> str:
    parts = [one.why] if one.why else []
    if one.found is not None:
        tp, fp, fn = map(len, one.found)
        parts.append(f"{tp} statements right, {fp} wrong, {fn} lacking")
    if one.similarity is not None:
        parts.append(f"similarity {one.similarity:.3f}")
    return "; ".join(parts)


def _told(one: Compared, *, best: bool) -> Mapping[str, Any]:
    """The result for a reference, for `Outcome.details`."""
    told: dict[str, Any] = {"value": one.value, "best": best}
    if one.found is not None:
        tp, fp, fn = map(list, one.found)
        told |= {"f1": one.f1, "tp": tp, "fp": fp, "fn": fn}
    if one.similarity is not None:
        told["similarity"] = one.similarity
    return told


def _verdicts(found: Correctness) -> tuple[Verdict, ...]:
    return (
        *(Verdict(text, "right", True) for text in found.tp),
        *(Verdict(text, "wrong", False) for text in found.fp),
        *(Verdict(text, "lacking", False) for text in found.fn),
    )


def _asks(parameters: Mapping[str, Any]) -> tuple[ModelKind, ...]:
    return ("embedder",) if parameters["weights"][1] else ()


ANSWER_CORRECTNESS = Metric(
    name="answer_correctness",
    measure=answer_correctness,
    compute=mean_of_samples,
    reference="valor-lite's AnswerCorrectness; with other weights Ragas' AnswerCorrectness and "
    "H2O Sonar's Answer Correctness Evaluator",
    citation="https://striveworks.github.io/valor",
    aliases=("AnswerCorrectness", "Answer Correctness Evaluator"),
    needs=("response", "references"),
    asks=("judge",),
    by_parameters=ByParameters(asks=_asks),
    prompts=("statements", "answer_correctness"),
    threshold=0.75,
)
