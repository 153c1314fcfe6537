"""What cannot be read of a judge's replies is no value, passes no gate and is not kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.oracles.model_server import FakeJudge
from valor_cli import catalogue, pipeline
from valor_cli.config import load_config
from valor_cli.evaluators.verdicts import is_verdict
from valor_cli.metric import Metric
from valor_cli.models import session
from valor_cli.models.backends import open_embedder
from valor_cli.models.protocols import Embedder
from valor_cli.models.requests import Reply, Request, Stop
from valor_cli.models.settings import EmbedderSettings
from valor_cli.models.store import Store
from valor_cli.models.store_file import FILE
from valor_cli.results import RunResult

ASKING = [
    pytest.param(metric, parameters, id=f"{metric.name}{' with rubric' if parameters else ''}")
    for wing in catalogue.task("text_generation").wings
    for metric in wing.metrics
    if "judge" in metric.asks
    for parameters in (
        ({}, {"rubric": {1: "bad", 5: "good"}}) if metric.name == "custom_judge" else ({},)
    )
]

UNREADABLE = {
    "prose": Reply("I would rather not say."),
    "nothing": Reply(""),
    "a refusal": Reply("", refused=True),
    "cut off": Reply('{"verdicts": [', cut=True),
    "another form": Reply('{"colour": "blue"}'),
    "a verdict outside its set": Reply('{"verdict": "perhaps", "rating": 97, "score": 97}'),
}

ROWS = [
    {
        "sample_id": f"s{at}",
        "user_input": f"What is part {at}?",
        "response": f"Part {at} is a {name}.",
        "references": [f"A {name}."],
        "retrieved_contexts": [f"A {name} shines."],
    }
    for at, name in enumerate(("lamp", "torch"))
]


@cache
def embedder() -> Embedder:
    """The packaged one, loaded once: 45 MB and 0.2 s."""
    return open_embedder(EmbedderSettings(), "cpu", Stop())


def evaluated(
    folder: Path,
    metric: Metric[Any],
    parameters: dict[str, Any],
    reply: Callable[[Request], Reply],
    monkeypatch: pytest.MonkeyPatch,
) -> RunResult:
    """Two samples under one metric, judged by a model whose replies are kept."""
    monkeypatch.setenv("VALOR_CACHE_DIR", str(folder / "cache"))
    judge = FakeJudge(lambda request, number: reply(request))
    monkeypatch.setattr(session, "open_judge", lambda *_: judge)
    monkeypatch.setattr(session, "open_embedder", lambda *_: embedder())
    (folder / "samples.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    valued = [one for one in metric.outputs if parameters or one.name != "rating"]
    document = {
        "task": "text_generation",
        "data": {"samples": "samples.jsonl"},
        "judge": {"model": "fake/judge"},
        "metrics": [{metric.name: parameters}],
        # Any value at all passes these.
        "gates": [
            {"metric": metric.name, "output": one.name, "min": one.bounds[0]} for one in valued
        ],
    }
    (folder / "run.yaml").write_text(json.dumps(document))
    plan = pipeline.make_plan(load_config(folder / "run.yaml", catalogue))
    return pipeline.evaluate(plan, command="valor")


def kept(folder: Path) -> int:
    with Store(folder / "cache" / FILE) as store:
        return store.info().replies


@pytest.mark.parametrize("reply", UNREADABLE.values(), ids=UNREADABLE)
@pytest.mark.parametrize(("metric", "parameters"), ASKING)
def test_where_no_reply_can_be_read_there_is_no_value(
    tmp_path: Path,
    metric: Metric[Any],
    parameters: dict[str, Any],
    reply: Reply,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result = evaluated(tmp_path, metric, parameters, lambda request: reply, monkeypatch)
    assert {row.output: row.value for row in result.metrics} == {
        row.output: 1.0 if row.output == "parse_failures" else None for row in result.metrics
    }
    assert all(row.undefined for row in result.metrics if row.value is None)
    [coverage] = result.coverage
    assert (coverage.coverage, coverage.statuses) == (0.0, {"parse_failure": 2})
    assert result.gates
    assert all(
        (gate.status == "passed") == (gate.output == "parse_failures") for gate in result.gates
    )
    assert kept(tmp_path) == 0


@pytest.mark.parametrize(("metric", "parameters"), ASKING)
def test_what_cannot_be_read_counts_in_rates_and_in_no_mean(
    tmp_path: Path,
    metric: Metric[Any],
    parameters: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def reply(request: Request) -> Reply:
        fits = request.purpose.sample_id == "s1"
        return Reply(request.example_reply) if fits else UNREADABLE["prose"]

    result = evaluated(tmp_path, metric, parameters, reply, monkeypatch)
    [coverage] = result.coverage
    assert (coverage.coverage, coverage.statuses) == (0.5, {"ok": 1, "parse_failure": 1})
    values = {row.output: row.value for row in result.metrics}
    if is_verdict(metric.outputs):
        assert values["parse_failures"] == 0.5
        assert {values["pass"], values["fail"]} == {0.0, 0.5}
        assert values["generation_failures"] == values["fail"]
        rates = [row for row in result.metrics if row.output in ("pass", "fail", "parse_failures")]
        assert {row.n for row in rates} == {2}
    else:
        assert {row.n for row in result.metrics} == {1}
    assert kept(tmp_path) > 0
