"""Samples, what judges reply and a config in; a calibration or an estimate of them out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from valor_cli import catalogue, pipeline
from valor_cli.config import load_config
from valor_cli.pipeline.calibration.calibrate import calibrate

MTRAG = Path(__file__).parents[1] / "real_data" / "rag" / "mtrag-human-dev" / "faithfulness.jsonl"

RUBRIC = {"1": "not at all", "4": "entirely"}
JUDGES = ("first", "second", "third")
CUSTOM = {"custom_judge": {"rubric": RUBRIC}}


def lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as JSON Lines; the name of the file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path.name


def written(
    folder: Path,
    samples: Sequence[Mapping[str, Any]],
    replies: Mapping[str, Sequence[str | Mapping[str, Any]]],
    metrics: Sequence[Any],
    *,
    judge: Mapping[str, Any] | None = None,
    **options: Any,
) -> Path:
    """A config with one scripted judge, or several by their names, which reply so."""
    judges = [
        {
            "backend": "scripted",
            "name": name,
            "judge_retries": 0,
            "replies": lines(
                folder / f"{name}.jsonl",
                [{"reply": one} if isinstance(one, str) else one for one in own],
            ),
            **(judge or {}),
        }
        for name, own in replies.items()
    ]
    config = {
        "task": "text_generation",
        "data": {"samples": lines(folder / "samples.jsonl", samples)},
        **({"judge": judges[0]} if len(judges) == 1 else {"judges": judges}),
        "metrics": list(metrics),
        **options,
    }
    path = folder / "run.yaml"
    path.write_text(json.dumps(config), encoding="utf-8")
    return path


def plan_of(path: Path) -> pipeline.Plan:
    """The plan of a config."""
    return pipeline.make_plan(load_config(path, catalogue, ()))


def calibrated(path: Path, columns: Mapping[str, str] | None = None, **how: Any) -> Any:
    """What a calibration by the config finds; spaces part the columns of several annotators."""
    named = {metric: own.split() for metric, own in (columns or {}).items()}
    return calibrate(plan_of(path), named, **how)


def row(found: Any, model: str | None = None, judge: str | None = None) -> Any:
    """The one row of a model and a judge; where there is one model alone, its own."""
    models = {one.model for one in found.rows}
    if len(models) == 1:
        (model,) = models
    (one,) = [one for one in found.rows if (one.model, one.judge) == (model, judge)]
    return one


def in_some_form(rating: int | None, number: int) -> str:
    """A rating as judges write it, in the number-th of some forms; of none, no rating."""
    if rating is None:
        return "I cannot tell."
    forms = (
        json.dumps({"reason": "so", "rating": rating}),
        f'Here it is:\n```json\n{{"reason": "4 of 4 words fit", "rating": {rating},}}\n```',
        f"{rating}",
        f"I looked at all of it.\n\nRating: {rating}",
        f"<think>Perhaps 1? Or 2?</think>\n{rating} out of 4",
        json.dumps({"score": f"{rating}"}),
    )
    return forms[number % len(forms)]


def annotated() -> list[dict[str, Any]]:
    """The rows of MT-RAG, sample by sample; three people's ratings under `annotators`."""
    rows = [json.loads(line) for line in MTRAG.read_text(encoding="utf-8").splitlines()]
    samples = list(dict.fromkeys(row["sample_id"] for row in rows))
    models = list(dict.fromkeys(row["model"] for row in rows))
    rows.sort(key=lambda row: (samples.index(row["sample_id"]), models.index(row["model"])))
    return [
        {**row, "user_input": "A question?", "response": f"Answer {at}."}
        for at, row in enumerate(rows)
    ]


def ratings_of(one: dict[str, Any]) -> list[int | None]:
    """What each of three people said; the third of some rows is missing."""
    return (one["annotators"] + [None])[:3]


def median_of(one: dict[str, Any]) -> int | None:
    """The median where it is a whole number, else nothing: two people may lie between two."""
    middle = median(one["annotators"])
    return int(middle) if middle == int(middle) else None


def mtrag(folder: Path, combine: str | None = None) -> tuple[Path, list[dict[str, Any]]]:
    """A config with three people as judges, held against their median; and the rows."""
    samples = [{**one, "human_custom_judge": median_of(one)} for one in annotated()]
    replies = {
        name: [in_some_form(ratings_of(one)[k], at + k) for at, one in enumerate(samples)]
        for k, name in enumerate(JUDGES)
    }
    options = {} if combine is None else {"combine": combine}
    told = [{name: one[name] for name in one if name != "annotators"} for one in samples]
    return written(folder, told, replies, [CUSTOM], **options), samples
