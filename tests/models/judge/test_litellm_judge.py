"""litellm itself, driven by the judge against a server that misbehaves."""

from __future__ import annotations

import asyncio
import email.utils
import gc
import math
import os
import subprocess
import sys
import time
from functools import partial
from typing import Any

import pytest
from pydantic import ValidationError

from tests.models.server import (
    KEY,
    Asked,
    FaultServer,
    Turn,
    busy,
    cut,
    dripping,
    error_object,
    event_stream,
    failed,
    half_json,
    html,
    no_choices,
    refusal,
    refuses_forms,
    said,
    seeded,
    stalled,
)
from tests.oracles.model_server import limits
from valor_cli.errors import ConfigError, MissingExtraError, ValorError
from valor_cli.models.judge.litellm_judge import LitellmJudge
from valor_cli.models.litellm import client as litellm_client
from valor_cli.models.litellm.faults import safe_message
from valor_cli.models.requests import (
    PermanentError,
    RateLimited,
    Reply,
    Request,
    Stop,
    TransientError,
    conversation,
)
from valor_cli.models.scheduler.calls import Calls
from valor_cli.models.settings import EmbedderSettings, JudgeSettings

# litellm ignores it from its import on, which pytest forgets after the test that imports it.
pytestmark = pytest.mark.filterwarnings("ignore:Item .* is using the `ReadOnly` qualifier")

PROMPT = "Was Zanzibar ever a capital, says the confidential customer record 4711?"
CALL = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
SCHEMA = {"type": "object", "properties": {"verdict": {"type": "integer"}}}


def settings(server: FaultServer, **more: Any) -> JudgeSettings:
    given = {"model": "judge-1", "timeout_s": 60.0, "api_key_env": "JUDGE_KEY", **more}
    return JudgeSettings(api_base=server.url, **given)


def question(prompt: str = PROMPT, schema: dict[str, Any] | None = None, **more: Any) -> Request:
    return Request(conversation(("user", prompt)), schema=schema, **more)


async def asked(judge: LitellmJudge, *requests: Request) -> list[Reply | BaseException]:
    """What each request got, one after the other."""
    found: list[Reply | BaseException] = []
    for request in requests:
        try:
            found.append(await judge.answer(request))
        except (ValorError, RateLimited, TransientError, PermanentError) as error:
            found.append(error)
    await judge.close()
    return found


def ask_once(server: FaultServer, request: Request | None = None, **more: Any) -> Any:
    return asyncio.run(asked(LitellmJudge(settings(server, **more)), request or question()))[0]


def test_a_reply_with_tokens_model_and_cost() -> None:
    # The prompt has 11 words, the reply 2, which the server counts as tokens:
    # (11 * 3 + 2 * 10) / 1e6 US dollars.
    price = {"input_usd": 3.0, "output_usd": 10.0}
    with FaultServer([said("yes indeed")]) as server:
        reply = ask_once(server, price=price)
    assert reply == Reply(
        "yes indeed",
        tokens_in=11,
        tokens_out=2,
        cost_usd=pytest.approx(53e-6),
        model="judge-1-served",
    )
    # What nobody counted is unknown, and so is its cost.
    with FaultServer([said("yes", usage=False)]) as server:
        reply = ask_once(server, price=price)
    assert (reply.tokens_in, reply.tokens_out, reply.cost_usd) == (None, None, None)


def test_what_is_sent() -> None:
    tools = ({"type": "function", "function": {"name": "search", "parameters": {}}},)
    request = Request(
        conversation(("system", "Be strict."), ("user", PROMPT)), SCHEMA, "verdict", tools=tools
    )
    with FaultServer() as server:
        ask_once(server, request, seed=7, max_tokens=99, parameters={"top_p": 0.5})
        ask_once(server, temperature=None, seed=None)
    full, least = (each.body for each in server.requests)
    form = {"name": "verdict", "schema": SCHEMA, "strict": True}
    assert full == {
        "model": "judge-1",
        "messages": [
            {"role": "system", "content": "Be strict."},
            {"role": "user", "content": PROMPT},
        ],
        "temperature": 0.0,
        "seed": 7,
        "max_tokens": 99,
        "top_p": 0.5,
        "response_format": {"type": "json_schema", "json_schema": form},
        "tools": list(tools),
    }
    assert least.keys() == {"model", "messages", "max_tokens"}
    assert all(each.headers["authorization"] == f"Bearer {KEY}" for each in server.requests)


