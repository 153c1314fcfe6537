"""`valor init`: what it offers, and that each config runs, with the numbers that it should."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import py3langid
import pytest
import yaml
from PIL import Image
from pycocotools import mask as coco_masks
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
from rouge_score.rouge_scorer import RougeScorer
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    brier_score_loss,
    jaccard_score,
)

from tests.cli.conftest import ROOT, Valor
from tests.cli.judged import refused
from tests.models.server import Asked, FaultServer, Turn, said
from tests.program import invoke
from valor_cli import catalogue
from valor_cli.models.embedders.onnx_embedder import OnnxEmbedder
from valor_cli.models.requests import Request, Stop, conversation
from valor_cli.models.settings import EmbedderSettings

SAMPLE = ROOT / "sample_data"
CONFIGS = sorted(path.stem for path in (ROOT / "configs").glob("*.yaml"))
WITH_BASELINE = {"max_drop", "not_worse"}
"""Rules of gates that nothing is checked of without an earlier run."""

LONG = {"object_detection_nightly", "text_generation_models", "text_generation_robustness"}
RUN = [pytest.param(one, marks=pytest.mark.slow) if one in LONG else one for one in CONFIGS]
"""Every config, those whose runs take longest among the slow tests."""

MOST_BYTES = 1_750_000


# --- What is offered -----------------------------------------------------------------------------


def test_the_list_names_every_config_with_what_it_shows(valor: Valor) -> None:
    done = valor("init", "--list")
    assert (done.returncode, done.stderr) == (0, "")
    listed = dict(re.findall(r"^  (\w+) +(\S.*)$", done.stdout, re.MULTILINE))
    assert sorted(listed) == CONFIGS
    assert re.findall(r"^(\w+)$", done.stdout, re.MULTILINE) == list(catalogue.task_names())
    for name, about in listed.items():
        first = (ROOT / "configs" / f"{name}.yaml").read_text(encoding="utf-8").splitlines()[0]
        assert first.startswith(f"# {about}")
        assert about[-1] in ".?"
        assert len(about) <= 90


def test_the_list_of_one_task(valor: Valor) -> None:
    done = valor("init", "classification", "--list")
    assert [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")] == [
        "classification",
        "classification_comparison",
        "classification_nightly",
    ]
    refused(valor("init", "clasification", "--list"), "did you mean 'classification'?")


def test_what_was_written_is_told_aligned_with_the_next_command(
    valor: Valor, tmp_path: Path
) -> None:
    done = valor("init", "semantic_segmentation", "demo", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    own, ci, data, following = done.stdout.splitlines()
    config = "  demo/configs/semantic_segmentation"
    assert own == f"{config}.yaml     Label maps of two models, compared with ground truth."
    assert ci.startswith(f"{config}_ci.yaml  A CI gate: are the label maps good enough, ")
    assert data == "wrote these configs with their data: demo/sample_data/semantic_segmentation/"
    assert following == "next: valor evaluate demo/configs/semantic_segmentation.yaml"
    assert (tmp_path / "demo/sample_data/semantic_segmentation/README.md").is_file()


def test_without_arguments_it_writes_boxes_here(valor: Valor, tmp_path: Path) -> None:
    done = valor("init", cwd=tmp_path)
    assert done.stdout.endswith("next: valor evaluate configs/object_detection.yaml\n")
    assert (tmp_path / "configs/object_detection.yaml").is_file()
    refused(valor("init", cwd=tmp_path), "configs/object_detection.yaml: exists already")


def test_sample_data_are_small_and_every_folder_says_where_it_comes_from() -> None:
    files = [path for path in SAMPLE.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= MOST_BYTES
    for task in catalogue.task_names():
        text = (SAMPLE / task / "README.md").read_text(encoding="utf-8")
        assert re.search(r"Origin|From", text)
        assert re.search(r"CC BY|CC0|MIT|Apache-2.0", text)
        # Files are named, those of a folder by the folder.
        for path in (SAMPLE / task).iterdir():
            assert path.name in text or path.name == "README.md", path


# --- Every config runs ---------------------------------------------------------------------------


class Ran(NamedTuple):
    """A run: its exit code, what was said, the folder of its reports."""

    code: int
    said: str
    out: Path

    @property
    def result(self) -> Any:
        return json.loads((self.out / "results.json").read_text(encoding="utf-8"))

    def value(self, metric: str, **wanted: Any) -> float:
        """The one value of that metric; `parameters` need not be all of them."""
        parameters = wanted.pop("parameters", {})
        wanted = {"slice": None, "label": None, **wanted}
        (row,) = (
            row
            for row in self.result["metrics"]
            if row["metric"] == metric
            and all(row[key] == value for key, value in wanted.items())
            and all(row["parameters"].get(key) == value for key, value in parameters.items())
        )
        return float(row["value"])


Evaluating = Callable[..., Ran]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what `valor init` writes of every task."""
    folder = tmp_path_factory.mktemp("desk")
    for task in catalogue.task_names():
        done = invoke(["init", task, str(folder)])
        assert done.exit_code == 0, done.output
    return folder


