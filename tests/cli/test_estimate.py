"""`valor estimate` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Valor, refused, result_of
from tests.pipeline.calibrating import lines, written

SAMPLES = [{"sample_id": name, "user_input": f"{name}?", "response": "A."} for name in "abc"]
PRICED = {"model": "openai/nowhere", "price": {"input_usd": 1000, "output_usd": 0}}


def test_json_holds_sums_and_rows(valor: Valor, tmp_path: Path) -> None:
    path = written(tmp_path, SAMPLES, {"j": []}, ["sexism", "contact_information"])
    found = result_of(valor("estimate", path, "--format", "json"))
    sums = ["calls", "cached", "tokens_in", "tokens_out", "cost_usd"]
    assert list(found) == ["samples", *sums, "usage"]
    assert (found["samples"], found["calls"], found["cached"], found["cost_usd"]) == (3, 6, 0, 0.0)
    assert [list(one) for one in found["usage"]] == [["metric", "model", "judge", *sums]] * 2
    for name in sums:
        assert found[name] == sum(one[name] for one in found["usage"])


def test_money_is_told_and_unknown_where_it_is(valor: Valor, tmp_path: Path) -> None:
    path = written(tmp_path, SAMPLES, {"j": []}, ["contact_information"])
    said = json.loads(path.read_text())
    path.write_text(json.dumps({**said, "judge": PRICED}))
    found = result_of(valor("estimate", path, "--format", "json", "--limit", 2))
    assert found["cost_usd"] == pytest.approx(1e-3 * found["tokens_in"])
    # All three answers are the same: asked twice, paid once.
    assert (found["calls"], found["cached"]) == (2, 1)
    path.write_text(json.dumps({**said, "judges": [PRICED, {"model": "openai/other"}]}))
    (tmp_path / "both.yaml").write_text(
        json.dumps({k: v for k, v in json.loads(path.read_text()).items() if k != "judge"})
    )
    done = valor("estimate", tmp_path / "both.yaml")
    assert done.returncode == 0
    assert "Estimate for 3 samples; nothing was sent" in done.stdout
    table = {line.split()[1]: line for line in done.stdout.splitlines() if "openai/" in line}
    assert "$" in table["openai/nowhere"]
    assert table["openai/other"].rstrip().endswith("unknown")
    total = next(line for line in done.stdout.splitlines() if line.startswith("total"))
    assert total.rstrip().endswith("unknown")


def test_what_cannot_be_estimated_is_refused(valor: Valor, tmp_path: Path) -> None:
    path = written(tmp_path, SAMPLES, {"j": []}, ["looping"])
    refused(valor("estimate", path), "none of its metrics asks a judge", "valor metrics")
    lines(tmp_path / "samples.jsonl", [{"sample_id": "a", "user_input": "Q?"}])
    asked = written(tmp_path, [{"sample_id": "a", "user_input": "Q?"}], {"j": []}, ["sexism"])
    refused(valor("estimate", asked), "response")