@pytest.mark.parametrize(
    ("turn", "text", "refused", "cut_off"),
    [
        (refusal("I will not."), "I will not.", True, False),
        (said("", finish="content_filter"), "", True, False),
        (said('{"verdict"', finish="length"), '{"verdict"', False, True),
        (said(None), "", False, False),
        (Turn(message={"content": "b", "reasoning_content": "a"}), "b", False, False),
        (Turn(message={"content": None, "tool_calls": [CALL]}), "", False, False),
    ],
)
def test_replies_of_odd_forms(turn: Turn, text: str, refused: bool, cut_off: bool) -> None:
    with FaultServer([turn]) as server:
        reply = ask_once(server)
    assert (reply.text, reply.refused, reply.cut) == (text, refused, cut_off)


PASSING = [
    (failed(500, "out of memory"), "the endpoint failed (500): out of memory"),
    (failed(503, "rate limit of a database"), "the endpoint failed (503)"),
    (failed(529), "the endpoint failed (529)"),
    (failed(408), "the endpoint failed (408)"),
    (failed(409), "the endpoint failed (409)"),
    (Turn(status=502, body=b"<html>", content_type="text/html"), "the endpoint failed (502)"),
    (cut("before"), "the connection broke before the reply was complete"),
    (cut("midway"), "the connection broke before the reply was complete"),
    (half_json(), "the reply is not a complete JSON document"),
    (Turn(body=b""), "the reply is not a complete JSON document"),
    (html(), "the reply is not a chat completion"),
    (event_stream(), "the reply is not a chat completion"),
    (error_object(), "the reply is not a chat completion"),
    (Turn(body=b"null"), "the reply is not a chat completion"),
    (Turn(body=b'{"choices": [{"index": 0}]}'), "the reply is not a chat completion"),
    (no_choices(), "the reply has no choices"),
]


def test_failures_that_may_pass() -> None:
    with FaultServer([turn for turn, _ in PASSING]) as server:
        judge = LitellmJudge(settings(server, timeout_s=60.0))
        found = asyncio.run(asked(judge, *[question()] * len(PASSING), question()))
    assert len(server.requests) == len(PASSING) + 1
    assert isinstance(found.pop(), Reply)
    for (_, message), error in zip(PASSING, found, strict=True):
        assert type(error) is TransientError
        assert str(error).startswith(message)


@pytest.mark.parametrize(
    ("turn", "seconds", "told"),
    [
        (stalled(), 0.2, "no reply within 0.2 s"),
        # Bytes that come now and then do not put off the time-out.
        (dripping(), 0.5, "no reply within 0.5 s"),
    ],
)
def test_a_reply_that_does_not_come(turn: Turn, seconds: float, told: str) -> None:
    with FaultServer([turn]) as server:
        error = ask_once(server, timeout_s=seconds, connect_timeout_s=2.0)
    assert type(error) is TransientError
    assert str(error) == told


def test_nobody_listens() -> None:
    with FaultServer() as server:
        pass
    # Behind an address a key may stand.
    for url in (server.url, f"{server.url}?key={KEY}#{KEY}"):
        judge = LitellmJudge(settings(server).model_copy(update={"api_base": url}))
        (error,) = asyncio.run(asked(judge, question()))
        assert type(error) is TransientError
        assert str(error) == f"no connection to {server.url}"