@pytest.fixture(scope="module")
def evaluated(desk: Path) -> Evaluating:
    """`evaluated(name, *more, **environment)`: a config's run; the same twice is run once."""

    @cache
    def run(name: str, *more: str, **environment: str) -> Ran:
        config = desk / "configs" / f"{name}.yaml"
        settings = yaml.safe_load(config.read_text(encoding="utf-8"))
        out = desk / f"out{len(list(desk.glob('out*')))}"
        fewer = ["--set", "interval.resamples=20"] if "interval" in settings else []
        command = ["evaluate", str(config), "--out", str(out), "--offline", *fewer, *more]
        done = invoke(command, env=environment)
        return Ran(done.exit_code, done.output, out)

    return run


def test_the_desk_holds_every_config(desk: Path) -> None:
    assert sorted(path.stem for path in (desk / "configs").iterdir()) == CONFIGS


def test_every_config_is_valid(desk: Path) -> None:
    paths = sorted(str(path) for path in (desk / "configs").glob("*.yaml"))
    done = invoke(["validate", *paths])
    assert done.exit_code == 0, done.output
    assert done.output.splitlines() == [f"{path}: ok" for path in paths]


@pytest.mark.parametrize("name", RUN)
def test_every_config_runs_and_passes(name: str, desk: Path, evaluated: Evaluating) -> None:
    ran = evaluated(name)
    settings = yaml.safe_load((desk / "configs" / f"{name}.yaml").read_text(encoding="utf-8"))
    waits = any(WITH_BASELINE & set(gate) for gate in settings.get("gates", ()))
    assert ran.code == (3 if waits else 0), ran.said
    names = {"markdown": "report.md", "html": "report.html", "json": "results.json"}
    names |= {"junit": "junit.xml", "csv": "results.csv"}
    for form in settings["report"]["formats"]:
        assert (ran.out / names[form]).stat().st_size > 0
    assert settings["report"]["out"] == f"../reports/{name}"
    gates = ran.result["gates"]
    assert bool(gates) == ("gates" in settings)
    for gate in gates:
        waits = gate["rule"] in WITH_BASELINE
        assert gate["status"] == ("not checked" if waits else "passed"), gate
    assert not gates or any(gate["status"] == "passed" for gate in gates)


@pytest.mark.parametrize("name", CONFIGS)
def test_every_config_says_how_it_is_run(name: str) -> None:
    text = (ROOT / "configs" / f"{name}.yaml").read_text(encoding="utf-8")
    assert f"valor evaluate configs/{name}.yaml" in text
    assert max(map(len, text.splitlines())) <= 130
    # What a comment offers is there: commands, files.
    for path in re.findall(r"configs/\w+\.yaml", text):
        assert (ROOT / path).is_file()


# --- Gates of CI ---------------------------------------------------------------------------------

CI = {
    "object_detection_ci": ("PREDICTIONS", "object_detection/small.json"),
    "semantic_segmentation_ci": ("PREDICTIONS", "semantic_segmentation/shifted"),
}
"""The variable that names what is judged, and a worse model."""


