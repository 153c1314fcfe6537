"""Run batches of texts on a device within its memory."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from msgspec import Struct

from valor_cli.errors import ConfigError, Problem
from valor_cli.models.requests import Stopped
from valor_cli.models.scheduler.stop import ProgressCallback, Stop
from valor_cli.models.settings import Device

T = TypeVar("T")

_OF_CPU = 1 << 30
"""Bytes that a batch may take where there is no accelerator."""
_LEAST_TOKENS = 512


class Runtime(Struct, frozen=True):
    """Where the models of a run compute, and whom they tell.

    Attributes:
        device: As the config has it.
        stop: Asked between batches.
        on_progress: Called with the progress.
    """

    device: Device
    stop: Stop
    on_progress: ProgressCallback


def device_of(wanted: Device) -> Any:
    """The torch device; auto selects an accelerator if there is one.

    Raises:
        ConfigError: It is not there.
    """
    import torch

    with warnings.catch_warnings(action="ignore"):  # of drivers too old, which then do not count
        there = {
            "cuda": torch.cuda.is_available(),
            "mps": torch.backends.mps.is_available(),
            "cpu": True,
        }
    if wanted == "auto":
        return torch.device(next(name for name, found in there.items() if found))
    if not there[wanted]:
        names = ", ".join(name for name, found in there.items() if found)
        raise ConfigError(Problem("device", f"there is no {wanted} here; there is {names}"))
    return torch.device(wanted)


def tokens_at_once(device: Any, bytes_per_token: int) -> int:
    """Number of tokens per batch that fit in memory."""
    import torch

    free = torch.cuda.mem_get_info(device)[0] // 2 if device.type == "cuda" else _OF_CPU
    return max(_LEAST_TOKENS, int(free) // bytes_per_token)


def in_batches(
    groups: Sequence[list[int]], run: Callable[[list[int]], T], stop: Stop
) -> Iterator[tuple[list[int], T]]:
    """Run batches; a batch that does not fit in memory is halved.

    Args:
        groups: Positions of texts.
        run: Computes a batch.
        stop: Asked before each.

    Raises:
        Stopped: The run ends.
        ConfigError: Memory does not even hold a single text.
    """
    left = list(reversed(groups))
    while left:
        if stop.reason is not None:
            raise Stopped(stop.reason)
        group = left.pop()
        try:
            made = run(group)
        except (RuntimeError, MemoryError) as error:
            if not _out_of_memory(error):
                raise
            if len(group) == 1:
                problem = Problem("memory", "not enough for a single text")
                raise ConfigError(problem, hint="use a smaller model, or `device: cpu`") from None
            half = len(group) // 2
            left += [group[half:], group[:half]]
        else:
            yield group, made


def _out_of_memory(error: Exception) -> bool:
    import torch

    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return "can't allocate memory" in str(error) or "out of memory" in str(error)
