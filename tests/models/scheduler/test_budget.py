"""Money: the estimate, what is reserved, what is spent, and what cannot be known."""

from __future__ import annotations

import pytest

from tests.oracles.model_server import FakeJudge
from valor_cli.errors import ConfigError
from valor_cli.models.requests import Price, Reply, Request, conversation
from valor_cli.models.scheduler.budget import Budget, Highest, budget_of, cost_of

# A dollar for a million tokens of a prompt, ten for a million of a reply.
PRICE = Price(1.0, 10.0)


def asked(text: str, **more: object) -> Request:
    return Request(conversation(("user", text)), **more)  # type: ignore[arg-type]


def budget(limit: float = 1.0, spent_before: float = 0.0) -> Budget:
    return Budget(limit, PRICE, max_tokens=100, spent_before=spent_before)


def test_the_highest_cost_is_the_prompt_at_two_and_a_half_bytes_a_token_and_the_longest_reply() -> (
    None
):
    # 76 bytes + 12 for the message + 12 for the conversation = 100 bytes, 40 tokens, 40e-6 $;
    # the reply 100 tokens at 10e-6 $.
    highest = budget().highest(asked("x" * 76))
    assert highest.size == 100
    assert highest.prompt_usd == pytest.approx(40e-6)
    assert highest.usd == pytest.approx(1040e-6)


def test_bytes_are_counted_not_characters() -> None:
    # "語" has three bytes in UTF-8; lone surrogates have three as well.
    plain = budget().highest(asked("x" * 6)).size
    assert budget().highest(asked("語語")).size == plain
    assert budget().highest(asked("\ud800\ud800")).size == plain


def test_schemas_and_tools_are_part_of_the_prompt() -> None:
    plain = budget().highest(asked("x")).size
    # {"type": "object"} has 18 bytes; in a list, 20.
    assert budget().highest(asked("x", schema={"type": "object"})).size == plain + 18
    assert budget().highest(asked("x", tools=({"type": "object"},))).size == plain + 20


def test_the_estimate_is_learnt_from_the_worst_of_the_last_replies() -> None:
    purse = budget()
    request = asked("x" * 76)
    for tokens in [20] * 8 + [30]:
        highest = purse.highest(request)
        assert highest.prompt_usd == pytest.approx(40e-6), "ten replies before it may fall"
        purse.reserve(highest)
        purse.settle(highest, Reply("", tokens_in=tokens, tokens_out=0))
    purse.reserve(highest)
    purse.settle(highest, Reply("", tokens_in=20, tokens_out=0))
    # 30 tokens of 100 bytes is the worst; a tenth more, 33.
    assert purse.highest(request).prompt_usd == pytest.approx(33e-6, abs=1.1e-6)
    # A prompt longer than estimated raises it at once: 80, and a tenth more.
    purse = budget()
    purse.reserve(highest)
    purse.settle(highest, Reply("", tokens_in=80, tokens_out=0))
    assert purse.highest(request).prompt_usd == pytest.approx(88e-6, abs=1.1e-6)


def test_what_is_spent_and_reserved_counts() -> None:
    purse = Budget(1.0, PRICE, 100, spent_before=0.5)
    a = Highest(100, 0.1, 0.25)
    assert purse.fits(a)
    purse.reserve(a)
    assert purse.fits(a)
    purse.reserve(a)
    assert not purse.fits(Highest(1, 0.0, 0.001))
    purse.settle(a, Reply("", cost_usd=0.125))
    assert purse.spent == 0.625
    assert not purse.idle
    assert purse.fits(Highest(100, 0.1, 0.125))
    assert not purse.fits(Highest(100, 0.1, 0.126))


def test_a_cost_that_nobody_says_counts_in_full_and_a_refused_try_nothing() -> None:
    purse = budget()
    a = Highest(100, 0.125, 0.5)
    purse.reserve(a)
    purse.settle(a, Reply(""))
    assert (purse.spent, purse.unsure, purse.reserved) == (0, 0.5, 0)
    purse.reserve(a)
    purse.lose(a, a.prompt_usd)
    assert purse.unsure == 0.625
    purse.reserve(a)
    purse.lose(a, 0.0)
    assert purse.unsure == 0.625
    assert purse.idle


def test_sums_of_floats_leave_nothing_reserved() -> None:
    purse = budget()
    costs = [Highest(1, 0.0, each) for each in (0.1, 0.2, 0.3)]
    for one in costs:
        purse.reserve(one)
    for one in costs:
        purse.lose(one, 0.0)
    assert purse.reserved == 0.0


def test_what_a_reply_cost() -> None:
    assert cost_of(Reply("", cost_usd=0.0, tokens_in=5, tokens_out=5), PRICE) == 0.0
    # 1,000 at 1e-6 and 100 at 10e-6.
    assert cost_of(Reply("", tokens_in=1000, tokens_out=100), PRICE) == pytest.approx(0.002)
    assert cost_of(Reply("", tokens_in=1000), PRICE) is None
    assert cost_of(Reply("", tokens_in=1000, tokens_out=100), None) is None


def test_without_a_budget_all_fits() -> None:
    free = Budget(None, None, 100)
    assert free.highest(asked("x")) == Highest()
    assert free.fits(Highest(1, 1e9, 1e9))


def test_a_budget_needs_a_price() -> None:
    with pytest.raises(ConfigError) as caught:
        budget_of(FakeJudge(name="gpt"), 2.0, 100)
    assert str(caught.value).startswith("judge (gpt): `budget_usd:` cannot be kept")
    assert "price:" in caught.value.hint
    assert budget_of(FakeJudge(), None, 100).limit_usd is None
    assert budget_of(FakeJudge(price=PRICE), 2.0, 100).limit_usd == 2.0


@pytest.mark.parametrize(
    ("limit", "unsure", "words"),
    [
        (1234.5, 0.0, "1234.50 US dollars is reached"),
        (0.005, 0.001, "0.005 US dollars is reached"),
        (2.0, 0.25, "2.00 US dollars is reached (0.25 of it for failed calls, which may have been"),
    ],
)
def test_the_words_tell_what_is_unsure(limit: float, unsure: float, words: str) -> None:
    purse = budget(limit)
    purse.reserve(Highest())
    purse.lose(Highest(), unsure)
    assert purse.reached.removesuffix(" charged)") == f"the budget of {words}"
