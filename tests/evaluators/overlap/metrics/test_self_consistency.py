"""Self-consistency: by hand, and rouge-score's over every pair."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer

from tests.oracles.text_rows import SYSTEMS, lines
from tests.oracles.text_samples import found, measured, outcome, samples, values
from valor_cli.evaluators.overlap.answer_overlap import LOST_REASON
from valor_cli.evaluators.overlap.metrics import self_consistency
from valor_cli.evaluators.overlap.metrics.self_consistency import SELF_CONSISTENCY
from valor_cli.evaluators.samples.outcomes import Outcome, Outcomes
from valor_cli.results import STATUSES


def summaries() -> tuple[list[str], list[str]]:
    """Four systems' summaries of the same documents, and the documents."""
    rows = [row for system in SYSTEMS for row in lines(f"xsum-a/{system}.jsonl")]
    return [row["prediction"] for row in rows], [row["id"] for row in rows]


def drawn_of(answers: Outcomes) -> list[int]:
    """The samples that were compared."""
    return np.flatnonzero(answers.status == STATUSES.index("ok")).tolist()


def test_by_hand() -> None:
    data = samples(["a b", "a b c d", "d c", "x"], user_input=["first", "first", "first", "second"])
    answers = measured(SELF_CONSISTENCY, data)
    # a b, a b c d: 2 of 2 and 2 of 4, 2/3 both ways. a b, d c: 0.
    assert outcome(answers, 0).values == pytest.approx({"rouge_l": 1 / 3, "rouge_1": 1 / 3})
    # a b c d, d c: both words, 2/3; in order one, 1 of 2 and 1 of 4, 1/3.
    assert outcome(answers, 1).values == pytest.approx({"rouge_l": 1 / 2, "rouge_1": 2 / 3})
    assert outcome(answers, 2).values == pytest.approx({"rouge_l": 1 / 6, "rouge_1": 1 / 3})
    assert outcome(answers, 2).details == {"group_size": 3, "pairs": 2}
    assert outcome(answers, 3) == Outcome(
        {"rouge_l": 1.0, "rouge_1": 1.0},
        reason="the only answer to its question",
        details={"group_size": 1, "pairs": 0},
    )
    # (1/3 + 1/2 + 1/6 + 1) / 4 and (1/3 + 2/3 + 1/3 + 1) / 4
    assert values(SELF_CONSISTENCY, data) == pytest.approx({"rouge_l": 1 / 2, "rouge_1": 7 / 12})


def test_answers_of_letters_that_the_tokenizer_drops_say_so() -> None:
    answers = measured(SELF_CONSISTENCY, samples(["ответ здесь", "a b"], user_input=["q", "q"]))
    assert [outcome(answers, at).reason for at in range(2)] == [LOST_REASON, None]


@pytest.mark.parametrize("use_stemmer", [False, True])
def test_equal_to_rouge_score_over_every_pair(use_stemmer: bool) -> None:
    responses, documents = summaries()
    scorer = RougeScorer(["rougeL", "rouge1"], use_stemmer=use_stemmer)
    pairs: dict[str, list[list[float]]] = {
        output: [[] for _ in responses] for output in ("rouge_l", "rouge_1")
    }
    for one, other in combinations(range(len(responses)), 2):
        if documents[one] == documents[other]:
            theirs = scorer.score(responses[one], responses[other])
            for output, name in (("rouge_l", "rougeL"), ("rouge_1", "rouge1")):
                pairs[output][one].append(theirs[name].fmeasure)
                pairs[output][other].append(theirs[name].fmeasure)
    ours = measured(
        SELF_CONSISTENCY, samples(responses, user_input=documents), use_stemmer=use_stemmer
    )
    for output, found_pairs in pairs.items():
        wanted = [np.mean(row) for row in found_pairs]
        np.testing.assert_allclose(ours.columns[output], wanted, rtol=0, atol=1e-9)


