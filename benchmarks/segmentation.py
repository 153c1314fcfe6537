"""Label maps against the peers: whole processes, in rotation, medians and ratios.

    python -m venv peers && peers/bin/pip install -r benchmarks/requirements.txt
    python benchmarks/segmentation.py --peers peers/bin/python

Every command reads two folders of PNGs and finds mean IoU, valor with its default metrics and three
reports; once more with boundary IoU beside them. What decoding the files alone takes stands in the
table too: no tool on Pillow can be faster. The CPU ratios are the figures to trust.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from rotation import Cost, print_table, rotate

HERE = Path(__file__).parent
VALOR = "valor"
MORE = "valor, boundary_iou beside"
TWO = "valor --jobs 2"
DECODE = "decoding alone, Pillow"
TORCHMETRICS = "torchmetrics"
HOTCOCO = "hotcoco CLI"
DEFAULTS = (
    *("mean_iou", "iou", "precision", "recall", "f1", "pixel_accuracy", "mean_accuracy"),
    *("frequency_weighted_iou", "confusion_matrix", "image_scores"),
)


def main() -> None:
    """Make the data, run the rotation, print the table."""
    options = _options()
    truth, found = options.data / "truth", options.data / "found"
    if not truth.exists():
        make = [sys.executable, str(HERE / "make_label_maps.py"), str(options.data)]
        sizes = ["--images", str(options.images), "--labels", str(options.labels)]
        subprocess.run([*make, *sizes], check=True)
    print(f"{len(list(truth.iterdir())):,} pairs: {options.rounds} rounds")
    costs = rotate(_commands(options, truth.resolve(), found.resolve()), options.rounds)
    print_table(costs)
    _check_equal(options.out / "run", costs)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", help="python of an environment that has the peers")
    parser.add_argument("--data", type=Path, default=Path("benchmarks/data/segmentation"))
    parser.add_argument("--out", type=Path, help="folder of the reports; omitted: that of the data")
    parser.add_argument("--images", type=int, default=500, help="of data made anew")
    parser.add_argument("--labels", type=int, default=19)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--skip", nargs="*", default=[], help="commands to leave out")
    options = parser.parse_args()
    options.out = options.out or options.data
    options.out.mkdir(parents=True, exist_ok=True)
    return options


def _commands(options: argparse.Namespace, truth: Path, found: Path) -> dict[str, list[str]]:
    labels = str(options.labels)
    run = _configured(options, "run", truth, found, ())
    more = _configured(options, "more", truth, found, (*DEFAULTS, "boundary_iou"))
    script = [str(HERE / "segmentation_peers.py")]
    files = [str(truth), str(found), labels]
    commands = {
        VALOR: run,
        TWO: [*run, "--jobs", "2"],
        MORE: more,
        DECODE: [sys.executable, *script, "decode", *files],
    }
    if options.peers:
        commands[TORCHMETRICS] = [options.peers, *script, "torchmetrics", *files]
        cli = [str(Path(options.peers).parent / "coco"), "semantic", "eval", "--json"]
        sides = ["--gt", str(truth), "--pred", str(found), "--classes", labels]
        commands[HOTCOCO] = [*cli, *sides]
    return {name: command for name, command in commands.items() if name not in options.skip}


def _configured(
    options: argparse.Namespace, name: str, truth: Path, found: Path, metrics: tuple[str, ...]
) -> list[str]:
    config = options.out / f"{name}.yaml"
    names = ", ".join(f"label_{number}" for number in range(options.labels))
    asked = f"metrics: [{', '.join(metrics)}]\n" if metrics else ""
    config.write_text(
        "task: semantic_segmentation\n"
        f"data: {{ground_truth: {truth}, predictions: {found}, labels: [{names}], "
        f"ignore_index: 255}}\n{asked}report: {{out: {name}}}\n"
    )
    return [sys.executable, "-m", "valor_cli", "evaluate", "-q", str(config)]


def _check_equal(report: Path, costs: dict[str, list[Cost]]) -> None:
    """The numbers are the same, or the times compare different work."""
    rows = json.loads((report / "results.json").read_text())["metrics"]
    (ours,) = (row["value"] for row in rows if row["metric"] == "mean_iou")
    for tool, key in ((TORCHMETRICS, "mean_iou"), (HOTCOCO, "mIoU")):
        if tool in costs:
            theirs = json.loads(costs[tool][0].printed)[key]
            print(f"difference of mean IoU to {tool}: {abs(ours - theirs):.1e}")


if __name__ == "__main__":
    main()
