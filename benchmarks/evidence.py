"""Bytes of evidence that each wing keeps for a unit of its data: what memory grows with.

    python benchmarks/evidence.py CONFIG [CONFIG ...]

Evidence is pickled, as it goes from process to process, for a half of the units of a config and for
all of them; what a unit adds is the difference. Condensed evidence grows with distinct scores and
not with units: its whole size is told beside.
"""

from __future__ import annotations

import argparse
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np

from valor_cli import catalogue
from valor_cli.config import load_config
from valor_cli.metric import Call, Wing
from valor_cli.pipeline.plan import make_plan
from valor_cli.pipeline.run import selection_of


def main() -> None:
    """Print a table for each config."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("configs", nargs="+")
    for path in parser.parse_args().configs:
        _print(path)


def _print(path: str) -> None:
    plan = make_plan(load_config(path, catalogue))
    loaded = plan.task.load(plan.config.data, plan.config.options, selection_of(plan, None))
    model, dataset = next(iter(loaded.datasets.items()))
    print(f"{path}, {model}: {dataset.unit_count:,} units, {_told(loaded.sizes)}")
    half = np.arange(dataset.unit_count) % 2 == 0
    for part in plan.wings:
        if part.wing.gather is not None:
            continue
        whole, some = (_size(part.wing, part.needs, one) for one in (dataset, dataset.shard(half)))
        unit = (whole - some) / max(int(np.count_nonzero(~half)), 1)
        print(
            f"  {_named(part.calls)}: {whole / 1e6:.2f} MB, {unit:.1f} bytes a unit"
            + _condensed(part.wing, part.needs, part.calls, dataset)
        )


def _size(wing: Wing[Any, Any], needs: Any, dataset: Any) -> int:
    return len(pickle.dumps(wing.evidence(dataset, needs), protocol=5))


def _condensed(wing: Wing[Any, Any], needs: Any, calls: Sequence[Call], dataset: Any) -> str:
    if wing.condense is None or not all(call.metric.condensed for call in calls):
        return ""
    condensed = wing.condense(wing.evidence(dataset, needs), calls)
    return f"; condensed {len(pickle.dumps(condensed, protocol=5)) / 1e6:.2f} MB"


def _named(calls: Sequence[Call]) -> str:
    names = [call.metric.name for call in calls]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _told(sizes: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in sizes.items())


if __name__ == "__main__":
    main()
