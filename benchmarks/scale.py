"""How time and memory grow with the data, and what more processes give: tables of medians.

    python benchmarks/scale.py --rows 10000 100000 1000000 10000000
    python benchmarks/scale.py --task detection --rows 100000 1000000 10000000 --rounds 1

Whole processes, from start to exit, in rotation. Classification has ten scores a row (CSV), cut
into shards of a million rows where there are more; detection has one file of ground truth and one
of detections (COCO).
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

from rotation import Cost, rotate

HERE = Path(__file__).parent
PER_IMAGE = 97
"""Detections of an image that make_coco.py makes, on average."""

SHARD = 1_000_000
WAYS = {
    "1 process": (),
    "2 processes": ("--jobs", "2"),
    "Dask, 2 processes": ("--engine", "dask", "--jobs", "2"),
}


def main() -> None:
    """Make the data, run the rotations, print a table for each way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=("classification", "detection"), default="classification")
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--data", type=Path, default=Path("benchmarks/data/scale"))
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(
        f"{'rows':>11}  {'':20}{'wall s':>9}{'cpu s':>9}{'us/row':>9}{'faster':>9}{'peak MiB':>10}"
    )
    for rows in options.rows:
        config = _made(options.data.resolve(), options.task, rows)
        valor = str(Path(sys.executable).with_name("valor"))
        commands = {
            way: [valor, "evaluate", str(config), "--quiet", *WAYS[way]] for way in options.ways
        }
        _print(rows, rotate(commands, options.rounds))


def _print(rows: int, costs: dict[str, list[Cost]]) -> None:
    first, *_ = costs.values()
    for way, runs in costs.items():
        wall, cpu, peak = (
            statistics.median(getattr(run, name) for run in runs)
            for name in ("wall_s", "cpu_s", "peak_mib")
        )
        faster = statistics.median(
            base.wall_s / run.wall_s for run, base in zip(runs, first, strict=True)
        )
        print(
            f"{rows:11,}  {way:20}{wall:9.2f}{cpu:9.2f}{cpu / rows * 1e6:9.2f}{faster:9.2f}"
            f"{peak:9.0f}"
        )


def _made(data: Path, task: str, rows: int) -> Path:
    """The config of a run over so many rows, whose data are made where they are not there."""
    folder = data / task / str(rows)
    config = folder / "run.yaml"
    if config.exists():
        return config
    folder.mkdir(parents=True, exist_ok=True)
    if task == "detection":
        made = [str(folder), "--size", str(max(rows // PER_IMAGE, 1))]
        _make("make_coco.py", made)
        inputs = "{ground_truth: gt.json, predictions: dt.json}"
    else:
        for shard, first in enumerate(range(0, rows, SHARD)):
            count = min(SHARD, rows - first)
            part = folder / f"part{shard:03}"
            _make("make_classification.py", [str(part), "--rows", str(count), *_dense(shard)])
            _named(part / "dense.csv", folder / f"dense{shard:03}.csv", shard)
        inputs = "{samples: 'dense*.csv'}"
    name = "object_detection" if task == "detection" else task
    config.write_text(f"task: {name}\ndata: {inputs}\nreport: {{out: out}}\n")
    return config


def _dense(shard: int) -> list[str]:
    return ["--seed", str(shard), "--dense"]


def _named(source: Path, target: Path, shard: int) -> None:
    """A shard whose sample ids are its own."""
    with source.open("rb") as read, target.open("wb") as write:
        write.write(next(read))
        prefix = b"%03d-" % shard
        for line in read:
            write.write(prefix + line)
    os.remove(source)


def _make(script: str, arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, str(HERE / script), *arguments], check=True, capture_output=True, text=True
    )
    print(done.stdout.strip(), file=sys.stderr)


if __name__ == "__main__":
    main()
