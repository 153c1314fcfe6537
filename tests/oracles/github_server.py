"""A server that speaks GitHub's protocol of comments, with faults."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "ghs_0123456789abcdefghij"
LIMIT = 65_536


@dataclass
class GitHub:
    """What is there, and what was asked.

    Attributes:
        comments: Of every pull request, oldest first.
        faults: What becomes of the next requests instead, one each: a status, "cut" (no answer),
            "late" (done, and then no answer), "html", or a status with headers and a message, or
            with the bytes of an answer.
        writable: Whether the token may write.
        asked: Method and path of each request.
    """

    url: str = ""
    comments: list[dict[str, Any]] = field(default_factory=list)
    faults: list[Any] = field(default_factory=list)
    writable: bool = True
    asked: list[str] = field(default_factory=list)

    def add(self, body: str, user: str = "Bot", *, own: bool = True) -> int:
        number = 1000 + len(self.comments)
        url = f"{self.url}/comment/{number}"
        said = {"id": number, "body": body, "user": {"type": user}, "html_url": url, "own": own}
        self.comments.append(said)
        return number


def _message(text: str) -> bytes:
    return json.dumps({"message": text}).encode()


@contextmanager
def github() -> Iterator[GitHub]:
    """`with github() as server`: one on this machine."""
    state = GitHub()

    class Answers(BaseHTTPRequestHandler):
        def do(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            content = json.loads(self.rfile.read(length)) if length else None
            state.asked.append(f"{self.command} {self.path}")
            fault = state.faults.pop(0) if state.faults else None
            if fault == "cut":
                self.close_connection = True
                return
            if fault == "html":
                self.told(200, b"<html>")
                return
            if isinstance(fault, int):
                fault = (fault, {}, "a fault")
            if isinstance(fault, tuple):
                status, headers, message = fault
                told = message if isinstance(message, bytes) else _message(message)
                self.told(status, told, headers)
                return
            status, answer = self.answer(content)
            if fault == "late":
                self.close_connection = True
                return
            self.told(status, json.dumps(answer).encode())

        def answer(self, content: Any) -> tuple[int, Any]:
            if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                return 401, {"message": "Bad credentials"}
            path, _, query = self.path.partition("?")
            if self.command == "GET":
                size, page = (int(one) for one in re.findall(r"=(\d+)", query))
                return 200, state.comments[(page - 1) * size : page * size]
            body = content["body"]
            if not state.writable:
                return 403, {"message": "Resource not accessible by integration"}
            if len(body) > LIMIT:
                return 422, {"message": "Body is too long (maximum is 65536 characters)"}
            if self.command == "POST":
                assert path == "/repos/o/r/issues/7/comments"
                state.add(body)
                return 201, state.comments[-1]
            number = int(path.removeprefix("/repos/o/r/issues/comments/"))
            found = next(one for one in state.comments if one["id"] == number)
            if not found["own"]:
                return 403, {"message": "Must have admin rights to Repository."}
            found["body"] = body
            return 200, found

        def told(self, status: int, content: bytes, headers: Any = None) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = do  # noqa: N815 - names of the standard library

        def log_message(self, *_: Any) -> None:
            """Nothing: the tests say what was asked."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
