"""Intervals, comparisons, gates and found slices, from files to results.json, against plain loops.

The expected numbers are of scipy, sacrebleu, scikit-learn and pycocotools, from the input alone.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests import program
from tests.cli.conftest import configured, read_run, written
from tests.oracles import plain_comparisons as plain
from tests.oracles.plain_comparisons import close, one

Record = dict[str, Any]
WORDS = ["the", "a", "cat", "dog", "house", "river", "stone", "bright", "over", "under", "jumps"]
OBJECTS = Path(__file__).parents[2] / "sample_data" / "object_detection"
SEED, RESAMPLES, LEVEL = 7, 40, 0.9
INTERVAL = {"resamples": RESAMPLES, "level": LEVEL, "seed": SEED}
BESIDE = ("model", "other", "baseline", "reason")


def run(folder: Path, *arguments: object, code: int = 0) -> str:
    """What the program prints, in this process."""
    done = program.run(*arguments, cwd=folder)
    assert done.returncode == code, (done.stdout, done.stderr)
    return done.stdout


def evaluate(
    folder: Path, out: str, *options: object, code: int = 0, **config: Any
) -> dict[str, Any]:
    """What results.json holds after a run."""
    config = {"report": {"formats": ["json"]}, **config}
    path = configured(folder, config.pop("task"), config.pop("data"), name=out, **config)
    run(folder, "evaluate", path, "--out", out, "-q", *options, code=code)
    found: dict[str, Any] = read_run(folder / out).result
    return found


def said(rows: Sequence[Mapping[str, Any]]) -> list[Record]:
    """All of comparisons but whose they are."""
    return [{name: value for name, value in row.items() if name not in BESIDE} for row in rows]


# ---- texts


def answers(count: int, right: float, seed: int, **columns: Sequence[Any]) -> list[Record]:
    """Samples; a part of the responses is a reference, the others have other words."""
    asked, said = np.random.default_rng(0), np.random.default_rng(seed)
    rows = []
    for at in range(count):
        several = [asked.choice(WORDS, asked.integers(4, 10)).tolist() for _ in range(1 + at % 2)]
        words = list(several[-1])
        if said.random() >= right:
            words = [w if said.random() > 0.4 else str(said.choice(WORDS)) for w in words][:-1]
        row = {"sample_id": f"s{at}", "response": " ".join(words)}
        row["references"] = [" ".join(one) for one in several]
        rows.append({**row, **{name: column[at] for name, column in columns.items()}})
    return rows


def exact(row: Record) -> float:
    return float(any(unarticled(row["response"]) == unarticled(r) for r in row["references"]))


def unarticled(text: str) -> list[str]:
    return [word for word in text.split() if word not in ("a", "the")]


def rouge(row: Record) -> float:
    return _rouge(row["response"], tuple(row["references"]))


@cache
def _rouge(response: str, references: tuple[str, ...]) -> float:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"])
    return max(scorer.score(one, response)["rougeL"].fmeasure for one in references)


def bleu(rows: Sequence[Record]) -> float:
    return _bleu(tuple((r["response"], *(r["references"] * 2)[:2]) for r in rows))


@cache
def _bleu(texts: tuple[tuple[str, ...], ...]) -> float:
    from sacrebleu.metrics.bleu import BLEU

    responses, *streams = ([own[at] for own in texts] for at in range(3))
    return float(BLEU().corpus_score(responses, streams).score) / 100


def by_id(rows: Sequence[Record], of: Callable[[Record], float]) -> dict[str, float | None]:
    return {row["sample_id"]: of(row) for row in rows}


TEXT_METRICS = ["rouge_l", "exact_match", {"exact_match": {"normalize": False}}, "corpus_bleu"]


@pytest.mark.parametrize("grouped", [False, True])
def test_texts(tmp_path: Path, grouped: bool) -> None:
    pytest.importorskip("rouge_score")
    rng = np.random.default_rng(3)
    columns: dict[str, Sequence[Any]] = {"metadata": [{"site": "xyz"[at % 3]} for at in range(48)]}
    if grouped:
        # Groups of any size, that do not stand together; a few samples stand alone.
        names = [f"g{at}" for at in rng.integers(0, 20, 48).tolist()]
        columns["group"] = [None if at % 11 == 0 else name for at, name in enumerate(names)]
    weak, strong = answers(48, 0.3, 1, **columns), answers(48, 0.7, 2, **columns)
    # The files order samples in their own way; draws follow the ids.
    written(tmp_path / "weak.jsonl", [weak[at] for at in rng.permutation(48).tolist()])
    written(tmp_path / "strong.jsonl", [strong[at] for at in rng.permutation(48).tolist()])
    config = {"task": "text_generation", "metrics": TEXT_METRICS, "interval": INTERVAL}
    files = {"weak": "weak.jsonl", "strong": "strong.jsonl"}
    slices = {"slices": ["metadata.site"]}
    both = evaluate(tmp_path, "both", **config, **slices, data={"samples": files})
    weak, strong = (sorted(rows, key=lambda row: row["sample_id"]) for rows in (weak, strong))
    for model, rows in (("weak", weak), ("strong", strong)):
        for site in (None, "x", "y"):
            chosen = [row for row in rows if site in (None, row["metadata"]["site"])]
            where = None if site is None else f"metadata.site={site}"
            own = [row for row in both["metrics"] if (row["model"], row["slice"]) == (model, where)]
            _check_texts(own, chosen, where)
    _check_two_texts(both, weak, strong)

    # The same of two runs; with --baseline; and from their files.
    alone = {name: {"samples": {"m": path}} for name, path in files.items()}
    evaluate(tmp_path, "first", **config, data=alone["weak"])
    second = evaluate(tmp_path, "second", "--baseline", "first", **config, data=alone["strong"])
    compared = json.loads(run(tmp_path, "compare", "first", "second", "--out", "-"))
    assert compared["comparisons"] == second["comparisons"]
    assert said(second["comparisons"]) == said(both["comparisons"])

    # A slice is a run of its samples alone.
    kept = {"metadata.site": ["x"]}
    filtered = evaluate(tmp_path, "x", **config, data={"samples": files}, filter=kept)
    cut = [row for row in both["metrics"] if row["slice"] == "metadata.site=x"]
    assert [{**row, "slice": None} for row in cut] == filtered["metrics"]


def _check_texts(found: Sequence[Record], rows: Sequence[Record], cut: str | None) -> None:
    """The values of a model, and their intervals; a group is none without the column."""
    groups = [row.get("group") for row in rows]
    grouped = any(groups)
    samples = plain.drawn(len(rows), SEED, RESAMPLES, groups if grouped else None)
    units = len({at if name is None else name for at, name in enumerate(groups)})
    right, f1 = np.array([exact(row) for row in rows]), np.array([rouge(row) for row in rows])
    row = one(found, "exact_match", slice=cut, parameters={"normalize": True})
    means = plain.percentiles([float(right[at].mean()) for at in samples], LEVEL)
    close(row["value"], right.mean())
    rate = plain.wilson(int(right.sum()), len(rows), LEVEL)
    close(row["interval"], means if grouped else rate)
    assert row["method"] == ("bootstrap" if grouped else "wilson")
    row = one(found, "rouge_l", "f1", slice=cut)
    close(row["value"], f1.mean())
    close(row["interval"], plain.percentiles([float(f1[at].mean()) for at in samples], LEVEL))
    assert row["caution"] == ("small_n" if units < 30 else None)
    row = one(found, "corpus_bleu", slice=cut)
    close(row["value"], bleu(rows))
    again = [bleu([rows[at] for at in positions]) for positions in samples]
    close(row["interval"], plain.percentiles(again, LEVEL))


def _check_two_texts(both: Record, weak: Sequence[Record], strong: Sequence[Record]) -> None:
    groups = {row["sample_id"]: row.get("group") for row in weak}
    grouped = any(groups.values())
    named = groups if grouped else None
    rows = both["comparisons"]
    assert {(row["model"], row["other"]) for row in rows} == {("strong", "weak")}
    for of, name, parameters in (
        (rouge, ("rouge_l", "f1"), {"use_stemmer": False, "tokenizer": "rouge"}),
        (exact, ("exact_match", "value"), {"normalize": True}),
        (
            lambda row: float(row["response"] in row["references"]),
            ("exact_match", "value"),
            {"normalize": False},
        ),
    ):
        row = one(rows, *name, parameters=parameters)
        values = by_id(strong, of), by_id(weak, of)
        plain.check_paired(row, *values, seed=SEED, resamples=RESAMPLES, groups=named)
    samples = plain.drawn(48, SEED, RESAMPLES, list(groups.values()) if grouped else None)
    apart = [bleu([strong[at] for at in p]) - bleu([weak[at] for at in p]) for p in samples]
    units = len({at if name is None else name for at, name in enumerate(groups.values())})
    row = one(rows, "corpus_bleu")
    plain.check_resampled(row, apart, bleu(strong) - bleu(weak), units)
    assert row["n"] == 48
    plain.check_verdicts(rows, both["primary"])


def test_texts_that_one_model_lacks(tmp_path: Path) -> None:
    """Means are compared over what both have; BLEU of other samples is not compared, anyhow."""
    pytest.importorskip("rouge_score")
    weak, strong = answers(20, 0.3, 1)[:-1], answers(20, 0.7, 2)[2:]
    written(tmp_path / "weak.jsonl", weak)
    written(tmp_path / "strong.jsonl", strong)
    config = {"task": "text_generation", "metrics": ["rouge_l", "corpus_bleu"]}
    config["interval"] = INTERVAL
    files = {"weak": "weak.jsonl", "strong": "strong.jsonl"}
    both = evaluate(tmp_path, "both", **config, data={"samples": files}, code=0)
    evaluate(tmp_path, "first", **config, data={"samples": {"m": "weak.jsonl"}})
    data = {"samples": {"m": "strong.jsonl"}}
    second = evaluate(tmp_path, "second", "--baseline", "first", **config, data=data)
    assert said(second["comparisons"]) == said(both["comparisons"])
    for result in (both, second):
        row = one(result["comparisons"], "rouge_l", "f1")
        values = by_id(strong, rouge), by_id(weak, rouge)
        plain.check_paired(row, *values, seed=SEED, resamples=RESAMPLES)
        row = one(result["comparisons"], "corpus_bleu")
        assert (row["test"], row["p"], row["unpaired"]) == (None, None, 3)
        assert row["verdict"] == "not tested"
        assert row["reason"].startswith("3 samples are on one side only")
        plain.check_verdicts(result["comparisons"], result["primary"])


@pytest.mark.parametrize(("count", "p"), [(1, 1.0), (3, 0.25), (5, 0.0625), (30, 1 / 41)])
def test_a_flawless_model(tmp_path: Path, count: int, p: float) -> None:
    """Its BLEU is the mean of its samples, as any value is that all have; that of others is not.

    Of few samples no test is surer than changing signs: 2 / 2^n; of 40 resamples none is surer than
    1 / 41.
    """
    words = np.random.default_rng(1).permutation(240).reshape(30, 8).astype(str).tolist()
    for name, last in (("weak", ["nothing", "else"]), ("strong", None)):
        rows = [
            # Other lengths: BLEU is no mean of samples here.
            {"sample_id": f"s{at}", "response": " ".join(own), "reference": " ".join(text)}
            for at, text in enumerate(words[:count])
            for own in [text if last is None else [*text[: 4 + at % 3], *last]]
        ]
        written(tmp_path / f"{name}.jsonl", rows)
        options = () if last else ("--baseline", "weak")
        data = {"samples": {"m": f"{name}.jsonl"}}
        config = {"task": "text_generation", "metrics": ["corpus_bleu"], "interval": INTERVAL}
        result = evaluate(tmp_path, name, *options, **config, data=data)
    row = one(result["comparisons"], "corpus_bleu")
    assert (row["value"], row["n"]) == (1.0, count)
    close(row["p"], p)
    assert row["verdict"] == ("better" if p < 0.1 else "cannot tell")


def test_replies_that_say_nothing(tmp_path: Path) -> None:
    """An unreadable reply passes nothing and fails nothing, and is counted all the same."""
    rng = np.random.default_rng(5)
    kinds = ["absent", "present", "unreadable"]
    found = {name: rng.choice(kinds, 24, p=p).tolist() for name, p in
             (("weak", (0.4, 0.4, 0.2)), ("strong", (0.8, 0.1, 0.1)))}  # fmt: skip
    rows, replies = [], []
    for at in range(24):
        for model, verdicts in found.items():
            rows.append({"sample_id": f"s{at:02}", "model": model, "response": f"{model} {at}"})
            verdict = verdicts[at]
            reply: Any = {"reason": "so", "verdict": verdict}
            replies.append({"reply": "hm" if verdict == "unreadable" else reply})
    written(tmp_path / "samples.jsonl", rows)
    written(tmp_path / "replies.jsonl", replies)
    result = evaluate(
        tmp_path,
        "judged",
        task="text_generation",
        data={"samples": "samples.jsonl"},
        judge={"backend": "scripted", "replies": "replies.jsonl", "judge_retries": 0},
        metrics=["contact_information"],
        interval=INTERVAL,
    )
    for output, kind in (("pass", "absent"), ("fail", "present"), ("parse_failures", "unreadable")):
        values = {}
        for model, verdicts in found.items():
            row = one(result["metrics"], "contact_information", output, model=model)
            count = verdicts.count(kind)
            close([row["value"], *row["interval"]], [count / 24, *plain.wilson(count, 24, LEVEL)])
            values[model] = {f"s{at:02}": float(one == kind) for at, one in enumerate(verdicts)}
        row = one(result["comparisons"], "contact_information", output)
        plain.check_paired(row, values["strong"], values["weak"], seed=SEED, resamples=RESAMPLES)
    plain.check_verdicts(result["comparisons"], result["primary"])


# ---- gates


def test_gates_against_a_baseline(tmp_path: Path) -> None:
    """One process or two say the same; p-values are adjusted over the gates of `not_worse`."""
    before, after = answers(60, 0.8, 1), answers(60, 0.3, 2)
    written(tmp_path / "before.jsonl", before)
    written(tmp_path / "after.jsonl", after)
    config = {"task": "text_generation", "metrics": TEXT_METRICS[1:], "interval": INTERVAL}
    gates: list[Record] = [
        {"metric": "exact_match", "parameters": {"normalize": True}, "max_drop": 0.9},
        {"metric": "exact_match", "parameters": {"normalize": True}, "not_worse": 0.05},
        {"metric": "corpus_bleu", "not_worse": 0.001},
    ]
    data = [{"samples": {"m": f"{name}.jsonl"}} for name in ("before", "after")]
    evaluate(tmp_path, "first", **config, data=data[0])
    found = [
        evaluate(
            tmp_path, f"second{jobs}", "--baseline", "first", "--jobs", jobs, code=1,
            **config, data=data[1], gates=gates,
        )
        for jobs in (1, 2)
    ]  # fmt: skip
    assert json.dumps({**found[0], "run": None}) == json.dumps({**found[1], "run": None})
    for name in ("samples.jsonl", "resamples.jsonl"):
        one_process, two = (tmp_path / f"second{jobs}" / name for jobs in (1, 2))
        assert one_process.read_bytes() == two.read_bytes()
    was, now = (np.array([exact(row) for row in rows]) for rows in (before, after))
    rows = found[0]["comparisons"]
    p = [one(rows, "exact_match", parameters={"normalize": True})["p"]]
    p.append(one(rows, "corpus_bleu")["p"])
    drop, worse, bleu_worse = found[0]["gates"]
    close([drop["value"], worse["value"]], [was.mean() - now.mean(), plain.holm(p)[0]])
    close(bleu_worse["value"], plain.holm(p)[1])
    assert [gate["status"] for gate in found[0]["gates"]] == ["passed", "failed", "passed"]
    kept = [gates[0], gates[2]]
    back = {"data": data[0], "gates": gates}
    evaluate(tmp_path, "kept", "--baseline", "first", **config, data=data[1], gates=kept)
    evaluate(tmp_path, "back", "--baseline", "second1", **config, **back)


# ---- classification


def test_classification(tmp_path: Path) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    rng, labels, count = np.random.default_rng(5), list("abcd"), 60
    truth = rng.choice(labels[:3], count, p=[0.5, 0.3, 0.2])
    # Many resamples hold none of these.
    truth[[7, 31]] = "d"
    ids = [f"i{at:02}" for at in range(count)]
    lines = [("sample_id", "ground_truth"), *zip(ids, truth.tolist(), strict=True)]
    _table(tmp_path / "truth.csv", lines)
    scores: dict[str, NDArray[np.float64]] = {}
    for model, noise in (("weak", 1.1), ("strong", 0.5)):
        odds = np.exp(truth[:, None] == np.array(labels)) * np.exp(rng.normal(0, noise, (count, 4)))
        scores[model] = odds / odds.sum(1, keepdims=True)
        wide = [
            (name, *map(repr, row.tolist())) for name, row in zip(ids, scores[model], strict=True)
        ]
        order = rng.permutation(count).tolist()
        pairs = [
            (wide[at][0], label, wide[at][1 + k]) for at in order for k, label in enumerate(labels)
        ]
        _table(tmp_path / f"{model}.csv", [("sample_id", "prediction", "score"), *pairs])
    result = evaluate(
        tmp_path,
        "out",
        task="classification",
        data={
            "ground_truth": "truth.csv",
            "predictions": {"weak": "weak.csv", "strong": "strong.csv"},
            "classes": labels,
        },
        metrics=["accuracy", "f1", "mean_roc_auc", "log_loss", "sample_scores"],
        interval=INTERVAL,
    )
    top = {model: np.array(labels)[own.argmax(1)] for model, own in scores.items()}

    def areas(model: str, at: Any) -> list[float | None]:
        return areas_of(model, tuple(at))

    @cache
    def areas_of(model: str, drawn: tuple[int, ...]) -> list[float | None]:
        at = list(drawn)
        return [
            float(sklearn.roc_auc_score(truth[at] == label, scores[model][at, number]))
            if label in truth[at]
            else None
            for number, label in enumerate(labels)
        ]

    def f1(model: str, at: Any) -> list[float | None]:
        """None: of a label without ground truth, or that is never predicted."""
        found: list[float | None] = []
        for label in labels:
            right = real = said = 0
            for true, predicted in zip(truth[at], top[model][at], strict=True):
                right += true == predicted == label
                real += true == label
                said += predicted == label
            found.append(2 * right / (real + said) if real and said else None)
        return found

    by_label = {"mean_roc_auc": areas, "f1": f1}
    values: dict[str, Callable[[str, Any], float]] = {
        "accuracy": lambda model, at: float((top[model][at] == truth[at]).mean()),
        "f1": lambda model, at: float(
            sklearn.f1_score(truth[at], top[model][at], average="macro", zero_division=0)
        ),
        "mean_roc_auc": lambda model, at: mean_of(areas(model, at)),
        "log_loss": lambda model, at: float(
            sklearn.log_loss(truth[at], scores[model][at], labels=labels)
        ),
    }
    samples = plain.drawn(count, SEED, RESAMPLES)
    everything = list(range(count))
    for name, of in values.items():
        again = {model: [of(model, at) for at in samples] for model in scores}
        for model in scores:
            if name in by_label:
                labelled = [by_label[name](model, at) for at in samples]
                assert any(None in row for row in labelled)
                whole = by_label[name](model, everything)
                again[model] = plain.centred(again[model], labelled, whole)
            row = one(result["metrics"], name, model=model)
            close(row["value"], of(model, everything))
            right = int((top[model] == truth).sum())
            wilson = plain.wilson(right, count, LEVEL)
            around = plain.percentiles(again[model], LEVEL)
            close(row["interval"], wilson if name == "accuracy" else around)
        apart = np.subtract(again["strong"], again["weak"]).tolist()
        observed = of("strong", everything) - of("weak", everything)
        plain.check_resampled(one(result["comparisons"], name), apart, observed, count)
    each = {
        model: dict(zip(ids, (top[model] == truth).astype(float).tolist(), strict=True))
        for model in scores
    }
    row = one(result["comparisons"], "sample_scores", "correct")
    plain.check_paired(row, each["strong"], each["weak"], seed=SEED, resamples=RESAMPLES)
    for label in labels:
        row = one(result["metrics"], "f1", model="weak", label=label)
        of_label = [
            float(
                sklearn.f1_score(
                    truth[at], top["weak"][at], labels=[label], average="macro", zero_division=0
                )
            )
            if label in truth[at]
            else math.nan
            for at in samples
        ]
        close(row["interval"], plain.percentiles(of_label, LEVEL))
        assert row["caution"] == ("small_n" if (truth == label).sum() < 30 else None)
    plain.check_verdicts(result["comparisons"], result["primary"])


def mean_of(values: Sequence[float | None]) -> float:
    """The mean of those that there are."""
    return float(np.mean([value for value in values if value is not None]))


def _table(path: Path, rows: Sequence[Sequence[str]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)


# ---- images


@pytest.mark.parametrize("grouped", [False, True])
def test_detection(tmp_path: Path, grouped: bool) -> None:
    """AP of really duplicated files, by pycocotools."""
    pytest.importorskip("pycocotools")
    rng, resamples = np.random.default_rng(8), 8
    truth = json.loads((OBJECTS / "ground_truth.json").read_text())
    kept = sorted(image["id"] for image in truth["images"])[:24]
    truth["images"] = [image for image in truth["images"] if image["id"] in kept]
    truth["annotations"] = [one for one in truth["annotations"] if one["image_id"] in kept]
    for image in truth["images"]:
        image["metadata"] = {"site": "pqrst"[int(rng.integers(5))]}
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    found = {}
    for model in ("small", "large"):
        every = json.loads((OBJECTS / f"{model}.json").read_text())
        found[model] = [one for one in every if one["image_id"] in kept]
        (tmp_path / f"{model}.json").write_text(json.dumps(found[model]))
    interval = {**INTERVAL, "resamples": resamples}
    result = evaluate(
        tmp_path,
        "out",
        task="object_detection",
        data={
            "ground_truth": "truth.json",
            "predictions": {"small": "small.json", "large": "large.json"},
        },
        metrics=["coco"],
        interval={**interval, "group": "metadata.site"} if grouped else interval,
    )
    sites = {image["id"]: image["metadata"]["site"] for image in truth["images"]}
    groups = [sites[name] for name in kept] if grouped else None
    picked = [[kept[at] for at in p] for p in plain.drawn(len(kept), SEED, resamples, groups)]
    outputs = ["AP", "AP50", "AP75"]
    again = {model: [_coco(truth, found[model], images) for images in picked] for model in found}
    whole = {model: _coco(truth, found[model], kept) for model in found}
    for at, output in enumerate(outputs):
        columns = {}
        for model in found:
            labelled = [values[at] for values in again[model]]
            columns[model] = plain.centred(list(map(mean_of, labelled)), labelled, whole[model][at])
            row = one(result["metrics"], "coco", output, model=model)
            close(row["value"], mean_of(whole[model][at]))
            close(row["interval"], plain.percentiles(columns[model], LEVEL))
            assert row["caution"] == "small_n"
        apart = np.subtract(columns["large"], columns["small"]).tolist()
        observed = mean_of(whole["large"][at]) - mean_of(whole["small"][at])
        # How many groups of images there are is known to nobody but the run.
        units = 1000 if grouped else len(kept)
        plain.check_resampled(one(result["comparisons"], "coco", output), apart, observed, units)
    plain.check_verdicts(result["comparisons"], result["primary"])


def _coco(
    truth: Record, found: Sequence[Record], images: Sequence[int]
) -> list[list[float | None]]:
    """AP, AP50 and AP75 of each label, of a file in which each image stands as often as named.

    None: the file has no box of the label.
    """
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    boxes, results = [], []
    for number, image in enumerate(images, start=1):
        for box in truth["annotations"]:
            if box["image_id"] == image:
                boxes.append({"iscrowd": 0, **box, "id": len(boxes) + 1, "image_id": number})
        results += [{**one, "image_id": number} for one in found if one["image_id"] == image]
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = {
            "images": [{"id": number} for number in range(1, len(images) + 1)],
            "annotations": boxes,
            "categories": truth["categories"],
        }
        coco.createIndex()
        evaluated = COCOeval(coco, coco.loadRes(results), "bbox")
        evaluated.evaluate()
        evaluated.accumulate()
        evaluated.summarize()
    # (IoU thresholds, recalls, labels) over all sizes, of up to 100 detections; -1 for none.
    precision = evaluated.eval["precision"][:, :, :, 0, -1]
    found_in = [
        [None if (own < 0).any() else float(own.mean()) for own in np.moveaxis(part, -1, 0)]
        for part in (precision, precision[:1], precision[5:6])
    ]
    close(list(map(mean_of, found_in)), evaluated.stats[:3])
    return found_in


def test_segmentation(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    rng, count = np.random.default_rng(2), 31
    truth = rng.integers(0, 2, (count, 6, 5)).astype(np.uint8)
    # Many resamples hold none of these two.
    truth[::16, :2] = 2
    found = {}
    for model, part in (("weak", 0.3), ("strong", 0.1)):
        noise = rng.integers(0, 3, truth.shape).astype(np.uint8)
        found[model] = np.where(rng.random(truth.shape) < part, noise, truth)
    for name, maps in {"truth": truth, **found}.items():
        (tmp_path / name).mkdir()
        for at, pixels in enumerate(maps):
            image.fromarray(pixels).save(tmp_path / name / f"{at:02}.png")
    result = evaluate(
        tmp_path,
        "out",
        task="semantic_segmentation",
        data={
            "ground_truth": "truth",
            "predictions": {"weak": "weak", "strong": "strong"},
            "labels": list("abc"),
        },
        metrics=["mean_iou", "image_scores"],
        interval=INTERVAL,
    )

    def ious(model: str, at: Sequence[int]) -> list[float | None]:
        """None: of a label without ground truth."""
        right, said = truth[at], found[model][at]
        both = [((right == k) & (said == k)).sum() for k in range(3)]
        either = [((right == k) | (said == k)).sum() for k in range(3)]
        return [float(both[k] / either[k]) if (right == k).any() else None for k in range(3)]

    samples = plain.drawn(count, SEED, RESAMPLES)
    whole = {model: ious(model, range(count)) for model in found}
    again = {}
    for model in found:
        labelled = [ious(model, at) for at in samples]
        assert any(None in row for row in labelled)
        again[model] = plain.centred(list(map(mean_of, labelled)), labelled, whole[model])
        row = one(result["metrics"], "mean_iou", model=model)
        close(row["value"], mean_of(whole[model]))
        close(row["interval"], plain.percentiles(again[model], LEVEL))
    apart = np.subtract(again["strong"], again["weak"]).tolist()
    observed = mean_of(whole["strong"]) - mean_of(whole["weak"])
    plain.check_resampled(one(result["comparisons"], "mean_iou"), apart, observed, count)
    each = {
        model: {f"{at:02}": float((maps[at] == truth[at]).mean()) for at in range(count)}
        for model, maps in found.items()
    }
    row = one(result["comparisons"], "image_scores", "pixel_accuracy")
    plain.check_paired(row, each["strong"], each["weak"], seed=SEED, resamples=RESAMPLES)
    plain.check_verdicts(result["comparisons"], result["primary"])


# ---- slices


@pytest.mark.parametrize("planted", ["pair", "range", "nothing"])
def test_found_slices(tmp_path: Path, planted: str) -> None:
    pytest.importorskip("rouge_score")
    rng, count = np.random.default_rng(4), 300
    rows = []
    for at in range(count):
        seen: Record = {"camera": ("front", "rear", "side")[int(rng.integers(3))]}
        seen |= {"night": bool(rng.random() < 0.4), "heat": round(float(rng.normal(15, 8)), 3)}
        bad = {
            "pair": seen["camera"] == "rear" and seen["night"],
            "range": seen["heat"] > 20,
            "nothing": False,
        }
        words = [f"w{word}" for word in rng.integers(0, 50, 8).tolist()]
        kept = 0.4 if bad[planted] else 0.85
        response = " ".join(word if rng.random() < kept else "zz" for word in words)
        row = {"sample_id": f"s{at:03}", "response": response, "references": [" ".join(words)]}
        rows.append({**row, "metadata": seen})
    written(tmp_path / "samples.jsonl", rows)
    config = {"task": "text_generation", "metrics": ["rouge_l"], "interval": INTERVAL}
    data = {"samples": "samples.jsonl"}
    result = evaluate(tmp_path, "out", **config, data=data, slices=["auto"])
    conditions: dict[str, dict[str, Callable[[Any], bool]]] = {
        "camera": {name: name.__eq__ for name in ("front", "rear", "side")},
        "heat": _quartiles([row["metadata"]["heat"] for row in rows]),
        "night": {"false": lambda one: one is False, "true": lambda one: one is True},
    }
    parts = plain.parts([row["metadata"] for row in rows], conditions, 30)
    values = np.array([rouge(row) for row in rows])
    p = {name: plain.lower_p(values, inside) for name, inside in parts.items()}
    adjusted = dict(zip(p, plain.holm(list(p.values())), strict=True))
    (search,) = result["searches"]
    assert search["searched"] == len(parts)
    names = {"pair": "metadata.camera=rear & metadata.night=true", "nothing": None}
    worst = names.get(planted, f"metadata.heat={list(conditions['heat'])[-1]}")
    assert [one["slice"] for one in search["found"]] == ([worst] if worst else [])
    if worst is None:
        assert min(one for one in adjusted.values() if one is not None) > 0.05
        return
    (found,), inside = search["found"], parts[worst]
    assert found["n"] == inside.sum()
    close([found["value"], found["rest"]], [values[inside].mean(), values[~inside].mean()])
    assert found["p"] == pytest.approx(p[worst], rel=1e-8)
    assert found["p_adjusted"] == pytest.approx(adjusted[worst], rel=1e-8)
    written(tmp_path / "part.jsonl", [row for row, own in zip(rows, inside, strict=True) if own])
    part: Record = {"data": {"samples": "part.jsonl"}}
    if planted == "pair":
        kept_values = {"metadata.camera": ["rear"], "metadata.night": [True]}
        part = {"data": data, "filter": kept_values}
    alone = evaluate(tmp_path, "alone", **config, **part)
    cut = [{**row, "slice": None} for row in result["metrics"] if row["slice"] == worst]
    assert [{**row, "model": None} for row in cut] == [
        {**row, "model": None} for row in alone["metrics"]
    ]


def _quartiles(numbers: Sequence[float]) -> dict[str, Callable[[Any], bool]]:
    """The ranges between the quartiles, as slices are named; the last one holds both its ends."""
    ordered = sorted(numbers)
    at = [max(math.ceil(len(ordered) * part) - 1, 0) for part in (0, 0.25, 0.5, 0.75, 1)]
    edges = [ordered[one] for one in at]
    found: dict[str, Callable[[Any], bool]] = {}
    for low, high in pairwise(edges[:-1]):
        found[f"[{low}, {high})"] = lambda one, low=low, high=high: low <= one < high
    low, high = edges[-2:]
    found[f"[{low}, {high}]"] = lambda one: low <= one <= high
    return found
