"""Folders of ONNX models: what they say of their use, and what cannot be used."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.oracles.onnx_folders import IDS, KINDS, LOOKUP, MASK, STATES, tiny, tokenizer
from tests.oracles.onnx_graphs import FLOAT, INT64, Node, Port
from valor_cli.errors import ConfigError
from valor_cli.models.embedders.onnx_embedder import OnnxEmbedder
from valor_cli.models.files.onnx_files import onnx_files
from valor_cli.models.protocols import Unavailable, sha256_of_files
from valor_cli.models.requests import Stop
from valor_cli.models.settings import EmbedderSettings

SUM = Node("ReduceSum", ("last_hidden_state", "axis"), ("sentence_embedding",), {"keepdims": 0})
AXIS = {"axis": np.array([1], np.int64)}
POOLED = Port("sentence_embedding", FLOAT, ("batch", 3))


def opened(model: Path, **settings: Any) -> OnnxEmbedder:
    return OnnxEmbedder(EmbedderSettings(model=str(model), **settings), Stop())


def vectors(embedder: OnnxEmbedder, *texts: str) -> list[list[float]]:
    return asyncio.run(embedder.embed(texts)).tolist()


def test_where_the_file_may_be(tmp_path: Path) -> None:
    beside = tiny(tmp_path / "beside")
    below = tiny(tmp_path / "below", file="onnx/model.onnx")
    other = tiny(tmp_path / "other", file="onnx/small.onnx") / "onnx" / "small.onnx"
    expected = vectors(opened(beside), "one two")
    assert vectors(opened(below), "one two") == expected
    assert vectors(opened(beside / "model.onnx"), "one two") == expected
    assert vectors(opened(other), "one two") == expected
    with pytest.raises(ConfigError, match=r"has no model.onnx.*it has onnx/small.onnx"):
        opened(tmp_path / "other")


def test_what_the_hash_is_of(tmp_path: Path) -> None:
    said = {"1_Pooling/config.json": {"pooling_mode": "mean"}}
    folder = tiny(tmp_path / "whole", said=said)
    read = [folder / name for name in ("model.onnx", "tokenizer.json", "1_Pooling/config.json")]
    assert onnx_files(str(folder)).sha256 == sha256_of_files(read)
    before = onnx_files(str(folder)).sha256
    # The weights of a large graph stand beside it.
    (folder / "model.onnx_data").write_bytes(b"weights")
    assert onnx_files(str(folder)).sha256 != before


SIZES = {"max_position_embeddings": 100}


@pytest.mark.parametrize(
    ("said", "longest", "positions"),
    [
        ({}, 512, None),
        ({"sentence_bert_config.json": {"max_seq_length": 300}}, 300, None),
        ({"config.json": {"max_position_embeddings": 64}}, 64, 64),
        ({"config.json": {"max_position_embeddings": -1}}, 512, None),
        ({"config.json": SIZES | {"model_type": "mpnet", "pad_token_id": 1}}, 98, 98),
        ({"config.json": SIZES, "sentence_bert_config.json": {"max_seq_length": 1024}}, 100, 100),
        ({"config.json": SIZES, "sentence_xlnet_config.json": {"max_seq_length": None}}, 100, 100),
        ({"config.json": SIZES, "tokenizer_config.json": {"model_max_length": 10**30}}, 100, 100),
        ({"tokenizer_config.json": {"model_max_length": 48}}, 48, None),
    ],
)
def test_how_much_is_seen(
    tmp_path: Path, said: dict[str, object], longest: int, positions: int | None
) -> None:
    files = onnx_files(str(tiny(tmp_path, said=said)))
    assert (files.longest, files.positions) == (longest, positions)
    assert opened(tmp_path).longest == longest
    assert opened(tmp_path, max_tokens=9).longest == 9


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, ("mean",)),
        ({"pooling_mode": "cls"}, ("cls",)),
        ({"pooling_mode": ["cls", "mean"]}, ("cls", "mean")),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, ("cls",)),
        # The same direction as the mean.
        ({"pooling_mode_mean_sqrt_len_tokens": True}, ("mean",)),
        ({"pooling_mode_max_tokens": True}, ("max",)),
    ],
)
def test_pooling(tmp_path: Path, config: dict[str, object], expected: tuple[str, ...]) -> None:
    folder = tiny(tmp_path, said={"1_Pooling/config.json": config})
    assert onnx_files(str(folder)).pooling == expected
    if expected in (("mean",), ("cls",)):
        assert f"pooling={expected[0]}" in opened(folder).keeps
        return
    with pytest.raises(ConfigError, match="known are mean and cls"):
        opened(folder)
    assert "pooling=mean" in opened(folder, pooling="mean").keeps


def test_modules(tmp_path: Path) -> None:
    modules = [
        {"idx": 0, "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "path": "2_Pool", "type": "sentence_transformers.models.Pooling"},
        {"idx": 2, "path": "3_Normalize", "type": "sentence_transformers.models.Normalize"},
    ]
    said = {"modules.json": modules, "2_Pool/config.json": {"pooling_mode": "cls"}}
    assert vectors(opened(tiny(tmp_path / "plain", said=said)), "one") == [[1, 0, 0]]
    dense = {"idx": 2, "path": "2_Dense", "type": "sentence_transformers.models.Dense"}
    folder = tiny(tmp_path / "dense", said={**said, "modules.json": [*modules, dense]})
    with pytest.raises(ConfigError, match=r"modules.json adds Dense"):
        opened(folder)


def test_lower_case(tmp_path: Path) -> None:
    said = {"sentence_bert_config.json": {"do_lower_case": True}}
    folded, as_is = tiny(tmp_path / "folded", said=said), tiny(tmp_path / "as_is")
    assert vectors(opened(folded), "ONE Two") == vectors(opened(as_is), "one two")
    assert vectors(opened(as_is), "ONE Two") != vectors(opened(as_is), "one two")
    assert "lower" in opened(folded).keeps


def test_truncation_and_padding_of_the_tokenizer_are_not_its_own_affair(tmp_path: Path) -> None:
    own = tokenizer(
        truncation={
            "max_length": 4,
            "stride": 0,
            "strategy": "LongestFirst",
            "direction": "Right",
        },
        padding={
            "strategy": {"Fixed": 9},
            "direction": "Left",
            "pad_to_multiple_of": None,
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "[PAD]",
        },
    )
    folder = tiny(tmp_path / "own", said={"tokenizer.json": own})
    text = "one two three one"
    assert vectors(opened(folder), text) == vectors(opened(tiny(tmp_path / "plain")), text)


NARROW = Port("token_type_ids", 6, KINDS.shape)


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        ({"inputs": (IDS, MASK)}, [[0.75, 1.25, 0], [1 / 3, 1 / 3, 2]]),
        # Token types may be numbers of 32 bits.
        ({"inputs": (IDS, MASK, NARROW)}, [[0.75, 1.25, 0], [1 / 3, 1 / 3, 2]]),
        # Vectors of tokens are preferred to those of whole texts.
        (
            {"nodes": (LOOKUP, SUM), "outputs": (POOLED, STATES), "constants": AXIS},
            [[0.75, 1.25, 0], [1 / 3, 1 / 3, 2]],
        ),
        # A sum that sees padding, having no mask: texts must be alone.
        (
            {"nodes": (LOOKUP, SUM), "inputs": (IDS,), "outputs": (POOLED,), "constants": AXIS},
            [[3, 5, 0], [1, 1, 6]],
        ),
    ],
)
def test_graphs_of_other_forms(
    tmp_path: Path, graph: dict[str, Any], expected: list[list[float]]
) -> None:
    embedder = opened(tiny(tmp_path, **graph))
    assert np.allclose(vectors(embedder, "one two", "three"), expected, rtol=0, atol=1e-6)
    if len(graph.get("outputs", (1, 2))) == 1:
        assert "pooling=in the graph" in embedder.keeps
        with pytest.raises(ConfigError, match="so there is nothing to pool"):
            opened(tmp_path, pooling="mean")


def test_activations_that_are_quantised_as_they_come(tmp_path: Path) -> None:
    """Their scale is that of the batch: texts are computed one by one."""
    nodes = (
        Node("Gather", ("vectors", "input_ids"), ("found",)),
        Node("DynamicQuantizeLinear", ("found",), ("bytes", "scale", "zero")),
        Node("DequantizeLinear", ("bytes", "scale", "zero"), ("last_hidden_state",)),
    )
    embedder = opened(tiny(tmp_path, nodes=nodes))
    together = vectors(embedder, "one two", "three", "one")
    assert together == [vectors(embedder, each)[0] for each in ("one two", "three", "one")]
    assert np.allclose(together[0], [0.75, 1.25, 0], atol=0.02)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ({"inputs": (IDS, Port("past", FLOAT, ("batch", 3)))}, "has the inputs input_ids, past"),
        ({"inputs": (Port("words", INT64, ("batch", "n")),)}, "has the inputs words"),
        ({"inputs": (Port("input_ids", INT64, ("batch", 128)), MASK)}, "texts of 128 tokens"),
        (
            {
                "nodes": (LOOKUP, Node("Shape", ("last_hidden_state",), ("sizes",))),
                "outputs": (Port("sizes", INT64, (3,)),),
            },
            "no vectors of tokens or texts among its outputs: sizes",
        ),
        (
            {"nodes": (Node("Own", ("input_ids",), ("last_hidden_state",), {}, "own.domain"),)},
            "cannot be loaded",
        ),
        ({"constants": {"vectors": np.ones((2, 3), np.float32)}}, "cannot be run"),
        ({"constants": {"vectors": np.full((7, 3), np.nan, np.float32)}}, "hold no numbers"),
    ],
)
def test_graphs_that_cannot_be_used(
    tmp_path: Path, graph: dict[str, Any], message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    if "words" in message:
        graph = {**graph, "nodes": (Node("Gather", ("vectors", "words"), (STATES.name,)),)}
    folder = tiny(tmp_path / "broken", **graph)
    with pytest.raises(ConfigError, match=message) as caught:
        vectors(opened(folder), "one two three")
    assert "broken" in caught.value.problems[0].place
    assert capfd.readouterr() == ("", "")


def test_folders_that_cannot_be_used(tmp_path: Path) -> None:
    seen = {"sentence_bert_config.json": {"max_seq_length": 2}}
    with pytest.raises(ConfigError, match="as many tokens around a text as are seen"):
        opened(tiny(tmp_path / "short", said=seen))
    folder = tiny(tmp_path / "tiny")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ConfigError, match=r"has no tokenizer\.json"):
        opened(folder)
    (folder / "model.onnx").rename(folder / "model.bin")
    with pytest.raises(ConfigError, match=r"has no model\.onnx and no onnx/model"):
        opened(folder)
    with pytest.raises(ConfigError, match="is not an ONNX file"):
        opened(folder / "model.bin")
    with pytest.raises(Unavailable, match=r"hf download BAAI/bge-small-en-v1\.5 --local"):
        opened(Path("BAAI/bge-small-en-v1.5"))


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "1_Pooling/config.json"])
@pytest.mark.parametrize("content", [b"", b"not a model", b"\xff\xfe{}"])
def test_broken_files(
    tmp_path: Path, name: str, content: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tiny(tmp_path, said={"1_Pooling/config.json": {}})
    (folder / name).write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        opened(folder)
    (problem,) = caught.value.problems
    assert problem.place == str(folder / name)
    assert capfd.readouterr() == ("", "")