@pytest.mark.parametrize(
    ("turn", "kind", "after_s"),
    [
        (busy(), RateLimited, None),
        (busy("3"), RateLimited, 3.0),
        (busy("0"), RateLimited, 0.0),
        (busy("1500", "retry-after-ms"), RateLimited, 1.5),
        (busy("soon"), RateLimited, None),
        (busy("nan"), RateLimited, None),
        (busy("Wed, 99 Oct 2015"), RateLimited, None),
        (busy("Wed, 21 Oct 2015 07:28:00 GMT"), RateLimited, 0.0),
        (busy(email.utils.formatdate(time.time() + 1e7, usegmt=True)), RateLimited, 1e7),
        (Turn(status=503, body=b"{}", headers={"Retry-After": "7"}), TransientError, 7.0),
    ],
)
def test_when_to_come_back(turn: Turn, kind: type, after_s: float | None) -> None:
    with FaultServer([turn]) as server:
        error = ask_once(server)
    assert type(error) is kind
    assert error.after_s == (after_s and pytest.approx(after_s, abs=3600 * (after_s > 100)))


@pytest.mark.parametrize(
    ("turn", "message", "hint"),
    [
        (failed(401, f"wrong key {KEY}"), "the endpoint refused the key (401)", "JUDGE_KEY"),
        (failed(403), "the endpoint refused the key (403)", "JUDGE_KEY"),
        (failed(404, "no such model"), "has no model judge-1", "/v1"),
        (failed(400, "top_k is unknown"), "(400): top_k is unknown", ""),
        (failed(402, "pay first"), "(402): pay first", ""),
        (failed(429, "m", code="insufficient_quota"), "has no quota left (429): m", ""),
        # Of one request alone.
        (failed(400, "m", code="context_length_exceeded"), "too long", None),
        (failed(400, "This model's maximum context length is 9 tokens"), "too long", None),
        (failed(413), "too long", None),
        (failed(400, "m", code="content_filter"), "filter", None),
        (failed(400, "m", type="x", code="content_policy_violation"), "filter", None),
    ],
)
def test_what_will_never_be_answered(turn: Turn, message: str, hint: str | None) -> None:
    with FaultServer([turn]) as server:
        error = ask_once(server, question(schema=None if hint is not None else SCHEMA))
    assert message in str(error)
    assert len(server.requests) == 1
    if hint is None:
        assert type(error) is PermanentError
    else:
        assert type(error) is ConfigError
        assert str(error).startswith("judge (judge-1): ")
        assert hint in error.hint


@pytest.mark.parametrize(
    ("model", "hint"), [("judge-1", "openai/gpt-4o-mini"), ("openai/gpt-4o-mini", "OPENAI_API_KEY")]
)
def test_a_model_without_its_provider_or_its_key(model: str, hint: str) -> None:
    (error,) = asyncio.run(asked(LitellmJudge(JudgeSettings(model=model)), question()))
    assert type(error) is ConfigError
    assert hint in error.hint


def forms(server: FaultServer) -> list[str | None]:
    return [each.body.get("response_format", {}).get("type") for each in server.requests]


@pytest.mark.parametrize("status", [400, 422, 500])
def test_a_form_that_the_server_does_not_know_is_asked_for_once(status: int) -> None:
    with FaultServer(refuses_forms("json_schema", "json_object", status=status)) as server:
        judge = LitellmJudge(settings(server))
        found = asyncio.run(asked(judge, *[question(schema=SCHEMA)] * 3))
    assert [type(each) for each in found] == [Reply] * 3
    # litellm itself sends once more what got 422.
    distinct = [
        form for at, form in enumerate(forms(server)) if at == 0 or forms(server)[at - 1] != form
    ]
    assert distinct == ["json_schema", "json_object", None]
    assert forms(server)[-3:] == [None] * 3


@pytest.mark.parametrize(
    ("structured", "status", "sent"),
    [
        # The server would take none of these, but what the config wants is not given up.
        ("json_schema", 400, "json_schema"),
        ("json_object", 400, "json_object"),
        ("none", 200, None),
        # What has nothing to do with the form leaves it.
        ("auto", 500, "json_schema"),
    ],
)
def test_a_form_that_is_not_given_up(structured: str, status: int, sent: str | None) -> None:
    refused = refuses_forms("json_schema", "json_object")
    with FaultServer([failed(500)] * 2 if status == 500 else refused) as server:
        judge = LitellmJudge(settings(server, structured=structured))
        error, again = asyncio.run(asked(judge, *[question(schema=SCHEMA)] * 2))
    kinds = {400: ConfigError, 500: TransientError, 200: Reply}
    assert type(error) is type(again) is kinds[status]
    assert status != 400 or "structured: auto" in error.hint  # type: ignore[union-attr]
    assert forms(server) == [sent] * 2


