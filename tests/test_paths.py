"""Paths and URLs as configs write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from valor_cli.evaluators.inputs import model_paths
from valor_cli.paths import (
    InputPath,
    LocalPath,
    bare,
    beside,
    is_url,
    own_folder,
    stem_source,
    urls_in,
)


class Block(BaseModel):
    """A block with a path, paths by model, and texts that are none."""

    path: InputPath | None = None
    paths: dict[str, InputPath] = {}
    names: tuple[str, ...] = ()
    local: LocalPath | None = None


def read(folder: Path | str = "configs", **given: Any) -> Block:
    return Block.model_validate(given, context={"folder": folder})


def fault(**given: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        read(**given)
    return str(caught.value.errors(include_input=False)[0]["msg"])


@pytest.mark.parametrize(
    "url",
    [
        "s3://bucket/a/../b//c*.jsonl",
        "https://host/~me/a.csv?x=../y&sig=a%2Fb",
        "gs://b/~/x",
        "memory://a",
        "S3://Bucket/a",
        "s3://bucket/a name.csv",
    ],
)
def test_urls_stay_as_they_are(url: str) -> None:
    assert is_url(url)
    assert read(path=url).path == url


@pytest.mark.parametrize("path", [r"C:\x\y.json", "a:b.json", "s3:/b/a", "://a", "1a://b", "C:/x"])
def test_paths_that_are_no_urls(path: str) -> None:
    assert not is_url(path)
    if not path.startswith("C:"):
        assert read(path=path).path != path


def test_files_of_this_machine() -> None:
    assert read(path="../a.csv").path == "a.csv"
    assert read(path="-").path == "-"
    assert read(path="file:///data/my%20file.csv").path == "/data/my file.csv"
    assert "file:///folder/name" in fault(path="file://host/a.csv")
    assert read(local="a.csv").local == "configs/a.csv"
    assert "expected a file on this machine, found a URL" in fault(local="s3://b/a.csv")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://host/a b.csv", "contains a space; write %20"),
        ("https://me:my word@host/a.csv", "contains a space"),
        ("s3:///a.csv", "names no server and no bucket"),
        ("https://", "names no server"),
        ("https://me:p/w@host/a.csv", "must be percent-encoded"),
    ],
)
def test_broken_urls(url: str, words: str) -> None:
    told = fault(path=url)
    assert words in told
    assert "my word" not in told
    assert "p/w" not in told


def test_the_urls_of_a_block() -> None:
    block = read(
        path="s3://b/a",
        paths={"small": "https://h/s", "large": "l.csv"},
        names=("https://example.org/Person",),
    )
    assert [*urls_in(block)] == [(("path",), "s3://b/a"), (("paths", "small"), "https://h/s")]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("https://h/my%20a.jsonl.gz?X-Amz-Signature=a.csv", "https://h/my a.jsonl.gz"),
        ("https://h/a.csv#b?c", "https://h/a.csv"),
        ("s3://b/shard-?.csv", "s3://b/shard-?.csv"),
        ("s3://b/a.csv?versionId=x.y", "s3://b/a.csv"),
        ("s3://b/100%25.csv", "s3://b/100%25.csv"),
        ("a?b.csv", "a?b.csv"),
    ],
)
def test_names_without_what_is_none(path: str, name: str) -> None:
    assert bare(path) == name


def test_folders_of_urls() -> None:
    assert own_folder("s3://b/a/c.csv") == "s3://b/a"
    assert own_folder("s3://b/c.csv") == "s3://b"
    assert own_folder("https://h/a/c.csv?sig=x/y") == "https://h/a"
    assert own_folder("https://h") == "https://h"
    assert own_folder("a/c.csv") == "a"
    assert stem_source("https://me:word@h") == ""


def test_files_that_files_name() -> None:
    assert beside("maps", "1.png") == "maps/1.png"
    assert beside("s3://b/maps", "x/../1.png") == "s3://b/maps/1.png"
    assert beside("s3://b/maps", "../1.png") == "s3://b/1.png"
    assert beside("s3://b", "1.png") == "s3://b/1.png"
    assert beside("s3://b/maps", "s3://b/other/1.png") == "s3://b/other/1.png"
    assert beside("https://h/maps", "my #1.png") == "https://h/maps/my%20%231.png"


@pytest.mark.parametrize(
    ("folder", "name", "words"),
    [
        ("maps", "http://169.254.169.254/", "a file on this machine cannot name a URL"),
        ("", "s3://b/a", "a file on this machine cannot name a URL"),
        ("s3://b/maps", "s3://b2/a", "only files on its own server"),
        ("s3://b/maps", "https://h/a", "only files on its own server"),
        ("https://h/maps", "https://h.evil/a", "only files on its own server"),
        ("s3://b/maps", "/etc/passwd", "cannot name a file of this machine"),
        ("s3://b/maps", "~/a.png", "cannot name a file of this machine"),
        ("s3://b/maps", r"C:\a.png", "cannot name a file of this machine"),
        ("s3://b/maps", "../../a.png", "leads out of the store"),
    ],
)
def test_files_that_no_file_may_name(folder: str, name: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        beside(folder, name)


@pytest.mark.parametrize(
    ("path", "model"),
    [
        ("s3://b/runs/unet-*.csv", "unet"),
        ("s3://b/unet/*.csv", "unet"),
        ("s3://b/*.csv", "model"),
        ("https://h/small.v2.jsonl?sig=a", "small"),
        ("https://h?sig=a", "model"),
        ("https://me:word@h", "model"),
    ],
)
def test_models_are_named_without_secrets(path: str, model: str) -> None:
    assert model_paths(path) == {model: path}
