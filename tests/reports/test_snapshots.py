"""The reports of shipped configs are those that are kept; `python -m tests.reports.snapshots`."""

from __future__ import annotations

import pytest

from tests.reports.snapshots import CONFIGS, KEPT, snapshot


@pytest.mark.parametrize("name", CONFIGS)
def test_the_reports_are_those_that_are_kept(name: str) -> None:
    for suffix, text in snapshot(name).items():
        assert text == (KEPT / f"{name}.{suffix}").read_text(encoding="utf-8"), suffix


def test_nothing_else_is_kept_and_it_is_small() -> None:
    kept = {path.name for path in KEPT.iterdir()}
    assert kept == {f"{name}.{suffix}" for name in CONFIGS for suffix in ("txt", "md", "outline")}
    assert sum(path.stat().st_size for path in KEPT.iterdir()) < 250_000
