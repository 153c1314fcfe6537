"""Devices, and batches as far as memory goes."""

from __future__ import annotations

import pytest

from valor_cli.errors import ConfigError
from valor_cli.models.requests import Stop, Stopped
from valor_cli.models.text.windows import device_of, in_batches, tokens_at_once

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


@pytest.mark.parametrize(
    ("error", "kind", "told"),
    [
        (MemoryError(), ConfigError, "not enough for a single text"),
        (RuntimeError("shapes differ"), RuntimeError, "shapes differ"),
    ],
)
def test_what_memory_never_holds_and_other_faults(
    error: Exception, kind: type[Exception], told: str
) -> None:
    def run(group: list[int]) -> int:
        raise error

    with pytest.raises(kind, match=told):
        list(in_batches([[1, 2]], run, Stop()))


def test_between_batches_the_run_may_end() -> None:
    stop = Stop()
    batches = in_batches([[1], [2]], lambda group: group, stop)
    assert next(batches) == ([1], [1])

    stop.now("interrupted", "interrupted")
    with pytest.raises(Stopped, match="interrupted"):
        next(batches)
