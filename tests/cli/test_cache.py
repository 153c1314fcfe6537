"""`valor cache`: what is kept is told, and forgotten when asked."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Valor
from valor_cli.models.embedders.vector_store import FILE as VECTORS
from valor_cli.models.embedders.vector_store import VectorStore
from valor_cli.models.files.gguf import FOLDER
from valor_cli.models.requests import Purpose, Reply, Request
from valor_cli.models.store import Store
from valor_cli.models.store_file import FILE

DAY = 86_400.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Two old replies and two old vectors, a new reply and a new vector, each of a model's own."""
    path = tmp_path / FILE
    asked = Request((), purpose=Purpose("faithfulness", "gpt", "s1", "verdicts"))
    for judge, keys, now in (("old/judge", ("k", "l"), 10 * DAY), ("new", ("m",), 40_000 * DAY)):
        with Store(path, clock=lambda now=now: now) as store:  # type: ignore[misc]
            run = store.run(judge, resume=False, reuse=True, judge=judge)
            for key in keys:
                run.keep(key, asked, Reply("yes"))
            store.finish("finished" if judge == "new" else "budget")
        with VectorStore(f"{judge} e", tmp_path / VECTORS, clock=lambda now=now: now) as kept:  # type: ignore[misc]
            kept.keep(keys, np.ones((len(keys), 300)))
    return path


def test_info(valor: Valor, path: Path) -> None:
    done = valor("cache", "info", VALOR_CACHE_DIR=str(path.parent))
    assert done.returncode == 0, done.stderr
    first, *lines = done.stdout.splitlines()
    assert re.fullmatch(re.escape(str(path)) + r": 3 replies, \d+\.\d kB", first)
    # 10 and 40,000 days after 1970-01-01.
    assert lines == [
        "  new                1  2079-07-08T00:00:00Z to 2079-07-08T00:00:00Z",
        "  old/judge          2  1970-01-11T00:00:00Z to 1970-01-11T00:00:00Z",
        "2 runs in the ledger, 1 unfinished",
        lines[3],
        "  new e                1  2079-07-08T00:00:00Z to 2079-07-08T00:00:00Z",
        "  old/judge e          2  1970-01-11T00:00:00Z to 1970-01-11T00:00:00Z",
    ]
    vectors = re.escape(str(path.parent / VECTORS))
    assert re.fullmatch(vectors + r": 3 vectors, \d+\.\d kB", lines[3])


def test_info_as_json(valor: Valor, path: Path) -> None:
    done = valor("cache", "info", "--format", "json", VALOR_CACHE_DIR=str(path.parent))
    told = json.loads(done.stdout)
    assert told.pop("bytes") > 0
    assert told["vectors"].pop("bytes") > 0
    assert told.pop("models") == {"path": str(path.parent / FOLDER), "models": 0, "bytes": 0}
    new, old = "2079-07-08T00:00:00Z", "1970-01-11T00:00:00Z"
    both, first, last = (
        {"oldest": a, "newest": b} for a, b in ((old, new), (new, new), (old, old))
    )
    judges = [{"judge": "new", "replies": 1, **first}, {"judge": "old/judge", "replies": 2, **last}]
    models = [
        {"model": "new e", "dimensions": 300, "vectors": 1, **first},
        {"model": "old/judge e", "dimensions": 300, "vectors": 2, **last},
    ]
    vectors = {"path": str(path.parent / VECTORS), "vectors": 3, **both, "models": models}
    replies = {"path": str(path), "replies": 3, **both, "judges": judges}
    assert told == {**replies, "runs": 2, "unfinished": 1, "vectors": vectors}


def test_clear(valor: Valor, path: Path) -> None:
    here = {"VALOR_CACHE_DIR": str(path.parent)}
    done = valor("cache", "clear", "--older-than-days", 30, **here)
    assert done.returncode == 0, done.stderr
    replies, vectors = done.stdout.splitlines()
    assert replies.startswith(f"{path}: removed 2 replies, 1 run, ")
    assert vectors.startswith(f"{path.parent / VECTORS}: removed 2 vectors, ")
    done = valor("cache", "clear", "--format", "json", **here)
    removed = json.loads(done.stdout)
    assert removed["path"] == str(path)
    assert (removed["removed"]["replies"], removed["removed"]["runs"]) == (1, 1)
    assert removed["vectors"]["path"] == str(path.parent / VECTORS)
    assert removed["vectors"]["removed"]["vectors"] == 1
    both = f"{path}: {{0}}\n{path.parent / VECTORS}: {{0}}\n"
    assert valor("cache", "clear", **here).stdout == both.format("nothing to remove")
    assert valor("cache", "info", **here).stdout == both.format("empty")


