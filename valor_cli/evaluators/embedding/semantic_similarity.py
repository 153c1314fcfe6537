"""Semantic similarity: whether a response means what a reference means."""

from __future__ import annotations

from valor_cli.evaluators.gathering import ModelTexts
from valor_cli.evaluators.samples import Outcome, Outcomes, mean_of_samples, missing
from valor_cli.kernels.cosines import similarities
from valor_cli.metric import Metric, asks


def semantic_similarity(texts: ModelTexts) -> Outcomes:
    """Cosine of the vectors of the response and of the reference; the best reference counts.

    The cosine may be negative, and is not clipped. It does not see contradiction: "a rise of 15 %"
    and "a fall of 15 %" are near each other.
    """
    data = texts.data
    outcomes = [_lack(*both) for both in zip(data.response, data.references, strict=True)]
    rows = [at for at, lack in enumerate(outcomes) if lack is None]
    groups = [(data.response[at] or "", *_full(data.references[at])) for at in rows]
    found = [
        Outcome(status="skipped", reason="not looked at") if one is None else one
        for one in outcomes
    ]
    for at, vectors in zip(rows, texts.unit_vectors(groups), strict=True):
        alike = similarities(vectors[:1], vectors[1:])[0]
        best = int(alike.argmax())
        found[at] = Outcome(
            {"value": float(alike[best])}, details={"reference": best} if best else None
        )
    return Outcomes.of(found, ["value"], beside=texts.models.embedder.beside)


def _lack(response: str | None, references: tuple[str, ...]) -> Outcome | None:
    if response is None or not response.strip():
        return missing("no response" if response is None else "the response is empty")
    if not _full(references):
        return missing("the reference is empty" if references else "no reference")
    return None


def _full(references: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(one for one in references if one.strip())


SEMANTIC_SIMILARITY = Metric(
    name="semantic_similarity",
    measure=semantic_similarity,
    compute=mean_of_samples,
    reference="sentence_transformers.util.cos_sim",
    citation="Reimers and Gurevych, Sentence-BERT, EMNLP 2019",
    bounds=(-1, 1),
    needs=("response", "references"),
    models=asks("embedder"),
    threshold=0.75,
    aliases=("SemanticSimilarity",),
)
