"""Inputs on a web server that is well, and on one that is not."""

from __future__ import annotations

import gzip
import hashlib
import io
import itertools
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from tests.scale.web_server import WebServer, cut, serving, silent, status, whole
from valor_cli import catalogue
from valor_cli.config import load_config
from valor_cli.data.source import remote, store_errors, stores
from valor_cli.data.source.files import TextSource
from valor_cli.data.source.inputs import expanded, head_of
from valor_cli.data.source.remote import content_of, open_url
from valor_cli.errors import DataError, UnreachableError, ValorError
from valor_cli.pipeline import evaluate, make_plan
from valor_cli.results import InputFile

pytestmark = pytest.mark.scale

TEXT = b"".join(b'{"row": %d}\n' % row for row in range(100_000))
"""1,488,890 bytes, more than any buffer on the way holds."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[WebServer]:
    monkeypatch.setattr(store_errors, "FIRST_WAIT_S", 0.0)
    with serving() as found:
        yield found


def error_of(url: str) -> str:
    with pytest.raises(ValorError) as caught:
        TextSource(url).whole()
    return str(caught.value)


@pytest.mark.parametrize("ranges", [True, False])
def test_a_file_read_twice(server: WebServer, *, ranges: bool) -> None:
    server.answers["/a.jsonl"] = [whole(TEXT, ranges=ranges)]
    source = TextSource(server.url("/a.jsonl"))
    assert source.whole() == TEXT == source.whole()
    assert source.sha256 == hashlib.sha256(TEXT).hexdigest()
    # One transfer each: nothing is asked for before, and nothing in parts.
    assert server.requests == [("/a.jsonl", None)] * 2


def test_stored_bytes_are_those_that_are_stored(server: WebServer) -> None:
    packed = gzip.compress(TEXT, mtime=0)
    # Some servers say that a file is packed, and clients unpack it then without being asked.
    server.answers["/a.jsonl"] = [whole(packed, Content_Encoding="gzip")]
    source = TextSource(server.url("/a.jsonl?signature=x"))
    assert source.whole() == TEXT
    assert source.sha256 == hashlib.sha256(packed).hexdigest()


@pytest.mark.parametrize("ranges", [True, False])
def test_a_cut_body_is_read_on(server: WebServer, *, ranges: bool) -> None:
    server.answers["/a"] = [cut(TEXT, 1_200_000), cut(TEXT, 100_000), whole(TEXT, ranges=ranges)]
    assert TextSource(server.url("/a")).whole() == TEXT
    begun = [asked for _, asked in server.requests]
    # All that came before the cut may be lost on the way, but never twice as much.
    assert begun[0] is None
    offsets = [int((asked or "bytes=0-")[6:-1]) for asked in begun[1:]]
    assert offsets == sorted(offsets)
    assert len(offsets) == 2
    assert 0 < offsets[0] <= 1_200_000


def test_a_body_that_is_always_cut_is_no_end(server: WebServer) -> None:
    server.answers["/a"] = [cut(TEXT, 1000)] + [cut(TEXT, 0)]
    assert "the connection failed; it was tried 5 times" in error_of(server.url("/a"))


def test_chunks_without_an_end(server: WebServer) -> None:
    server.answers["/a"] = [cut(TEXT, 1000, chunked=True)]
    assert "the connection failed; it was tried 5 times" in error_of(server.url("/a"))


def test_a_file_that_changes_between_two_requests(server: WebServer) -> None:
    server.answers["/a"] = [cut(TEXT, 1_200_000), whole(TEXT[::-1], etag='"2"')]
    assert "the file changed while it was read" in error_of(server.url("/a"))
    server.answers["/b"] = [cut(TEXT, 1_200_000), whole(TEXT[:1_300_000])]
    assert "the file changed while it was read" in error_of(server.url("/b"))
    server.answers["/c"] = [cut(TEXT, 1_200_000), status(416)]
    assert "the file changed while it was read" in error_of(server.url("/c"))


def test_servers_that_are_busy(server: WebServer) -> None:
    server.answers["/a"] = [status(500), status(429, Retry_After="0"), status(503), whole(TEXT)]
    assert TextSource(server.url("/a")).whole() == TEXT
    server.answers["/b"] = [status(502)]
    assert "the server answers 502; it was tried 5 times" in error_of(server.url("/b"))
    assert len([1 for path, _ in server.requests if path == "/b"]) == 5


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (401, "the server asks for credentials (401)\n"),
        (403, "the server refuses access (403)\nA signed URL may have expired."),
        (404, "no such file (the server answers 404)"),
        (400, "cannot be read: the server answers 400"),
        (204, "cannot be read: the server answers 204"),
    ],
)
def test_answers_that_are_final(server: WebServer, code: int, words: str) -> None:
    server.answers["/a"] = [status(code)]
    assert words in error_of(server.url("/a"))
    assert len(server.requests) == 1


def test_redirects(server: WebServer) -> None:
    server.answers["/a"] = [status(302, Location="/b?x=%2F%2C")]
    server.answers["/b"] = [whole(TEXT)]
    assert TextSource(server.url("/a?sig=a%2Fb%2Bc%3D")).whole() == TEXT
    # A signature is of the address as it is written: neither is written anew.
    assert [path for path, _ in server.requests] == ["/a?sig=a%2Fb%2Bc%3D", "/b?x=%2F%2C"]
    server.answers["/c"] = [status(302, Location="/c")]
    assert "too many redirects" in error_of(server.url("/c"))


def test_another_host_is_followed_to_where_it_is_listed(
    server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = server.url("/b").replace("127.0.0.1", "localhost")
    server.answers["/a"] = [status(302, Location=f"{there}?sig=hunter2")]
    server.answers["/b"] = [whole(b"[]\n")]
    assert error_of(server.url("/a")).endswith(
        "/a: the server redirects to another host, 'localhost'\n"
        "If that is intended, set VALOR_HTTP_HOSTS=localhost in the environment."
    )
    # Nothing was asked of it.
    assert [path for path, _ in server.requests] == ["/a"]
    monkeypatch.setenv("VALOR_HTTP_HOSTS", "a.example, LOCALHOST")
    url = server.url("/a", "me:p%40ss@")
    assert TextSource(url).whole() == b"[]\n"
    # The password is for the first host alone.
    assert "Authorization" in server.headers[-2]
    assert "Authorization" not in server.headers[-1]
    assert InputFile(url, "", 0).final_url == f"{there}?sig=…"
    assert InputFile(server.url("/b"), "", 0).final_url is None


@pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://127.0.0.1/a"])
def test_no_other_scheme_is_followed_to(server: WebServer, location: str) -> None:
    server.answers["/a"] = [status(302, Location=location)]
    assert "which is not read" in error_of(server.url("/a"))


def test_a_file_that_is_too_large(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALOR_HTTP_GIB", "0.001")
    server.answers["/a"] = [whole(TEXT)]
    told = "the file has more than 0.001 GiB\nSet VALOR_HTTP_GIB in the environment to more."
    assert told in error_of(server.url("/a"))
    # Some servers do not say how long a file is.
    server.answers["/b"] = [cut(TEXT, len(TEXT), chunked=True)]
    assert told in error_of(server.url("/b"))


def test_a_file_that_never_ends(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(0, 1000)
    monkeypatch.setattr(remote, "monotonic", lambda: next(clock))
    server.answers["/a"] = [whole(TEXT)]
    assert "the file took longer than 3600 s\nSet VALOR_HTTP_S" in error_of(server.url("/a"))
    monkeypatch.setenv("VALOR_HTTP_S", "1e9")
    assert TextSource(server.url("/a")).whole() == TEXT


def test_the_last_address_stands_in_the_results(server: WebServer, tmp_path: Path) -> None:
    rows = b'{"id": 1, "response": "a"}\n'
    server.answers["/a.jsonl"] = [status(302, Location="/b.jsonl?token=hunter2")]
    server.answers["/b.jsonl"] = [whole(rows)]
    (tmp_path / "c.yaml").write_text(
        f"task: text_generation\nmetrics: [json_schema]\n"
        f"data: {{samples: '{server.url('/a.jsonl')}'}}\n"
    )
    plan = make_plan(load_config(tmp_path / "c.yaml", catalogue))
    (found,) = evaluate(plan, command="").run.inputs
    assert found.path == server.url("/a.jsonl")
    assert found.final_url == server.url("/b.jsonl?token=…")


def test_a_name_and_a_password(server: WebServer) -> None:
    server.answers["/a"] = [whole(b"[]\n")]
    assert TextSource(server.url("/a", "me:p%40ss@")).whole() == b"[]\n"
    # echo -n me:p@ss | base64
    assert server.headers[0]["Authorization"] == "Basic bWU6cEBzcw=="


def test_secrets_are_in_no_message(server: WebServer) -> None:
    for answer in (status(403), status(404), status(500), cut(TEXT, 10), whole(b"\xff\xfe\n")):
        server.answers["/a"] = [answer]
        told = error_of(server.url("/a?X-Amz-Signature=abcdef&x=ghijkl", "me:hunter2@"))
        assert not any(word in told for word in ("abcdef", "ghijkl", "hunter2"))
        assert told.startswith("http://…@127.0.0.1:")


def test_a_server_that_says_nothing(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "SILENCE_S", 0.05)
    monkeypatch.setattr(store_errors, "TRIES", 2)
    stopped = threading.Event()
    server.answers["/a"] = [silent(stopped)]
    told = error_of(server.url("/a"))
    stopped.set()
    assert "the server did not answer in time; it was tried 2 times" in told


def test_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_errors, "FIRST_WAIT_S", 0.0)
    with serving() as server:
        url = server.url("/a")
    assert "nothing answers there (connection refused)" in error_of(url)
    told = error_of("http://no.such.host.invalid/a")
    assert "there is no server 'no.such.host.invalid': its name is not known" in told


def test_no_tls(server: WebServer) -> None:
    told = error_of(server.url("/a").replace("http:", "https:"))
    assert "TLS with this server fails" in told
    assert "SSL_CERT_FILE" in told


def test_patterns_and_heads(server: WebServer) -> None:
    server.answers["/a"] = [whole(TEXT)]
    assert head_of(server.url("/a?x[0]=1")) == TEXT[: 1 << 16]
    assert expanded(server.url("/a?x[0]=1")) == [server.url("/a?x[0]=1")]
    with pytest.raises(DataError, match="a web server cannot list files"):
        expanded(server.url("/*.jsonl"))


def test_seeking(server: WebServer) -> None:
    server.answers["/a"] = [whole(TEXT)]
    with open_url(server.url("/a")) as file:
        assert file.read(5) == TEXT[:5]
        assert file.seek(-7, 2) == len(TEXT) - 7
        assert file.read() == TEXT[-7:]
        assert file.read() == b""
        file.seek(700_000)
        file.seek(3, 1)
        assert file.tell() == 700_003
        assert file.read(10) == TEXT[700_003:700_013]
        file.seek(700_001)
        assert file.read(2) == TEXT[700_001:700_003]
    # The file from its start, from its end, and from 700,003 on, of which 700,001 is no part.
    assert [asked for _, asked in server.requests] == [
        *(None, "bytes=1488883-", "bytes=700003-", "bytes=700001-")
    ]


def test_files_that_are_too_large(server: WebServer) -> None:
    server.answers["/a"] = [whole(TEXT)]
    assert content_of(server.url("/a"), len(TEXT)) == TEXT
    with pytest.raises(DataError, match="has 1,488,890 bytes; at most 1,000 are read"):
        content_of(server.url("/a"), 1000)


def test_a_label_map_that_does_not_come_is_not_left_out(server: WebServer, tmp_path: Path) -> None:
    """Other than one that is broken: the next run may have it, and would have another number."""
    image = io.BytesIO()
    Image.new("L", (4, 3)).save(image, "PNG")
    server.answers["/maps.csv"] = [whole(b"ground_truth,prediction\na.png,a.png\nb.png,b.png\n")]
    server.answers["/a.png"] = [whole(image.getvalue())]
    server.answers["/b.png"] = [whole(image.getvalue()[:-20])]
    config = tmp_path / "run.yaml"
    config.write_text(
        "task: semantic_segmentation\nmetrics: [pixel_accuracy]\n"
        f"data: {{on_invalid: skip, ground_truth: {server.url('/maps.csv')}, labels: [road]}}\n"
    )
    plan = make_plan(load_config(config, catalogue))
    assert evaluate(plan, command="").data["images"] == 1
    server.answers["/b.png"] = [status(503)]
    with pytest.raises(UnreachableError, match="the server answers 503; it was tried 5 times"):
        evaluate(plan, command="")
