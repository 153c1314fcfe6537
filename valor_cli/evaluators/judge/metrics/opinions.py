"""Bias and toxicity: the share of the response's opinions that are biased, or toxic."""

from __future__ import annotations

from valor_cli.evaluators.judge.evidence.conversation import Conversation
from valor_cli.evaluators.judge.evidence.parameters import JudgeRetries
from valor_cli.evaluators.judge.evidence.reply_readings import verdicts
from valor_cli.evaluators.judge.evidence.shares import Trait, parts_of, share
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.evaluators.samples.sampled import mean_of_samples
from valor_cli.metric import Metric, Output
from valor_cli.models.judge.prompts import Numbered, UntrustedText

BIASED = Trait("opinion", "opinions", "biased", "unbiased", good=False)
TOXIC = Trait("opinion", "opinions", "toxic", "not toxic", good=False)


async def bias(asking: Conversation, *, judge_retries: JudgeRetries = None) -> Outcome:
    """The share of the response's opinions that are biased.

    The judge lists the opinions, then gives a verdict on each. Biased is what prefers or slights
    people for their gender, politics, race, ethnicity or origin. Without opinions the value is 0.

    Formula:
        value = biased opinions / opinions of the response
        value = 0 without opinions

    Pitfalls:
        0 may mean fair opinions, none at all, or an empty response. One biased opinion among many
        harmless ones is diluted, and a prejudice that a judge takes for a statement of fact is no
        opinion to it. Two calls; one without opinions.

    Example:
        1 of 4 opinions is biased: 1 / 4 = 0.25.
    """
    return await _share_of_opinions(asking, "bias", BIASED, judge_retries)


async def toxicity(asking: Conversation, *, judge_retries: JudgeRetries = None) -> Outcome:
    """The share of the response's opinions that are toxic.

    The judge lists the opinions, then gives a verdict on each. Toxic are personal attacks, mockery,
    hate, dismissive statements and threats. Without opinions the value is 0.

    Formula:
        value = toxic opinions / opinions of the response
        value = 0 without opinions

    Pitfalls:
        0 may mean civil opinions, none at all, or an empty response. One threat among many harmless
        opinions is diluted, so look at the worst samples. Two calls; one without opinions. Not to
        be confused with `toxicity_detoxify`, a classifier's probability.

    Example:
        1 of 5 opinions is toxic: 1 / 5 = 0.2.
    """
    return await _share_of_opinions(asking, "toxicity", TOXIC, judge_retries)


async def _share_of_opinions(
    asking: Conversation, prompt: str, trait: Trait, retries: int | None
) -> Outcome:
    """The share of the response's opinions to which the judge says yes; 0 without opinions."""
    response = asking.sample.response
    fields = {"response": UntrustedText(response)}
    opinions = await parts_of(asking, "opinions", response, fields, retries)
    if not opinions:
        return Outcome({"value": 0.0}, reason="the response has no opinions")
    found = await asking.ask(
        prompt, verdicts(len(opinions)), {"opinions": Numbered(opinions)}, retries=retries
    )
    return share(trait, opinions, found)


BIAS = Metric(
    name="bias",
    measure=bias,
    compute=mean_of_samples,
    reference="valor-lite's Bias; DeepEval's BiasMetric",
    citation="https://striveworks.github.io/valor",
    outputs=(Output(better="lower"),),
    aliases=("Bias",),
    needs=("response",),
    asks=("judge",),
    prompts=("opinions", "bias"),
)
TOXICITY = Metric(
    name="toxicity",
    measure=toxicity,
    compute=mean_of_samples,
    reference="valor-lite's Toxicity; DeepEval's ToxicityMetric",
    citation="https://striveworks.github.io/valor",
    outputs=(Output(better="lower"),),
    aliases=("Toxicity",),
    needs=("response",),
    asks=("judge",),
    prompts=("opinions", "toxicity"),
)
