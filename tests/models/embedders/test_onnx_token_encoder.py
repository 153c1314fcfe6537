"""Hidden states of tokens by ONNX models."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.oracles.onnx_folders import IDS, LOOKUP, tiny
from tests.oracles.onnx_graphs import FLOAT, Node, Port
from valor_cli.errors import ConfigError
from valor_cli.models.embedders.onnx_embedder import LAST, OnnxEmbedder, OnnxTokenEncoder
from valor_cli.models.protocols import ENCODING
from valor_cli.models.requests import Stopped
from valor_cli.models.scheduler.stop import Stop
from valor_cli.models.settings import EmbedderSettings
from valor_cli.models.text.devices import Runtime

TEXTS = ["one two", "", "  three \n", "one " * 600, "two", "\ud83d", "🙂 שלום"]


def opened(
    layer: int | None = None,
    stop: Stop | None = None,
    told: list[tuple[str, int, int]] | None = None,
    **settings: Any,
) -> OnnxTokenEncoder:
    said = [] if told is None else told
    return OnnxTokenEncoder(
        EmbedderSettings(**settings),
        layer,
        Runtime("cpu", stop or Stop(), lambda *each: said.append(each)),
    )


@pytest.fixture(scope="module")
def encoder() -> OnnxTokenEncoder:
    return opened()


def test_states_by_hand(tmp_path: Path) -> None:
    encoder = opened(model=str(tiny(tmp_path / "tiny", said={"config.json": {"n_layers": 3}})))
    assert (encoder.layer, encoder.longest, encoder.identity.name) == (3, 512, "tiny")
    first, empty, third = encoder.states(TEXTS[:3])
    assert first.ids.tolist() == [2, 4, 5, 3]
    assert first.special.tolist() == [True, False, False, True]
    assert first.states.tolist() == [[1, 0, 0], [2, 0, 0], [0, 4, 0], [0, 1, 0]]
    assert empty.ids.tolist() == [2, 3]
    assert third.states.tolist() == [[1, 0, 0], [0, 0, 6], [0, 1, 0]]


def test_the_packaged_model(encoder: OnnxTokenEncoder) -> None:
    assert (encoder.layer, encoder.longest) == (6, 512)
    found = list(encoder.states(TEXTS))
    for each in found:
        assert each.ids.shape == each.special.shape == each.states.shape[:1]
        assert (each.states.shape[1], each.states.dtype) == (384, np.float32)
        assert np.isfinite(each.states).all()
    assert [len(each.ids) for each in found[:5]] == [4, 2, 3, 512, 3]
    assert encoder.cut(TEXTS) == 1
    # Their mean is what the embedder makes of a text.
    whole = asyncio.run(OnnxEmbedder(EmbedderSettings(), Stop()).embed(["one two"]))
    assert np.abs(found[0].states.mean(axis=0) - whole[0]).max() <= 1e-6


def test_names_of_special_tokens_are_spelled(encoder: OnnxTokenEncoder) -> None:
    """A response could else take its end for granted; those that the model wants stay special."""
    (found,) = encoder.states(["a [SEP] b"])
    assert found.ids.tolist().count(102) == 1
    assert found.special.tolist() == [True, *[False] * 5, True]


def test_company_changes_no_state(encoder: OnnxTokenEncoder) -> None:
    together = list(encoder.states(TEXTS))
    for text, each in zip(TEXTS, together, strict=True):
        (alone,) = encoder.states([text])
        assert np.array_equal(alone.ids, each.ids)
        assert np.abs(alone.states - each.states).max() <= 1e-6


def test_texts_come_in_their_order_and_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    encoder = opened(told=told, model=str(tiny(tmp_path)))
    texts = ["one " * (1 + number % 7) for number in range(600)]
    found = [len(each.ids) for each in encoder.states(texts)]
    assert found == [3 + number % 7 for number in range(600)]
    assert told == [(ENCODING, done, 600) for done in (0, 256, 512, 600)]
    assert list(encoder.states([])) == []
    told.clear()
    short = opened(told=told, model=str(tmp_path), max_tokens=8)
    # As many as are taken are computed.
    assert len(next(short.states(["one " * 9] * 1000)).ids) == short.longest == 8
    assert told == [(ENCODING, 0, 1000)]


def test_a_run_that_ends(tmp_path: Path) -> None:
    stop = Stop()
    stop.now("interrupted", "enough")
    encoder = opened(stop=stop, model=str(tiny(tmp_path)))
    with pytest.raises(Stopped, match="enough"):
        list(encoder.states(["one"]))


def test_layers(tmp_path: Path) -> None:
    assert opened(6).layer == 6
    with pytest.raises(ConfigError, match=r"the last layer, 6 alone, layer 3 is asked for"):
        opened(3)
    unknown = str(tiny(tmp_path))
    assert opened(model=unknown).layer == LAST
    with pytest.raises(ConfigError, match="the last layer alone"):
        opened(1, model=unknown)


def test_models_of_whole_texts(tmp_path: Path) -> None:
    total = Node("ReduceSum", (LOOKUP.outputs[0], "axis"), ("out",), {"keepdims": 0})
    folder = tiny(
        tmp_path,
        nodes=(LOOKUP, total),
        inputs=(IDS,),
        outputs=(Port("out", FLOAT, ("batch", 3)),),
        constants={"axis": np.array([1], np.int64)},
    )
    with pytest.raises(ConfigError, match="not of tokens"):
        opened(model=str(folder))