def test_pairs_are_held_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    responses, documents = summaries()
    data = samples(responses, user_input=documents)
    whole = values(SELF_CONSISTENCY, data)
    monkeypatch.setattr(self_consistency, "_AT_ONCE", 7)
    assert values(SELF_CONSISTENCY, data) == pytest.approx(whole, abs=1e-12)


def test_statuses() -> None:
    data = samples([None, "a", "", ""], user_input=["q", None, "p", "p"])
    answers = measured(SELF_CONSISTENCY, data)
    assert outcome(answers, 0) == Outcome({}, "missing_input", "no response")
    assert outcome(answers, 1) == Outcome({}, "missing_input", "no user_input")
    # Two answers without words share nothing, as in rouge-score.
    assert outcome(answers, 2).values == {"rouge_l": 0.0, "rouge_1": 0.0}


def test_lone_answers_and_few_answers_are_warned_of() -> None:
    data = samples(["a", "b", "b"], user_input=["p", "q", "q"])
    few, lone = found(SELF_CONSISTENCY, data, min_test_cases=4).warnings
    assert few == "3 answers are fewer than min_test_cases, 4"
    assert lone == (
        "1 of 3 answers are the only one to their question and have the value 1: "
        "ask every question several times"
    )
    assert not found(SELF_CONSISTENCY, samples(["a", "a"], user_input=["p", "p"])).warnings


def test_of_too_many_answers_some_are_drawn_from_all_lengths() -> None:
    # 100 answers of 1 to 100 characters: of each ten lengths two are drawn, the last ones one.
    data = samples(["x" * (at + 1) for at in range(100)], user_input=["q"] * 100)
    answers = measured(SELF_CONSISTENCY, data, max_group_size=15)
    drawn = np.array(drawn_of(answers))
    assert np.bincount(drawn // 10).tolist() == [2] * 5 + [1] * 5
    left_out = outcome(answers, next(at for at in range(100) if at not in drawn))
    assert left_out == Outcome(
        {},
        "skipped",
        "not among the 15 answers drawn (max_group_size)",
        {"group_size": 100, "pairs": 0},
    )
    assert outcome(answers, int(drawn[0])).details == {"group_size": 100, "pairs": 14}
    (warning,) = found(SELF_CONSISTENCY, data, max_group_size=15).warnings
    assert warning == (
        "85 of 100 answers were skipped: of each question with more than 15 answers "
        "(max_group_size), 15 were drawn"
    )


@pytest.mark.parametrize("size", [2, 3, 9, 10, 11, 19, 99])
@pytest.mark.parametrize("count", [100, 103, 119])
def test_as_many_are_drawn_as_may_be(size: int, count: int) -> None:
    data = samples([f"answer {at}" for at in range(count)], user_input=["q"] * count)
    assert len(drawn_of(measured(SELF_CONSISTENCY, data, max_group_size=size))) == size


def test_the_seed_alone_decides_what_is_drawn() -> None:
    responses = ["word " * (at % 7 + 1) for at in range(60)]
    names = [f"s{at}" for at in range(60)]

    def drawn(order: list[int], seed: int) -> set[str]:
        data = samples(
            [responses[at] for at in order],
            user_input=["q"] * 60,
            sample_ids=[names[at] for at in order],
        )
        found = measured(SELF_CONSISTENCY, data, max_group_size=20, seed=seed)
        return {data.sample_ids[at] for at in drawn_of(found)}

    order = list(range(60))
    assert drawn(order, 0) == drawn(order[::-1], 0)
    assert drawn(order, 0) != drawn(order, 1)


def test_lost_letters_are_told() -> None:
    data = samples(["мир", "мир"], user_input=["q", "q"])
    (warning,) = found(SELF_CONSISTENCY, data).warnings
    assert warning.endswith("set tokenizer: unicode")
    assert values(SELF_CONSISTENCY, data, tokenizer="unicode") == {"rouge_l": 1.0, "rouge_1": 1.0}