def test_clear_one_of_them_only(valor: Valor, path: Path) -> None:
    here = {"VALOR_CACHE_DIR": str(path.parent)}
    done = valor("cache", "clear", "--only", "vectors", **here)
    assert re.fullmatch(r".*vectors.sqlite3: removed 3 vectors, [\d.]+ kB\n", done.stdout)
    done = valor("cache", "clear", "--only", "vectors", "--format", "json", **here)
    assert json.loads(done.stdout)["removed"] == {"replies": 0, "runs": 0, "bytes": 0}
    done = valor("cache", "clear", "--only", "replies", **here)
    assert done.stdout.startswith(f"{path}: removed 3 replies, 2 runs, ")
    assert len(done.stdout.splitlines()) == 1


def test_nothing_there_is_no_error_and_nothing_is_made(valor: Valor, tmp_path: Path) -> None:
    here = {"VALOR_CACHE_DIR": str(tmp_path / "none")}
    told = json.loads(valor("cache", "info", "--format", "json", **here).stdout)
    assert (told["judges"], told["vectors"]["models"]) == ([], [])
    for command, said in (("info", "empty"), ("clear", "nothing to remove")):
        done = valor("cache", command, **here)
        files = (tmp_path / "none" / name for name in (FILE, VECTORS))
        assert done.stdout == "".join(f"{path}: {said}\n" for path in files)
        assert done.returncode == 0
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("file", [FILE, VECTORS])
def test_a_file_of_another_program_is_told_and_stays(
    valor: Valor, tmp_path: Path, file: str
) -> None:
    path = tmp_path / file
    path.write_text("not a database, but somebody's\n" * 100)
    for command in ("info", "clear"):
        done = valor("cache", command, VALOR_CACHE_DIR=str(tmp_path))
        assert done.returncode == 2
        assert done.stderr.startswith(f"error: {path}: ")
        assert "move the file away" in done.stderr
    assert path.read_text().startswith("not a database")


def test_a_place_that_cannot_be_looked_at_is_not_called_empty(valor: Valor, tmp_path: Path) -> None:
    # Longer than any file system's names; a folder without rights ends the same way.
    for command in ("info", "clear"):
        done = valor("cache", command, VALOR_CACHE_DIR=str(tmp_path / ("x" * 300)))
        assert (done.returncode, done.stdout) == (2, "")
        assert "cannot be used: File name too long\n" in done.stderr
        assert "name another folder with VALOR_CACHE_DIR" in done.stderr


@pytest.mark.parametrize("name", ["", "info", "clear"])
def test_every_help_has_an_example_that_runs(valor: Valor, name: str, tmp_path: Path) -> None:
    shown = valor(*f"cache {name} --help".split()).stdout
    example = re.search(r"Example:\s+valor (.+)", shown)
    assert example, shown
    done = valor(*example[1].split(), VALOR_CACHE_DIR=str(tmp_path))
    assert done.returncode == 0, done.stderr


def test_models_that_were_converted_are_told_and_forgotten(valor: Valor, tmp_path: Path) -> None:
    here = {"VALOR_CACHE_DIR": str(tmp_path)}
    # The second is what a run left that was killed while it made it.
    for name in ("b179", ".making-x"):
        (tmp_path / FOLDER / name).mkdir(parents=True)
        (tmp_path / FOLDER / name / "model.safetensors").write_bytes(b"w" * 1_000)
    told = valor("cache", "info", **here).stdout.splitlines()
    assert told[2:] == [f"{tmp_path / FOLDER}: 2 models converted from GGUF files, 2.0 kB"]
    kept = valor("cache", "clear", "--older-than-days", 1, **here).stdout.splitlines()
    assert len(kept) == 2
    valor("cache", "clear", "--only", "vectors", **here)
    assert len(list((tmp_path / FOLDER).iterdir())) == 2
    gone = valor("cache", "clear", "--only", "models", **here).stdout
    assert gone == f"{tmp_path / FOLDER}: removed 2 models, 2.0 kB\n"
    assert not list((tmp_path / FOLDER).iterdir())
    done = valor("cache", "clear", "--only", "models", "--format", "json", **here)
    assert json.loads(done.stdout)["models"]["removed"] == {"models": 0, "bytes": 0}


def test_hashes_of_models_are_told_short(valor: Valor, tmp_path: Path) -> None:
    with VectorStore(f"onnx {'0123456789abcdef' * 4} pooling=mean", tmp_path / VECTORS) as kept:
        kept.keep(["k"], np.ones((1, 3)))
    told = valor("cache", "info", VALOR_CACHE_DIR=str(tmp_path)).stdout
    assert "  onnx 0123456789ab pooling=mean " in told
    assert "0123456789abc" not in told
