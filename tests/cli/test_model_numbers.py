"""Numbers of vectors and log-probabilities, from files to results.json, against plain loops."""

from __future__ import annotations

import math
import random
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from tests.cli.conftest import Evaluate, Run, written
from tests.oracles import model_numbers as loops

Rows = Sequence[Mapping[str, Any]]
Reference = Callable[[Mapping[str, Any]], loops.Found]

WORDS = ("Amber", "Birch", "Cedar", "Dune", "Ember", "Fjord", "Grove", "Heath", "Islet", "Ash")
SHORT = (
    *("Yes", "yes ", "no", "Nope", "42", "an oak", "the oak", "oak an", "ten chars."),
    "11 letters.",
)
MODELS = ("red", "blue")
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))]
"""Other rows, where those of one seed already meet every case."""
THRESHOLDS = (-0.2, 0.3, 0.7, 1.0)


TASK = "text_generation"
Measure = Callable[..., Run]


@pytest.fixture
def measure(tmp_path: Path, evaluate: Evaluate) -> Measure:
    """`measure(rows, metrics, *options, **config)`, with the vectors of all that rows say."""

    def run(rows: Rows, metrics: Sequence[Any], *options: object, **config: Any) -> Run:
        vectors = [{"text": text, "vector": vector} for text, vector in vectors_of(rows).items()]
        own = {"backend": "precomputed", "model": "drawn"}
        own["vectors"] = written(tmp_path / "vectors.jsonl", vectors)
        samples = written(tmp_path / "samples.jsonl", rows)
        return evaluate(samples, metrics, *options, embedder=own, **config)

    return run


def of_sample(found: Run) -> dict[tuple[str, str], Any]:
    """By model and sample, its entries."""
    return {(one["model"], one["sample_id"]): one["metrics"] for one in found.samples}


def drawn_text(rng: random.Random, most: int = 4) -> str:
    """Some sentences, with white space here and there."""
    said = [
        " ".join(rng.choices(WORDS, k=rng.randint(1, 4))) + rng.choice(".!?")
        for _ in range(rng.randint(1, most))
    ]
    return rng.choice(("", " ")) + rng.choice((" ", "\n", "  ")).join(said) + rng.choice(("", "\n"))


def maybe(rng: random.Random, text: Callable[[], Any], *others: Any, share: float = 0.8) -> Any:
    return text() if rng.random() < share else rng.choice(others)


def drawn_rows(seed: int, samples: int = 24) -> list[dict[str, Any]]:
    """Rows of two models, interleaved; the second left out some samples; fields are missing."""
    rng = random.Random(seed)
    rows = []
    for at in range(samples):
        shared = {
            "id": f"s{at}",
            "question": maybe(rng, lambda: drawn_text(rng, 2), None, "", " \n"),
            "references": maybe(rng, lambda: drawn_references(rng), None, [], [""], share=0.9),
            "contexts": maybe(rng, lambda: drawn_contexts(rng), None, [], [" "], share=0.9),
            "lang": rng.choice(("en", "de", None)),
        }
        for model in MODELS:
            if model == "red" or rng.random() < 0.9:
                rows.append({**shared, "model": model, **drawn_answer(rng)})
    return rows


def drawn_references(rng: random.Random) -> list[str]:
    found = [
        maybe(rng, lambda: rng.choice((drawn_text(rng), rng.choice(SHORT))), "", " ", share=0.9)
        for _ in range(rng.randint(1, 3))
    ]
    return [*found, rng.choice(SHORT)]


def drawn_contexts(rng: random.Random) -> list[str]:
    chunks = [maybe(rng, lambda: drawn_text(rng), "", " ") for _ in range(rng.randint(1, 6))]
    return [*chunks, drawn_text(rng)]