def test_no_message_tells_keys_prompts_or_more_than_a_few_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTHER_SECRET", "correct horse battery")
    told = f"{KEY} correct horse battery {PROMPT} \x1b[31m"
    long = "Bearer AKIAIOSFODNN7EXAMPLE " + "word " * 200
    turns = [
        *(failed(status, told) for status in (400, 401, 404, 413, 429, 500)),
        *(failed(status, long) for status in (400, 500)),
        failed(500, f"{KEY} \x1b[31mred"),
        Turn(body=told.encode()),
        failed(429, f"{KEY}{PROMPT}", code="insufficient_quota"),
    ]
    with FaultServer(turns) as server:
        judge = LitellmJudge(settings(server, structured="none"))
        found = asyncio.run(asked(judge, *[question()] * len(turns)))
    assert len(server.requests) == len(turns)
    for error in found:
        message = str(error)
        assert isinstance(error, Exception)
        for secret in (KEY, KEY[8:20], "horse", "Zanzibar", "4711", "\x1b", "AKIAIOSFODNN7"):
            assert secret not in message
        assert len(message) < 400
        assert error.__cause__ is None
    assert "… \\x1b[31mred" in str(found[8])


def test_words_that_may_be_told() -> None:
    assert safe_message("too many\n tokens", (), [PROMPT]) == "too many tokens"
    assert safe_message("bad input: abcdefgh!", (), ["abcdefgh"]) == ""
    assert safe_message(f"said {PROMPT[10:40]}", (), [PROMPT]) == ""


def test_the_key_of_a_provider_is_not_sent_to_a_server_on_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with FaultServer([said(), failed(401)]) as server:
        ask_once(server, api_key_env=None)
        error = ask_once(server, api_key_env=None)
    assert server.requests[0].headers["authorization"] == "Bearer none"
    assert "api_key_env" in error.hint


def test_a_variable_that_is_not_set() -> None:
    with FaultServer() as server:
        error = ask_once(server, api_key_env="OPENAI_API_KEY")
    assert type(error) is ConfigError
    assert str(error).startswith(
        "judge.api_key_env: the environment variable OPENAI_API_KEY is not set"
    )
    assert not server.requests


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"api_key": KEY}, "judge.parameters.api_key: is set with `judge.api_key_env:`"),
        ({"stream": True}, "judge.parameters.stream: is set by valor"),
        ({"extra_headers": "x"}, "judge.parameters.extra_headers: a mapping"),
    ],
)
def test_parameters_that_are_set_elsewhere(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        LitellmJudge(JudgeSettings(model="openai/m", parameters=parameters))
    assert message in str(caught.value)
    assert KEY not in str(caught.value)


ADDRESS = r"an address such as .* is needed"
VARIABLE = "the name of an environment variable is needed"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        *(
            ("api_base", url, ADDRESS)
            for url in ("127.0.0.1:8000", "ftp://a/v1", "http://", "http://[::1", "")
        ),
        *(
            ("api_key_env", pasted, VARIABLE)
            for pasted in (KEY, "Bearer abc", "", "1KEY", "JUDGE_KEY\n")
        ),
        ("model", "", "backend: litellm needs `model:`"),
    ],
)
def test_settings_that_no_endpoint_has(key: str, value: str, message: str) -> None:
    for settings_of in (JudgeSettings, partial(EmbedderSettings, backend="litellm")):
        with pytest.raises(ValidationError, match=message):
            settings_of(**{"model": "m", key: value})


def test_a_password_in_the_address_is_told_from_a_lacking_key() -> None:
    with FaultServer() as server:
        url = server.url.replace("//", "//user:hush-hush@")
        judge = LitellmJudge(settings(server).model_copy(update={"api_base": url}))
        (error,) = asyncio.run(asked(judge, question()))
    assert type(error) is ConfigError
    assert "a name and password in `api_base:` do not go with a key" in str(error)
    assert "extra_headers" in str(error)
    assert "hush-hush" not in str(error)


