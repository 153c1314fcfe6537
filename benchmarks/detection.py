"""Boxes or masks against the peers: whole processes, in rotation, medians and ratios.

    python -m venv peers && peers/bin/pip install -r benchmarks/requirements.txt
    python benchmarks/detection.py --peers peers/bin/python
    python benchmarks/detection.py --peers peers/bin/python --masks --sizes small

Every command runs from start to exit, imports included; one round warms up and is not counted.
Rounds go A B C A B C …, so that a machine that slows down slows all alike: the CPU ratios are the
figures to trust. All find their compiled modules, as an installed program does.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from rotation import print_table, rotate

HERE = Path(__file__).parent
VALOR = "valor"
NUMPY = "valor, numpy"
MORE = "valor, more metrics"
MORE_METRICS = ("confusion_matrix", "detailed_pr_curve")
"""What looks at detections of any label, beside the default metrics."""
DEFAULTS = (
    *("coco", "average_precision_over_ious", "average_precision", "average_recall", "counts"),
    *("precision", "recall", "f1", "pr_curve"),
)
OUTPUTS = (
    *("AP", "AP50", "AP75", "APsmall", "APmedium", "APlarge"),
    *("AR@1", "AR@10", "AR@100", "ARsmall", "ARmedium", "ARlarge"),
)


def main() -> None:
    """Make the data, run the rotation, print the table."""
    options = _options()
    for size in options.sizes:
        folder = options.data / (f"{size}_masks" if options.masks else size)
        if not (folder / "dt.json").exists():
            make = [sys.executable, str(HERE / "make_coco.py"), str(folder), "--size", size]
            subprocess.run([*make, *["--masks"] * options.masks], check=True)
        _configure(folder, "run", masks=options.masks)
        _configure(folder, "more", masks=options.masks, metrics=(*DEFAULTS, *MORE_METRICS))
        commands = _commands(options, folder)
        print(f"\n{size}{' masks' * options.masks}: {options.rounds} rounds")
        print_table(rotate(commands, options.rounds))
        if options.peers:
            _check_equal(options, folder)


def _configure(folder: Path, name: str, *, masks: bool, metrics: tuple[str, ...] = ()) -> None:
    task = "instance_segmentation" if masks else "object_detection"
    asked = f"metrics: [{', '.join(metrics)}]\n" if metrics else ""
    (folder / f"{name}.yaml").write_text(
        f"task: {task}\n"
        "data: {ground_truth: gt.json, predictions: dt.json}\n"
        f"{asked}report: {{out: {name}}}\n"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", help="python of an environment that has the peers")
    parser.add_argument("--data", type=Path, default=Path("benchmarks/data"))
    parser.add_argument(
        "--sizes", nargs="+", help="small, val, large; omitted: val, and small for masks"
    )
    parser.add_argument("--masks", action="store_true", help="masks in place of boxes")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--skip", nargs="*", default=[], help="peers to leave out")
    options = parser.parse_args()
    options.sizes = options.sizes or ["small" if options.masks else "val"]
    return options


def _commands(options: argparse.Namespace, folder: Path) -> dict[str, list[str]]:
    truth, found = str(folder / "gt.json"), str(folder / "dt.json")
    kind = "segm" if options.masks else "bbox"
    run = [sys.executable, "-m", "valor_cli", "evaluate", "-q"]
    commands = {
        VALOR: [*run, str(folder / "run.yaml")],
        NUMPY: ["env", "VALOR_KERNEL=numpy", *run, str(folder / "run.yaml")],
        MORE: [*run, str(folder / "more.yaml")],
    }
    if options.peers:
        script = [options.peers, str(HERE / "peers.py")]
        for tool in ("pycocotools", "faster-coco-eval", "hotcoco", "ultrafast-pycocotools"):
            commands[tool] = [*script, tool, truth, found, kind]
        cli = [str(Path(options.peers).parent / "coco"), "eval", "--iou-type", kind]
        commands["hotcoco CLI"] = [*cli, "--gt", truth, "--dt", found]
    return {name: command for name, command in commands.items() if name not in options.skip}


def _check_equal(options: argparse.Namespace, folder: Path) -> None:
    """The 12 numbers are the same, or the times compare different work."""
    rows = json.loads((folder / "run" / "results.json").read_text())["metrics"]
    ours = {row["output"]: row["value"] for row in rows if row["metric"] == "coco"}
    files = [str(folder / "gt.json"), str(folder / "dt.json"), "segm" if options.masks else "bbox"]
    for tool in ("pycocotools", "hotcoco"):
        if tool in options.skip:
            continue
        script = [options.peers, str(HERE / "peers.py"), tool]
        done = subprocess.run([*script, *files], check=True, capture_output=True, text=True)
        theirs = json.loads(done.stdout)
        worst = max(abs(ours[name] - value) for name, value in zip(OUTPUTS, theirs, strict=True))
        print(f"largest difference of the 12 numbers to {tool}: {worst:.1e}")


if __name__ == "__main__":
    main()
