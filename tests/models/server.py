"""A plan comes in; an OpenAI-compatible server on loopback that misbehaves by it goes out.

    with FaultServer([busy(after="0"), said("yes")]) as server:
        ...  # api_base=server.url
    assert server.answered["the prompt"] == 1

Run as a program it serves until its standard input ends, then prints what it counted as JSON:

    python -m tests.models.server --delay 0.2 --cap 16
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self

KEY = "sk-proj-7Gq2pW9zLr4TnXv1BcYd8KfM"
"""What tests take for the key of an endpoint: in the environment as JUDGE_KEY."""

_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 429: "Too Many Requests"}


class Asked(NamedTuple):
    """A request as it arrived; `before` counts how often its prompt was asked earlier."""

    at: int
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    before: int

    @property
    def prompt(self) -> str:
        """The last message, or the texts to be embedded."""
        if "messages" in self.body:
            return str(self.body["messages"][-1]["content"])
        return json.dumps(self.body.get("input"), ensure_ascii=False)


@dataclass(frozen=True)
class Turn:
    """What the server does to one request.

    Attributes:
        kind: What the turn is called, for `FaultServer.kinds`.
        body: Sent instead of a completion or vectors.
        delay_s: Before it answers; None: the server's own delay.
        drip_s: Between two bytes of the body, all of which would take far too long.
        cut: Where the connection is cut: before the first byte, or midway in the body.
        message, finish, logprobs: Of the completion; see OpenAI's API.
    """

    kind: str = "said"
    status: int = 200
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    delay_s: float | None = None
    drip_s: float = 0.0
    cut: Literal["", "before", "midway"] = ""
    message: Mapping[str, Any] = field(default_factory=dict)
    finish: str = "stop"
    logprobs: Mapping[str, Any] | None = None
    usage: bool = True


Plan = Callable[[Asked], Turn]


def said(content: Any = '{"verdict": 1}', **of_turn: Any) -> Turn:
    """An ordinary reply."""
    return Turn(message={"role": "assistant", "content": content}, **of_turn)


def failed(status: int, message: str = "it failed", *, kind: str = "", **error: Any) -> Turn:
    """A status with an error in OpenAI's form."""
    body = json.dumps({"error": {"message": message, "type": "server_error", **error}})
    return Turn(kind or str(status), status, body.encode())


def busy(after: str | None = None, header: str = "Retry-After") -> Turn:
    """429, with what Retry-After says."""
    turn = failed(429, "slow down", kind="busy")
    return turn if after is None else replace(turn, headers={header: after})


def stalled(delay_s: float = 30.0) -> Turn:
    """A reply that comes later than anyone waits."""
    return replace(said(), kind="stalled", delay_s=delay_s)


def cut(where: Literal["before", "midway"]) -> Turn:
    """A connection that breaks."""
    return replace(said(), kind=f"cut {where}", cut=where)


def dripping(pause_s: float = 0.05) -> Turn:
    """Bytes that come now and then."""
    return replace(said(), kind="dripping", drip_s=pause_s)


def half_json() -> Turn:
    """A whole HTTP response around half a body."""
    return Turn("half json", body=b'{"id": "1", "object": "chat.completion", "choices": [{"ind')


def html() -> Turn:
    """A proxy's page instead of JSON."""
    return Turn("html", body=b"<html><body>Welcome</body></html>", content_type="text/html")


def event_stream() -> Turn:
    """A stream although none was asked for."""
    chunk = {
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": {"content": "a"}}],
    }
    body = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()
    return Turn("event stream", body=body, content_type="text/event-stream")


def error_object() -> Turn:
    """Status 200 around an error."""
    return replace(failed(200, "the model is loading", code=503), kind="error object")


def no_choices() -> Turn:
    """Status 200 with an empty list."""
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": []}
    return Turn("no choices", body=json.dumps(body).encode())


def refusal(words: str = "I cannot help with that.") -> Turn:
    """The provider's mark of a refusal."""
    return Turn("refusal", message={"role": "assistant", "content": None, "refusal": words})


