"""YAML to RunConfig, whole: any text or tree is a config or a ConfigError."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.config.vocabulary import START, Boxes, load
from valor_cli.config import Interval
from valor_cli.errors import ConfigError


def test_the_environment_and_overrides_reach_the_config(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEED", "7")
    config = load(
        START + "interval:\n  seed: ${SEED}\n  level: ${LEVEL:-0.9}\nmetrics: [ap]\n",
        'filter."metadata.weather"=rain',
        "data.predictions={a: x.json}",
        "metrics.0={ap: {max_detections: 3}}",
    )
    assert config.interval == Interval(seed=7, level=0.9)
    assert config.filter == {"metadata.weather": ("rain",)}
    assert isinstance(config.data, Boxes)
    assert config.data.predictions == {"a": "x.json"}
    assert config.metrics is not None
    assert config.metrics[0].parameters["max_detections"] == 3


@pytest.mark.parametrize("module", ["numpy", "valor_cli.config.schema"])
def test_what_only_some_need_is_not_imported(module: str) -> None:
    code = f"import sys, valor_cli.config; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


KEYS = ["task", "data", "metrics", "label_map", "filter", "slices", "interval", "gates", "report"]


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["boxes", "coco", "ap", "area", "metadata.a", "area=small", "${A}", "-"]),
)


INNER_KEYS = st.sampled_from(
    ["ap", "area", "metric", "min", "level", "formats", "out", "predictions", "slice", "label"]
)


TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(INNER_KEYS, inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(tree=st.dictionaries(st.sampled_from(KEYS), TREES, max_size=6))
def test_any_tree_is_a_config_or_a_config_error(tree: dict[str, object]) -> None:
    lines: list[str] = []
    try:
        # JSON with its non-ASCII escaped is YAML, but for NaN, which is text there.
        load(json.dumps({"task": "boxes", **tree}))
    except ConfigError as error:
        lines = [str(problem) for problem in error.problems]
    assert all(line.isprintable() for line in lines)


LABELS = st.text(
    st.characters(exclude_categories=["C", "Zl", "Zp"], exclude_characters="$"), max_size=8
)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(
    thresholds=st.lists(st.floats(0, 1), min_size=1, max_size=4),
    labels=st.dictionaries(LABELS, LABELS, max_size=4),
    seed=st.integers(0, 2**63),
)
def test_a_valid_config_survives(
    thresholds: list[float], labels: dict[str, str], seed: int
) -> None:
    tree = {
        "task": "boxes",
        "data": {"ground_truth": "a", "predictions": {"m": "b"}},
        "metrics": [{"ap": {"iou_thresholds": thresholds}}],
        "label_map": labels,
        "interval": {"seed": seed},
    }
    config = load(json.dumps(tree, ensure_ascii=False))
    assert config.metrics is not None
    assert config.metrics[0].parameters["iou_thresholds"] == tuple(thresholds)
    assert config.label_map == labels
    assert config.interval == Interval(seed=seed)
