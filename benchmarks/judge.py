"""What asking a judge costs beside litellm alone, and how much of the allowed concurrency it uses.

    judge.py [--calls 400] [--concurrency 32] [--delay 1.0] [--rounds 4]

A server in a process of its own answers after about `--delay` seconds, as a model would. Each
round asks it the same prompts twice, in a new process each: through `Calls` and `LitellmJudge`
with the cache on disk, as `valor evaluate` does, and through bare `litellm.acompletion` behind a
semaphore. Prints for both the medians of CPU milliseconds a call and of the concurrency in use,
which the server measures: requests under way, by those allowed, until all have been sent.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.models.server import Worked, share_in_use  # noqa: E402  # it lies beside the package

WORDS = "Is the statement in line with the passage? " + "A passage has so many words. " * 60
SCHEMA = {"type": "object", "properties": {"verdict": {"type": "integer"}}}
BEFORE = 16
"""Calls before the clock starts: the first one imports litellm."""


async def through_valor(url: str, calls: int, concurrency: int) -> tuple[float, float]:
    """Seconds and CPU seconds of asking through valor's loop."""
    from valor_cli.models.calls import Calls, Limits, Stop
    from valor_cli.models.judge import Request, conversation
    from valor_cli.models.litellm_judge import LitellmJudge
    from valor_cli.models.settings import JudgeSettings
    from valor_cli.models.store import Store

    def request(at: int) -> Request:
        return Request(conversation(("system", "Be strict."), ("user", f"{at}. {WORDS}")), SCHEMA)

    judge = LitellmJudge(JudgeSettings(model="judge", api_base=url, concurrency=concurrency))
    with Store.open() as store:
        asker = Calls(
            judge, Limits(concurrency), Stop(), store=store.run("bench", resume=False, reuse=True)
        )
        await asyncio.gather(*(asker.ask(request(-at)) for at in range(1, BEFORE + 1)))
        wall_s, cpu_s = time.perf_counter(), time.process_time()
        await asyncio.gather(*(asker.ask(request(at)) for at in range(calls)))
        spent = time.perf_counter() - wall_s, time.process_time() - cpu_s
    await judge.close()
    return spent


async def through_litellm(url: str, calls: int, concurrency: int) -> tuple[float, float]:
    """Seconds and CPU seconds of asking through litellm alone."""
    import httpx
    import litellm

    litellm.suppress_debug_info = True
    free = asyncio.Semaphore(concurrency)
    form = {"name": "reply", "schema": SCHEMA, "strict": True}

    async def ask(at: int) -> None:
        async with free:
            await litellm.acompletion(
                model="openai/judge",
                messages=[
                    {"role": "system", "content": "Be strict."},
                    {"role": "user", "content": f"{at}. {WORDS}"},
                ],
                temperature=0.0,
                seed=0,
                max_tokens=2048,
                response_format={"type": "json_schema", "json_schema": form},
                api_base=url,
                api_key="none",
                timeout=httpx.Timeout(60.0, connect=10.0),
                num_retries=0,
                max_retries=0,
                drop_params=True,
            )

    await asyncio.gather(*(ask(-at) for at in range(1, BEFORE + 1)))
    wall_s, cpu_s = time.perf_counter(), time.process_time()
    await asyncio.gather(*(ask(at) for at in range(calls)))
    spent = time.perf_counter() - wall_s, time.process_time() - cpu_s
    await litellm.close_litellm_async_clients()
    return spent


WAYS = {"valor": through_valor, "litellm": through_litellm}


def one(way: str, options: argparse.Namespace) -> dict[str, float]:
    """One way in a process of its own, against a server of its own."""
    server = [sys.executable, "-m", "tests.models.server", "--spread", "0.5"]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            [*server, "--delay", str(options.delay)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as served,
    ):
        assert served.stdin is not None
        assert served.stdout is not None
        url = served.stdout.readline().strip()
        numbers = [str(options.calls), str(options.concurrency)]
        environment = {
            **os.environ,
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_MODE": "PRODUCTION",
            "XDG_CACHE_HOME": folder,
        }
        alone = [sys.executable, __file__, "--alone", way, url, *numbers]
        said = subprocess.run(alone, check=True, capture_output=True, text=True, env=environment)
        wall_s, cpu_s = json.loads(said.stdout.splitlines()[-1])
        served.stdin.close()
        counted: dict[str, Any] = json.loads(served.stdout.read())
    assert counted["requests"] == options.calls + BEFORE
    assert set(counted["answered"].values()) == {1}
    worked = [Worked(*each) for each in counted["worked"] if not each[0].startswith("-")]
    return {
        "cpu_ms": cpu_s / options.calls * 1e3,
        "wall_s": wall_s,
        "use": share_in_use(worked, options.concurrency),
    }


def report(found: dict[str, list[dict[str, float]]], options: argparse.Namespace) -> None:
    """Print medians and what is between them."""

    def median(way: str, name: str) -> float:
        return statistics.median(each[name] for each in found[way])

    print(
        f"{options.calls} calls of about {options.delay:g} s, {options.concurrency} at a time, "
        f"medians of {options.rounds} rounds"
    )
    for way in WAYS:
        print(
            f"  {way:8} {median(way, 'cpu_ms'):6.2f} ms of CPU a call, "
            f"{median(way, 'wall_s'):6.2f} s, {median(way, 'use'):.1%} of the concurrency in use"
        )
    own = median("valor", "cpu_ms") - median("litellm", "cpu_ms")
    ratio = median("valor", "wall_s") / median("litellm", "wall_s")
    print(f"  own overhead {own:+.2f} ms a call; {ratio:.3f} times the time of litellm alone")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure both ways in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=400)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--delay", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--alone", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.alone:
        way, url, calls, concurrency = options.alone
        spent = asyncio.run(WAYS[way](url, int(calls), int(concurrency)))
        print(json.dumps(spent))
        return
    found: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    for _ in range(options.rounds):
        for way in WAYS:
            found[way].append(one(way, options))
    report(found, options)


if __name__ == "__main__":
    main()
