"""Comparisons of two runs, made by hand as the pipeline fills them: every kind a report meets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from tests.reports.conftest import HOSTILE
from valor_cli.results import (
    ChangeCount,
    ChangedSample,
    ComparedRun,
    ComparedRuns,
    ComparisonResult,
    ExampleObject,
    InputFile,
    Parameters,
    Picture,
    RunInfo,
    SampleChange,
    ShownText,
)

BATCH: Parameters = {"batch_size": 5}

QUESTION = "When was the harbour bridge opened, and how many lanes does it carry today?"
REFERENCE = "It was opened on 19 March 1932 and carries eight lanes."
BEFORE = (
    "The harbour bridge was opened on 19 March 1932. It carries eight lanes of road traffic, two "
    "railway lines, a footway and a cycleway."
)
AFTER = (
    "The harbour bridge was opened in the 1950s. It carries six lanes of road traffic, two "
    "railway lines and a footway.\nThe toll is paid in both directions."
)


def side(path: str, models: Sequence[str], day: int = 1) -> ComparedRun:
    """One of the two runs."""
    run = RunInfo(
        valor_version="0.1.0",
        started_at=f"2026-03-0{day}T09:30:00+00:00",
        duration_s=0.8,
        command=f"valor evaluate configs/text_generation.yaml --out {path}",
        config="configs/text_generation.yaml",
        config_sha256="c0" * 32,
        inputs=(InputFile("data/faq.jsonl", f"a{day}" * 32, 200),),
        packages={"numpy": "2.4.6"},
    )
    return ComparedRun(path, models, run)


def row(metric: str, value: float | None, earlier: float | None, **rest: Any) -> ComparisonResult:
    """A value of `small` held against the earlier one; cannot tell where nothing else is said."""
    told = value is not None and earlier is not None
    fields: dict[str, Any] = {
        "output": "value",
        "model": "small",
        "other": "small",
        "baseline": False,
        "label": None,
        "slice": None,
        "parameters": {},
        "unit": "fraction",
        "direction": "higher",
        "difference": (value or 0.0) - (earlier or 0.0) if told else None,
        "interval": None,
        "level": 0.95,
        "n": 200 if told else None,
        "wins": None,
        "losses": None,
        "ties": None,
        "unpaired": 0,
        "test": "sign_permutation" if told else None,
        "p": None,
        "p_adjusted": None,
        "effect": None,
        "effect_kind": None,
        "verdict": "cannot tell",
        "reason": None,
    }
    return ComparisonResult(metric, value=value, other_value=earlier, **{**fields, **rest})


def changed(metric: str, value: float, other: float, **rest: Any) -> SampleChange:
    """What one metric says of a sample, where more is better."""
    word: Any = "better" if value > other else "worse"
    return SampleChange(metric, "value", rest.get("parameters", {}), value, other, word)


def count(metric: str, better: int, worse: int, equal: int, **rest: Any) -> ChangeCount:
    """How many samples changed."""
    fields: dict[str, Any] = {"parameters": {}, "model": "small", "other": "small"}
    fields |= rest
    return ChangeCount(metric, "value", better=better, worse=worse, equal=equal, **fields)


def texts_compared(**rest: Any) -> ComparedRuns:
    """A text run that is worse by two headline values and better by one; answers of both."""
    d = {"effect_kind": "cohens_d"}
    rows = (
        row("faithfulness", 0.71, 0.82, interval=(-0.16, -0.061), p=2e-5, p_adjusted=1.2e-4,
            effect=-0.41, wins=12, losses=61, ties=127, verdict="worse", parameters=BATCH, **d),
        row("exact_match", 0.5, 0.58, interval=(-0.13, -0.03), p=0.004, p_adjusted=0.02,
            effect=-0.25, effect_kind="cohens_g", wins=8, losses=24, ties=168, verdict="worse",
            test="mcnemar"),
        row("rouge_l", 0.61, 0.55, interval=(0.031, 0.089), p=0.0011, p_adjusted=0.0066,
            effect=0.22, wins=80, losses=41, ties=79, verdict="better", **d),
        row("token_f1", 0.663, 0.66, interval=(-0.012, 0.018), p=0.61, p_adjusted=1.0,
            effect=0.03, wins=52, losses=50, ties=98, **d),
        row("looping", 0.04, 0.05, interval=(-0.03, 0.01), direction="lower", p=0.4,
            p_adjusted=1.0, effect=-0.05, wins=3, losses=1, ties=196, **d),
        row("perplexity", 12.41, 12.41, unit="perplexity", direction="lower", wins=0, losses=0,
            ties=200, p=1.0, p_adjusted=1.0, effect=None,
            reason="all 200 samples are equal"),
        row("custom_judge", 0.8, None, reason="reports/monday has no value: no sample was judged"),
        row("token_f1", 0.7, 0.69, output="precision", interval=(-0.01, 0.03), p=0.3, effect=0.04,
            wins=60, losses=55, ties=85, **d),
        row("rouge_l", 0.4, 0.6, slice="metadata.topic=toll", interval=(-0.3, -0.1), n=24,
            p=0.001, effect=-0.6, wins=2, losses=14, ties=8, verdict="worse", **d),
    )  # fmt: skip
    fields: dict[str, Any] = {
        "task": "text_generation",
        "first": side("reports/monday", ("small",)),
        "second": side("reports/tuesday", ("small",), 2),
        "primary": [
            (name, "value")
            for name in ("faithfulness", "exact_match", "rouge_l", "token_f1", "looping",
                         "perplexity", "custom_judge")
        ],
        "pairs": [("small", "small")],
        "level": 0.95,
        "comparisons": rows,
        "changes": (
            count("faithfulness", 12, 61, 127, parameters=BATCH),
            count("exact_match", 8, 24, 168),
            count("rouge_l", 80, 41, 79),
            count("token_f1", 52, 50, 98),
            count("looping", 3, 1, 196),
            count("perplexity", 0, 0, 200),
        ),
        "changed": tuple(text_change(at) for at in range(12)),
        "only_first": ("bleu_1 value of small",),
        "only_second": ("custom_judge value of small", "pii_leakage pass of small"),
        "warnings": ("the prompts of faithfulness differ: version 1 and version 2",),
    }  # fmt: skip
    return ComparedRuns(**{**fields, **rest})


def text_change(at: int, **rest: Any) -> ChangedSample:
    """A sample with both answers; every third one is better."""
    better = at % 3 == 2
    value, other = (0.9 - at / 50, 0.1) if better else (0.1, 0.9 - at / 50)
    fields: dict[str, Any] = {
        "changes": (
            changed("faithfulness", value, other, parameters=BATCH),
            *([changed("exact_match", float(better), float(not better))] if at % 2 else ()),
        ),
        "shared": (ShownText("user_input", QUESTION), ShownText("references[0]", REFERENCE)),
        "texts": (ShownText("response", BEFORE if better else AFTER, left_out=0 if at else 4_100),),
        "other_texts": (ShownText("response", AFTER if better else BEFORE),),
    }
    return ChangedSample(f"faq-{at:03}", "small", "small", **{**fields, **rest})


def box(role: Any, number: int, label: str, left: float, outcome: str) -> ExampleObject:
    """A box of 60 by 90 pixels."""
    ring = [[left, 40.0], [left + 60, 40.0], [left + 60, 130.0], [left, 130.0], [left, 40.0]]
    score = None if role == "ground_truth" else 0.9 - number / 10
    return ExampleObject(
        role, number, label, score, outcome, {"type": "Polygon", "coordinates": [ring]}
    )


def image_change(at: int, **rest: Any) -> ChangedSample:
    """An image in which the second run loses a box and finds one that is not there."""
    truth = [box("ground_truth", n, "cat", 30.0 + 120 * n, "found") for n in range(3)]
    lost = [*truth[:2], replace(truth[2], outcome="missed")]
    hits = [box("prediction", n, "cat", 34.0 + 120 * n, "true_positive") for n in range(3)]
    wrong = box("prediction", 3, "dog", 400.0, "background")
    fields: dict[str, Any] = {
        "changes": (changed("image_scores", 0.67 - at / 100, 1.0),),
        "picture": Picture(f"{at:012}.jpg", 640, 480),
        "objects": (*lost, *hits[:2], wrong),
        "other_objects": (*truth, *hits),
    }
    return ChangedSample(at, "small", "small", **{**fields, **rest})


def detection_compared(**rest: Any) -> ComparedRuns:
    """A detection run: resamples are paired, so there are neither wins nor effects."""
    b: dict[str, Any] = {"test": "paired_bootstrap", "n": 5000}
    rows = (
        row("coco", 0.371, 0.365, output="AP", interval=(0.002, 0.01), p=0.004, p_adjusted=0.012,
            verdict="better", **b),
        row("coco", 0.552, 0.551, output="AP50", interval=(-0.004, 0.006), p=0.6, p_adjusted=1.0,
            **b),
        row("coco", 0.204, 0.207, output="APsmall", interval=(-0.009, 0.003), p=0.3,
            p_adjusted=0.6, **b),
        row("average_precision", 0.61, 0.64, label="person", parameters={"iou_threshold": 0.5},
            interval=(-0.05, -0.01), p=0.006, verdict="worse", **b),
        row("counts", 4_180, 4_211, output="tp", unit="count", n=None, test=None,
            reason="a count of the whole has no values to pair"),
    )  # fmt: skip
    fields: dict[str, Any] = {
        "task": "object_detection",
        "primary": [("coco", "AP"), ("coco", "AP50"), ("coco", "APsmall")],
        "comparisons": rows,
        "changes": (count("image_scores", 310, 422, 4_268),),
        "changed": tuple(image_change(at) for at in range(5)),
        "only_first": (),
        "only_second": (),
        "warnings": (),
    }
    return replace(texts_compared(), **{**fields, **rest})


def classification_compared(**rest: Any) -> ComparedRuns:
    """Two models in both runs, nothing to show of samples, one pair of few samples."""
    rows = tuple(
        row(metric, value, other, model=model, other=model, test="mcnemar", n=n, p=p,
            p_adjusted=min(2 * p, 1.0), effect=effect, effect_kind="cohens_g", verdict=verdict,
            interval=(value - other - 0.02, value - other + 0.02), wins=9, losses=4, ties=n - 13,
            unpaired=12 if model == "tiny" else 0)
        for model, n, p, verdict in (("tiny", 24, 0.2, "cannot tell"), ("large", 900, 0.001,
                                                                        "better"))
        for metric, value, other, effect in (("accuracy", 0.91, 0.88, 0.19),
                                             ("cohen_kappa", 0.87, 0.85, 0.1))
    )  # fmt: skip
    pairs = [("tiny", "tiny"), ("large", "large")]
    fields: dict[str, Any] = {
        "task": "classification",
        "first": side("reports/monday", ("tiny", "large")),
        "second": side("reports/tuesday/results.json", ("tiny", "large"), 2),
        "primary": [("accuracy", "value"), ("cohen_kappa", "value")],
        "pairs": pairs,
        "comparisons": rows,
        "changes": tuple(
            count("accuracy", 9, 4, n - 13, model=model, other=model)
            for (model, _), n in zip(pairs, (24, 900), strict=True)
        ),
        "changed": (
            ChangedSample("img-7", "large", "large", (changed("accuracy", 1.0, 0.0),)),
            ChangedSample("img-9", "tiny", "tiny", (changed("accuracy", 0.0, 1.0),)),
        ),
        "only_first": (),
        "only_second": (),
        "warnings": ("12 samples of tiny stand in one run alone",),
    }
    return replace(texts_compared(), **{**fields, **rest})


def models_compared(models: Sequence[str] = ("small", "medium", "large")) -> ComparedRuns:
    """The models of one run, every pair of them."""
    run = side("reports/monday", models)
    pairs = [(second, first) for at, first in enumerate(models) for second in models[at + 1 :]]
    rows = tuple(
        replace(one, model=model, other=other)
        for model, other in pairs
        for one in texts_compared().comparisons[:6]
    )
    counts = tuple(
        replace(one, model=model, other=other)
        for model, other in pairs
        for one in texts_compared().changes
    )
    samples = tuple(
        replace(text_change(at), model=pair[0], other=pair[1]) for pair in pairs for at in range(4)
    )
    return texts_compared(
        first=run,
        second=run,
        pairs=pairs,
        comparisons=rows,
        changes=counts,
        changed=samples,
        only_first=(),
        only_second=(),
        warnings=(),
    )


def equal_compared() -> ComparedRuns:
    """The same run twice."""
    rows = tuple(
        replace(one, value=one.other_value, difference=0.0, interval=(0.0, 0.0), wins=0, losses=0,
                ties=200, p=1.0, p_adjusted=1.0 if one.p_adjusted else None, effect=0.0,
                verdict="cannot tell", reason=None)
        for one in texts_compared().comparisons
        if one.other_value is not None
    )  # fmt: skip
    counts = tuple(replace(one, better=0, worse=0, equal=200) for one in texts_compared().changes)
    return texts_compared(
        comparisons=rows,
        changes=counts,
        changed=(),
        only_first=(),
        only_second=(),
        warnings=("the inputs of both runs are the same files",),
    )


def unpaired_compared() -> ComparedRuns:
    """Two runs that have nothing in common that could be paired."""
    rows = tuple(
        replace(one, n=None, wins=None, losses=None, ties=None, interval=None, test=None, p=None,
                p_adjusted=None, effect=None, effect_kind=None, unpaired=200,
                verdict="cannot tell", reason="no sample stands in both runs")
        for one in texts_compared().comparisons[:3]
    )  # fmt: skip
    return texts_compared(
        comparisons=rows,
        changes=(),
        changed=(),
        only_second=(),
        warnings=("no sample stands in both runs: differences are told, but not tested",),
    )


def nothing_compared() -> ComparedRuns:
    """Two runs without a value in common."""
    return texts_compared(comparisons=(), changes=(), changed=(), warnings=())


def hostile_compared() -> ComparedRuns:
    """Every name and text that data can choose is an attack or an accident."""
    rows = [
        row(word, 0.5, 0.4, model=word, other=word, label=word, slice=word,
            parameters={word: word}, p=0.01, p_adjusted=0.02, verdict="better", reason=word)
        for word in HOSTILE
    ]  # fmt: skip
    samples = [
        ChangedSample(
            word,
            word,
            word,
            (SampleChange(word, word, {word: word}, 0.9, 0.1, "better"),),
            (ShownText("user_input", word),),
            (ShownText("response", word + " after"), ShownText(word, word)),
            (ShownText("response", word + " before"),),
            Picture(word, 100, 100),
            (replace(box("prediction", 0, word, 10.0, word), id=word),),
            (),
        )
        for word in HOSTILE
    ]
    run = replace(
        side(HOSTILE[0], HOSTILE).run, command=HOSTILE[0], config=HOSTILE[1], packages={"x": "1"}
    )
    return texts_compared(
        task=HOSTILE[0],
        first=ComparedRun(HOSTILE[0], HOSTILE, run),
        second=ComparedRun(HOSTILE[4], HOSTILE, run),
        primary=[(word, "value") for word in HOSTILE],
        pairs=[(word, word) for word in HOSTILE],
        comparisons=rows,
        changes=[count(word, 1, 2, 3, model=word, other=word) for word in HOSTILE],
        changed=samples,
        only_first=HOSTILE,
        only_second=HOSTILE,
        warnings=HOSTILE,
    )
