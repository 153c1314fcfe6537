"""What docs/migrating says of pycocotools, torchmetrics and valor-lite, as they say it themselves.

Names are looked up, programs run, and numbers of the tables computed. Run in an environment with
the tool, from the root of the repository:

    python -m tests.oracles.migrating_vision valor-lite > tests/golden/migrating/valor-lite.json
    python -m tests.oracles.migrating_vision torchmetrics > tests/golden/migrating/torchmetrics.json

The second needs torchvision beside torchmetrics, for its boxes.
"""

from __future__ import annotations

import ast
import csv
import importlib
import importlib.metadata
import inspect
import json
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, Final

import numpy as np

from tests.docs.pages import ROOT, blocks, text_of
from tests.oracles.valor_lite_detection import evaluator_of

SAMPLES: Final = ROOT / "sample_data"
TOOLS: Final = {
    "torchmetrics": ("torchmetrics", "torch", "torchvision", "pycocotools", "numpy"),
    "valor-lite": ("valor-lite", "numpy", "pyarrow"),
}
SPACES: Final = {
    "pycocotools": ("pycocotools.coco", "pycocotools.cocoeval", "pycocotools"),
    "torchmetrics": (
        "torchmetrics",
        "torchmetrics.classification",
        "torchmetrics.detection",
        "torchmetrics.detection.mean_ap",
        "torchmetrics.detection.iou",
        "torchmetrics.detection.giou",
        "torchmetrics.detection.diou",
        "torchmetrics.detection.ciou",
        "torchmetrics.text",
        "torchmetrics.text.bert",
        "torchmetrics.text.infolm",
        "torchmetrics.image",
        "torchmetrics.segmentation",
        "torchmetrics.wrappers",
    ),
    "valor-lite": ("valor_lite",),
}
"""Where a tool's names are looked for; those of valor-lite in a heading's module too."""

_HEADING = re.compile(r"^#+ (?P<text>.+)$")
_CODE = re.compile(r"`([^`]+)`")
_CELLS = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a page, the heading that it stands under, its first row and the others."""

    heading: str
    header: list[str]
    rows: list[list[str]]

    @property
    def task(self) -> str:
        """What the heading speaks of, as a config calls it."""
        return self.heading.rpartition(": ")[2].replace(" ", "_")


def tables(page: str) -> list[Table]:
    """All of a page, in its order."""
    found: list[Table] = []
    heading, before = "", ""
    for line in _prose(page):
        if match := _HEADING.match(line):
            heading = match["text"]
        if line.startswith("|"):
            cells = [cell.strip() for cell in _CELLS.split(line)[1:-1]]
            if not before.startswith("|"):
                found.append(Table(heading, cells, []))
            elif set(line) - set("|-"):
                found[-1].rows.append(cells)
        before = line
    return found


def _prose(page: str) -> Iterator[str]:
    inside = False
    for line in text_of(page).splitlines():
        inside ^= line.startswith("```")
        if not inside:
            yield line


def codes(text: str) -> list[str]:
    """What stands in backticks."""
    return _CODE.findall(text)


def names_of(peer: str) -> list[tuple[str, str]]:
    """What tables, and prose on what is missing here, say that the tool has; with their task."""
    page = f"docs/migrating/{peer}.md"
    found = [
        (table.task, code)
        for table in tables(page)
        if table.header[0] == peer
        for row in table.rows
        for code in codes(row[0])
    ]
    heading = ""
    for paragraph in re.split(r"\n\n", "\n".join(_prose(page))):
        if match := _HEADING.match(paragraph):
            heading = match["text"]
        elif re.search(r"(There are|valor has) no\b", paragraph):
            task = heading.rpartition(": ")[2].replace(" ", "_")
            found += [(task, code) for code in codes(paragraph) if re.match(r"[A-Z]\w+$", code)]
    return sorted(set(found))


def look_up(peer: str, task: str, code: str) -> None:
    """A name with its attributes, and the keywords of a call.

    Raises:
        AttributeError: The tool does not have it.
    """
    spaces = list(SPACES[peer])
    if peer == "valor-lite" and "." not in code.partition("(")[0].partition(".")[0]:
        spaces.insert(0, f"valor_lite.{task}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _found(ast.parse(code, mode="eval").body, spaces)


def _found(node: ast.expr, spaces: list[str]) -> Any:
    match node:
        case ast.Name(id=name):
            return _named(name, spaces)
        case ast.Subscript(value=value):
            return _found(value, spaces)
        case ast.Attribute(value=value, attr=name):
            owner = _found(value, spaces)
            return _attribute(owner, name)
        case ast.Call(func=function, keywords=keywords):
            called = _found(function, spaces)
            accepted = inspect.signature(called).parameters.values()
            names = {one.name for one in accepted}
            open_ended = any(one.kind is one.VAR_KEYWORD for one in accepted)
            missing = {one.arg for one in keywords} - names
            if missing and not open_ended:
                raise AttributeError(f"{called} does not take {missing}")
            return called
    raise AttributeError(ast.unparse(node))


def _named(name: str, spaces: list[str]) -> Any:
    for space in spaces:
        try:
            module = importlib.import_module(space)
        except ModuleNotFoundError:
            continue
        if hasattr(module, name):
            return getattr(module, name)
        try:
            return importlib.import_module(f"{space}.{name}")
        except ModuleNotFoundError:
            continue
    raise AttributeError(f"{name} is in none of {spaces}")


def _attribute(owner: Any, name: str) -> Any:
    """Of a class, or of what it makes: COCOeval has its parameters in instances."""
    if hasattr(owner, name) or not inspect.isclass(owner):
        return getattr(owner, name)
    if "iouType" in inspect.signature(owner).parameters:
        keypoints = owner(iouType="keypoints")
        return getattr(keypoints, name)
    raise AttributeError(f"{owner} has no {name}")


def programs(peer: str) -> list[str]:
    """The page's blocks that stand for themselves; the others are pieces of a reader's loop."""
    found = blocks(f"docs/migrating/{peer}.md", "python")
    return [block.text for block in found if "import " in block.text]


def printed(program: str, folder: Path) -> list[str]:
    """What it says where `sample_data` is."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return done.stdout.splitlines()


