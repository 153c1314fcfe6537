"""Context relevancy: copied sentences, worked by hand."""

from __future__ import annotations

import pytest

from tests.oracles.judge_replies import asked, outcome, questions, sentences
from tests.oracles.judges import judged
from tests.oracles.text_samples import samples
from valor_cli.evaluators.judge.metrics.context_relevancy import CONTEXT_RELEVANCY
from valor_cli.results import Verdict

# Five sentences: three and two.
DATA = samples(
    [None],
    user_input=["Where is Paris?"],
    retrieved_contexts=[
        [
            "Paris lies on the Seine. It is old.\nMany people live there.",
            "Lyon lies on the Rhône. It is warm.",
        ]
    ],
)


def test_worked_by_hand() -> None:
    found = judged(CONTEXT_RELEVANCY, DATA, [sentences("Paris lies on the Seine.", "It is old.")])
    assert found.values == [2 / 5]
    assert asked(found) == ["context_relevancy"]
    one = outcome(found)
    assert one.reason == "2 of 5 sentences relevant"
    assert one.verdicts == (
        Verdict("Paris lies on the Seine.", "relevant", True),
        Verdict("It is old.", "relevant", True),
    )
    assert one.details == {
        "sentences": 5,
        "relevant": ["Paris lies on the Seine.", "It is old."],
        "in_no_context": [],
    }


@pytest.mark.parametrize(
    ("copied", "count"),
    [
        ([], 0),
        # Case and white space do not matter.
        (["  PARIS lies\n on the seine. "], 1),
        # The same one twice, or written otherwise, counts once.
        (["It is old.", "It is old.", "it  is OLD."], 1),
        # What stands in no context does not count, nor does nothing.
        (["Paris lies in France.", "", "  ", "It is warm."], 1),
        # Across the end of a line; across the border of two contexts it stands in none.
        (["It is old. Many people live there."], 1),
        (["Many people live there. Lyon lies on the Rhône."], 0),
    ],
)
def test_what_counts(copied: list[str], count: int) -> None:
    assert judged(CONTEXT_RELEVANCY, DATA, [sentences(*copied)]).values == [count / 5]


@pytest.mark.parametrize(("copies", "value"), [(1, 1 / 3), (2, 2 / 3), (3, 2 / 3)])
def test_a_sentence_of_two_contexts_counts_twice_at_most(copies: int, value: float) -> None:
    data = samples([None], user_input=["q"], retrieved_contexts=[["It rains. It pours."]])
    two = samples(
        [None], user_input=["q"], retrieved_contexts=[["It rains. It pours.", "It rains."]]
    )
    found = judged(CONTEXT_RELEVANCY, two, [sentences(*["It rains."] * copies)])
    assert found.values == [value]
    assert judged(CONTEXT_RELEVANCY, data, [sentences(*["It rains."] * copies)]).values == [0.5]


def test_made_up_sentences_are_told() -> None:
    one = outcome(judged(CONTEXT_RELEVANCY, DATA, [sentences("Made up.", "It is old.")]))
    assert one.reason == "1 of 5 sentences relevant; 1 copied stands in no context"
    assert one.verdicts == (
        Verdict("It is old.", "relevant", True),
        Verdict("Made up.", "in no context"),
    )
    assert one.details is not None
    assert one.details["in_no_context"] == ["Made up."]


def test_never_above_one() -> None:
    data = samples([None], user_input=["q"], retrieved_contexts=[["One two three."]])
    found = judged(CONTEXT_RELEVANCY, data, [sentences("One", "two", "three.")])
    assert found.values == [1.0]
    assert outcome(found).reason == "1 of 1 sentences relevant"


def test_what_is_asked() -> None:
    (told,) = questions(judged(CONTEXT_RELEVANCY, DATA, [sentences()]))
    for text in ("Where is Paris?", "Many people live there.", "It is warm."):
        assert text in told


def test_missing() -> None:
    data = samples(["x"] * 3, user_input=[None, "q", "q"], retrieved_contexts=[["c"], [], [" "]])
    found = judged(CONTEXT_RELEVANCY, data, [])
    assert {outcome(found, at).status for at in range(3)} == {"missing_input"}
    assert len(found.requests) == 0
