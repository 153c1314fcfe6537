"""A web server in this process that answers as a test says, with faults in between."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    """Gives each request to the next answer of its path; the last one answers all that follow."""

    protocol_version = "HTTP/1.1"
    server: WebServer

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.server.requests.append((self.path, self.headers.get("Range")))
        self.server.headers.append(dict(self.headers))
        answers = self.server.answers.get(path, [status(404)])
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        answer(self)

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - its own name
        pass

    def start(self, code: int, **headers: str | int) -> None:
        """The head of an answer; names of headers with "_" in place of "-"."""
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()

    def send(self, body: bytes) -> None:
        """The body, unless the head was all that was asked for."""
        if self.command != "HEAD":
            self.wfile.write(body)

    def part(self, content: bytes) -> tuple[int, bytes, dict[str, str | int]]:
        """The status, the bytes that a request asks for, and what is said of them."""
        asked = self.headers.get("Range")
        if asked is None:
            return 200, content[:], {"Content_Length": len(content)}
        first, last = asked.removeprefix("bytes=").split("-")
        begin = int(first)
        end = min(int(last or len(content)), len(content) - 1)
        body = content[begin : end + 1]
        said = f"bytes {begin}-{end}/{len(content)}"
        return 206, body, {"Content_Length": len(body), "Content_Range": said}


Answer = Callable[[Handler], None]


class WebServer(ThreadingHTTPServer):
    """The server; `requests` and `headers` are those that came so far."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, list[Answer]] = {}
        self.requests: list[tuple[str, str | None]] = []
        self.headers: list[dict[str, str]] = []

    def url(self, path: str, login: str = "") -> str:
        """The address of a path."""
        return f"http://{login}127.0.0.1:{self.server_address[1]}{path}"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away is what some tests are about."""


def whole(content: bytes, *, etag: str = '"1"', ranges: bool = True, **more: str) -> Answer:
    """The file, or the part that is asked for."""

    def answer(request: Handler) -> None:
        code, body, said = 200, content, {"Content_Length": len(content)}
        if ranges:
            code, body, said = request.part(content)  # type: ignore[assignment]
        request.start(code, ETag=etag, **said, **more)
        request.send(body)

    return answer


def cut(content: bytes, after: int, *, etag: str = '"1"', chunked: bool = False) -> Answer:
    """A body that ends before its end."""

    def answer(request: Handler) -> None:
        code, body, said = request.part(content)
        if chunked:
            del said["Content_Length"]
            request.start(code, ETag=etag, Transfer_Encoding="chunked", **said)
            request.wfile.write(b"%x\r\n%s\r\n" % (after, body[:after]))
        else:
            request.start(code, ETag=etag, **said)
            request.send(body[:after])
        request.close_connection = True

    return answer


def status(code: int, body: bytes = b"", **headers: str) -> Answer:
    """An answer without the file."""

    def answer(request: Handler) -> None:
        request.start(code, Content_Length=len(body), **headers)
        request.send(body)

    return answer


def silent(stopped: threading.Event) -> Answer:
    """No answer until the test is over."""

    def answer(request: Handler) -> None:
        stopped.wait(60)
        request.close_connection = True

    return answer


@contextmanager
def serving() -> Iterator[WebServer]:
    """A server that runs."""
    with WebServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
