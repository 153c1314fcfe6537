"""Whole runs on inputs in stores: the same results as of the same files on this machine."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import fsspec
import pytest
import zstandard
from moto.server import ThreadedMotoServer
from PIL import Image

from valor_cli import catalogue, pipeline
from valor_cli.config import load_config
from valor_cli.errors import ConfigError
from valor_cli.pipeline.offline import refuse_urls
from valor_cli.results.document import to_json

pytestmark = pytest.mark.scale

SAMPLE = Path(__file__).parents[2] / "sample_data"
KEY, SECRET = "AKIATESTKEY0", "very/secret+words"


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of a server that speaks S3, with a bucket `data`; the environment names it."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    client = boto3.client("s3")
    client.create_bucket(Bucket="data")
    yield client
    client.close()
    server.stop()


def evaluate(config: Path, *more: str) -> tuple[Any, Any, str]:
    """The results but for the record of the run, that record, and everything that is shown."""
    out = config.with_suffix("")
    command = [
        sys.executable,
        "-W",
        "error",
        "-m",
        "valor_cli",
        "evaluate",
        str(config),
        "--out",
        str(out),
    ]
    done = subprocess.run(
        [*command, *more], capture_output=True, text=True, check=False, cwd=config.parent
    )
    assert done.returncode == 0, done.stderr
    results = json.loads((out / "results.json").read_bytes())
    written = [one.read_text(errors="replace") for one in sorted(out.iterdir()) if one.is_file()]
    return results, results.pop("run"), "\n".join([done.stdout, done.stderr, *written])


def lines(count: int) -> list[str]:
    """Samples of three classes with scores, one a line."""
    labels = ("cat", "dog", "owl")
    return [
        json.dumps(
            {
                "sample_id": row,
                "label": labels[row * 7 % 3],
                "predictions": {one: row * (at + 3) % 101 / 101 for at, one in enumerate(labels)},
            }
        )
        for row in range(count)
    ]


def test_shards_in_a_bucket(s3: Any, tmp_path: Path) -> None:
    rows = lines(600)
    for at in range(3):
        content = "\n".join(rows[at::3]).encode()
        (tmp_path / f"{at}.jsonl.zst").write_bytes(zstandard.compress(content))
        s3.put_object(Bucket="data", Key=f"x/{at}.jsonl.zst", Body=zstandard.compress(content))
    packed = gzip.compress("\n".join(rows).encode(), mtime=0)
    s3.put_object(Bucket="data", Key="all.jsonl.gz", Body=packed)
    signed = s3.generate_presigned_url(
        "get_object", Params={"Bucket": "data", "Key": "all.jsonl.gz"}
    )
    config = "task: classification\ndata:\n  samples: {model: '%s'}\n"
    found = {}
    for name, path in (
        ("local", "*.jsonl.zst"),
        ("bucket", "s3://data/x/*.jsonl.zst"),
        ("packed", "s3://data/all.jsonl.gz"),
        ("signed", signed),
        ("password", signed.partition("?")[0].replace("://", "://me:hunter2@")),
    ):
        (tmp_path / f"{name}.yaml").write_text(config % path)
        found[name] = evaluate(
            tmp_path / f"{name}.yaml", "--set", f"data.samples.model={json.dumps(path)}"
        )
    local = found["local"]
    for name, (results, run, shown) in found.items():
        if name in ("local", "bucket"):
            assert results == local[0]
        else:
            # The same rows in another order; the lone file has all that the shards have.
            assert results["metrics"] == local[0]["metrics"]
        for secret in (SECRET, KEY, "hunter2", *signed.partition("Signature=")[2].split("&")[:1]):
            assert secret not in shown, name
        assert run["inputs"], name
    assert [one["path"] for one in found["bucket"][1]["inputs"]] == [
        f"s3://data/x/{at}.jsonl.zst" for at in range(3)
    ]
    assert found["bucket"][1]["inputs"][0]["sha256"] == local[1]["inputs"][0]["sha256"]
    assert found["signed"][1]["inputs"][0]["path"].endswith("&Signature=…&Expires=…")
    assert "://…@127.0.0.1:" in found["password"][1]["inputs"][0]["path"]
    assert "://…@127.0.0.1:" in found["password"][1]["command"]


def test_one_message_without_credentials(s3: Any, tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text(
        "task: classification\ndata:\n  samples: s3://data/*.jsonl\n"
    )
    none = {"AWS_SHARED_CREDENTIALS_FILE": "none", "AWS_CONFIG_FILE": "none"}
    environment = {
        name: value
        for name, value in {**os.environ, **none}.items()
        if name not in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    }
    done = subprocess.run(
        [sys.executable, "-m", "valor_cli", "evaluate", "run.yaml"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment,
    )
    assert done.returncode == 2
    first, second = done.stderr.strip().split("\n")
    assert first == "error: s3://data/*.jsonl: no credentials were found for this store"
    assert "AWS_ACCESS_KEY_ID" in second


CONFIGS = {
    "classification": (
        "task: classification\ndata:\n  ground_truth: ROOT/classification/ground_truth.csv\n"
        "  predictions: {one: ROOT/classification/random_*.csv}\nslices: auto\n"
    ),
    "detection": (
        "task: object_detection\ndata:\n  ground_truth: ROOT/object_detection/ground_truth.json\n"
        "  predictions: ROOT/object_detection/small.json\n"
    ),
    "instances": (
        "task: instance_segmentation\ndata:\n"
        "  ground_truth: ROOT/instance_segmentation/ground_truth.json\n"
        "  predictions: ROOT/instance_segmentation/watershed.json\n"
    ),
    "segmentation": (
        "task: semantic_segmentation\ndata:\n"
        "  ground_truth: ROOT/semantic_segmentation/ground_truth\n"
        "  predictions: ROOT/semantic_segmentation/shifted/\n"
        "  labels: ROOT/semantic_segmentation/classes.json\n"
        "  images: ROOT/semantic_segmentation/ground_truth\n"
    ),
    "manifest": (
        "task: semantic_segmentation\ndata:\n  ground_truth: ROOT/semantic_segmentation/maps.csv\n"
        "  labels: ROOT/semantic_segmentation/classes.json\n"
    ),
    "text": "task: text_generation\ndata: {samples: ROOT/text_generation/answers.jsonl}\n",
    "yolo": (
        "task: object_detection\ndata:\n  ground_truth: ROOT/yolo/truth\n"
        "  predictions: ROOT/yolo/found\n  images: ROOT/yolo/images\n"
    ),
    "voc": (
        "task: object_detection\ndata:\n  ground_truth: ROOT/voc/truth\n"
        "  predictions: ROOT/voc/found\n"
    ),
}
XML = (
    "<annotation><filename>{name}.png</filename><size><width>64</width><height>32</height></size>"
    "<object><name>cat</name>{score}<bndbox><xmin>{at}</xmin><ymin>3</ymin><xmax>30</xmax>"
    "<ymax>20</ymax></bndbox></object></annotation>"
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The sample data and small folders of labels, on this machine and in the store `memory`."""
    root = tmp_path_factory.mktemp("data")
    for one in SAMPLE.rglob("*"):
        if one.is_file():
            write(root / one.relative_to(SAMPLE), one.read_bytes())
    maps = sorted((root / "semantic_segmentation" / "shifted").glob("*.png"))
    pairs = [f"ground_truth/{one.name},./shifted/{one.name}\n" for one in maps]
    header = "ground_truth,prediction\n"
    write(root / "semantic_segmentation" / "maps.csv", (header + "".join(pairs)).encode())
    write(root / "yolo" / "classes.txt", b"cat\ndog\n")
    for at, name in enumerate("abc"):
        write(
            root / "yolo" / "truth" / f"{name}.txt", f"{at % 2} .5 .5 .2 .2\n".encode() * (at > 0)
        )
        write(root / "yolo" / "found" / f"{name}.txt", f"1 .5 .5 .2 .{at + 1} .9\n".encode())
        Image.new("L", (64, 32)).save(root / "image.png")
        write(root / "yolo" / "images" / f"{name}.png", (root / "image.png").read_bytes())
        score = f"<score>.{at + 1}</score>"
        write(
            root / "voc" / "truth" / f"{name}.xml", XML.format(name=name, at=4, score="").encode()
        )
        write(
            root / "voc" / "found" / f"{name}.xml",
            XML.format(name=name, at=at, score=score).encode(),
        )
    store = fsspec.filesystem("memory")
    for one in root.rglob("*"):
        if one.is_file():
            store.pipe_file(f"/root/{one.relative_to(root).as_posix()}", one.read_bytes())
    yield root
    store.store.clear()
    store.pseudo_dirs[:] = [""]