def drawn_answer(rng: random.Random) -> dict[str, Any]:
    own = lambda: rng.choice((drawn_text(rng), drawn_text(rng), rng.choice(SHORT)))  # noqa: E731
    logprobs = [maybe(rng, lambda: -rng.expovariate(0.7), None) for _ in range(rng.randint(1, 9))]
    return {
        "response": maybe(rng, own, None, "", "\t"),
        "token_logprobs": maybe(rng, lambda: logprobs, None, [], [None], share=0.9),
    }


def vectors_of(rows: Rows) -> dict[str, list[float]]:
    """A drawn vector of every text, every sentence and every step, of any length but 0."""
    texts: dict[str, None] = {}
    for row in rows:
        listed = [*(row.get("references") or ()), *(row.get("contexts") or ())]
        for text in [row.get("question"), row.get("response"), *listed]:
            if text and text.strip():
                texts |= dict.fromkeys([text, *loops.sentences(text), *loops.steps(text)])
    found = {}
    for text in texts:
        rng = np.random.default_rng([7, zlib.crc32(text.encode())])
        found[text] = (rng.normal(size=4) * rng.choice([1e-3, 1.0, 50.0])).tolist()
    return found


def of_model(rows: Rows, model: str) -> dict[str, Mapping[str, Any]]:
    """The samples of a model, in the order of the data; one that it left out has no answer."""
    found: dict[str, Mapping[str, Any]] = {}
    silent = {"response": None, "token_logprobs": None}
    for row in rows:
        if row["model"] == model or row["id"] not in found:
            found[row["id"]] = row if row["model"] == model else {**row, **silent}
    return found


def near(value: Any) -> Any:
    return None if value is None else pytest.approx(value, abs=1e-9, rel=1e-9)


def check(found: Run, rows: Rows, metric: str, reference: Reference, **where: Any) -> int:
    """Compare samples, means and coverage, of all samples and by language; how many have values."""
    valued = 0
    for model in MODELS:
        samples = of_model(rows, model)
        each = of_sample(found)
        assert [one for of, one in each if of == model] == list(samples)
        told = {name: reference(sample) for name, sample in samples.items()}
        for name, expected in told.items():
            check_sample(each[model, name][metric], expected)
        for part in (None, "de", "en"):
            own = [told[name] for name, one in samples.items() if part in (None, one["lang"])]
            under = part and f"metadata.lang={part}"
            check_means(found, metric, model, under, own, where)
            valued += sum(isinstance(one, Mapping) for one in own)
    return valued


def check_sample(line: Mapping[str, Any], expected: loops.Found) -> None:
    if not isinstance(expected, Mapping):
        assert line["status"] == (expected or "missing_input")
        assert line["value"] is None
        assert line["reason"]
        assert set(line["outputs"].values()) <= {None}
        return
    assert line["status"] == "ok"
    primary, *others = expected
    assert line["value"] == near(expected[primary])
    for output, value in line["outputs"].items():
        assert value == near(expected[output])
    assert set(others) - {"nats"} == set(line["outputs"])


def check_means(
    found: Run,
    metric: str,
    model: str,
    part: str | None,
    told: Sequence[loops.Found],
    where: Mapping[str, Any],
) -> None:
    scored = [one for one in told if isinstance(one, Mapping)]
    silent = sum(one == loops.NOT_APPLICABLE for one in told)
    for output in dict.fromkeys(name for one in scored for name in one if name != "nats"):
        row = found.row(metric, output=output, model=model, slice=part, parameters=where)
        assert row["value"] == near(fmean(one[output] for one in scored))
        assert row["n"] == len(scored)
    (coverage,) = (
        row
        for row in found.result["coverage"]
        if (row["metric"], row["model"], row["slice"]) == (metric, model, part)
        and where.items() <= row["parameters"].items()
    )
    assert coverage["samples"] == len(told)
    counts = {
        "ok": len(scored),
        "missing_input": sum(one is None for one in told),
        "not_applicable": silent,
    }
    assert coverage["statuses"] == {name: count for name, count in counts.items() if count}
    applies = len(told) - silent
    assert coverage["coverage"] == (near(len(scored) / applies) if applies else None)


