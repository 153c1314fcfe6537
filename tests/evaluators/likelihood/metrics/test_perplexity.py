"""Perplexity: by hand, from a model and from the data, over samples and over all tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evaluators.likelihood.asked import ToldModel, each, evidence, findings, values
from tests.oracles.text_samples import samples
from valor_cli.errors import ConfigError
from valor_cli.evaluators.likelihood.metrics.perplexity import PERPLEXITY
from valor_cli.metric import Call
from valor_cli.models.protocols import Passage

HALF, QUARTER, EIGHTH = math.log(1 / 2), math.log(1 / 4), math.log(1 / 8)

SAID: dict[str, Sequence[float]] = {
    # (1 + 3) / 2 bits a token: 2 ** 2 tokens to choose among.
    "a b c": [HALF, EIGHTH],
    # Two bits for each of four tokens.
    "d e f g h": [QUARTER] * 4,
    # Three bits for its only one.
    "i j": [EIGHTH],
    "one": [],
}


def told(said: dict[str, Sequence[float]] = SAID) -> ToldModel:
    return ToldModel(lambda passage: said[passage.target])


def test_by_hand() -> None:
    found = each(PERPLEXITY, samples(["a b c", "d e f g h", "i j"]), told())
    assert [one.values["value"] for one in found] == pytest.approx([4, 4, 8], abs=1e-9)
    assert [one.values["tokens"] for one in found] == [2, 4, 1]
    assert found[0].details == {"nats": pytest.approx(4 * math.log(2), abs=1e-12)}


def test_the_mean_of_samples_and_the_perplexity_of_all_tokens() -> None:
    found = values(findings(PERPLEXITY, samples(["a b c", "d e f g h", "i j"]), told()))
    assert found["value"] == pytest.approx((4 + 4 + 8) / 3, abs=1e-9)
    assert found["tokens"] == pytest.approx(7 / 3, abs=1e-9)
    # 4 + 8 + 3 bits over 2 + 4 + 1 tokens.
    assert found["corpus"] == pytest.approx(2 ** (15 / 7), abs=1e-9)


def test_the_model_stands_beside_values_of_it_alone() -> None:
    data = samples(["a b c"], token_logprobs=[[None, HALF]])
    of_model = findings(PERPLEXITY, data, told()).values
    assert {one.at["model"] for one in of_model} == {"told"}
    assert {one.at["model_sha256"] for one in of_model} == {"4" * 64}
    of_data = findings(PERPLEXITY, data, None, logprobs="data").values
    assert [dict(one.at) for one in of_data] == [{}, {}, {}]


def test_from_the_data_by_hand() -> None:
    data = samples(
        ["a b c", "a b", "a", "a", "", "a", "a b", "a b"],
        token_logprobs=[
            [None, HALF, EIGHTH],
            # The first token may have one; a hair above 0 is 0.
            [EIGHTH, None, 5e-7],
            [None],
            None,
            [HALF],
            [],
            [None, None],
            [-9999.0, HALF],
        ],
    )
    found = each(PERPLEXITY, data, None, logprobs="data")
    assert found[0].values == {"value": pytest.approx(4, abs=1e-9), "tokens": 2}
    assert found[1].values == {"value": pytest.approx(8**0.5, abs=1e-9), "tokens": 2}
    assert [(one.status, one.reason) for one in found[2:]] == [
        ("not_applicable", "the response has a single token"),
        ("missing_input", "no token_logprobs"),
        ("missing_input", "the response is empty"),
        ("missing_input", "token_logprobs are empty"),
        ("not_applicable", "no token has a log-probability"),
        (
            "not_applicable",
            "token_logprobs hold -9999, which stands for a probability not known",
        ),
    ]


def test_what_cannot_be_told() -> None:
    said = {**SAID, "far off": [-601.0], "never": [-math.inf], "odd": [math.nan]}
    data = samples([None, " \n", "one", "far off", "never", "odd", "i j"])
    found = each(PERPLEXITY, data, told(said))
    assert [(one.status, one.reason) for one in found] == [
        ("missing_input", "no response"),
        ("missing_input", "the response is empty"),
        ("not_applicable", "the response has a single token"),
        ("not_applicable", "601 nats a token are too many for a perplexity"),
        ("not_applicable", "inf nats a token are too many for a perplexity"),
        ("not_applicable", "the model finds no number for the probability of a token"),
        ("ok", None),
    ]
    reported = findings(PERPLEXITY, data, told(said))
    # None of them is in any value.
    assert values(reported) == pytest.approx({"value": 8, "tokens": 1, "corpus": 8}, abs=1e-9)
    assert dict(reported.statuses) == {"ok": 1, "missing_input": 2, "not_applicable": 4}


def test_nothing_to_score_is_no_value() -> None:
    reported = findings(PERPLEXITY, samples(["one", None]), told())
    assert all(one.value is None and one.undefined for one in reported.values)


def test_each_response_is_read_once_as_it_is_and_all_in_one_call() -> None:
    model = told({" a b ": [HALF], "i j": [EIGHTH]})
    found = each(PERPLEXITY, samples([" a b ", "i j", " a b "]), model, stride=3)
    assert model.asked == [[Passage("", " a b "), Passage("", "i j")]]
    assert model.strides == [3]
    assert [one.values["value"] for one in found] == pytest.approx([2, 8, 2], abs=1e-9)


def test_an_encoder_decoder_is_refused_by_the_key_that_names_it() -> None:
    model = ToldModel(lambda passage: [HALF], architecture="encoder_decoder")
    with pytest.raises(ConfigError) as caught:
        each(PERPLEXITY, samples(["a b"]), model)
    assert str(caught.value).split("\n")[0] == (
        "language_model.model: perplexity needs a causal model; told is an encoder-decoder"
    )


def test_what_is_needed_depends_on_where_the_probabilities_come_from() -> None:
    assert Call(PERPLEXITY, {"logprobs": "model"}).asks == ("language_model",)
    assert Call(PERPLEXITY, {"logprobs": "data"}).asks == ()
    assert Call(PERPLEXITY, {"logprobs": "model"}).needs == ("response",)
    assert Call(PERPLEXITY, {"logprobs": "data"}).needs == ("response", "token_logprobs")


def test_a_resample_weighs_tokens_as_often_as_their_sample_is_drawn() -> None:
    call, found = evidence(PERPLEXITY, samples(["a b c", "d e f g h", "i j", "one"]), told())
    (again,) = found.resamples(np.array([[2, 0, 1, 5]]))
    # 2 × 4 + 3 bits over 2 × 2 + 1 tokens.
    corpus = values(call.findings(again))["corpus"]  # type: ignore[arg-type]
    assert corpus == pytest.approx(2 ** (11 / 5), abs=1e-9)
    part = found.select(np.array([False, True, True, True]))
    assert values(call.findings(part))["corpus"] == pytest.approx(2 ** (11 / 5), abs=1e-9)  # type: ignore[arg-type]


@given(st.lists(st.lists(st.floats(-30, 0), min_size=1, max_size=6), min_size=1, max_size=8))
def test_order_changes_no_digit_and_each_value_is_that_of_a_lone_sample(
    rows: list[list[float]],
) -> None:
    texts = [f"text {at}" for at in range(len(rows))]
    one = findings(PERPLEXITY, samples(texts, token_logprobs=rows), None, logprobs="data")
    turned = samples(texts, token_logprobs=rows[::-1])
    assert values(one) == values(findings(PERPLEXITY, turned, None, logprobs="data"))
    assert one.samples is not None
    # The slow twin: the inverse of the geometric mean of the probabilities.
    assert one.samples.columns["value"] == pytest.approx(
        [math.prod(math.exp(-p / len(row)) for p in row) for row in rows], rel=1e-12
    )
