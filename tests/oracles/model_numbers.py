"""Metrics of vectors and of log-probabilities, once more, from their definitions in plain loops.

Samples are mappings as a line of JSONL has them. A metric's numbers are a mapping of its outputs;
None is a sample that lacks its input, a text says why the metric has nothing to say of it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import Any

from sentencex import segment  # type: ignore[import-untyped]

Sample = Mapping[str, Any]
Vectors = Mapping[str, Sequence[float]]
Found = Mapping[str, float] | str | None

NOT_APPLICABLE = "not_applicable"


def sentences(text: str) -> list[str]:
    """The sentences of a text, without the white space around them."""
    return [one.strip() for one in segment("en", text) if one.strip()]


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Of the angle between two vectors; 0 where one has no direction."""
    lengths = math.sqrt(math.fsum(x * x for x in one)) * math.sqrt(math.fsum(y * y for y in other))
    return math.fsum(x * y for x, y in zip(one, other, strict=True)) / lengths if lengths else 0.0


def said(text: str | None) -> bool:
    """Whether there is a text that is not blank."""
    return text is not None and bool(text.strip())


def said_of(texts: Iterable[str] | None) -> list[str]:
    return [one for one in texts or () if said(one)]


def semantic_similarity(sample: Sample, vectors: Vectors) -> Found:
    references = said_of(sample["references"])
    if not said(sample["response"]) or not references:
        return None
    response = vectors[sample["response"]]
    return {"value": max(cosine(response, vectors[one]) for one in references)}


def nearest_sentences(text: str, other: str, vectors: Vectors) -> list[float]:
    """Of each sentence of a text the highest cosine with a sentence of another one."""
    found = []
    for sentence in sentences(text):
        best = -math.inf
        for candidate in sentences(other):
            best = max(best, cosine(vectors[sentence], vectors[candidate]))
        found.append(best)
    return found


def sentence_similarity(sample: Sample, vectors: Vectors) -> Found:
    references = said_of(sample["references"])
    if not said(sample["response"]) or not references:
        return None
    best: list[float] = []
    for reference in references:
        found = nearest_sentences(sample["response"], reference, vectors)
        if not best or fmean(found) > fmean(best):
            best = found
    return {"mean": fmean(best), "min": min(best)}


def levenshtein(one: Sequence[str], other: Sequence[str]) -> int:
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, right in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (left != right))
    return row[-1]


def as_written(one: str, other: str, how: str) -> float:
    """How alike two short answers are."""
    one, other = one.strip().casefold(), other.strip().casefold()
    if how == "exact_match":
        return 1.0 if one == other else 0.0
    if how == "token_jaccard":
        ours, theirs = set(one.split()), set(other.split())
        return len(ours & theirs) / len(ours | theirs)
    return 1 - levenshtein(one, other) / max(len(one), len(other))


def answer_accuracy_semantic(
    sample: Sample,
    vectors: Vectors,
    *,
    short_string_metric: str = "normalized_edit_distance",
    short_string_threshold: int = 10,
) -> Found:
    response, references = sample["response"], said_of(sample["references"])
    if not said(response) or not references:
        return None
    values = []
    for reference in references:
        short = max(len(response.strip()), len(reference.strip())) <= short_string_threshold
        if short and short_string_metric != "embeddings":
            values.append(as_written(response, reference, short_string_metric))
        else:
            values.append(min(nearest_sentences(response, reference, vectors)))
    return {"value": max(values)}


def groundedness_semantic(sample: Sample, vectors: Vectors) -> Found:
    contexts = said_of(sample["contexts"])
    if not said(sample["response"]) or not contexts:
        return None
    values = []
    for sentence in sentences(sample["response"]):
        near = [
            cosine(vectors[sentence], vectors[other])
            for context in contexts
            for other in sentences(context)
        ]
        values.append(max(near))
    return {"value": min(values)}


def relevance(question: str, context: str, vectors: Vectors) -> float:
    return max(cosine(vectors[question], vectors[one]) for one in sentences(context))


def context_relevancy_soft(sample: Sample, vectors: Vectors) -> Found:
    question, contexts = sample["question"], said_of(sample["contexts"])
    if not said(question) or not contexts:
        return None
    values = [relevance(question, one, vectors) for one in contexts]
    return {"recall": max(values), "precision": math.fsum(values) / len(values)}


def answer_relevancy_sentence(sample: Sample, vectors: Vectors) -> Found:
    question, response = sample["question"], sample["response"]
    if not said(question) or not said(response):
        return None
    return {"value": max(cosine(vectors[question], vectors[one]) for one in sentences(response))}


