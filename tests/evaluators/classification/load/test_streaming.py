"""Rows of samples that come together from pieces, wherever their ids stand among others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.same_bytes import assert_same, told
from valor_cli.evaluators.classification.load import streaming


def written(path: Path, ids: list[str]) -> None:
    """Rows of these samples, each with the label "x"."""
    rows = ({"sample_id": name, "label": "x", "predictions": {"x": 0.9}} for name in ids)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize(
    "shards",
    [
        [["sample-0", "sample-1"], ["sample-11", "sample-2"]],
        [["a", "b"], ["a-long-name", "b-long-name"], ["ab", "ba"]],
        [["é", "z"], ["zz-zz", "éé"]],
    ],
)
def test_ids_that_begin_as_others_do(
    shards: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, ids in enumerate(shards):
        written(tmp_path / f"{number}.jsonl", ids)
    config = tmp_path / "run.yaml"
    config.write_text("task: classification\ndata: {samples: '*.jsonl'}\nmetrics: [counts]\n")
    whole = told(config)
    for rows in (1, 2, 3):
        monkeypatch.setattr(streaming, "RANGE_ROWS", rows)
        assert_same(whole, told(config, piece_bytes=100))


@pytest.mark.parametrize("name", ["s.csv", "s.jsonl"])
def test_classes_of_their_own_and_clipped_probabilities(name: str, tmp_path: Path) -> None:
    rows = [(at, "xy"[at % 2], at / 8, 1.001) for at in range(9)]
    head = ("sample_id", "label", "x", "y")
    lines = [json.dumps(dict(zip(head, row, strict=True))) for row in rows]
    if name.endswith("csv"):
        lines = [",".join(map(str, row)) for row in (head, *rows)]
    (tmp_path / name).write_text("\n".join(lines))
    config = tmp_path / "run.yaml"
    data = "task: classification\ndata: {samples: " + name + "}\n"
    config.write_text(data + "metrics: [log_loss, roc_auc]\n")
    whole = told(config)
    for size in (40, 100):
        assert_same(whole, told(config, piece_bytes=size))
