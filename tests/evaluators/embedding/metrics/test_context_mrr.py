"""Mean reciprocal rank of contexts: ranks by hand, at the threshold, and beyond the last one."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from tests.oracles.measured_by_models import each_outcome, findings_by, highest, sentences
from tests.oracles.text_models import ScriptedModels
from tests.oracles.text_problems import random_texts
from tests.oracles.text_samples import samples
from valor_cli import catalogue
from valor_cli.evaluators.embedding.metrics.context_mrr import CONTEXT_MRR

VECTORS = {
    "Why?": [1.0, 0.0],
    "Ants.": [0.6, 0.8],
    "Bees.": [0.8, 0.6],
    "Cows.": [0.0, 1.0],
    "Dogs.": [0.28, 0.96],
}
MODELS = ScriptedModels(vectors=VECTORS)


def ranked(*contexts: list[str], **parameters: float) -> list[dict[str, float | None]]:
    data = samples(
        [None] * len(contexts), user_input=["Why?"] * len(contexts), retrieved_contexts=contexts
    )
    return [dict(one.values) for one in each_outcome(CONTEXT_MRR, data, MODELS, **parameters)]


def test_by_hand() -> None:
    # Bees alone are at 0.7 or more; a blank context keeps its rank.
    assert ranked(
        ["Cows. Bees.", "Bees."], ["Ants.", " ", "Cows.", "Dogs. Bees."], ["Ants.", "Cows."]
    ) == [{"value": 1.0, "hit": 1.0}, {"value": 0.25, "hit": 1.0}, {"value": 0.0, "hit": 0.0}]


def test_the_mean_over_questions() -> None:
    data = samples(
        [None] * 4,
        user_input=["Why?", "Why?", "Why?", None],
        retrieved_contexts=[["Bees."], ["Ants.", "Bees."], ["Ants."], ["Bees."]],
    )
    found = findings_by(CONTEXT_MRR, data, MODELS)
    assert [(one.output, one.n) for one in found.values] == [("value", 3), ("hit", 3)]
    assert [one.value for one in found.values] == pytest.approx([0.5, 2 / 3], abs=1e-12)
    # Ranks have a mean; hits are a part of the questions.
    assert [one.proportion for one in found.values] == [False, True]


def test_at_the_threshold_a_context_is_relevant() -> None:
    contexts = ["Dogs.", "Ants.", "Bees."]
    thresholds = [-1, 0.28, 0.281, 0.6, 0.8, 0.81]
    found = [ranked(contexts, mrr_relevant_chunk_threshold=one)[0]["value"] for one in thresholds]
    assert found == [1.0, 1.0, 0.5, 0.5, 1 / 3, 0.0]
    # A context that is the question is relevant at 1, whatever the last digits are.
    data = samples([None], user_input=["Q"], retrieved_contexts=[["Q"]])
    for vector in ([0.1, 0.2, 0.3], [1e-8, 3.0, 7.0], [0.3, 0.7, -0.9]):
        models = ScriptedModels(vectors={"Q": vector})
        (one,) = each_outcome(CONTEXT_MRR, data, models, mrr_relevant_chunk_threshold=1.0)
        assert one.values["value"] == 1.0


def test_beyond_the_last_rank_nothing_is_found() -> None:
    contexts = [*["Ants."] * 9, "Bees."]
    assert ranked(contexts) == [{"value": 0.1, "hit": 1.0}]
    assert ranked(["Ants.", *contexts]) == [{"value": 0.0, "hit": 0.0}]
    assert ranked(["Ants.", *contexts], mrr_relevant_chunk_oor_idx=11) == [
        {"value": 1 / 11, "hit": 1.0}
    ]
    assert ranked(["Ants.", "Bees."], mrr_relevant_chunk_oor_idx=1) == [{"value": 0.0, "hit": 0.0}]


def test_what_a_rank_rests_on_is_told() -> None:
    data = samples(
        [None] * 2, user_input=["Why?"] * 2, retrieved_contexts=[["Cows.", "", "Bees."], ["Ants."]]
    )
    found = each_outcome(CONTEXT_MRR, data, MODELS)
    assert found[0].details == {
        "rank": 3,
        "most_relevant": "retrieved_contexts[2]",
        "relevance": pytest.approx(0.8, abs=1e-12),
    }
    assert found[1].details is not None
    assert found[1].details["rank"] is None


@pytest.mark.parametrize("threshold", [-0.5, 0.0, 0.5, None])
def test_against_loops(threshold: float | None) -> None:
    data, models = random_texts(27), ScriptedModels()
    found = each_outcome(CONTEXT_MRR, data, models, mrr_relevant_chunk_threshold=threshold)
    for at, one in enumerate(found):
        question, contexts = data.user_input[at], data.retrieved_contexts[at]
        if question is None or not contexts:
            assert one.status == "missing_input"
            continue
        expected = 0.0
        for rank, context in enumerate(contexts, 1):
            relevance = highest(models, question, sentences(context))
            if relevance >= (0.7 if threshold is None else threshold):
                expected = 1 / rank
                break
        assert one.values == {"value": expected, "hit": float(expected > 0)}


def test_parameters_have_limits() -> None:
    model = catalogue.parameters("text_generation", "context_mrr")
    for wrong in (
        '{"mrr_relevant_chunk_threshold": 1.1}',
        '{"mrr_relevant_chunk_oor_idx": 0}',
        '{"mrr_relevant_chunk_oor_idx": 2.5}',
    ):
        with pytest.raises(ValidationError):
            model.model_validate_json(wrong)