def test_identity_and_remoteness() -> None:
    given = JudgeSettings(
        model="m",
        name="strict",
        api_base="https://user:word@example.com/v1",
        parameters={"top_p": 0.5, "extra_headers": {"X-Key": KEY}},
    )
    judge = LitellmJudge(given)
    assert (judge.name, judge.remote, judge.keeps, judge.in_order) == ("strict", True, True, False)
    assert judge.identity == {
        "backend": "litellm",
        "model": "m",
        "api_base": "https://example.com/v1",
        "temperature": 0.0,
        "seed": 0,
        "max_tokens": 2048,
        "parameters": {"top_p": 0.5},
        "structured": "auto",
    }
    for url, remote in [
        ("http://localhost:1/v1", False),
        ("http://127.9.9.9/v1", False),
        ("http://[::1]:8000/v1", False),
        ("http://localhost.example.com/v1", True),
        ("http://10.0.0.1/v1", True),
    ]:
        assert LitellmJudge(JudgeSettings(model="m", api_base=url)).remote is remote
    assert LitellmJudge(JudgeSettings(model="openai/m")).remote is True


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("1.82.7", "malicious"),
        ("1.82.8", "malicious"),
        ("1.83.13", "1.83.14 or newer"),
        ("2.0.0", "below 2"),
        ("odd", "1.83.14 or newer"),
    ],
)
def test_releases_that_are_refused(
    version: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda name: version)
    with pytest.raises(MissingExtraError, match=message) as caught:
        LitellmJudge(JudgeSettings(model="openai/m"))
    assert "valor-cli[judge]" in caught.value.hint
    for taken in ("1.83.14", "1.109.0", "1.110.0.dev1"):
        monkeypatch.setattr("importlib.metadata.version", lambda name, taken=taken: taken)
        litellm_client.check_installed()


def test_a_judge_closes_nothing_that_another_uses() -> None:
    async def main(server: FaultServer) -> list[Reply]:
        one, other = (LitellmJudge(settings(server)) for _ in range(2))
        first = await asyncio.gather(one.answer(question()), other.answer(question()))
        await one.close()
        second = await other.answer(question("another"))
        await other.close()
        await other.close()
        return [*first, second]

    with FaultServer() as server:
        for _ in range(2):
            # A new loop may stand where the last one stood.
            assert len(asyncio.run(main(server))) == 3
            gc.collect()


def test_a_request_that_is_given_up() -> None:
    async def main(server: FaultServer) -> None:
        judge = LitellmJudge(settings(server, timeout_s=30.0))
        await judge.answer(question("first"))
        task = asyncio.create_task(judge.answer(question("second")))
        while len(server.requests) < 2:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await judge.close()

    with FaultServer([said(), stalled()]) as server:
        asyncio.run(main(server))
        gc.collect()


def test_many_requests_to_a_server_that_fails_often() -> None:
    """Each is answered in the end, and none twice."""

    async def main(server: FaultServer) -> list[Any]:
        judge = LitellmJudge(settings(server))
        calls = Calls(judge, limits(concurrency=16, timeout_s=60.0, max_retries=9), Stop())
        found = await asyncio.gather(
            *(calls.ask(question(f"prompt {at}", SCHEMA)) for at in range(60))
        )
        await judge.close()
        return found

    plan = seeded(1, 0.3, most=2)

    def answers(asked: Asked) -> Turn:
        turn = plan(asked)
        return said(f"reply to {asked.prompt}") if turn.kind == "said" else turn

    with FaultServer(answers, cap=8) as server:
        found = asyncio.run(main(server))
    assert [each.reply.text for each in found] == [f"reply to prompt {at}" for at in range(60)]
    assert server.answered == {f"prompt {at}": 1 for at in range(60)}
    assert server.in_flight_max <= 8
    assert len(server.kinds) > 5


