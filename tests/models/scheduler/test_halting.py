"""Signals while models compute: the first stops the run, the second ends the program."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from valor_cli.models.scheduler.stop import Stop
from valor_cli.models.text_models import Halting

SIGNALS = [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")]


def sent(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize(("number", "kind"), SIGNALS)
def test_the_first_signal_stops_in_order(number: signal.Signals, kind: str) -> None:
    before = {one: signal.getsignal(one) for one, _ in SIGNALS}
    stop = Stop()
    told: list[str] = []
    stop.callbacks.append(lambda: told.append(stop.kind))
    with Halting(stop):
        sent(number)
    assert (stop.kind, stop.reason, told) == (kind, kind, [kind])
    assert {one: signal.getsignal(one) for one, _ in SIGNALS} == before


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_the_second_ends_the_program(second: signal.Signals) -> None:
    before = signal.getsignal(second)
    stop = Stop()
    with Halting(stop):
        sent(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            sent(second)
    assert stop.kind == "interrupted"
    assert signal.getsignal(second) == before


def test_a_run_that_stopped_for_another_reason_ends_at_once() -> None:
    stop = Stop()
    stop.now("budget", "the budget is reached")
    with pytest.raises(KeyboardInterrupt), Halting(stop):
        sent(signal.SIGINT)
    assert stop.kind == "budget"


def test_an_error_within_puts_handlers_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ValueError, match="within"), Halting(Stop()):
        raise ValueError("within")
    assert signal.getsignal(signal.SIGINT) == before


def test_it_may_be_entered_again() -> None:
    before = signal.getsignal(signal.SIGINT)
    stop = Stop()
    for _ in range(2):
        with Halting(stop):
            pass
    with Halting(stop):
        sent(signal.SIGINT)
    assert (stop.kind, signal.getsignal(signal.SIGINT)) == ("interrupted", before)


def test_other_threads_get_no_signals_and_compute_all_the_same() -> None:
    before = signal.getsignal(signal.SIGINT)
    done: list[bool] = []

    def compute() -> None:
        stop = Stop()
        with Halting(stop):
            done.append(signal.getsignal(signal.SIGINT) == before and stop.reason is None)

    thread = threading.Thread(target=compute)
    thread.start()
    thread.join()
    assert done == [True]