def refuses_forms(*forms: str, status: int = 400, otherwise: Turn | None = None) -> Plan:
    """A server that does not know some kinds of `response_format`."""

    def plan(asked: Asked) -> Turn:
        form = asked.body.get("response_format", {}).get("type")
        if form in forms:
            return failed(status, f"response_format type {form!r} is not supported", kind="form")
        return otherwise or said()

    return plan


TRANSIENT: tuple[Turn, ...] = (
    busy("0"),
    busy(),
    failed(500),
    failed(503, "overloaded"),
    cut("before"),
    cut("midway"),
    half_json(),
    html(),
    event_stream(),
    error_object(),
    no_choices(),
)
"""Faults that pass; a stall too, which takes a time-out to see."""


def seeded(seed: int, share: float, faults: Sequence[Turn] = TRANSIENT, most: int = 3) -> Plan:
    """Faults for a share of the requests: by seed, prompt and attempt, never by the clock.

    No prompt meets more than `most` of them.
    """

    def plan(asked: Asked) -> Turn:
        said_by = f"{seed}|{asked.prompt}|{asked.before}".encode()
        drawn = int.from_bytes(hashlib.sha256(said_by).digest()[:8]) / 2**64
        if asked.before >= most or drawn >= share:
            return said()
        return faults[int(drawn / share * len(faults))]

    return plan


class Worked(NamedTuple):
    """A request, and the seconds of the server's clock that it was worked on between."""

    prompt: str
    begun_s: float
    ended_s: float


def share_in_use(worked: Sequence[Worked], allowed: int) -> float:
    """How much of a concurrency was in use from the first arrival to the last.

    After that there is nothing left to be asked, and requests under way become fewer.
    """
    first, last = (pick(each.begun_s for each in worked) for pick in (min, max))
    used_s = sum(min(each.ended_s, last) - each.begun_s for each in worked)
    return used_s / (last - first) / allowed