GUARD = """
import asyncio, json, socket, sys
tried = []
real = socket.socket.connect
def near(address):
    return isinstance(address, (str, bytes)) or address[0] in ("127.0.0.1", "::1", "localhost")
def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname"):
        address = arguments[1] if event == "socket.connect" else (arguments[0],)
        if not near(address):
            tried.append([event, str(address)])
            raise OSError("no network here")
sys.addaudithook(watch)
from valor_cli.models.requests import Request, conversation
from valor_cli.models.judge.litellm_judge import LitellmJudge
from valor_cli.models.settings import JudgeSettings
assert "litellm" not in sys.modules
async def main(url):
    for model in ("gpt-4o-mini", "llama-2-chat", "claude-3"):
        judge = LitellmJudge(JudgeSettings(model=model, api_base=url, max_retries=0))
        assert "litellm" not in sys.modules or model != "gpt-4o-mini"
        for _ in range(2):
            try:
                await judge.answer(Request(conversation(("user", "hello")), {"type": "object"}))
            except Exception as error:
                print(type(error).__name__)
        await judge.close()
asyncio.run(main(sys.argv[1]))
print(json.dumps(tried))
"""


@pytest.mark.slow
def test_nothing_else_is_asked_and_nothing_is_printed() -> None:
    """In a process of its own, with a proxy in its environment and a file `.env` beside it."""
    environment = {
        **os.environ,
        "HTTP_PROXY": "http://127.0.0.1:1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "False",
        "LITELLM_LOG": "DEBUG",
        "OPENAI_LOG": "debug",
        "OPENAI_API_KEY": KEY,
        "PYTHONWARNINGS": "error",
    }
    turns = [said(), failed(500, "later", kind="500"), said(), said()]
    with FaultServer(turns) as server:
        ended = subprocess.run(
            [sys.executable, "-X", "dev", "-c", GUARD, server.url],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    # The import takes seconds, which the loop's debug mode remarks on.
    errors = [line for line in ended.stderr.splitlines() if "Executing <" not in line]
    assert errors == []
    assert ended.stdout.splitlines() == ["TransientError", "[]"]
    assert len(server.requests) == 6


def token(text: str, **likely: float) -> dict[str, Any]:
    """A token as OpenAI's API tells it, with the most probable ones at its place."""
    tops = [{"token": one, "logprob": math.log(p), "bytes": None} for one, p in likely.items()]
    first = math.log(next(iter(likely.values()), 1.0))
    return {"token": text, "logprob": first, "bytes": None, "top_logprobs": tops}


def telling(asked: Asked) -> Turn:
    """A server that tells the probabilities of tokens to whom asks for them."""
    if not asked.body.get("logprobs"):
        return said("Rating: 4")
    tokens = [token("5", **{"5": 1.0}), token(" 4", **{" 4": 0.5, "4": 0.1, "3": 0.3, "x": 0.1})]
    return said("5 of 5? 4", logprobs={"content": [*tokens, token(".")], "refusal": None})


def test_probabilities_of_the_last_score() -> None:
    with FaultServer(telling) as server:
        scored, plain = asyncio.run(
            asked(LitellmJudge(settings(server)), question(scores=("3", "4", "5")), question())
        )
    assert isinstance(scored, Reply)
    assert isinstance(plain, Reply)
    assert scored.scores == pytest.approx({"4": 0.6, "3": 0.3})
    assert list(scored.scores or ()) == ["4", "3"]
    assert plain.scores is None
    assert [each.body.get("top_logprobs") for each in server.requests] == [20, None]


def test_a_server_that_refuses_to_tell_probabilities() -> None:
    def plan(asked: Asked) -> Turn:
        return failed(400, "logprobs is not supported") if asked.body.get("logprobs") else said("4")

    with FaultServer(plan) as server:
        found = asyncio.run(asked(LitellmJudge(settings(server)), *[question(scores=("4",))] * 2))
    assert [isinstance(one, Reply) and one.scores for one in found] == [None, None]
    # Refused once, and not asked for again.
    assert [bool(each.body.get("logprobs")) for each in server.requests] == [True, False, False]
