"""A run with intervals against the same run without: whole processes, medians and ratios.

    python benchmarks/intervals.py
    python benchmarks/intervals.py --sizes small --resamples 200 --rounds 5

5,000 images (`val`), default metrics and the twelve COCO numbers alone. Rounds go A B A B …, after
one that warms up and is not counted. The cost of intervals is what a run with them takes more;
CPU seconds are those of all of its processes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from statistics import median

from rotation import Cost, print_table, rotate

HERE = Path(__file__).parent
METRICS = {"default metrics": "", "coco": "metrics: [coco]\n"}


def main() -> None:
    """Make the data, run the rotation, print the tables and what each resample costs."""
    options = _options()
    for size in options.sizes:
        folder = options.data / size
        if not (folder / "dt.json").exists():
            make = [sys.executable, str(HERE / "make_coco.py"), str(folder), "--size", size]
            subprocess.run(make, check=True)
        for name, metrics in METRICS.items():
            _compare(folder, name, metrics, options)


def _compare(folder: Path, name: str, metrics: str, options: argparse.Namespace) -> None:
    plain = f"{name}, plain"
    config = folder / "intervals.yaml"
    config.write_text(
        "task: object_detection\n"
        "data: {ground_truth: gt.json, predictions: dt.json}\n"
        f"{metrics}report: {{out: intervals}}\n"
    )
    run = [sys.executable, "-m", "valor_cli", "evaluate", "-q", str(config)]
    asked = [*run, "--set", f"interval={{resamples: {options.resamples}}}"]
    commands = {plain: run, f"{name}, {options.resamples} resamples": asked}
    for jobs in options.jobs:
        commands[f"the same, --jobs {jobs}"] = [*asked, "--jobs", str(jobs)]
    figures = rotate(commands, options.rounds)
    print(f"\n{folder.name}: {options.rounds} rounds")
    print_table(figures)
    _print_costs(figures, plain, options.resamples)


def _print_costs(figures: dict[str, list[Cost]], plain: str, resamples: int) -> None:
    """What intervals cost beside the run without them, in its own time, and by resample."""
    print(f"{'intervals alone':28}{'cpu / run':>11}{'wall / run':>11}{'cpu ms each':>12}")
    for name, runs in figures.items():
        if name == plain:
            continue
        pairs = list(zip(runs, figures[plain], strict=True))
        cpu = median([run.cpu_s - base.cpu_s for run, base in pairs])
        ratios = [
            median(
                [(getattr(run, of) - getattr(base, of)) / getattr(base, of) for run, base in pairs]
            )
            for of in ("cpu_s", "wall_s")
        ]
        print(f"{name:28}{ratios[0]:11.2f}{ratios[1]:11.2f}{cpu / resamples * 1e3:12.2f}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("benchmarks/data"))
    parser.add_argument("--sizes", nargs="+", default=["val"], help="small, val, large")
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--jobs", type=int, nargs="*", default=[], help="also with so many")
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


if __name__ == "__main__":
    main()
