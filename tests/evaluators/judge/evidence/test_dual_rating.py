"""Two ratings of one thing: every kind of reply, and what is left when one cannot be read."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.oracles.judges import REFUSED, ScriptedJudge, judged
from tests.oracles.reply_kinds import no_rating, rating
from tests.oracles.text_samples import samples
from valor_cli.evaluators.judge.evidence.conversation import Conversation
from valor_cli.evaluators.judge.evidence.dual_rating import DualRating, RatingReply, dual_rating
from valor_cli.evaluators.judge.evidence.sample import Sample
from valor_cli.evaluators.judge.metrics.nv_answer_accuracy import NV_ANSWER_ACCURACY
from valor_cli.evaluators.judge.metrics.nv_context_relevance import NV_CONTEXT_RELEVANCE
from valor_cli.evaluators.judge.metrics.nv_response_groundedness import NV_RESPONSE_GROUNDEDNESS
from valor_cli.metric import Metric
from valor_cli.models.judge.prompts import UntrustedText
from valor_cli.models.requests import NoAnswer, Reply, Stopped
from valor_cli.results import Verdict

ONE = samples(
    ["Ada mended it."],
    user_input=["Who mended the roof?"],
    references=[["It was Ada."]],
    retrieved_contexts=[["In May Ada came with her ladder.", "The roof is of slate."]],
)
METRICS = (
    (NV_ANSWER_ACCURACY, (0, 2, 4)),
    (NV_CONTEXT_RELEVANCE, (0, 1, 2)),
    (NV_RESPONSE_GROUNDEDNESS, (0, 1, 2)),
)
NAMED = [pytest.param(*one, id=one[0].name) for one in METRICS]
SAID = [
    pytest.param(metric, scale, number, reply, id=f"{metric.name}: {number}, {kind}")
    for metric, scale in METRICS
    for number in scale
    for kind, reply in rating(number, scale[-1]).items()
]
UNSAID = [
    pytest.param(metric, scale, reply, id=f"{metric.name}: {kind}")
    for metric, scale in METRICS
    for kind, reply in no_rating(scale[0], scale[-1], scale[-1] + 1).items()
]


@pytest.mark.parametrize(("metric", "scale", "number", "reply"), SAID)
def test_every_kind_of_reply_that_rates(
    metric: Metric[Any], scale: tuple[int, ...], number: int, reply: str
) -> None:
    found = judged([(metric, {"judge_retries": 0})], ONE, [reply, reply])
    assert found.values == [number / scale[-1]]


@pytest.mark.parametrize(("metric", "scale", "reply"), UNSAID)
def test_every_kind_of_reply_that_does_not(
    metric: Metric[Any], scale: tuple[int, ...], reply: str | Reply
) -> None:
    top = str(scale[-1])
    call = (metric, {"judge_retries": 0})
    assert judged([call], ONE, [reply, top]).values == [1.0]
    assert judged([call], ONE, [top, reply]).values == [1.0]
    neither = judged([call], ONE, [reply, reply])
    assert neither.findings[0].statuses == {"parse_failure": 1}
    assert neither.output("value") is None


@pytest.mark.parametrize(("metric", "scale"), NAMED)
def test_the_mean_of_every_pair_by_hand(metric: Metric[Any], scale: tuple[int, ...]) -> None:
    # (a/top + b/top) / 2: of 0, 2, 4 as of 0, 1, 2 these are quarters.
    means = []
    for first in scale:
        for second in scale:
            found = judged([(metric, {})], ONE, [str(first), f'{{"rating": {second}}}'])
            means += found.values
    assert means == [0.0, 0.25, 0.5, 0.25, 0.5, 0.75, 0.5, 0.75, 1.0]


@pytest.mark.parametrize(("metric", "scale"), NAMED)
def test_both_prompts_are_asked_in_order(metric: Metric[Any], scale: tuple[int, ...]) -> None:
    found = judged([(metric, {})], ONE, ["0", "0"])
    assert [one.purpose.prompt for one in found.requests] == [
        f"{metric.name}_1",
        f"{metric.name}_2",
    ]
    assert metric.prompts == (f"{metric.name}_1", f"{metric.name}_2")
    assert found.requests[0].key != found.requests[1].key


@pytest.mark.parametrize(("metric", "scale"), NAMED)
def test_each_prompt_has_retries_of_its_own(metric: Metric[Any], scale: tuple[int, ...]) -> None:
    # By default four beyond the first try, whatever the config says: the first prompt needs all
    # of its five, the second none.
    top = str(scale[-1])
    found = judged([(metric, {})], ONE, ["?", "", REFUSED, "9", top, "0"], judge_retries=0)
    assert found.values == [0.5]
    assert found.unused == 0
    # Five tries fail for the first prompt; of the other the third is read.
    found = judged([(metric, {})], ONE, [*"?????", "?", "?", top], judge_retries=0)
    assert found.values == [1.0]
    assert found.unused == 0
    # Null: as the config says.
    found = judged([(metric, {"judge_retries": None})], ONE, ["?", "?", "?", top], judge_retries=1)
    assert found.values == [1.0]
    assert found.unused == 0


@pytest.mark.parametrize(("metric", "scale"), NAMED)
def test_one_that_cannot_be_read_is_told(metric: Metric[Any], scale: tuple[int, ...]) -> None:
    half = f'{{"reason": "In part.", "rating": {scale[1]}}}'
    found = judged([(metric, {"judge_retries": 0})], ONE, ["?", half])
    outcomes = found.outcomes[0]
    assert found.values == [0.5]
    first, second = outcomes.details[0]["ratings"]
    assert (first["prompt"], first["rating"]) == (f"{metric.name}_1", None)
    assert first["unreadable"]
    assert second == {"prompt": f"{metric.name}_2", "rating": scale[1]}
    assert outcomes.verdicts[0] == (Verdict("", str(scale[1]), None, "In part."),)
    assert outcomes.reasons[0] == (
        f"rated {scale[1]} of {scale[-1]}; {metric.name}_1 could not be read: In part."
    )


@pytest.mark.parametrize(("metric", "scale"), NAMED)
def test_what_is_told_of_two_ratings(metric: Metric[Any], scale: tuple[int, ...]) -> None:
    replies = [
        f'{{"reason": "All of it.", "rating": {scale[-1]}}}',
        '{"reason": "None of it.", "rating": 0}',
    ]
    found = judged([(metric, {})], ONE, replies).outcomes[0]
    assert found.reasons == (f"rated {scale[-1]} and 0 of {scale[-1]}: All of it. / None of it.",)
    assert found.verdicts[0] == (
        Verdict("", str(scale[-1]), True, "All of it."),
        Verdict("", "0", False, "None of it."),
    )
    assert json.loads(json.dumps(found.details[0])) == found.details[0]


@pytest.mark.parametrize(("metric", "scale"), NAMED)
def test_a_judge_that_fails_leaves_no_half_value(
    metric: Metric[Any], scale: tuple[int, ...]
) -> None:
    for failure, status in ((NoAnswer("HTTP 500"), "judge_error"), (Stopped("over"), "skipped")):
        for replies in ([failure], ["0", failure]):
            found = judged([(metric, {})], ONE, replies)
            assert found.findings[0].statuses == {status: 1}
            assert found.values == [None]


def test_only_that_which_was_read_counts() -> None:
    one = DualRating(
        (RatingReply("a", 4, ""), RatingReply("b", None, "why"), RatingReply("c", 0, "x")), 4
    )
    assert one.value == 0.5
    assert one.reason == "rated 4 and 0 of 4; b could not be read: x"


def test_no_rating_at_all_is_a_failure_that_names_both() -> None:
    judge = ScriptedJudge(["?", "!"], judge_retries=0)
    asking = Conversation(Sample.of(ONE, 0, "m"), judge)
    prompts = ("nv_context_relevance_1", "nv_context_relevance_2")
    with pytest.raises(Exception, match=r"_1: .*; nv_context_relevance_2: ") as raised:
        asyncio.run(
            dual_rating(
                asking,
                prompts,
                (0, 1, 2),
                judge_retries=0,
                user_input=UntrustedText("a"),
                contexts=UntrustedText("b"),
            )
        )
    assert type(raised.value).__name__ == "ParseFailure"