BY_SENTENCES = (
    "semantic_similarity",
    "sentence_similarity",
    "answer_accuracy_semantic",
    "groundedness_semantic",
    "context_relevancy_soft",
    "answer_relevancy_sentence",
)


@pytest.mark.parametrize("seed", range(2))
def test_metrics_of_vectors_are_those_of_loops(measure: Measure, seed: int) -> None:
    rows = drawn_rows(seed)
    vectors = vectors_of(rows)
    found = measure(rows, BY_SENTENCES, slices=["metadata.lang"])
    for metric in BY_SENTENCES:
        reference = getattr(loops, metric)
        assert check(found, rows, metric, lambda one, of=reference: of(one, vectors)) > 30


WAYS = {
    "answer_accuracy_semantic": [
        {"short_string_metric": how, "short_string_threshold": most}
        for how in ("normalized_edit_distance", "exact_match", "token_jaccard", "embeddings")
        for most in (3, 11)
    ],
    "context_mrr": [
        {"mrr_relevant_chunk_threshold": least, "mrr_relevant_chunk_oor_idx": last}
        for least in THRESHOLDS
        for last in (1, 10)
    ],
}


@pytest.mark.parametrize("metric", WAYS)
@pytest.mark.parametrize("seed", SEEDS[:2])
def test_metrics_that_have_ways(measure: Measure, metric: str, seed: int) -> None:
    """Short answers are compared as written; relevant contexts have ranks up to the last."""
    rows = drawn_rows(seed)
    reference = partial(getattr(loops, metric), vectors=vectors_of(rows))
    values = set()
    for way in WAYS[metric]:
        found = measure(rows, [{metric: way}], slices=["metadata.lang"])
        check(found, rows, metric, partial(reference, **way), **way)
        values |= {one[metric]["value"] for one in of_sample(found).values()}
    assert metric != "context_mrr" or {None, 0.0, 1.0, 1 / 2, 1 / 3} <= values


def test_filters_and_limits_take_the_first_that_fit(measure: Measure) -> None:
    rows = drawn_rows(5, 40)
    vectors = vectors_of(rows)
    german = [row for row in rows if row["lang"] == "de"]
    first = [row for row in rows if int(row["id"][1:]) < 17]
    for kept, options, config in (
        (german, (), {"filter": {"metadata.lang": "de"}}),
        (first, ("--limit", 17), {}),
    ):
        found = measure(rows, [*BY_SENTENCES, "context_mrr", "questions_drift"], *options, **config)
        for model in MODELS:
            samples = of_model(kept, model)
            for metric in (*BY_SENTENCES, "context_mrr"):
                told = [getattr(loops, metric)(one, vectors) for one in samples.values()]
                check_means(found, metric, model, None, told, {})
            check_drift(found, samples.values(), vectors, model, None, 0.5)


@pytest.mark.parametrize("ratio", [0.29, 0.9])
def test_drift_of_questions(measure: Measure, ratio: float) -> None:
    rows = drawn_rows(11, 60)
    vectors = vectors_of(rows)
    way = {"split_ratio": ratio, "permutations": 2_000}
    found = measure(rows, [{"questions_drift": way}], slices=["metadata.lang"])
    for model in MODELS:
        samples = of_model(rows, model).values()
        for part in (None, "de", "en"):
            own = [one for one in samples if part in (None, one["lang"])]
            under = part and f"metadata.lang={part}"
            check_drift(found, own, vectors, model, under, ratio, **way)


