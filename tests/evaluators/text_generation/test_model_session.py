"""Which models a text config opens, and what it must still name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from valor_cli import catalogue
from valor_cli.config import load_config
from valor_cli.errors import ConfigError
from valor_cli.evaluators.text_generation.inputs import TextOptions
from valor_cli.evaluators.text_generation.model_session import (
    missing_model,
    model_asked,
    open_session,
)
from valor_cli.metric import Call, RunTerms
from valor_cli.models.settings import NOT_DISTRIBUTED

JUDGE = {"backend": "litellm", "model": "openai/x"}


def call(name: str, **parameters: Any) -> Call:
    metric = catalogue.metric("text_generation", name)
    return Call(metric, {**{one.name: one.default for one in metric.parameters}, **parameters})


def options(**said: Any) -> TextOptions:
    return TextOptions.model_validate(said)


def test_what_must_be_named() -> None:
    lack = missing_model(options(), call("faithfulness"))
    assert lack is not None
    assert "judge" in lack.message
    assert missing_model(options(judge=JUDGE), call("answer_relevancy")) is None
    lack = missing_model(options(), call("perplexity"))
    assert lack is not None
    assert "language model" in lack.message
    assert "language_model: {model: distilbert/distilgpt2}" in lack.hint
    assert missing_model(options(), call("perplexity", logprobs="data")) is None
    assert (
        missing_model(options(language_model={"model": "distilgpt2"}), call("perplexity")) is None
    )
    assert missing_model(options(), call("semantic_similarity")) is None


def wanted(said: TextOptions, *names: str) -> Any:
    session: Any = open_session(said, [call(name) for name in names], RunTerms("", dry_run=True))
    return session.wanted


def test_only_models_that_are_asked_are_opened() -> None:
    said = options(judge=JUDGE, embedder={"backend": "litellm", "model": "openai/e"})
    asked = wanted(said, "semantic_similarity")
    assert asked.judges == ()
    assert asked.embedder.model == "openai/e"
    asked = wanted(said, "faithfulness")
    assert len(asked.judges) == 1
    assert asked.embedder is None
    asked = wanted(said, "toxicity_detoxify")
    assert (asked.judges, asked.embedder) == ((), None)


def test_who_names_no_embedder_gets_the_packaged_one() -> None:
    assert wanted(options(), "groundedness_semantic").embedder.called == "minilm-int8"


@pytest.mark.parametrize(
    ("name", "parameters", "model"),
    [
        ("semantic_similarity", {}, "mine"),
        ("semantic_similarity", {"method": "cross_encoder"}, "cross-encoder/stsb-roberta-base"),
        ("bertscore", {"model": "roberta-large"}, "roberta-large"),
        ("toxicity_detoxify", {}, "unitary/toxic-bert"),
        ("perplexity", {}, "distilgpt2"),
        ("perplexity", {"logprobs": "data"}, None),
        ("step_alignment", {"similarity": "edit"}, None),
        ("answer_relevancy", {}, None),
        ("rouge_l", {}, None),
    ],
)
def test_the_model_that_a_call_asks(
    name: str, parameters: dict[str, Any], model: str | None
) -> None:
    said = options(
        embedder={"backend": "litellm", "model": "mine"}, language_model={"model": "distilgpt2"}
    )
    assert model_asked(said, call(name, **parameters)) == model


def test_models_that_metrics_name_are_looked_for() -> None:
    asked = wanted(options(), "toxicity_detoxify", "summac_zs", "bertscore", "rouge_l")
    assert set(asked.named.values()) == {"toxicity_detoxify", "summac_zs"}
    assert asked.named["unitary/toxic-bert"] == "toxicity_detoxify"
    assert wanted(options(), "completeness").reduces == "completeness"
    said = options(language_model={"model": "distilgpt2"})
    assert wanted(said, "rouge_l").language_model is None


@pytest.mark.parametrize(
    ("judges", "places"),
    [
        ("judge: {model: openai/x, distribute: true}\n", ["4:38: judge.distribute"]),
        (
            """judges:
  - {model: openai/x, price: {input_usd: 1, output_usd: 2}, distribute: false}
  - {model: openai/y}
  - model: openai/z
    distribute: true
""",
            ["5:73: judges.0.distribute", "8:17: judges.2.distribute"],
        ),
    ],
)
def test_judges_that_workers_of_a_cluster_were_to_ask(
    tmp_path: Path, judges: str, places: list[str]
) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(
        f"task: text_generation\ndata: {{samples: a.jsonl}}\nmetrics: [faithfulness]\n{judges}"
    )
    with pytest.raises(ConfigError) as caught:
        load_config(path, catalogue, ())
    assert [str(one) for one in caught.value.problems] == [
        f"{path}:{place}: {NOT_DISTRIBUTED}" for place in places
    ]
    assert "raise `concurrency:`" in NOT_DISTRIBUTED
