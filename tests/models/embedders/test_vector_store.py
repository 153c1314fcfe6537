"""Vectors outlive the run bit by bit; what is damaged is not there; other people's files stay."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from valor_cli.errors import ValorError
from valor_cli.models.embedders import vector_store
from valor_cli.models.embedders.vector_store import (
    FILE,
    ModelKept,
    VectorsRemoved,
    VectorStore,
    clear_vectors,
    info_of_vectors,
)
from valor_cli.models.store import Store

ROOT = Path(__file__).parents[3]
DAY = 86_400.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / FILE


@pytest.fixture
def store(path: Path) -> Iterator[VectorStore]:
    with VectorStore("model", path) as store:
        yield store


def drawn(count: int, dimensions: int = 8, kind: Any = np.float32) -> Any:
    return np.random.default_rng(count).normal(size=(count, dimensions)).astype(kind)


def names(count: int, about: str = "text") -> list[str]:
    return [f"{about} {at}" for at in range(count)]


def changed(path: Path, statement: str, *values: object) -> None:
    database = sqlite3.connect(path)
    with database:
        database.execute(statement, values)
    database.close()


def test_a_vector_comes_back_bit_by_bit(store: VectorStore, path: Path) -> None:
    kept = store
    assert (store.find([]), store.find(["a"])) == ({}, {})
    store.keep([], np.empty((0, 3)))
    assert info_of_vectors(store.path).models == ()
    texts = ["", "a", "ä\0\n", "\U0001f600", "lone \ud800", "lone \ud801", "x" * 300_000]
    vectors = drawn(len(texts))
    vectors[0, :4] = [0.0, -0.0, np.finfo(np.float32).tiny, np.finfo(np.float32).max]
    kept.keep(texts, vectors)
    kept.keep(["infinite"], np.array([[np.inf] * 8], np.float32))
    with VectorStore("model", path) as later:
        found = later.find([*texts, "another", "a", "infinite"])
    assert set(found) == set(texts)
    for text, vector in zip(texts, vectors, strict=True):
        assert found[text].dtype == np.float32
        assert found[text].tobytes() == vector.tobytes()


@settings(max_examples=40)
@given(
    vectors=st.sampled_from([np.float32, np.float64]).flatmap(
        lambda kind: arrays.arrays(
            kind,
            st.tuples(st.integers(1, 5), st.integers(1, 9)),
            elements=arrays.from_dtype(np.dtype(kind), allow_nan=False, allow_infinity=False),
        )
    )
)
def test_whatever_the_numbers(tmp_path_factory: pytest.TempPathFactory, vectors: Any) -> None:
    texts = names(len(vectors))
    with VectorStore("m", tmp_path_factory.mktemp("store") / FILE) as store:
        store.keep(texts, vectors)
        found = store.find(texts)
    back = np.stack([found[text] for text in texts])
    assert (back.dtype, back.tobytes()) == (vectors.dtype, vectors.tobytes())


def test_other_forms_of_the_same_numbers(store: VectorStore) -> None:
    vectors = drawn(3, 4, np.float64)
    store.keep(names(3, "swapped"), vectors.astype(">f8"))
    store.keep(names(3, "turned"), np.asfortranarray(vectors))
    store.keep(names(3, "half"), vectors.astype(np.float16))
    for about, wanted in (
        ("swapped", vectors),
        ("turned", vectors),
        ("half", vectors.astype(np.float16).astype(np.float32)),
    ):
        found = store.find(names(3, about))
        assert np.array_equal([found[text] for text in names(3, about)], wanted)


def test_each_model_has_the_first_vector_of_a_text(store: VectorStore, path: Path) -> None:
    store.keep(["a"], np.array([[1.0]]))
    with VectorStore("model", path) as again, VectorStore("another\ud800", path) as other:
        again.keep(["a", "b"], np.array([[2.0], [3.0]]))
        assert other.find(["a"]) == {}
        other.keep(["a"], np.array([[4.0, 5.0]]))
        assert other.find(["a"])["a"].tolist() == [4.0, 5.0]
    found = {text: one.tolist() for text, one in store.find(["a", "b"]).items()}
    assert found == {"a": [1.0], "b": [3.0]}
    # A model of another length is another model.
    store.keep(["c"], drawn(1, 4))
    assert set(store.find(["a", "b", "c"])) == {"c"}
    assert info_of_vectors(store.path).vectors == 2


def test_what_is_written(store: VectorStore, path: Path) -> None:
    store.keep(["SAMPLE-TEXT"], drawn(1))
    files = list(path.parent.iterdir())
    # The text is not anywhere in the files, and the files are the user's alone.
    assert {file.name for file in files} == {FILE, f"{FILE}-wal", f"{FILE}-shm"}
    assert all(b"SAMPLE-TEXT" not in file.read_bytes() for file in files)
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


@pytest.mark.parametrize(
    "spoil",
    [
        # A bit of a number: what is left is a number, too.
        "UPDATE vectors SET vector = substr(vector, 1, 15) || x'01' || substr(vector, 17)",
        "UPDATE vectors SET vector = substr(vector, 1, 28)",
        "UPDATE vectors SET vector = vector || vector",
        "UPDATE vectors SET vector = x''",
        "UPDATE vectors SET vector = 7",
        "UPDATE vectors SET type = '<f8'",
        "UPDATE vectors SET type = 'O'",
        "UPDATE vectors SET checksum = 'x'",
        "UPDATE models SET dimensions = 4",
        "UPDATE models SET dimensions = 'x'",
        "UPDATE vectors SET text = zeroblob(32)",
        "UPDATE vectors SET model = 7",
    ],
)
def test_what_is_damaged_is_not_there_and_is_made_anew(path: Path, spoil: str) -> None:
    with VectorStore("model", path) as store:
        store.keep(["a"], drawn(1))
    changed(path, spoil)
    with VectorStore("model", path) as store:
        assert store.find(["a"]) == {}
        store.keep(["a"], drawn(1) * 2)
        assert store.find(["a"])["a"].tobytes() == (drawn(1) * 2).tobytes()
        assert store.failed is None


@pytest.mark.parametrize(
    ("spoil", "said"),
    [("PRAGMA max_page_count = 1", "full"), ("PRAGMA query_only = ON", "readonly")],
)
def test_a_run_goes_on_where_nothing_can_be_kept(
    store: VectorStore, spoil: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.keep(["a"], drawn(1))
    store._database.execute(spoil)
    store.keep(names(2_000), drawn(2_000, 8))
    assert store.failed is not None
    assert store.failed.startswith(f"{store.path}: vectors are not kept for later runs: ")
    assert said in store.failed
    # What was kept before is there, of what failed nothing, and it is tried once.
    assert set(store.find(["a", *names(2_000)])) == {"a"}
    first = store.failed
    monkeypatch.setattr(store, "clock", pytest.fail)
    store.keep(["b"], drawn(1))
    assert store.failed == first


def test_a_run_goes_on_while_the_store_is_cleared(store: VectorStore, path: Path) -> None:
    store.keep(["a"], np.array([[1.0]]))
    assert clear_vectors(path).vectors == 1
    with VectorStore("another", path) as other:
        other.keep(["b"], np.array([[2.0]]))
        assert store.find(["a", "b"]) == {}
        store.keep(["c"], np.array([[3.0]]))
        # What it keeps never becomes another model's.
        assert other.find(["a", "c"]) == {}
    assert set(store.find(["a", "b", "c"])) == {"c"}


def test_info_and_clear(path: Path) -> None:
    for model, day, count in (("old", 100, 3), ("new", 105, 2)):
        with VectorStore(model, path, clock=lambda day=day: day * DAY) as store:  # type: ignore[misc]
            store.keep(names(count), drawn(count, 1_000))
    kept = info_of_vectors(path)
    assert kept.models == (
        ModelKept("new", 1_000, 2, 105 * DAY, 105 * DAY),
        ModelKept("old", 1_000, 3, 100 * DAY, 100 * DAY),
    )
    assert (kept.vectors, kept.oldest, kept.newest) == (5, 100 * DAY, 105 * DAY)
    assert kept.bytes > 5 * 4_000

    def clock() -> float:
        return 110 * DAY

    assert clear_vectors(path, 10, clock=clock) == VectorsRemoved()
    removed = clear_vectors(path, 9.5, clock=clock)
    assert removed.vectors == 3
    assert [one.model for one in info_of_vectors(path).models] == ["new"]
    assert clear_vectors(path).vectors == 2
    empty = info_of_vectors(path)
    assert (empty.models, empty.oldest, empty.newest) == ((), None, None)


def test_a_file_of_another_program_is_told_and_left_alone(path: Path) -> None:
    Store(path).close()
    before = path.read_bytes()
    for use in (lambda: VectorStore("m", path), lambda: info_of_vectors(path)):
        with pytest.raises(ValorError, match="is the database of another program") as caught:
            use()
        assert "VALOR_CACHE_DIR" in caught.value.hint
    assert path.read_bytes() == before
    path.write_text("notes\n" * 500)
    with pytest.raises(ValorError, match="file is not a database") as caught:
        VectorStore("m", path)
    assert "embedded anew" in caught.value.hint


def keep_and_find(path: Path, texts: Sequence[str]) -> dict[str, Any]:
    with VectorStore("m", path) as store:
        return store.find(texts)


def test_any_byte_of_the_file_may_be_wrong_and_half_of_it_lost(path: Path) -> None:
    texts, vectors = names(40), drawn(40, 16)
    with VectorStore("m", path) as store:
        store.keep(texts, vectors)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValorError, match=r"cache of vectors cannot be used.*\n.*move the file"):
        keep_and_find(path, texts)
    wanted = {text: one.tobytes() for text, one in zip(texts, vectors, strict=True)}
    random = np.random.default_rng(5)
    there = 0
    for place in random.integers(100, len(content), 150).tolist():
        spoilt = bytearray(content)
        spoilt[place] ^= 1 << int(random.integers(8))
        path.write_bytes(spoilt)
        try:
            found = keep_and_find(path, texts)
        except ValorError:
            continue
        there += len(found)
        assert all(found[text].tobytes() == wanted[text] for text in found)
    assert there > 1_000


def test_queries_of_any_size(store: VectorStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_store, "AT_ONCE", 7)
    store.keep(names(50), drawn(50))
    asked: Sequence[str] = [*names(50), *names(20, "unknown")][::-1]
    assert set(store.find(asked)) == set(names(50))
