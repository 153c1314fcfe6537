"""Small data sets, and what writes each of them down in every format that has room for it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
from PIL import Image

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "real_data"
SAMPLES = ROOT / "sample_data"

Row = Mapping[str, Any]
Rows = Sequence[Row]
Writer = Callable[[Rows], bytes]


def as_jsonl(rows: Rows) -> bytes:
    """JSON Lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def as_json(rows: Rows) -> bytes:
    """A list."""
    return json.dumps(list(rows), ensure_ascii=False).encode()


def columns_of(rows: Rows) -> list[str]:
    """Those of any row."""
    return list(dict.fromkeys(key for row in rows for key in row))


def as_csv(rows: Rows, columns: Sequence[str] = ()) -> bytes:
    """Commas; lists and objects as JSON, numbers with all their digits."""
    file = io.StringIO()
    writer = csv.DictWriter(file, columns or columns_of(rows), lineterminator="\n", restval="")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: _cell(value) for key, value in row.items()})
    return file.getvalue().encode()


def _cell(value: Any) -> Any:
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else value


def as_parquet(rows: Rows) -> bytes:
    """Two row groups."""
    table = pyarrow.table({key: [row.get(key) for row in rows] for key in columns_of(rows)})
    file = io.BytesIO()
    pyarrow.parquet.write_table(table, file, row_group_size=max(1, len(rows) // 2))
    return file.getvalue()


TABLES: Mapping[str, Writer] = {
    "csv": as_csv,
    "jsonl": as_jsonl,
    "json": as_json,
    "parquet": as_parquet,
}
"""By format, what writes rows; its name is the extension."""


def records(path: Path) -> list[dict[str, Any]]:
    """The rows of a CSV or JSONL file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".csv":
        return list(csv.DictReader(io.StringIO(text)))
    return [json.loads(line) for line in text.split("\n") if line]


def put(name: str, content: bytes) -> None:
    """Write an input."""
    path = Path("data") / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


# Classification


def scored(count: int) -> tuple[Rows, dict[str, list[dict[str, float]]]]:
    """Digits with two groupings; by model, the scores of each."""
    folder = DATA / "classification"
    models = {
        "forest": folder / "digits-899-randomforest",
        "bayes": folder / "digits-899-naivebayes-overconfident",
    }
    truth = records(models["forest"] / "groundtruth.csv")[:count]
    facts = [
        {
            "sample_id": f"digit {row['id']}",
            "label": f"d{row['label']}",
            "half": "upper" if at % 2 else "lower",
            "tier": at % 3,
        }
        for at, row in enumerate(truth)
    ]
    said = {
        model: [
            {f"d{key}": float(one) for key, one in row.items() if key != "id"}
            for row in records(path / "predictions.csv")[:count]
        ]
        for model, path in models.items()
    }
    return facts, said


def by_class(facts: Row, scores: Mapping[str, float]) -> Rows:
    """A column for each class."""
    return [{**facts, **scores}]


def by_pair(facts: Row, scores: Mapping[str, float]) -> Rows:
    """Pairs of columns, a label and its score."""
    pairs = {}
    for at, (label, score) in enumerate(scores.items()):
        pairs |= {f"prediction_{at}": label, f"score_{at}": score}
    return [{**facts, **pairs}]


def by_line(facts: Row, scores: Mapping[str, float]) -> Rows:
    """A row for each label."""
    return [{**facts, "prediction": label, "score": one} for label, one in scores.items()]


def as_object(facts: Row, scores: Mapping[str, float]) -> Rows:
    """Scores by label in one object."""
    return [{**facts, "predictions": dict(scores)}]


def as_items(facts: Row, scores: Mapping[str, float]) -> Rows:
    """A list of objects."""
    listed = [{"label": label, "score": score} for label, score in scores.items()]
    return [{**facts, "predictions": listed}]


def as_numbers(facts: Row, scores: Mapping[str, float]) -> Rows:
    """Numbers alone, in the order of `classes:`."""
    return [{**facts, "predictions": list(scores.values())}]


# Objects


def coco_of(truth: Mapping[str, Any], images: int) -> tuple[dict[str, Any], dict[int, int]]:
    """The first images of a COCO file as every format can have them, and its categories.

    Ids of images and objects are text; categories stand in the order of their names, as formats
    without a list of them have it, and so their ids are others: by the one in the file, the one
    here.
    """
    kept = truth["images"][:images]
    order = {image["id"]: at for at, image in enumerate(kept)}
    used = [one for one in truth["annotations"] if one["image_id"] in order]
    used.sort(key=lambda one: order[one["image_id"]])
    names = {one["id"]: one["name"] for one in truth["categories"]}
    occur = sorted({one["category_id"] for one in used}, key=names.__getitem__)
    number = {one: at for at, one in enumerate(occur, 1)}
    found = {
        "images": [
            {
                "id": f"image {image['id']}",
                "file_name": f"image {image['id']}.png",
                "width": image.get("width", 640),
                "height": image.get("height", 640),
                "metadata": {"weather": ("sun", "rain", "föhn")[at % 3]},
            }
            for at, image in enumerate(kept)
        ],
        "categories": [{"id": new, "name": names[old]} for old, new in number.items()],
        "annotations": [
            {
                **one,
                "id": f"object {at}",
                "image_id": f"image {one['image_id']}",
                "category_id": number[one["category_id"]],
            }
            for at, one in enumerate(used)
        ],
    }
    return found, number


def results_of(
    truth: Mapping[str, Any], number: Mapping[int, int], results: Rows
) -> list[dict[str, Any]]:
    """Results of the images and labels of a truth, image by image."""
    order = {image["id"]: at for at, image in enumerate(truth["images"])}
    kept = [
        {
            **one,
            "image_id": f"image {one['image_id']}",
            "category_id": number[one["category_id"]],
        }
        for one in results
        if f"image {one['image_id']}" in order and one["category_id"] in number
    ]
    return sorted(kept, key=lambda one: order[one["image_id"]])


Objects = Mapping[str, Any]
"""A COCO file; annotations of predictions have a score."""


def dictionary(truth: Objects, results: Rows) -> Objects:
    """Results as a COCO file."""
    return {**truth, "annotations": results}


def coco(objects: Objects, path: str) -> None:
    """COCO, a file."""
    put(f"{path}.json", json.dumps(objects, ensure_ascii=False).encode())


def coco_results(objects: Objects, path: str) -> None:
    """A list for predictions."""
    scored = all("score" in one for one in objects["annotations"])
    content = objects["annotations"] if scored else objects
    put(f"{path}.json", json.dumps(content, ensure_ascii=False).encode())


def box(one: Row) -> Row:
    """The shape of an object in JSONL."""
    return {"box": one["bbox"]}


def object_lines(objects: Objects, shape: Callable[[Row], Row] = box) -> list[dict[str, Any]]:
    """An image a line."""
    names = {one["id"]: one["name"] for one in objects["categories"]}
    own: dict[str, list[Row]] = {image["id"]: [] for image in objects["images"]}
    for one in objects["annotations"]:
        found = {"label": names[one["category_id"]], **shape(one)}
        if "score" in one:
            found["score"] = one["score"]
        else:
            found |= {"id": one["id"], "crowd": bool(one.get("iscrowd"))}
            found |= {"area": one["area"]} if "area" in one else {}
        own[one["image_id"]].append(found)
    return [
        {
            "image_id": image["id"],
            **{key: one for key, one in image.items() if key != "id"},
            "objects": own[image["id"]],
        }
        for image in objects["images"]
    ]


def objects_jsonl(objects: Objects, path: str, shape: Callable[[Row], Row] = box) -> None:
    """Those lines in a file."""
    put(f"{path}.jsonl", as_jsonl(object_lines(objects, shape)))


def objects_parquet(objects: Objects, path: str) -> None:
    """An image a row, with its objects as a list of structs."""
    put(f"{path}.parquet", as_parquet(object_lines(objects)))


def sides(one: Row) -> Row:
    """The shape of an object in CSV."""
    return dict(zip(("x", "y", "width", "height"), one["bbox"], strict=True))


def object_rows(objects: Objects, shape: Callable[[Row], Row] = sides) -> list[list[Row]]:
    """By image, an object a line; a line for an image of the truth without any."""
    names = {one["id"]: one["name"] for one in objects["categories"]}
    own: dict[str, list[Row]] = {image["id"]: [] for image in objects["images"]}
    for one in objects["annotations"]:
        own[one["image_id"]].append(one)
    scored = any("score" in one for one in objects["annotations"])
    found: list[list[Row]] = []
    for image in objects["images"]:
        size = {"image_width": image["width"], "image_height": image["height"]}
        facts = {**size, **image["metadata"]}
        rows: list[Row] = []
        for one in own[image["id"]]:
            row = {"image_id": image["id"], "label": names[one["category_id"]], **shape(one)}
            if "score" in one:
                rows.append({**row, "score": one["score"]})
                continue
            row |= {"id": one["id"], "crowd": one.get("iscrowd", 0)}
            row |= {"area": one["area"]} if "area" in one else {}
            rows.append({**row, **facts})
        found.append(rows or [{"image_id": image["id"], **facts}] * (not scored))
    return found


def objects_csv(objects: Objects, path: str, shape: Callable[[Row], Row] = sides) -> None:
    """Those lines in a file."""
    put(f"{path}.csv", as_csv([row for rows in object_rows(objects, shape) for row in rows]))


def yolo(objects: Objects, path: str) -> None:
    """A folder: class and box, or ring, as fractions of the image."""
    classes = [one["id"] for one in objects["categories"]]
    put(f"{path}/classes.txt", "\n".join(one["name"] for one in objects["categories"]).encode())
    for image in objects["images"]:
        size = np.array([image["width"], image["height"]])
        lines = []
        for one in objects["annotations"]:
            if one["image_id"] != image["id"]:
                continue
            if "segmentation" in one:
                shape = (np.array(one["segmentation"][0]).reshape(-1, 2) / size).ravel()
            else:
                x, y, width, height = one["bbox"]
                centre = np.array([x + width / 2, y + height / 2]) / size
                shape = np.concatenate([centre, np.array([width, height]) / size])
            score = [one["score"]] if "score" in one else []
            numbers = [classes.index(one["category_id"]), *map(float, shape), *score]
            lines.append(" ".join(map(repr, numbers)))
        put(f"{path}/{image['id']}.txt", "\n".join(lines).encode())


def voc(objects: Objects, path: str) -> None:
    """A folder of XML files."""
    names = {one["id"]: one["name"] for one in objects["categories"]}
    for image in objects["images"]:
        parts = [f"<filename>{image['file_name']}</filename>"]
        size = f"<width>{image['width']}</width><height>{image['height']}</height>"
        parts.append(f"<size>{size}<depth>3</depth></size>")
        for one in objects["annotations"]:
            if one["image_id"] != image["id"]:
                continue
            if "segmentation" in one:
                ring = np.array(one["segmentation"][0]).reshape(-1, 2).tolist()
                shape = "".join(
                    f"<x{at}>{x!r}</x{at}><y{at}>{y!r}</y{at}>" for at, (x, y) in enumerate(ring, 1)
                )
                shape = f"<polygon>{shape}</polygon>"
            else:
                x, y, width, height = one["bbox"]
                edges = {"xmin": x, "ymin": y, "xmax": x + width, "ymax": y + height}
                shape = "".join(f"<{key}>{value!r}</{key}>" for key, value in edges.items())
                shape = f"<bndbox>{shape}</bndbox>"
            score = f"<score>{one['score']!r}</score>" if "score" in one else ""
            parts.append(f"<object><name>{names[one['category_id']]}</name>{score}{shape}</object>")
        put(f"{path}/{image['id']}.xml", f"<annotation>{''.join(parts)}</annotation>".encode())


def picture(pixels: np.ndarray) -> bytes:
    """A PNG."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def bitmap(mask: Row) -> np.ndarray:
    """Run lengths that are not compressed, as pixels."""
    counts = np.array(mask["counts"])
    height, width = mask["size"]
    return np.repeat(np.arange(counts.size) % 2 == 1, counts).reshape(width, height).T


def run_lengths(pixels: np.ndarray) -> dict[str, Any]:
    """Run lengths as COCO counts them, down the columns, what is not set first."""
    flat = np.concatenate([[False], pixels.T.ravel()])
    edges = np.flatnonzero(np.diff(flat.astype(int)))
    return {"size": list(pixels.shape), "counts": np.diff([0, *edges, flat.size - 1]).tolist()}


def panoptic(objects: Objects, path: str) -> None:
    """A JSON file beside its folder of PNGs; masks of an image do not overlap."""
    annotations = []
    for image in objects["images"]:
        pixels = np.zeros((image["height"], image["width"], 3), np.uint8)
        segments = []
        for one in objects["annotations"]:
            if one["image_id"] == image["id"]:
                segments.append({"id": len(segments) + 1, "category_id": one["category_id"]})
                pixels[bitmap(one["segmentation"])] = (len(segments), 0, 0)
        name = f"{image['id']}.png"
        put(f"{path}/{name}", picture(pixels))
        annotations.append({"image_id": image["id"], "file_name": name, "segments_info": segments})
    categories = [{**one, "isthing": 1} for one in objects["categories"]]
    whole = {**objects, "categories": categories, "annotations": annotations}
    put(f"{path}.json", json.dumps(whole, ensure_ascii=False).encode())


def rectangles(images: int) -> tuple[Objects, dict[str, Objects]]:
    """Rectangles as masks of which no two of an image overlap: the truth and two models."""
    rng = np.random.default_rng(31)
    truth: dict[str, Any] = {
        "images": [
            {
                "id": f"image {at}",
                "file_name": f"image {at}.png",
                "width": 48,
                "height": 32,
                "metadata": {"weather": ("sun", "rain", "föhn")[at % 3]},
            }
            for at in range(images)
        ],
        "categories": [{"id": 1, "name": "long"}, {"id": 4, "name": "round"}],
        "annotations": [],
    }
    said: dict[str, list[dict[str, Any]]] = {"near": [], "far": []}
    for image in truth["images"]:
        for slot in range(6):
            top, left = divmod(slot, 3)
            height, width = rng.integers(4, 14, 2).tolist()
            row, column = top * 16 + 1, left * 16 + 1
            one = _rectangle(image["id"], int(rng.choice([1, 4])), row, column, height, width)
            if rng.random() < 0.8:
                truth["annotations"].append({**one, "iscrowd": 0})
            for model, reach in (("near", 2), ("far", 3)):
                if rng.random() < 0.85:
                    down, right = rng.integers(0, reach, 2).tolist()
                    label = one["category_id"] if rng.random() < 0.9 else 5 - one["category_id"]
                    moved = _rectangle(
                        image["id"], label, row + down, column + right, height, width
                    )
                    del moved["area"]
                    score = round(0.3 + 0.001 * len(said[model]), 3)
                    said[model].append({**moved, "score": score})
    for at, one in enumerate(truth["annotations"]):
        one["id"] = f"object {at}"
    return truth, {model: dictionary(truth, own) for model, own in said.items()}


def _rectangle(
    image: str, label: int, row: int, column: int, height: int, width: int
) -> dict[str, Any]:
    pixels = np.zeros((32, 48), bool)
    pixels[row : row + height, column : column + width] = True
    bottom, right = min(row + height, 32), min(column + width, 48)
    return {
        "image_id": image,
        "category_id": label,
        "bbox": [column, row, right - column, bottom - row],
        "segmentation": run_lengths(pixels),
        "area": int(pixels.sum()),
    }


def as_rings(objects: Objects) -> Objects:
    """The same with the outlines of the boxes in the place of masks."""

    def ring(one: Row) -> Row:
        x, y, width, height = one["bbox"]
        corners = [x, y, x + width, y, x + width, y + height, x, y + height]
        return {**one, "segmentation": [corners]}

    return {**objects, "annotations": [ring(one) for one in objects["annotations"]]}


def as_boxes(objects: Objects) -> Objects:
    """The same with boxes alone."""
    plain = [
        {key: value for key, value in one.items() if key != "segmentation"}
        for one in objects["annotations"]
    ]
    return {**objects, "annotations": plain}


# Label maps


def label_maps() -> tuple[list[str], dict[str, dict[str, np.ndarray]]]:
    """Names of images; by side, the pixels of each: parts of real pictures."""
    folder = SAMPLES / "semantic_segmentation"
    names = sorted(one.stem for one in (folder / "ground_truth").iterdir())[:8]
    sides = ("ground_truth", "random_forest", "shifted")
    return names, {
        side: {
            name: np.asarray(Image.open(folder / side / f"{name}.png"))[:96, :128].copy()
            for name in names
        }
        for side in sides
    }


def png_folders(sides: Mapping[str, Mapping[str, np.ndarray]]) -> None:
    """A folder of PNGs for each side."""
    for side, maps in sides.items():
        for name, pixels in maps.items():
            put(f"{side}/{name}.png", picture(pixels))


def mask_folders(sides: Mapping[str, Mapping[str, np.ndarray]], labels: Sequence[str]) -> None:
    """A folder of masks for each label but the first, which is where no mask is."""
    for side, maps in sides.items():
        for value, label in enumerate(labels[1:], 1):
            for name, pixels in maps.items():
                put(f"{side}/{label}/{name}.png", picture((pixels == value).astype(np.uint8)))


def manifests(
    sides: Mapping[str, Mapping[str, np.ndarray]], extension: str, writer: Writer
) -> None:
    """A manifest for each model, with metadata, beside the folders of PNGs."""
    png_folders(sides)
    for side in sides:
        if side == "ground_truth":
            continue
        rows = [
            {
                "sample_id": name,
                "ground_truth": f"ground_truth/{name}.png",
                "prediction": f"{side}/{name}.png",
                "weather": ("sun", "rain", "föhn")[at % 3],
            }
            for at, name in enumerate(sides[side])
        ]
        put(f"{side}.{extension}", writer(rows))


def panoptic_maps(sides: Mapping[str, Mapping[str, np.ndarray]], labels: Iterable[str]) -> None:
    """COCO panoptic: a segment for each value of an image."""
    categories = [{"id": at + 1, "name": name, "isthing": 0} for at, name in enumerate(labels)]
    for side, maps in sides.items():
        images, annotations = [], []
        for name, pixels in maps.items():
            colours = np.zeros((*pixels.shape, 3), np.uint8)
            colours[..., 0] = pixels + 1
            put(f"{side}/{name}.png", picture(colours))
            height, width = pixels.shape
            images.append(
                {"id": name, "file_name": f"{name}.jpg", "width": width, "height": height}
            )
            there = np.unique(pixels).tolist()
            annotations.append(
                {
                    "image_id": name,
                    "file_name": f"{name}.png",
                    "segments_info": [{"id": one + 1, "category_id": one + 1} for one in there],
                }
            )
        whole = {"images": images, "categories": categories, "annotations": annotations}
        put(f"{side}.json", json.dumps(whole).encode())