def write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def results_of(text: str, root: str, folder: Path) -> tuple[str, list[tuple[str, str]]]:
    """The results of a config whose data stand under a root, and the names and digests of them."""
    (folder / "run.yaml").write_text(text.replace("ROOT", root))
    plan = pipeline.make_plan(load_config(folder / "run.yaml", catalogue, ()))
    document = json.loads(to_json(pipeline.evaluate(plan, command="")))
    inputs = [(one["path"], one["sha256"]) for one in document.pop("run")["inputs"]]
    plain = [(path.removeprefix(root).rstrip("/"), digest) for path, digest in inputs]
    return json.dumps(document).replace(root, "ROOT"), plain


@pytest.mark.parametrize("name", CONFIGS)
def test_every_format_in_a_store(name: str, data: Path, tmp_path: Path) -> None:
    here = results_of(CONFIGS[name], str(data), tmp_path)
    there = results_of(CONFIGS[name], "memory://root", tmp_path)
    assert there == here


def test_offline(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text(
        "task: classification\ndata:\n  ground_truth: a.csv\n"
        "  predictions: {one: b.csv, two: 'https://me:hunter2@host/c.csv?sig=abc'}\n"
    )
    with pytest.raises(ConfigError) as caught:
        refuse_urls(load_config(tmp_path / "run.yaml", catalogue, ()))
    told = str(caught.value)
    assert "run.yaml:4:" in told
    assert (
        "data.predictions.two: --offline does not read URLs: https://…@host/c.csv?sig=…\n" in told
    )
    assert "Copy the files to this machine" in told


def test_runs_without_urls_import_nothing_for_them(tmp_path: Path) -> None:
    config = tmp_path / "run.yaml"
    config.write_text(CONFIGS["classification"].replace("ROOT", str(SAMPLE)))
    program = (
        "import sys\nfrom valor_cli.cli.app import app\n"
        f"app(['evaluate', {str(config)!r}, '--out', {str(tmp_path / 'out')!r}, '--quiet'],"
        " standalone_mode=False)\n"
        "print([one for one in sys.modules if one in ('fsspec', 'aiohttp', 's3fs', 'asyncio')])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip().splitlines()[-1] == "[]"
