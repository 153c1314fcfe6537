"""Inputs in object stores: in the memory of this process, and behind a server with faults."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Iterator
from itertools import pairwise

import fsspec
import pytest
import s3fs

from tests.scale.web_server import WebServer, cut, serving, status, whole
from valor_cli.data.formats.folders import files_under, is_folder, text_of
from valor_cli.data.partition.shards import Gathered, read_shards
from valor_cli.data.source import remote, store_errors
from valor_cli.data.source.files import TextSource
from valor_cli.data.source.inputs import expanded
from valor_cli.errors import DataError, MissingExtraError, UnreachableError, ValorError

pytestmark = pytest.mark.scale

TEXT = b"".join(b'{"row": %d}\n' % row for row in range(10_000))
"""138,890 bytes."""

LISTED = b"""<?xml version="1.0"?><ListBucketResult><Name>data</Name><Prefix></Prefix>
<KeyCount>0</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated></ListBucketResult>"""
DENIED = b"<Error><Code>AccessDenied</Code><Message>no</Message></Error>"
NO_BUCKET = b"<Error><Code>NoSuchBucket</Code><Message>no</Message></Error>"


@pytest.fixture
def memory() -> Iterator[fsspec.AbstractFileSystem]:
    store = fsspec.filesystem("memory")
    yield store
    store.store.clear()
    store.pseudo_dirs[:] = [""]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[WebServer]:
    """A server that S3 is asked at, in blocks of 1,000 bytes and more."""
    monkeypatch.setattr(store_errors, "FIRST_WAIT_S", 0.0)
    monkeypatch.setattr(remote, "FIRST", 1_000)
    monkeypatch.setattr(remote, "LARGEST", 50_000)
    s3fs.S3FileSystem.clear_instance_cache()
    with serving() as found:
        monkeypatch.setenv("AWS_ENDPOINT_URL", found.url(""))
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAKEY")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "SECRETKEY")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        found.answers["/data"] = [status(200, LISTED)]
        yield found
        close_sessions()


def close_sessions() -> None:
    """Let go of connections: what is open at the end of a test is a warning, and an error here."""
    for store in list(s3fs.S3FileSystem._cache.values()):
        creator = getattr(store, "_s3creator", None)
        if creator is not None:
            coming = creator.__aexit__(None, None, None)
            asyncio.run_coroutine_threadsafe(coming, store.loop).result()
    s3fs.S3FileSystem.clear_instance_cache()


def read(url: str) -> None:
    for file in expanded(url):
        TextSource(file).whole()


def error_of(url: str) -> str:
    with pytest.raises(ValorError) as caught:
        read(url)
    told = str(caught.value)
    assert "SECRETKEY" not in told
    return told


def ranges(server: WebServer) -> list[str]:
    return [asked.removeprefix("bytes=") for _, asked in server.requests if asked]


def test_patterns(memory: fsspec.AbstractFileSystem) -> None:
    for name in ("b.csv", "a.csv", "[1].csv", "1.csv", ".c.csv", "deep/d.csv", "deep/e/f.csv"):
        memory.pipe_file(f"/data/{name}", name.encode())
    assert expanded("memory://data/*.csv") == [
        *("memory://data/1.csv", "memory://data/[1].csv"),
        *("memory://data/a.csv", "memory://data/b.csv"),
    ]
    # A name that is one goes before what it would match.
    assert expanded("memory://data/[1].csv") == ["memory://data/[1].csv"]
    assert expanded("memory://data/[2-a].csv") == ["memory://data/a.csv"]
    assert expanded("memory://data/?.csv") == [f"memory://data/{one}.csv" for one in "1ab"]
    assert expanded("memory://data/.*.csv") == ["memory://data/.c.csv"]
    assert expanded("memory://data/**/*.csv")[-2:] == [
        *("memory://data/deep/d.csv", "memory://data/deep/e/f.csv")
    ]
    assert expanded("memory://data/deep*/d.csv") == ["memory://data/deep/d.csv"]
    # No folder is an input, though the pattern matches it.
    assert expanded("memory://data/d*/*") == ["memory://data/deep/d.csv"]
    with pytest.raises(DataError, match=r"no file matches \(\* is any text"):
        expanded("memory://data/*.json")


def test_folders(memory: fsspec.AbstractFileSystem) -> None:
    for name in ("b.TXT", "a.txt", ".c.txt", "deep/d.txt", ".hidden/e.txt", "a.png"):
        memory.pipe_file(f"/data/labels/{name}", b"")
    assert is_folder("memory://data/labels")
    assert is_folder("memory://data/labels/")
    assert not is_folder("memory://data/labels/a.txt")
    assert not is_folder("memory://data/nothing")
    assert files_under("memory://data/labels", ".txt") == ["a.txt", "b.TXT", "deep/d.txt"]
    assert text_of("memory://data/labels/a.txt")[0] == ""
    with pytest.raises(DataError, match="no such folder, or there is nothing in it"):
        files_under("memory://data/none", "")
    with pytest.raises(DataError, match="this is a file; a folder is needed"):
        files_under("memory://data/labels/a.txt", "")
    with pytest.raises(DataError, match="this is a folder; name a file in it"):
        TextSource("memory://data/labels").whole()


def test_an_object_in_blocks(server: WebServer) -> None:
    server.answers["/data/a"] = [whole(TEXT)]
    source = TextSource("s3://data/a")
    assert b"".join(source.chunks(777)) == TEXT
    # Worked by hand: 1,000, then four times as many each up to 50,000; of the last block one byte
    # more than there is.
    ends = [0, 1_000, 5_000, 21_000, 71_000, 121_000, 138_890]
    wanted = [f"{a}-{b - 1}" for a, b in pairwise(ends[:-1])]
    assert sorted(ranges(server), key=lambda one: int(one.split("-")[0])) == [
        *wanted,
        "121000-138890",
    ]
    # A look before and one after, which would tell that it changed in between.
    assert [asked for _, asked in server.requests].count(None) == 2


def test_only_what_is_looked_at_is_asked_for(server: WebServer) -> None:
    server.answers["/data/a"] = [whole(TEXT)]
    chunks = TextSource("s3://data/a").chunks(100)
    assert next(chunks) == TEXT[:100]
    chunks.close()
    assert ranges(server) == ["0-999"]


def test_a_scheme_in_capitals(server: WebServer) -> None:
    server.answers["/data/a"] = [whole(TEXT)]
    assert TextSource("S3://data/a").whole() == TEXT


def test_blocks_that_are_cut_or_refused(server: WebServer) -> None:
    good = whole(TEXT)
    slow_down = status(503, b"<Error><Code>SlowDown</Code></Error>")
    server.answers["/data/a"] = [good, good, cut(TEXT, 10), slow_down, status(500), good]
    assert TextSource("s3://data/a").whole() == TEXT


def test_a_store_that_is_always_busy(server: WebServer) -> None:
    slow_down = status(503, b"<Error><Code>SlowDown</Code></Error>")
    server.answers["/data/a"] = [whole(TEXT), slow_down]
    assert "the store answers 503 SlowDown; it was tried 5 times" in error_of("s3://data/a")
    # One look, and five times the first block: no package beneath tries on its own.
    assert len(server.requests) == 6


def test_what_a_store_does_not_give_is_not_left_out(server: WebServer) -> None:
    """It may be there in the next run; what is gone, or cut off as it is stored, will not."""
    packed = gzip.compress(TEXT, mtime=0)
    server.answers["/data/a"] = [whole(TEXT)]
    server.answers["/data/b"] = [status(404)]
    server.answers["/data/c.gz"] = [whole(packed[:-9])]
    urls = [f"s3://data/{name}" for name in ("a", "b", "c.gz")]

    def shards() -> Gathered[bytes]:
        return read_shards("s3://data/*", urls, lambda one: TextSource(one).whole(), "skip")

    parts, left_out = shards()
    assert parts == [TEXT]
    assert [one.path for one in left_out.files] == urls[1:]
    for answers in (
        [whole(TEXT), status(503)],
        [status(403, DENIED)],
        [whole(TEXT), whole(TEXT), cut(TEXT, 10)],
    ):
        server.answers["/data/b"] = answers
        with pytest.raises(UnreachableError, match=r"^s3://data/b: "):
            shards()


def test_a_body_that_is_always_cut(server: WebServer) -> None:
    server.answers["/data/a"] = [whole(TEXT), whole(TEXT), cut(TEXT, 10)]
    assert "the connection failed; it was tried 5 times" in error_of("s3://data/a")


def test_an_object_that_changes(server: WebServer) -> None:
    # Longer than it was: the last block has one byte more than there should be.
    server.answers["/data/a"] = [whole(TEXT[:500]), whole(TEXT)]
    assert "the file changed while it was read" in error_of("s3://data/a")
    server.answers["/data/b"] = [*[whole(TEXT)] * 7, whole(TEXT, etag='"2"')]
    assert "the file changed while it was read" in error_of("s3://data/b")


def test_what_is_not_there(server: WebServer) -> None:
    server.answers["/none"] = [status(404, NO_BUCKET)]
    assert error_of("s3://data/a") == "s3://data/a: no such file"
    assert "there is no bucket 'none'" in error_of("s3://none/a")
    assert "there is no bucket 'none'" in error_of("s3://none/*.csv")
    assert "'Data!' is not a valid bucket name" in error_of("s3://Data!/a")


def test_what_may_not_be_read(server: WebServer) -> None:
    server.answers["/data"] = [status(403, DENIED)]
    server.answers["/data/a"] = [status(403, DENIED)]
    for url in ("s3://data/a", "s3://data/*.csv"):
        assert "the store refuses access (403" in error_of(url)
        assert "AWS_ACCESS_KEY_ID" in error_of(url)


def test_no_credentials(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "none")
    monkeypatch.setenv("AWS_CONFIG_FILE", "none")
    told = error_of("s3://data/a")
    assert "no credentials were found for this store\nS3 reads AWS_ACCESS_KEY_ID" in told
    assert not server.requests


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("htps://host/a", "there is no scheme 'htps://' (did you mean 'https'?)"),
        ("s4://data/a", "Inputs are paths, or URLs of s3://, gs://, https://"),
        ("zip://a::s3://data/b", "there is no scheme 'zip://'"),
        ("s3://data/a::s3://data/b", "'::' joins several stores, which is not supported"),
        ("s3://AKIA:SECRETKEY@data/a", "a bucket has no name and password before it"),
    ],
)
def test_urls_that_are_none(url: str, words: str) -> None:
    assert words in error_of(url)


def test_packages_that_are_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MissingExtraError, match="Install adlfs"):
        TextSource("abfs://data/a").whole()
    for package, url in (("fsspec", "s3://d/a"), ("s3fs", "s3://d/a"), ("aiohttp", "https://d/a")):
        with monkeypatch.context() as patch:
            patch.setitem(__import__("sys").modules, package, None)
            with pytest.raises(MissingExtraError) as caught:
                TextSource(url).whole()
        assert f"needs the package {package}, which is not installed" in str(caught.value)
        assert "pip install 'valor-cli[cloud]'" in str(caught.value)
