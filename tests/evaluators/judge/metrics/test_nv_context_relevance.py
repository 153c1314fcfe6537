"""Context relevance, as NVIDIA has it: what is asked, and what needs no asking."""

from __future__ import annotations

import pytest

from tests.oracles.judges import judged
from tests.oracles.reply_kinds import enclosed
from tests.oracles.text_samples import samples
from valor_cli.evaluators.judge.metrics.nv_context_relevance import NV_CONTEXT_RELEVANCE

QUESTION = "When and where was Albert Einstein born?"


def test_the_page_of_ragas() -> None:
    # The contexts answer it together: both prompts give 2, and (2/2 + 2/2) / 2 = 1.
    contexts = ["Albert Einstein was born March 14, 1879.", "He was born at Ulm."]
    data = samples([None], user_input=[QUESTION], retrieved_contexts=[contexts])
    found = judged(NV_CONTEXT_RELEVANCE, data, ["2", "2"])
    assert found.output("value") == 1.0
    for request in found.requests:
        for text in (QUESTION, *contexts):
            assert enclosed(request.messages[-1].content, text)


@pytest.mark.parametrize(
    ("question", "contexts", "why"),
    [
        (" \n", ["Ulm"], "the question is blank"),
        ("", [], "the question is blank"),
        ("Where?", [], "the contexts are blank"),
        ("Where?", ["", " \n"], "the contexts are blank"),
        (" Where?\n", ["Where?"], "the contexts are the question itself"),
        ("Born\nwhere?", ["Born", "where?"], "the contexts are the question itself"),
        ("Where is Ulm?", [" Ulm "], "the contexts stand inside the question"),
        ("a\nb?", ["", "a", "b", ""], "the contexts stand inside the question"),
    ],
)
def test_what_needs_no_asking(question: str, contexts: list[str], why: str) -> None:
    data = samples([None], user_input=[question], retrieved_contexts=[contexts])
    found = judged(NV_CONTEXT_RELEVANCE, data, [])
    assert found.values == [0.0]
    assert found.outcomes[0].reasons == (why,)
    assert found.outcomes[0].details[0] == {"ratings": [], "decided": why}
    assert found.requests == []


@pytest.mark.parametrize(
    ("question", "contexts"),
    [
        ("Ulm?", ["Is it Ulm? Yes."]),  # the question inside the contexts
        ("a b", ["a", "b"]),  # joined by a line break, not by a space
        ("WHERE?", ["where?"]),  # case tells them apart
        ("Where is Ulm?", ["Ulm", "Bern"]),  # one of two
    ],
)
def test_what_is_asked(question: str, contexts: list[str]) -> None:
    data = samples([None], user_input=[question], retrieved_contexts=[contexts])
    assert judged(NV_CONTEXT_RELEVANCE, data, ["1", "0"]).values == [0.25]


def test_what_is_lacking_is_said() -> None:
    data = samples([None, None], user_input=[None, "?"], retrieved_contexts=[["a"], None])
    found = judged(NV_CONTEXT_RELEVANCE, data, [])
    assert found.outcomes[0].reasons == ("no user_input", "no retrieved contexts")
    assert found.findings[0].statuses == {"missing_input": 2}


def test_values_without_asking_enter_the_mean() -> None:
    # 0 without a call, and (2/2 + 1/2) / 2 = 0.75.
    data = samples([None] * 2, user_input=["Ulm?", "Ulm?"], retrieved_contexts=[[], ["A city."]])
    found = judged(NV_CONTEXT_RELEVANCE, data, ["2", "1"])
    assert found.output("value") == 0.375


def test_what_is_declared() -> None:
    assert NV_CONTEXT_RELEVANCE.aliases == ("NVIDIA ContextRelevance",)
    assert NV_CONTEXT_RELEVANCE.needs == ("user_input", "retrieved_contexts")
    assert NV_CONTEXT_RELEVANCE.threshold is None
    assert not NV_CONTEXT_RELEVANCE.reproducible
    defaults = {one.name: one.default for one in NV_CONTEXT_RELEVANCE.parameters}
    assert defaults == {"judge_retries": 4}