def context_mrr(
    sample: Sample,
    vectors: Vectors,
    *,
    mrr_relevant_chunk_threshold: float = 0.7,
    mrr_relevant_chunk_oor_idx: int = 10,
) -> Found:
    question, contexts = sample["question"], sample["contexts"]
    if not said(question) or not said_of(contexts):
        return None
    for rank, context in enumerate(contexts, 1):
        if rank > mrr_relevant_chunk_oor_idx:
            break
        near = said(context) and relevance(question, context, vectors)
        if near is not False and near >= mrr_relevant_chunk_threshold:
            return {"value": 1 / rank, "hit": 1.0}
    return {"value": 0.0, "hit": 0.0}


def steps(text: str) -> list[str]:
    """What the lines of a text say that begin with a number; markers and case apart."""
    lines = [line.partition(". ") for line in text.splitlines()]
    return [words.strip(" .").lower() for number, _, words in lines if number.strip().isdigit()]


def step_alignment(
    sample: Sample,
    vectors: Vectors,
    *,
    similarity: str = "embeddings",
    step_similarity_threshold: float = 0.5,
) -> Found:
    if sample["response"] is None or not sample["contexts"]:
        return None
    expected = [step for one in sample["contexts"] for step in steps(one)]
    given = steps(sample["response"])
    if not expected:
        return NOT_APPLICABLE

    def same(one: str, other: str) -> bool:
        if similarity == "edit":
            alike = 1 - levenshtein(one, other) / max(len(one), len(other))
        else:
            alike = cosine(vectors[one], vectors[other])
        return one == other or alike >= step_similarity_threshold

    edits, insertions, deletions, mismatches = fewest_edits(expected, given, same)
    return {
        "edits": edits,
        "insertions": insertions,
        "deletions": deletions,
        "mismatches": mismatches,
        "context_steps": len(expected),
        "answer_steps": len(given),
        "edits_per_context_step": edits / len(expected),
    }


def fewest_edits(
    expected: Sequence[str], given: Sequence[str], same: Callable[[str, str], bool]
) -> tuple[int, int, int, int]:
    """Edits, insertions, deletions and mismatches: of the fewest edits, those with fewest
    mismatches, by trying every set of steps that are left as they are or replaced."""
    ways = []
    most = min(len(expected), len(given))
    for kept in range(most + 1):
        for ours in combinations(range(len(expected)), kept):
            for theirs in combinations(range(len(given)), kept):
                pairs = zip(ours, theirs, strict=True)
                wrong = sum(not same(expected[i], given[j]) for i, j in pairs)
                missing, extra = len(expected) - kept, len(given) - kept
                ways.append((missing + extra + wrong, wrong, missing, extra))
    edits, wrong, missing, extra = min(ways)
    return edits, missing, extra, wrong


def direction(vectors: Sequence[Sequence[float]]) -> list[float]:
    """The mean of the vectors, each made of length 1."""
    units = []
    for vector in vectors:
        length = math.sqrt(math.fsum(x * x for x in vector))
        units.append([x / length for x in vector])
    return [math.fsum(column) / len(units) for column in zip(*units, strict=True)]


def drift(vectors: Sequence[Sequence[float]], first: int) -> float:
    """The cosine distance of the centroids of the first vectors and of the others."""
    return 1 - cosine(direction(vectors[:first]), direction(vectors[first:]))


def drift_by_chance(vectors: Sequence[Sequence[float]], first: int, times: int) -> float:
    """How often shuffled vectors drift as far, of so many times, or of all there are."""
    found = drift(vectors, first)
    if math.comb(len(vectors), first) <= times:
        drawn: Iterable[tuple[int, ...]] = combinations(range(len(vectors)), first)
    else:
        rng = random.Random(99)
        drawn = (tuple(rng.sample(range(len(vectors)), first)) for _ in range(times))
    hits = []
    for chosen in drawn:
        rest = [at for at in range(len(vectors)) if at not in chosen]
        shuffled = [vectors[at] for at in (*chosen, *rest)]
        hits.append(drift(shuffled, first) >= found - 1e-12)
    return fmean(hits)


def perplexity(sample: Sample) -> Found:
    """Of the log-probabilities that stand in the row."""
    told = sample["token_logprobs"]
    if not said(sample["response"]) or not told:
        return None
    known = [one for one in told if one is not None]
    if not known:
        return NOT_APPLICABLE
    nats = -math.fsum(known)
    return {"value": math.exp(nats / len(known)), "tokens": len(known), "nats": nats}


def corpus_perplexity(found: Sequence[Found]) -> float:
    """Of all tokens together."""
    scored = [one for one in found if isinstance(one, Mapping)]
    return math.exp(sum(one["nats"] for one in scored) / sum(one["tokens"] for one in scored))
