"""Answer relevancy: cosines of made-up questions, worked by hand."""

from __future__ import annotations

import pytest

from tests.oracles.judge_replies import asked, outcome, question, questions
from tests.oracles.judges import judged
from tests.oracles.text_samples import samples
from valor_cli.evaluators.judge.metrics.answer_relevancy import ANSWER_RELEVANCY
from valor_cli.results import Verdict

DATA = samples(["an answer"], user_input=["asked"])
# With (1, 0): (3, 4) has cosine 0.6, (0, 1) 0, (-4, 3) -0.8.
VECTORS = {
    "asked": [1.0, 0.0],
    "same": [2.0, 0.0],
    "near": [3.0, 4.0],
    "other": [0.0, 1.0],
    "against": [-4.0, 3.0],
}


def test_worked_by_hand() -> None:
    # (1 + 0.6 + 0) / 3.
    replies = [question("same"), question("near"), question("other", 1)]
    found = judged(ANSWER_RELEVANCY, DATA, replies, vectors=VECTORS)
    assert found.values == [pytest.approx(1.6 / 3, abs=1e-15)]
    assert asked(found) == ["answer_relevancy"] * 3
    one = outcome(found)
    assert one.reason == (
        "the questions it answers have cosine 0.533 with the one asked; noncommittal in 1 of 3"
    )
    assert one.verdicts[1:] == (
        Verdict("near", "committal", None, "cosine 0.600"),
        Verdict("other", "noncommittal", False, "cosine 0.000"),
    )
    assert one.details is not None
    assert one.details["questions"][0] == {
        "question": "same",
        "noncommittal": False,
        "cosine": 1.0,
    }


def test_not_clipped() -> None:
    # (-0.8 - 0.8 + 0.6) / 3.
    replies = [question("against"), question("against"), question("near")]
    found = judged(ANSWER_RELEVANCY, DATA, replies, vectors=VECTORS)
    assert found.values == [pytest.approx(-1 / 3, abs=1e-15)]
    assert ANSWER_RELEVANCY.outputs[0].bounds == (-1, 1)


def test_every_question_is_one_of_its_own() -> None:
    found = judged(ANSWER_RELEVANCY, DATA, [question("same")] * 3, vectors=VECTORS)
    assert [request.variant for request in found.requests] == [0, 1, 2]
    assert len({request.key for request in found.requests}) == 3
    for at, told in enumerate(questions(found), 1):
        assert "an answer" in told
        assert f"{at} of 3" in told


@pytest.mark.parametrize("number", [1, 2, 5])
def test_num_questions(number: int) -> None:
    replies = [question("near")] * number
    found = judged(ANSWER_RELEVANCY, DATA, replies, vectors=VECTORS, num_questions=number)
    assert found.values == [pytest.approx(0.6, abs=1e-15)]
    assert found.unused == 0


def test_all_noncommittal() -> None:
    replies = [question("same", 1), question("near", 1)]
    found = judged(ANSWER_RELEVANCY, DATA, replies, vectors=VECTORS, num_questions=2)
    assert found.values == [0.0]
    assert outcome(found).reason == "the response is noncommittal"
    found = judged(
        ANSWER_RELEVANCY,
        DATA,
        replies,
        vectors=VECTORS,
        num_questions=2,
        penalize_noncommittal=False,
    )
    assert found.values == [pytest.approx(0.8, abs=1e-15)]


def test_one_committal_answer_is_enough() -> None:
    replies = [question("same", 1), question("near", 0)]
    found = judged(ANSWER_RELEVANCY, DATA, replies, vectors=VECTORS, num_questions=2)
    assert found.values == [pytest.approx(0.8, abs=1e-15)]


def test_blank_texts() -> None:
    data = samples(["  ", "x"], user_input=["asked", " "])
    found = judged(ANSWER_RELEVANCY, data, [], vectors=VECTORS)
    assert found.values == [0.0, None]
    assert outcome(found, 0).reason == "the response is empty"
    assert outcome(found, 1)[1:3] == ("missing_input", "the user_input is empty")


def test_missing() -> None:
    data = samples([None, "x"], user_input=["asked", None])
    found = judged(ANSWER_RELEVANCY, data, [])
    assert [outcome(found, at).reason for at in range(2)] == ["no response", "no user_input"]


def test_no_vector() -> None:
    found = judged(ANSWER_RELEVANCY, DATA, [question("unknown")] * 3, vectors=VECTORS)
    one = outcome(found)
    assert one.status == "judge_error"
    assert one.asked is not None
    assert one.asked.calls == 3


def test_an_embedder_is_needed() -> None:
    assert ANSWER_RELEVANCY.asks == ("judge", "embedder")