def check_drift(
    found: Run,
    samples: Any,
    vectors: loops.Vectors,
    model: str,
    part: str | None,
    ratio: float,
    **where: Any,
) -> None:
    asked = [vectors[one["question"]] for one in samples if loops.said(one["question"])]
    assert len(asked) >= 10
    first = int(len(asked) * round(ratio * 100) // 100)
    own = {"model": model, "slice": part, "parameters": where}
    value = found.row("questions_drift", output="value", **own)
    assert value["value"] == near(loops.drift(asked, first))
    assert value["n"] == len(asked)
    p = found.value("questions_drift", output="p_value", **own)
    chance = loops.drift_by_chance(asked, first, 1_500)
    # Four standard errors of the two estimates, and the one that is counted in.
    assert abs(p - chance) < 4 * math.sqrt(chance * (1 - chance) * (1 / 1_000 + 1 / 1_500)) + 0.002


def test_the_chance_of_a_drift_is_that_of_all_ways_to_part_questions(measure: Measure) -> None:
    """Of 10 questions there are 252 halves, 120 ways to set 3 apart, 10 to set one apart."""
    rng = random.Random(3)
    rows = [
        {"id": str(at), "model": "red", "question": drawn_text(rng, 3), "response": "Yes"}
        for at in range(10)
    ]
    vectors = [vectors_of(rows)[row["question"]] for row in rows]
    for first in (1, 3, 5, 9):
        ratio = first / 10
        way = {"split_ratio": ratio, "permutations": 40_000, "seed": 1}
        found = measure(rows, [{"questions_drift": way}])
        p = found.value("questions_drift", output="p_value")
        assert p == pytest.approx(loops.drift_by_chance(vectors, first, 252), abs=0.011)
        told = [one["value"] for one in found.each("questions_drift").values()]
        middle = loops.direction(vectors[:first])
        assert told == near([1 - loops.cosine(middle, one) for one in vectors])
    few = measure(rows[:9], ["questions_drift"])
    value = few.row("questions_drift", output="value")
    assert value["value"] is None
    assert "min_test_cases" in value["undefined"]
    assert few.each("questions_drift")["0"]["status"] == "not_applicable"


def drawn_steps(rng: random.Random, most: int) -> str:
    lines = [
        f"{at}. {' '.join(rng.choices(WORDS[:4], k=rng.randint(1, 2)))}{rng.choice(('', '.'))}"
        for at in range(1, rng.randint(1, most) + 1)
    ]
    return "\n".join(lines)


@pytest.mark.parametrize("similarity", ["embeddings", "edit"])
def test_steps_are_aligned_with_the_fewest_edits(measure: Measure, similarity: str) -> None:
    rng = random.Random(17)
    rows = [
        {
            "id": f"s{at}",
            "model": model,
            "lang": "de" if at % 3 else "en",
            "response": maybe(rng, lambda: drawn_steps(rng, 6), None, "Amber Birch.", share=0.9),
            "contexts": maybe(
                rng,
                lambda: [drawn_steps(rng, 3), "Cedar.", drawn_steps(rng, 3)],
                None,
                [],
                ["Dune."],
            ),
        }
        for at in range(30)
        for model in MODELS
    ]
    vectors = vectors_of(rows)
    for least in (0.0, 0.5, 0.8, 1.0):
        way = {"similarity": similarity, "step_similarity_threshold": least}
        found = measure(rows, [{"step_alignment": way}], slices=["metadata.lang"])
        reference = partial(loops.step_alignment, vectors=vectors, **way)
        assert check(found, rows, "step_alignment", reference, **way) > 40


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_perplexity_of_given_log_probabilities(measure: Measure, seed: int) -> None:
    rows = drawn_rows(seed, 60)
    found = measure(rows, [{"perplexity": {"logprobs": "data"}}], slices=["metadata.lang"])
    assert check(found, rows, "perplexity", loops.perplexity) > 30
    for model in MODELS:
        samples = of_model(rows, model).values()
        for part in (None, "de", "en"):
            own = [loops.perplexity(one) for one in samples if part in (None, one["lang"])]
            under = part and f"metadata.lang={part}"
            corpus = found.value("perplexity", output="corpus", model=model, slice=under)
            assert corpus == near(loops.corpus_perplexity(own))
