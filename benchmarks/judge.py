"""What asking a judge costs beside litellm alone, and how much of the allowed concurrency it uses.

    judge.py [--calls 400] [--concurrency 32] [--delay 1.0] [--rounds 4]
    judge.py --faults 0.25 [--cap 24] [--calls 1000] [--concurrency 32] [--delay 1.0] [--rounds 4]

A server in a process of its own answers after about `--delay` seconds, as a model would. Each
round asks it the same prompts twice, in a new process each: through `Calls` and `LitellmJudge`
with the cache on disk, as `valor evaluate` does, and through bare `litellm.acompletion` behind a
semaphore. Prints for both the medians of CPU milliseconds a call and of the concurrency in use,
which the server measures: requests under way, by those allowed, until all have been sent.

With `--faults`, only through `Calls`: the server serves `--cap` at a time and does to that share
of the requests what model servers do on bad days, stalls beyond the time-out among it. The
concurrency in use is measured from the first reply until all prompts have been sent once.
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

from msgspec.structs import replace

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.models.server import (  # noqa: E402  # it lies beside the package
    FaultServer,
    Turn,
    Worked,
    busy,
    cut,
    event_stream,
    failed,
    half_json,
    html,
    seeded,
    share_in_use,
    stalled,
)

WORDS = "Is the statement in line with the passage? " + "A passage has so many words. " * 60
SCHEMA = {"type": "object", "properties": {"verdict": {"type": "integer"}}}
BEFORE = 16
"""Calls before the clock starts: the first one imports litellm."""


TIMEOUT_S = 4.0
"""Where there are stalls."""


def soon(turn: Turn) -> Turn:
    """It comes at once, as refusals do."""
    return replace(turn, delay_s=0.03)


FAULTS = (
    *map(soon, (busy("0.5"), busy("1"), busy(), busy(), failed(503, "overloaded"))),
    failed(500),
    failed(500),
    stalled(TIMEOUT_S + 1),
    cut("before"),
    cut("midway"),
    half_json(),
    html(),
    event_stream(),
)


async def through_valor(
    url: str, calls: int, concurrency: int, timeout_s: float = 60.0
) -> tuple[float, float]:
    """Seconds and CPU seconds of asking through valor's loop."""
    from valor_cli.models.judge.litellm_judge import LitellmJudge
    from valor_cli.models.requests import Request, Stop, conversation
    from valor_cli.models.scheduler.calls import Calls
    from valor_cli.models.settings import JudgeSettings
    from valor_cli.models.store import Store

    def request(at: int) -> Request:
        return Request(conversation(("system", "Be strict."), ("user", f"{at}. {WORDS}")), SCHEMA)

    settings = JudgeSettings(
        model="judge", api_base=url, concurrency=concurrency, timeout_s=timeout_s
    )
    judge = LitellmJudge(settings)
    todo = iter(range(calls))

    async def worker() -> None:
        for at in todo:
            await asker.ask(request(at))

    with Store() as store:
        asker = Calls(
            judge,
            settings,
            Stop(),
            store=store.run("bench", resume=False, reuse=True),
        )
        await asyncio.gather(*(asker.ask(request(-at)) for at in range(1, BEFORE + 1)))
        wall_s, cpu_s = time.perf_counter(), time.process_time()
        # As many samples are in work at a time as in a run.
        await asyncio.gather(*(worker() for _ in range(2 * concurrency + 4)))
        spent = time.perf_counter() - wall_s, time.process_time() - cpu_s
    await judge.close()
    return spent


async def through_faults(url: str, calls: int, concurrency: int) -> tuple[float, float]:
    """As `through_valor`, but stalls are soon told."""
    return await through_valor(url, calls, concurrency, TIMEOUT_S)


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
ALL_WAYS = {**WAYS, "faults": through_faults}


def serve(options: argparse.Namespace) -> None:
    """Be the server, as `python -m tests.models.server` is."""
    plan = seeded(0, options.faults, FAULTS) if options.faults else ()
    how = {"cap": options.cap if options.faults else None, "delay_s": options.delay, "spread": 0.5}
    with FaultServer(plan, **how) as server:
        print(server.url, flush=True)
        sys.stdin.read()
    print(json.dumps(server.counted()))


def steady_use(worked: Sequence[Worked], allowed: int) -> float:
    """How much was in use from the first reply until all prompts had been sent once."""
    begun: dict[str, float] = {}
    for each in sorted(worked, key=lambda each: each.begun_s):
        begun.setdefault(each.prompt, each.begun_s)
    first, last = min(each.ended_s for each in worked), max(begun.values())
    used_s = sum(max(0.0, min(each.ended_s, last) - max(each.begun_s, first)) for each in worked)
    return used_s / (last - first) / allowed


def one(way: str, options: argparse.Namespace) -> dict[str, float]:
    """One way in a process of its own, against a server of its own."""
    server = [sys.executable, __file__, "--serve", "--faults", str(options.faults)]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            [*server, "--delay", str(options.delay), "--cap", str(options.cap)],
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
    assert len(counted["answered"]) == options.calls + BEFORE
    twice = {prompt for prompt, times in counted["answered"].items() if times > 1}
    spans = [(begun, ended) for prompt, begun, ended in counted["worked"] if prompt in twice]
    assert not twice, f"answered more than once, worked on from and to: {spans}"
    worked = [Worked(*each) for each in counted["worked"] if not each[0].startswith("-")]
    if way == "faults":
        allowed = min(options.concurrency, options.cap)
        return {
            "cpu_ms": cpu_s / options.calls * 1e3,
            "wall_s": wall_s,
            "use": steady_use(worked, allowed),
            "over": counted["kinds"].get("over the cap", 0),
        }
    assert counted["requests"] == options.calls + BEFORE
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


def report_faults(found: Sequence[dict[str, float]], options: argparse.Namespace) -> None:
    """Print medians, and the worst use."""
    median = {name: statistics.median(each[name] for each in found) for name in found[0]}
    print(
        f"{options.calls} calls of about {options.delay:g} s, {options.faults:.0%} faults, "
        f"{options.concurrency} at a time at most, {options.cap} served, "
        f"medians of {options.rounds} rounds; each was answered once"
    )
    print(
        f"  {median['cpu_ms']:6.2f} ms of CPU a call, {median['wall_s']:6.2f} s, "
        f"{median['use']:.1%} of what is served in use (at least "
        f"{min(each['use'] for each in found):.1%}), {median['over']:.0f} refused as too many"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure both ways in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=400)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--delay", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--faults", type=float, default=0.0)
    parser.add_argument("--cap", type=int, default=24)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--alone", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.serve:
        serve(options)
        return
    if options.alone:
        way, url, calls, concurrency = options.alone
        spent = asyncio.run(ALL_WAYS[way](url, int(calls), int(concurrency)))
        print(json.dumps(spent))
        return
    if options.faults:
        report_faults([one("faults", options) for _ in range(options.rounds)], options)
        return
    found: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    for _ in range(options.rounds):
        for way in WAYS:
            found[way].append(one(way, options))
    report(found, options)


if __name__ == "__main__":
    main()