@pytest.mark.parametrize("name", CI)
def test_the_gate_lets_the_better_model_through_and_no_worse_one(
    name: str, evaluated: Evaluating
) -> None:
    variable, path = CI[name]
    weak = {variable: f"../sample_data/{path}"}
    # Fewer resamples than 40 can find nothing significant.
    more = ("--set", "interval.resamples=100")
    worse = evaluated(name, *more, **weak)
    better = evaluated(name, *more)
    assert (worse.code, better.code) == (3, 3), worse.said
    up = evaluated(name, *more, "--baseline", str(worse.out))
    assert up.code == 0, up.said
    assert {gate["status"] for gate in up.result["gates"]} == {"passed"}
    down = evaluated(name, *more, "--baseline", str(better.out), **weak)
    assert down.code == 1
    failed = {gate["rule"] for gate in down.result["gates"] if gate["status"] == "failed"}
    assert failed == WITH_BASELINE
    assert "<failure" in (down.out / "junit.xml").read_text(encoding="utf-8")


def test_the_gate_of_texts_notices_worse_answers(evaluated: Evaluating, desk: Path) -> None:
    before = evaluated("text_generation_ci")
    again = evaluated("text_generation_ci", "--baseline", str(before.out))
    assert again.code == 0, again.said
    assert {gate["status"] for gate in again.result["gates"]} == {"passed"}
    lines = (SAMPLE / "text_generation/answers.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [{**json.loads(line), "response": "I do not know."} for line in lines]
    (desk / "dull.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    dull = evaluated("text_generation_ci", "--baseline", str(before.out), ANSWERS="../dull.jsonl")
    assert dull.code == 1
    failed = {gate["rule"] for gate in dull.result["gates"] if gate["status"] == "failed"}
    assert failed == {*WITH_BASELINE, "min"}


# --- A judge of your own -------------------------------------------------------------------------

RAG = "text_generation_rag_local_judge"
CASSETTE = SAMPLE / "text_generation/rag_judge.cassette.jsonl"
ASKED = (
    ("context_relevance", "context_relevance"),
    ("context_recall", "statements"),
    ("context_recall", "context_recall"),
    ("faithfulness", "statements"),
    ("faithfulness", "faithfulness"),
    ("answer_correctness", "answer_correctness"),
)
"""Metric and prompt of the calls of a sample, in their order."""


def recorded() -> list[Any]:
    return [json.loads(line) for line in CASSETTE.read_text(encoding="utf-8").splitlines()]


def test_the_cassette_is_what_recording_its_replies_gives(tmp_path: Path) -> None:
    """So it can be made again when prompts change: the file of this test is then the new one."""
    rows = [
        json.loads(line)
        for line in (SAMPLE / "text_generation/rag.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    samples = list(dict.fromkeys(row["sample_id"] for row in rows))
    replies = []
    # Sample by sample, of each all models.
    for row in sorted(rows, key=lambda row: samples.index(row["sample_id"])):
        for metric, prompt in ASKED:
            own = [
                line
                for line in recorded()
                if (line["sample_id"], line["metric"], line["prompt"])
                == (row["sample_id"], metric, prompt)
            ]
            # Of two models that are asked the same about the first one alone is recorded.
            (line,) = [one for one in own if one["model"] == row["model"]] or own
            replies.append({"reply": line["reply"]})
    (tmp_path / "replies.jsonl").write_text("".join(json.dumps(one) + "\n" for one in replies))
    made = tmp_path / "rag_judge.cassette.jsonl"
    judge = {"backend": "scripted", "name": "by hand", "replies": str(tmp_path / "replies.jsonl")}
    arguments = [f"judge={json.dumps({**judge, 'record': str(made)})}", f"report.out={tmp_path}"]
    options = [part for one in arguments for part in ("--set", one)]
    config = ROOT / "configs" / f"{RAG}.yaml"
    done = invoke(["evaluate", str(config), *options])
    assert done.exit_code == 0, done.output
    assert made.read_bytes() == CASSETTE.read_bytes(), f"prompts changed? the new one is {made}"


@pytest.mark.slow
def test_the_block_in_the_comment_asks_a_server(desk: Path, tmp_path: Path) -> None:
    """A server that says what was recorded gives the same values as the recording."""
    replies = {line["key"]: line["reply"] for line in recorded()}

    def plan(asked: Asked) -> Turn:
        told = conversation(*((one["role"], one["content"]) for one in asked.body["messages"]))
        form = asked.body.get("response_format", {}).get("json_schema", {})
        return said(replies[Request(told, form.get("schema")).key])

    text = (desk / "configs" / f"{RAG}.yaml").read_text(encoding="utf-8")
    block = re.search(r"^# judge:\n(?:#   .*\n)+", text, re.MULTILINE)
    assert block
    settings = yaml.safe_load(re.sub(r"^# ", "", block[0], flags=re.MULTILINE))["judge"]
    with FaultServer(plan) as server:
        settings |= {"api_base": server.url, "cache": False, "record": str(tmp_path / "made")}
        config = yaml.safe_load(text) | {"judge": settings, "report": {"out": str(tmp_path)}}
        path = desk / "configs" / "asked.yaml"
        path.write_text(json.dumps(config))
        done = invoke(["evaluate", str(path)], env={"OPENAI_API_KEY": "none"})
    path.unlink()
    assert done.exit_code == 0, done.output
    assert server.requests[0].body["model"] == "llama3.1"
    played = invoke(
        ["evaluate", str(desk / "configs" / f"{RAG}.yaml"), "--out", str(tmp_path / "played")]
    )
    assert played.exit_code == 0, played.output
    here, there = (
        [[row["metric"], row["model"], row["output"], row["value"]] for row in result["metrics"]]
        for result in (Ran(0, "", tmp_path).result, Ran(0, "", tmp_path / "played").result)
    )
    assert here == there


# --- Numbers -------------------------------------------------------------------------------------


def jsonl(name: str) -> list[Any]:
    text = (SAMPLE / "text_generation" / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def table(name: str) -> list[dict[str, str]]:
    with (SAMPLE / "classification" / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def coco_ap(task: str, model: str, kind: str) -> float:
    """AP as pycocotools has it."""
    with redirect_stdout(io.StringIO()):
        truth = COCO(str(SAMPLE / task / "ground_truth.json"))
        run = COCOeval(truth, truth.loadRes(str(SAMPLE / task / f"{model}.json")), kind)
        run.evaluate()
        run.accumulate()
        run.summarize()
    return float(run.stats[0])


def digits(model: str) -> tuple[list[int], np.ndarray[Any, Any]]:
    """Labels and probabilities, row by row."""
    truth = {row["id"]: int(row["label"]) for row in table("ground_truth.csv")}
    rows = table(f"{model}.csv")
    scores = np.array([[float(row[str(label)]) for label in range(10)] for row in rows])
    # Six digits of each do not quite add up to 1.
    return [truth[row["id"]] for row in rows], scores / scores.sum(axis=1, keepdims=True)


def pixels(model: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """All pixels of all images: what they are, and what the model says."""

    def read(folder: str) -> Iterator[np.ndarray[Any, Any]]:
        for path in sorted((SAMPLE / "semantic_segmentation" / folder).glob("*.png")):
            with Image.open(path) as picture:
                yield np.asarray(picture).ravel()

    return np.concatenate(list(read("ground_truth"))), np.concatenate(list(read(model)))


def panoptic(model: str) -> float:
    """PQ by its definition, pixels of no ground truth void: out of unions, and forgiving."""
    folder = SAMPLE / "instance_segmentation"
    truth = json.loads((folder / "ground_truth.json").read_text(encoding="utf-8"))
    found = json.loads((folder / f"{model}.json").read_text(encoding="utf-8"))
    sizes = {one["id"]: [one["height"], one["width"]] for one in truth["images"]}

    def drawn(objects: Iterable[Mapping[str, Any]], image: int) -> Sequence[Any]:
        runs = [one["segmentation"] for one in objects if one["image_id"] == image]
        packed = [
            coco_masks.frPyObjects(one, *sizes[image]) if isinstance(one["counts"], list) else one
            for one in runs
        ]
        return [coco_masks.decode(one).astype(bool) for one in packed]

    ious: list[float] = []
    unmatched = 0.0
    for image in sizes:
        right, said_of = drawn(truth["annotations"], image), drawn(found, image)
        known = np.logical_or.reduce(right)
        taken: set[int] = set()
        for one in said_of:
            unions = [((one & known) | other).sum() for other in right]
            iou = [(one & other).sum() / union for other, union in zip(right, unions, strict=True)]
            best = int(np.argmax(iou))
            if iou[best] > 0.5:
                ious.append(float(iou[best]))
                taken.add(best)
            elif (one & ~known).sum() <= 0.5 * one.sum():
                unmatched += 0.5
        unmatched += 0.5 * (len(right) - len(taken))
    return sum(ious) / (len(ious) + unmatched)


def names_a_reference(row: Mapping[str, Any]) -> bool:
    return any(one.lower() in row["response"].lower() for one in row["references"])


def of_model(name: str, model: str) -> list[Any]:
    return [row for row in jsonl(name) if row["model"] == model]


def rouge_l(rows: Sequence[Mapping[str, Any]]) -> float:
    scorer = RougeScorer(["rougeL"])
    return float(
        np.mean(
            [
                scorer.score_multi(row["references"], row["response"])["rougeL"].fmeasure
                for row in rows
            ]
        )
    )


Check = Callable[[Ran], tuple[float, float]]

NUMBERS: dict[str, Check] = {
    "classification": lambda ran: (
        ran.value("accuracy", model="random_forest"),
        accuracy_score(digits("random_forest")[0], digits("random_forest")[1].argmax(1)),
    ),
    # Four models, and probabilities whose squared errors are added up over labels.
    "classification_comparison": lambda ran: (
        ran.value("brier_score", model="logistic_regression"),
        brier_score_loss(
            *digits("logistic_regression"), labels=list(range(10)), scale_by_half=False
        ),
    ),
    "classification_nightly": lambda ran: (
        ran.value("balanced_accuracy"),
        balanced_accuracy_score(*zip(*people(), strict=True)),
    ),
    "instance_segmentation": lambda ran: (
        ran.value("coco", output="AP", model="watershed"),
        coco_ap("instance_segmentation", "watershed", "segm"),
    ),
    "instance_segmentation_panoptic": lambda ran: (
        ran.value("panoptic_quality", output="pq", model="shifted"),
        panoptic("shifted"),
    ),
    "object_detection": lambda ran: (
        ran.value("coco", output="AP", model="large"),
        coco_ap("object_detection", "large", "bbox"),
    ),
    "object_detection_ci": lambda ran: (
        ran.value("coco", output="AP"),
        coco_ap("object_detection", "large", "bbox"),
    ),
    "object_detection_nightly": lambda ran: (
        ran.value("coco", output="AP", model="small"),
        coco_ap("object_detection", "small", "bbox"),
    ),
    # Printed by review_object_detection_metrics: tests/real_data/detection/voc-7img-24det
    "object_detection_pascal_voc": lambda ran: (
        ran.value(
            "mean_average_precision",
            parameters={"interpolation": "11_point", "iou_threshold": 0.3},
        ),
        0.2683982683,
    ),
    "semantic_segmentation": lambda ran: (
        ran.value("mean_iou", model="shifted"),
        jaccard_score(*pixels("shifted"), average="macro"),
    ),
    "semantic_segmentation_ci": lambda ran: (
        ran.value("pixel_accuracy"),
        accuracy_score(*pixels("random_forest")),
    ),
    "text_generation": lambda ran: (
        ran.value("rouge_l", output="f1", model="chatgpt"),
        rouge_l(of_model("answers.jsonl", "chatgpt")),
    ),
    "text_generation_ci": lambda ran: (
        ran.value("text_matching", output="pass", model="gpt4"),
        float(np.mean([names_a_reference(row) for row in of_model("answers.jsonl", "gpt4")])),
    ),
    # Claims that follow, of all claims of the answer: 2 of 2, 4 of 5, 2 of 3, 2 of 4.
    "text_generation_judge": lambda ran: (
        ran.value("faithfulness", model="gpt-4o"),
        (2 / 2 + 4 / 5 + 2 / 3 + 2 / 4) / 4,
    ),
    "text_generation_models": lambda ran: (
        ran.value("semantic_similarity", model="gpt-4o"),
        mean_cosine(of_model("rag.jsonl", "gpt-4o")),
    ),
    # Statements of the right answer that the passages hold: 1 of 1, 2 of 2, 4 of 5, 1 of 2.
    "text_generation_rag_local_judge": lambda ran: (
        ran.value("context_recall", model="llama-3.1-405b"),
        (1 / 1 + 2 / 2 + 4 / 5 + 1 / 2) / 4,
    ),
    "text_generation_robustness": lambda ran: (
        ran.value("llm_classification", output="accuracy"),
        float(np.mean([language_of(row) == row["reference"] for row in jsonl("robustness.jsonl")])),
    ),
    # The ten that were planted, an address of a customer service, and an agent's number.
    "text_generation_safety": lambda ran: (
        ran.value("pii_leakage", output="pass"),
        (51 - 10 - 2) / 51,
    ),
}


def mean_cosine(rows: Sequence[Mapping[str, Any]]) -> float:
    """Of each response and its reference, by vectors that have tests of their own."""
    embedder = OnnxEmbedder(EmbedderSettings(), Stop())
    texts = [text for row in rows for text in (row["response"], *row["references"])]
    vectors = np.asarray(asyncio.run(embedder.embed(texts)), dtype=np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return float((vectors[::2] * vectors[1::2]).sum(axis=1).mean())


def people() -> list[tuple[str, str]]:
    return [(row["label"], row["prediction"]) for row in table("people.csv")]


def language_of(row: Mapping[str, Any]) -> str:
    return str(py3langid.classify(row["user_input"])[0])


@pytest.mark.parametrize("name", RUN)
@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")  # `na`: no answer
@pytest.mark.filterwarnings("ignore:__array__ implementation doesn't:DeprecationWarning")  # COCO's
def test_a_number_of_every_config(name: str, evaluated: Evaluating) -> None:
    ours, theirs = NUMBERS[name](evaluated(name))
    assert ours == pytest.approx(theirs, abs=1e-9)


# --- Sample data are what their README says ------------------------------------------------------


def test_perturbed_sentences_are_those_of_the_command(tmp_path: Path) -> None:
    rows = jsonl("robustness.jsonl")
    kept = [{k: v for k, v in row.items() if k != "response"} for row in rows]
    asked = [row for row in kept if "perturbed_from" not in row]
    (tmp_path / "sentences.jsonl").write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in asked), encoding="utf-8"
    )
    made = tmp_path / "robustness.jsonl"
    done = invoke(
        [
            *("perturb", str(tmp_path / "sentences.jsonl")),
            *("--kind", "typo,homoglyph,base64", "-o", str(made)),
        ],
    )
    assert done.exit_code == 0, done.output
    assert [json.loads(line) for line in made.read_text(encoding="utf-8").splitlines()] == kept
    assert [language_of(row) for row in rows] == [row["response"] for row in rows]


def test_flips_are_those_of_the_outputs(evaluated: Evaluating) -> None:
    rows = {row["id"]: row for row in jsonl("robustness.jsonl")}
    right = {key: row["response"] == row["reference"] for key, row in rows.items()}
    flipped = {
        key
        for key, row in rows.items()
        if "perturbed_from" in row and right[key] != right[row["perturbed_from"]]
    }
    problems = evaluated("text_generation_robustness").result["problems"]
    told = [one["message"] for one in problems if one["kind"] == "flip"]
    assert f"{len(flipped)} of {len(rows) * 3 // 4} perturbed samples" in " ".join(told)
