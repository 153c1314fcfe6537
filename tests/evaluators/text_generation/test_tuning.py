"""Thresholds follow the embedding model."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from valor_cli import catalogue
from valor_cli.evaluators.embedding.calibrated_thresholds import CALIBRATED, SEEDS_MODEL
from valor_cli.evaluators.text_generation.inputs import TextOptions
from valor_cli.evaluators.text_generation.model_session import tuned
from valor_cli.metric import Call


def call(name: str, **parameters: Any) -> Call:
    metric = catalogue.metric("text_generation", name)
    defaults = {one.name: one.default for one in metric.parameters}
    return Call(metric, {**defaults, **parameters}, metric.threshold)


def options(model: str | None = None, backend: str = "sentence_transformers") -> TextOptions:
    if model is None:
        return TextOptions.model_validate({})
    return TextOptions.model_validate({"embedder": {"backend": backend, "model": model}})


def test_the_default_embedder_has_its_own() -> None:
    found, warning = tuned(options(), call("groundedness_semantic"))
    own = CALIBRATED["groundedness_semantic"]["all-minilm-l6-v2"]
    assert found.threshold == own["threshold"] != 0.75
    assert warning is None


@pytest.mark.parametrize("model", ["BAAI/bge-small-en-v1.5", "BAAI/bge-small-en"])
def test_the_seeds_model_has_the_seeds(model: str) -> None:
    found, warning = tuned(options(model), call("groundedness_semantic"))
    assert (found.threshold, warning) == (0.75, None)


def test_whatever_account_brings_it_minilm_is_minilm() -> None:
    found, warning = tuned(
        options("sentence-transformers/all-MiniLM-L6-v2"), call("groundedness_semantic")
    )
    assert (found.threshold, warning) == (
        CALIBRATED["groundedness_semantic"]["all-minilm-l6-v2"]["threshold"],
        None,
    )


def test_of_another_model_it_warns() -> None:
    found, warning = tuned(options("intfloat/e5-small"), call("groundedness_semantic"))
    assert (found.threshold, found.model) == (0.75, "intfloat/e5-small")
    assert warning is not None
    assert "threshold 0.75" in warning
    assert SEEDS_MODEL in warning
    assert "intfloat/e5-small" in warning


def test_what_the_config_says_stands() -> None:
    given = replace(call("context_mrr"), threshold=0.9, threshold_given=True)
    found, _ = tuned(options(), given)
    assert found.threshold == 0.9
    given = replace(call("context_mrr", mrr_relevant_chunk_threshold=0.3), threshold_given=True)
    found, warning = tuned(options("intfloat/e5-small"), given)
    assert found.parameters["mrr_relevant_chunk_threshold"] == 0.3
    assert warning is None


def test_parameters_that_are_cosines_are_filled_in() -> None:
    found, _ = tuned(options("BAAI/bge-small-en"), call("context_mrr"))
    assert found.parameters["mrr_relevant_chunk_threshold"] == 0.7
    found, _ = tuned(options(), call("context_mrr"))
    own = CALIBRATED["context_mrr"]["all-minilm-l6-v2"]
    assert found.parameters["mrr_relevant_chunk_threshold"] == own["mrr_relevant_chunk_threshold"]


def test_other_metrics_are_left_alone() -> None:
    one = call("rouge_l")
    assert tuned(options("intfloat/e5-small"), one) == (one, None)


def test_every_metric_of_cosines_with_a_threshold_is_known() -> None:
    embedding = [
        metric
        for metric in catalogue.task("text_generation").metrics
        if metric.measure is not None
        and ".embedding." in metric.measure.__module__
        and metric.threshold is not None
    ]
    # Of these the values are no cosines, or those of a model of their own.
    apart = {"completeness", "step_alignment", "context_mrr"}
    assert {one.name for one in embedding} - apart <= set(CALIBRATED)
    for families in CALIBRATED.values():
        assert SEEDS_MODEL in families
        assert len({frozenset(own) for own in families.values()}) == 1
