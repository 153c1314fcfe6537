"""Files of vectors, whole and broken."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from valor_cli.errors import DataError
from valor_cli.models.embedders.precomputed_embedder import PrecomputedEmbedder
from valor_cli.models.protocols import ModelIdentity, sha256_of
from valor_cli.models.settings import EmbedderSettings


def opened(path: Path) -> PrecomputedEmbedder:
    return PrecomputedEmbedder(EmbedderSettings(backend="precomputed", vectors=str(path)))


def written(folder: Path, *lines: str | bytes) -> Path:
    path = folder / "vectors.jsonl"
    path.write_bytes(
        b"\n".join(each if isinstance(each, bytes) else each.encode() for each in lines)
    )
    return path


def line(text: str, *numbers: float) -> str:
    return json.dumps({"text": text, "vector": numbers})


def test_vectors_by_text(tmp_path: Path) -> None:
    path = written(
        tmp_path, "\ufeff" + line("a", 1, 0.5), "", line("ä\n", -2, 0), line("a", 1, 0.5)
    )
    embedder = opened(path)
    assert (embedder.name, embedder.remote, embedder.keeps) == ("precomputed", False, None)
    found = asyncio.run(embedder.embed(["ä\n", "a", "a"]))
    assert found.tolist() == [[-2.0, 0.0], [1.0, 0.5], [1.0, 0.5]]
    assert asyncio.run(embedder.embed([])).shape == (0, 0)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("{", "was expected"),
        ('{"text": "b"}', "`vector`"),
        ('{"text": 1, "vector": [1, 2]}', "`$.text`"),
        ('{"text": "b", "vector": [true, 2]}', "got `bool`"),
        ('{"text": "b", "vector": [NaN, 2]}', "was expected"),
        ('{"text": "b", "vector": [1e999, 2]}', "too large|out of range"),
        ('{"text": "b", "vector": []}', "the vector is empty"),
        ('{"text": "b", "vector": [1]}', "1 numbers, those before have 2"),
        ('{"text": "a", "vector": [1, 3]}', "another vector of the text 'a'"),
        ('{"text": "b", "vectors": [1, 2]}', "vectors"),
        (b'{"text": "\xff", "vector": [1, 2]}', "was expected"),
    ],
)
def test_lines_that_cannot_be_used(tmp_path: Path, bad: str | bytes, message: str) -> None:
    path = written(tmp_path, line("a", 1, 2), "", *[bad] * 25)
    with pytest.raises(DataError) as caught:
        opened(path)
    # Twenty are told, and all are counted.
    (problem, *others) = caught.value.problems
    assert (len(others), caught.value.total) == (19, 25)
    assert problem.place == f"{path}:3"
    assert any(each in problem.message for each in message.split("|"))


def test_which_model_made_them_is_the_users_to_say(tmp_path: Path) -> None:
    path = written(tmp_path, line("a", 1))
    unnamed = opened(path)
    assert unnamed.identity == ModelIdentity("precomputed", sha256_of(path))
    named = EmbedderSettings(backend="precomputed", vectors=str(path), model="BAAI/bge-m3")
    before = PrecomputedEmbedder(named).identity
    path = written(tmp_path, line("a", 1), line("b", 2))
    # More answers have more vectors, of the same model: such runs can be compared.
    assert PrecomputedEmbedder(named).identity == before == ModelIdentity("BAAI/bge-m3")
    assert opened(path).identity != unnamed.identity


def test_texts_that_the_file_lacks(tmp_path: Path) -> None:
    embedder = opened(written(tmp_path, line("a", 1)))
    with pytest.raises(DataError) as caught:
        asyncio.run(embedder.embed(["a", "b\x1b[31m" + "c" * 999, "d", "d"]))
    assert caught.value.total == 2
    first, second = map(str, caught.value.problems)
    assert first.isprintable()
    assert len(first) < len(str(tmp_path)) + 150
    assert "no vector of the text 'd'" in second
