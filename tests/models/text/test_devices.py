"""Devices, and batches as far as memory goes."""

from __future__ import annotations

import pytest

from valor_cli.errors import ConfigError
from valor_cli.models.requests import Stopped
from valor_cli.models.scheduler.stop import Stop
from valor_cli.models.text.devices import device_of, in_batches, tokens_at_once

pytestmark = pytest.mark.models


def test_a_device_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)

    assert device_of("auto").type == "cpu"
    with pytest.raises(ConfigError, match="there is no cuda here; there is cpu"):
        device_of("cuda")


def test_batches_have_some_tokens_however_little_memory_there_is() -> None:
    assert tokens_at_once(device_of("cpu"), 1 << 40) == 512
    assert tokens_at_once(device_of("cpu"), 1 << 10) == 1 << 20


def test_a_batch_is_halved_until_memory_holds_it() -> None:
    def run(group: list[int]) -> int:
        if len(group) > 2:
            raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory")
        return sum(group)

    found = list(in_batches([[1, 2, 3, 4, 5], [6]], run, Stop()))

    assert found == [([1, 2], 3), ([3], 3), ([4, 5], 9), ([6], 6)]


def test_one_text_that_memory_does_not_hold_is_told() -> None:
    def run(group: list[int]) -> int:
        raise MemoryError

    with pytest.raises(ConfigError, match="not enough for a single text"):
        list(in_batches([[1, 2]], run, Stop()))


def test_other_faults_are_not_taken_for_a_lack_of_memory() -> None:
    def run(group: list[int]) -> int:
        raise RuntimeError("shapes differ")

    with pytest.raises(RuntimeError, match="shapes differ"):
        list(in_batches([[1, 2]], run, Stop()))


def test_between_batches_the_run_may_end() -> None:
    stop = Stop()
    batches = in_batches([[1], [2]], lambda group: group, stop)
    assert next(batches) == ([1], [1])

    stop.now("interrupted", "interrupted")
    with pytest.raises(Stopped, match="interrupted"):
        next(batches)