def digits() -> tuple[list[list[float]], list[int]]:
    """Scores and labels of the sample data for classification."""
    folder = SAMPLES / "classification"
    with (folder / "ground_truth.csv").open() as file:
        truth = {row["id"]: int(row["label"]) for row in csv.DictReader(file)}
    with (folder / "random_forest.csv").open() as file:
        rows = list(csv.DictReader(file))
    scores = [[float(row[str(label)]) for label in range(10)] for row in rows]
    return scores, [truth[row["id"]] for row in rows]


def torchmetrics_facts() -> dict[str, float]:
    """Areas in 32 bits and binned, calibration by bits, panoptic quality by what void is."""
    import torch
    from torchmetrics import classification

    scores, labels = digits()
    truth = torch.tensor(labels)

    def told(name: str, dtype: Any = torch.float32, **options: Any) -> float:
        metric = getattr(classification, name)(10, **options)
        metric.update(torch.tensor(scores, dtype=dtype), truth)
        # It turns labels into numbers too, which areas do not bear.
        wide = metric.set_dtype(dtype) if dtype is torch.float64 else metric
        return float(wide.compute().item())

    return {
        "mean ROC AUC": told("MulticlassAUROC"),
        "mean ROC AUC, 20 thresholds": told("MulticlassAUROC", thresholds=20),
        "average precision": told("MulticlassAveragePrecision"),
        "average precision, 20 thresholds": told("MulticlassAveragePrecision", thresholds=20),
        "calibration error of 32 bits": told("MulticlassCalibrationError"),
        "calibration error of 64 bits": told("MulticlassCalibrationError", torch.float64),
        "panoptic quality, void predicted": _panoptic_quality(void=2),
        "panoptic quality": _panoptic_quality(void=3),
    }


def _panoptic_quality(void: int) -> float:
    """Of nuclei; `void` is what a pixel has that is predicted as none: 3 is a label, 2 is not."""
    import torch
    from pycocotools.coco import COCO
    from torchmetrics.detection import PanopticQuality

    folder = SAMPLES / "instance_segmentation"
    with redirect_stdout(StringIO()):
        truth = COCO(str(folder / "ground_truth.json"))
        found = truth.loadRes(str(folder / "watershed.json"))

    def drawn(side: Any, image: int, background: int) -> Any:
        size = truth.imgs[image]
        pixels = np.zeros((1, size["height"], size["width"], 2), dtype=np.int64)
        pixels[..., 0] = background
        for number, one in enumerate(side.imgToAnns[image], start=1):
            pixels[0, side.annToMask(one) > 0] = (1, number)
        return torch.tensor(pixels)

    metric = PanopticQuality(
        things={1}, stuffs={3}, return_per_class=True, allow_unknown_preds_category=True
    )
    for image in truth.getImgIds():
        metric.update(drawn(found, image, void), drawn(truth, image, 2))
    return float(metric.compute()[0, 0].item())


def valor_lite_facts() -> dict[str, float]:
    """What is right by its counts and its confusion matrix; persons, without a second choice."""
    from valor_lite.object_detection import MetricType

    asked = {"iou_thresholds": [0.5], "score_thresholds": [0.5]}
    evaluator = _valor_lite("large")
    counts = evaluator.compute_precision_recall(**asked)[MetricType.Counts]
    (matrix,) = evaluator.compute_confusion_matrix(**asked)
    rows = matrix.value["confusion_matrix"]
    low = _valor_lite("small").compute_precision_recall([0.3], [0.05])[MetricType.Counts]
    return {
        "tp": sum(one.value["tp"] for one in counts),
        "diagonal": sum(row[label] for label, row in rows.items()),
        "persons": sum(one.value["tp"] for one in low if one.parameters["label"] == "person"),
    }


def _valor_lite(model: str) -> Any:
    """Its evaluator of the sample data for object detection."""
    folder = SAMPLES / "object_detection"
    truth = json.loads((folder / "ground_truth.json").read_text())
    return evaluator_of(truth, json.loads((folder / f"{model}.json").read_text()))


FACTS: Final[dict[str, Callable[[], dict[str, float]]]] = {
    "torchmetrics": torchmetrics_facts,
    "valor-lite": valor_lite_facts,
}


def looked_up(peer: str) -> list[tuple[str, str]]:
    """All names of the page, each of which the tool has."""
    found = names_of(peer)
    for task, code in found:
        look_up(peer, task, code)
    return found


def main(peer: str) -> None:
    """Everything of one tool, with what it takes to make it again."""
    warnings.simplefilter("ignore")
    document = {
        "tools": {name: importlib.metadata.version(name) for name in TOOLS[peer]},
        "command": f"python -m tests.oracles.migrating_vision {peer} "
        f"> tests/golden/migrating/{peer}.json",
        "names": [list(name) for name in looked_up(peer)],
        "printed": [printed(program, ROOT) for program in programs(peer)],
        "facts": FACTS[peer](),
    }
    json.dump(document, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