class FaultServer:
    """An OpenAI-compatible server in a thread of its own.

    Attributes:
        url: What `api_base` is.
        requests: All of them, in the order of arrival.
        kinds: How often each kind of turn was taken; "over the cap" among them.
        answered: How often each prompt was sent a whole reply with status 200.
        in_flight_max: The most that were worked on at once.
        worked: What was worked on, from when to when.
    """

    def __init__(
        self,
        plan: Plan | Sequence[Turn] = (),
        *,
        cap: int | None = None,
        delay_s: float = 0.0,
        spread: float = 0.0,
    ) -> None:
        """Nothing is open yet.

        Args:
            plan: What to do; a sequence is taken in the order of arrival, ordinary replies follow.
            cap: Requests worked on at a time; more get 429.
            delay_s: How long work takes.
            spread: By what share of it that differs at most between prompts.
        """
        self._plan = plan
        self._cap = cap
        self._delay_s = delay_s
        self._spread = spread
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._seen: Counter[str] = Counter()
        self._now = 0
        self._open: set[asyncio.Task[None]] = set()
        self.url = ""
        self.requests: list[Asked] = []
        self.kinds: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.in_flight_max = 0
        self.worked: list[Worked] = []

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=2048)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/v1"

    async def _end(self) -> None:
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        # Whoever asks may hang up at any time, and the server may be told to end.
        with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            while await self._one(reader, writer):
                pass
        self._open.discard(task)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether the connection stays open."""
        asked = await self._read(reader)
        self.requests.append(asked)
        turn = self._turn(asked)
        if self._cap is not None and self._now >= self._cap:
            self.kinds["over the cap"] += 1
            return await self._send(reader, writer, asked, busy())
        self.kinds[turn.kind] += 1
        self._now += 1
        self.in_flight_max = max(self.in_flight_max, self._now)
        begun_s = self._loop.time()
        try:
            await asyncio.sleep(self._takes_s(asked) if turn.delay_s is None else turn.delay_s)
            return await self._send(reader, writer, asked, turn)
        finally:
            self._now -= 1
            self.worked.append(Worked(asked.prompt, begun_s, self._loop.time()))

    async def _read(self, reader: asyncio.StreamReader) -> Asked:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in head[1:] if line)
        }
        body = json.loads(await reader.readexactly(int(headers.get("content-length", 0))) or b"{}")
        asked = Asked(len(self.requests), head[0].split(" ")[1], headers, body, 0)
        asked = asked._replace(before=self._seen[asked.prompt])
        self._seen[asked.prompt] += 1
        return asked

    def _turn(self, asked: Asked) -> Turn:
        if callable(self._plan):
            return self._plan(asked)
        return self._plan[asked.at] if asked.at < len(self._plan) else said()

    def _takes_s(self, asked: Asked) -> float:
        drawn = int.from_bytes(hashlib.sha256(asked.prompt.encode()).digest()[:4]) / 2**32
        return self._delay_s * (1 + self._spread * (2 * drawn - 1))

    async def _send(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        asked: Asked,
        turn: Turn,
    ) -> bool:
        if turn.cut == "before":
            return False
        body = turn.body if turn.body is not None else _body(asked, turn)
        head = {
            "Content-Type": turn.content_type,
            "Content-Length": str(len(body)),
            **turn.headers,
        }
        lines = [f"HTTP/1.1 {turn.status} {_REASONS.get(turn.status, 'Said')}"]
        lines += [f"{name}: {value}" for name, value in head.items()]
        sent = "\r\n".join([*lines, "", ""]).encode() + body
        if turn.cut == "midway":
            writer.write(sent[: -len(body) // 2])
            await writer.drain()
            return False
        if turn.drip_s:
            for at in range(len(sent) - len(body), len(sent)):
                writer.write(sent[: at + 1] if at == len(sent) - len(body) else sent[at : at + 1])
                await writer.drain()
                await asyncio.sleep(turn.drip_s)
        if reader.at_eof() or writer.is_closing():
            return False  # whoever asked has hung up
        if turn.status == 200 and turn.body is None:
            self.answered[asked.prompt] += 1
        writer.write(b"" if turn.drip_s else sent)
        await writer.drain()
        return True

    def counted(self) -> dict[str, Any]:
        """All counts as JSON has them."""
        return {
            "requests": len(self.requests),
            "kinds": dict(self.kinds),
            "answered": dict(self.answered),
            "in_flight_max": self.in_flight_max,
            "worked": self.worked,
        }


def _body(asked: Asked, turn: Turn) -> bytes:
    if asked.path.endswith("/embeddings"):
        return json.dumps(_vectors(asked.body)).encode()
    prompt = sum(len(str(message["content"]).split()) for message in asked.body["messages"])
    reply = len(str(turn.message.get("content") or "").split())
    completion: dict[str, Any] = {
        "id": f"chatcmpl-{asked.at}",
        "object": "chat.completion",
        "created": 1,
        "model": f"{asked.body.get('model')}-served",
        "choices": [{"index": 0, "finish_reason": turn.finish, "message": dict(turn.message)}],
    }
    if turn.logprobs is not None:
        completion["choices"][0]["logprobs"] = dict(turn.logprobs)
    if turn.usage:
        completion["usage"] = {
            "prompt_tokens": prompt,
            "completion_tokens": reply,
            "total_tokens": prompt + reply,
        }
    return json.dumps(completion).encode()


def vector_of(text: str, dimensions: int = 4) -> list[float]:
    """The vector that the server gives a text: its hash as numbers from 0 to 1."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return [each / 255 for each in digest[:dimensions]]


def _vectors(body: Mapping[str, Any]) -> dict[str, Any]:
    """Vectors, last text first: the order of an answer is told by `index`, not by its place."""
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    data = [
        {"object": "embedding", "index": index, "embedding": vector_of(text)}
        for index, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
    return {"object": "list", "data": data[::-1], "model": body.get("model"), "usage": usage}


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--spread", type=float, default=0.0)
    parser.add_argument("--cap", type=int, default=None)
    said_by_user = parser.parse_args()
    how = {"cap": said_by_user.cap, "delay_s": said_by_user.delay, "spread": said_by_user.spread}
    with FaultServer(**how) as server:
        sys.stdout.write(server.url + "\n")
        sys.stdout.flush()
        sys.stdin.read()
    sys.stdout.write(json.dumps(server.counted()) + "\n")


if __name__ == "__main__":
    _main()
