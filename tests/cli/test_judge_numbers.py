"""Judge metrics from files to results.json and samples.jsonl, against METRICS put down once more.

Scenarios are made at random: samples with parts missing or blank, and replies of every kind. A
plain reading of METRICS plays both sides: it writes the replies that its own calls get, in their
order, and computes what has to come of them. A call too many, too few or out of its order takes
the reply of another one, and is seen.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, hypot
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cli.conftest import Evaluate, Run, written
from valor_cli.evaluators.judge import WING

TASK = "text_generation"
Row = Mapping[str, Any]
Parameters = Mapping[str, Any]

# --- What a judge says ---------------------------------------------------------------------------


class Lost(Exception):  # noqa: N818  # what becomes of the sample
    """There is no value; the status of the sample."""


@dataclass
class Scribe:
    """A judge of moods: writes the replies that the calls get, good ones and others."""

    rng: random.Random
    judge_retries: int
    fails: bool = True
    lines: list[dict[str, Any]] = field(default_factory=list)

    def says(self, good: str, bad: Sequence[str], retries: int | None) -> None:
        """Reply `good`, at once or after what does not fit; or never.

        Raises:
            Lost: Never.
        """
        rng, tries = self.rng, 1 + (self.judge_retries if retries is None else retries)
        mood = rng.random() if self.fails else 0
        if mood > 0.98:
            self.lines.append({"error": "unanswerable"})
            raise Lost("judge_error")
        wrong = 0 if mood < 0.75 else rng.randint(1, tries) if mood < 0.9 else tries
        for _ in range(wrong):
            others: list[dict[str, Any]] = [
                {"reply": ""},
                {"reply": "I would rather not say."},
                {"reply": "", "refused": True},
                {"reply": good, "cut": True},
                {"reply": "<think>" + good.replace("think>", "b>")},
            ]
            self.lines.append(rng.choice([*others, *({"reply": one} for one in bad)]))
        if wrong == tries:
            raise Lost("parse_failure")
        self.lines.append({"reply": good})

    def json(self, good: Any, bad: Sequence[Any], retries: int | None) -> None:
        """Reply with JSON, in one of the dresses that models put on it."""
        text, decoy = json.dumps(good), json.dumps(bad[0])
        unlike = json.dumps(self.other(good))
        comma = text[:-1] + ",}"
        dressed = [
            text,
            comma,
            f"\ufeff\n{text}\n",
            f"```json\n{text}\n```",
            f"Gladly! Here it is:\n\n{text}\n\nI hope that {{this}} helps.",
            f"<think>Perhaps {unlike}?</think>{text}",
            f"{unlike}\nNo, that is wrong. I say:\n```\n{comma}\n```\nThat is all.",
            f"{unlike}\n{text}\n{decoy}",
            json.dumps({**good, "confidence": 0.3, "notes": [{"a": '} { " [ ]'}]}),
        ]
        half = text[: len(text) // 2]
        nan = [text.replace('"verdict": 1', '"verdict": NaN')]
        bads = [half, *map(json.dumps, bad), *(one for one in nan if one != text)]
        self.says(self.rng.choice(dressed), bads, retries)

    def other(self, good: Mapping[str, Any]) -> Any:
        """The same form with other content, which must not count."""

        def turned(value: Any) -> Any:
            if isinstance(value, list):
                return [turned(one) for one in value]
            if isinstance(value, dict):
                return {key: turned(one) for key, one in value.items()}
            return {0: 1, 1: 0}.get(value, value) if isinstance(value, int) else value

        return turned(good)

    def statements(self, texts: Sequence[str], retries: int | None) -> list[str]:
        good = {"statements": list(texts)}
        self.json(good, [{"statements": "one"}, {"statements": [1]}, {"sentences": []}], retries)
        return list(texts)

    def truth(self, said: int) -> Any:
        words: dict[int, list[Any]] = {
            0: [0, 0, 0, "0", False, "no", "No", "false", "FALSE"],
            1: [1, 1, 1, "1", True, "yes", "Yes", "true", "TRUE"],
        }
        return self.rng.choice(words[said])

    def verdicts(self, n: int, retries: int | None, contexts: int = 0) -> list[int]:
        found = [self.rng.randint(0, 1) for _ in range(n)]
        all_of = [{"reason": f"r{at}", "verdict": one} for at, one in enumerate(found)]
        worded = [{**one, "verdict": self.truth(one["verdict"])} for one in all_of]
        if contexts:
            worded = [{**one, "context": self.rng.choice([None, 1, contexts])} for one in worded]
        bad = [
            {"verdicts": all_of[:-1]},
            {"verdicts": [*all_of, all_of[0]]},
            {"verdicts": [*all_of[:-1], {"reason": "", "verdict": 2}]},
            {"verdicts": [*all_of[:-1], {"reason": "", "verdict": "maybe"}]},
            {"verdicts": [*all_of[:-1], {"reason": ""}]},
            {"verdicts": {}},
            all_of,
        ]
        self.json({"verdicts": worded}, bad, retries)
        return found

    def verdict(self, retries: int | None) -> int:
        said = self.rng.randint(0, 1)
        bad = [{"verdict": 2}, {"reason": "yes"}, {"verdict": None}, {"verdict": -1}]
        self.json({"reason": "", "verdict": self.truth(said)}, bad, retries)
        return said

    def rating(self, scale: Sequence[int], retries: int | None) -> int:
        n, top = self.rng.choice(scale), max(scale)
        forms = [
            json.dumps({"reason": "It has 3 points.", "rating": n}),
            json.dumps({"score": n}),
            json.dumps({"rating": f"{n}.0"}) + " I am done.",
            f'```json\n{{"rating": {n},}}\n```',
            f"{n}",
            f"{n}.0",
            f"It is nearly {top + 1}. Rating: {n}",
            f"Score: {top}, no: the final grade is {n}.",
            f"{n} out of {top}",
            f"I say {n}/{top}.",
            f"<think>Rating: {top}</think>{n}",
        ]
        bad = [f"{top + 1}", f'{{"rating": {top + 1}}}', f'{{"rating": {n}.5}}', '{"rating": NaN}']
        bad += [f"Between {scale[0]} and {top}.", '{"rating": -1}', "Rating: 99"]
        self.says(self.rng.choice(forms), bad, retries)
        return n

    def word(self, words: Sequence[str], retries: int | None) -> str:
        said = self.rng.choice(words)
        other = next(one for one in words if one != said)
        forms = [
            said,
            f' "{said.upper()}". ',
            f"**{said}**",
            json.dumps({"reason": f"Not {other}.", "verdict": said}),
            json.dumps(said),
            f"<think>{other}</think>\n{said}",
        ]
        bad = [f"It is {said}, I think.", f"{said} {other}", '{"verdict": "perhaps"}', "perhaps"]
        self.says(self.rng.choice(forms), bad, retries)
        return said

    def counted(self, n: int, of: int) -> list[str]:
        """So many of some numbered things."""
        return [f"thing {one}" for one in self.rng.sample(range(of), n)]


# --- What METRICS makes of it --------------------------------------------------------------------


class Found(NamedTuple):
    """What a metric finds of a sample."""

    status: str
    value: float | None = None
    outputs: Mapping[str, float | None] = {}


@dataclass
class Reader:
    """METRICS §6, for one sample. A method is a metric."""

    row: Row
    scribe: Scribe
    kept: dict[Any, Any] = field(default_factory=dict)

    def once(self, key: Any, ask: Callable[[], Any]) -> Any:
        """What is shared, a failure too."""
        if key not in self.kept:
            try:
                self.kept[key] = ask()
            except Lost as lost:
                self.kept[key] = lost
        if isinstance(self.kept[key], Lost):
            raise self.kept[key]
        return self.kept[key]

    def measured(self, metric: str, parameters: Parameters) -> Found:
        """A metric, once for the same parameters."""
        key = (metric, json.dumps(parameters, sort_keys=True))
        return self.once(key, lambda: getattr(self, metric)(**parameters))  # type: ignore[no-any-return]

    def need(self, *names: str) -> list[Any]:
        """Parts of the sample."""
        given = [self.row.get(name) for name in names]
        for name, one in zip(names, given, strict=True):
            blank = name == "retrieved_contexts" and not "".join(one or []).strip()
            if one is None or blank or (name == "references" and not one):
                raise Lost("missing_input")
        return given

    def statements(self, text: str, retries: int | None, kind: str = "statements") -> list[str]:
        if not text.strip():
            return []
        rng = self.scribe.rng
        made = [f"Point {at} is {rng.random()}." for at in range(rng.choice([0, 1, 2, 3, 4, 7]))]
        return self.once((kind, text), lambda: self.scribe.statements(made, retries))  # type: ignore[no-any-return]

    def cosine(self, one: str, other: str) -> float:
        a, b = vector(one), vector(other)
        return fsum(x * y for x, y in zip(a, b, strict=True)) / (hypot(*a) * hypot(*b))

    def answer_correctness(
        self, judge_retries: int | None = None, weights: Sequence[float] = (1, 0)
    ) -> Found:
        response, references = self.need("response", "references")
        f1s = [0.0] * len(references)
        if weights[0]:
            f1s = [self.f1(response, one, judge_retries) for one in references]
        alike = [0.0] * len(references)
        if weights[1]:
            full = [bool(response.strip() and one.strip()) for one in references]
            alike = [
                max(0.0, self.cosine(response, one)) if there else 0.0
                for one, there in zip(references, full, strict=True)
            ]
        pairs = zip(f1s, alike, strict=True)
        return Found("ok", max((weights[0] * f + weights[1] * s) / sum(weights) for f, s in pairs))

    def f1(self, response: str, reference: str, retries: int | None) -> float:
        made = self.statements(response, retries)
        if not made:
            return 0.0
        expected = self.statements(reference, retries)
        if not expected:
            return 0.0
        rng = self.scribe.rng
        tp, fn = rng.randint(0, len(made)), rng.randint(0, len(expected))
        lists = {"TP": made[:tp], "FP": made[tp:], "FN": expected[:fn]}
        bad = [
            {**lists, "FP": [*made[tp:], "another"]},
            {**lists, "FN": [*expected, "another"]},
            {"TP": made, "FP": []},
            {**lists, "TP": "all"},
        ]
        self.scribe.json(lists, bad, retries)
        return tp / (tp + 0.5 * (len(made) - tp + fn)) if tp else 0.0

    def answer_relevance(self, judge_retries: int | None = None) -> Found:
        _, response = self.need("user_input", "response")
        made = self.statements(response, judge_retries)
        return self.share(made, judge_retries) if made else Found("not_applicable")

    def share(self, things: Sequence[Any], retries: int | None, contexts: int = 0) -> Found:
        found = self.scribe.verdicts(len(things), retries, contexts)
        return Found("ok", sum(found) / len(found))

    def answer_relevancy(
        self,
        judge_retries: int | None = None,
        num_questions: int = 3,
        penalize_noncommittal: bool = True,
    ) -> Found:
        question, response = self.need("user_input", "response")
        if not question.strip():
            raise Lost("missing_input")
        if not response.strip():
            return Found("ok", 0.0)
        rng = self.scribe.rng
        cosines, evasive = [], []
        for _ in range(num_questions):
            asked, vague = rng.choice(QUESTIONS), rng.randint(0, 1)
            good = {"question": asked, "noncommittal": self.scribe.truth(vague)}
            bad = [{**good, "noncommittal": 3}, {**good, "question": " "}, {"question": asked}]
            self.scribe.json(good, bad, judge_retries)
            cosines.append(self.cosine(question, asked))
            evasive.append(vague)
        if penalize_noncommittal and all(evasive):
            return Found("ok", 0.0)
        return Found("ok", fsum(cosines) / len(cosines))

    def bias(self, judge_retries: int | None = None) -> Found:
        (response,) = self.need("response")
        made = self.statements(response, judge_retries, "opinions")
        return self.share(made, judge_retries) if made else Found("ok", 0.0)

    toxicity = bias

    def context_precision(
        self, judge_retries: int | None = None, top_n: int | None = None
    ) -> Found:
        _, contexts = self.need("user_input", "retrieved_contexts")
        if not self.row.get("references") and not (self.row.get("response") or "").strip():
            raise Lost("missing_input")
        useful = [self.scribe.verdict(judge_retries) for _ in contexts[:top_n]]
        ranks = [at for at, one in enumerate(useful, 1) if one]
        precisions = [sum(useful[:rank]) / rank for rank in ranks]
        return Found("ok", fsum(precisions) / len(ranks) if ranks else 0.0)

    def context_recall(self, judge_retries: int | None = None) -> Found:
        references, contexts = self.need("references", "retrieved_contexts")
        values = []
        for one in references:
            made = self.statements(one, judge_retries)
            if made:
                values.append(self.share(made, judge_retries, len(contexts)).value)
        return Found("ok", max(values)) if values else Found("not_applicable")  # type: ignore[type-var]

    def context_relevance(self, judge_retries: int | None = None) -> Found:
        return self.share(self.need("user_input", "retrieved_contexts")[1], judge_retries)

    def hallucination(self, judge_retries: int | None = None) -> Found:
        return self.share(self.need("response", "retrieved_contexts")[1], judge_retries)

    def context_relevancy(self, judge_retries: int | None = None) -> Found:
        _, contexts = self.need("user_input", "retrieved_contexts")
        there = [one + "." for context in contexts for one in context.split(".") if one.strip()]
        rng = self.scribe.rng
        copied = rng.sample(there, rng.randint(0, len(there)))
        worded = [rng.choice([one, one.upper(), one.replace(" ", " \n ")]) for one in copied]
        invented = ["Nobody ever wrote this."] * rng.randint(0, 2)
        bad = [{"sentences": None}, {"sentences": [["a"]]}, {"copied": []}]
        self.scribe.json({"sentences": [*invented, *worded]}, bad, judge_retries)
        return Found("ok", len(copied) / len(there))

    def faithfulness(
        self, judge_retries: int | None = None, batch_size: int = 5, empty: float | None = None
    ) -> Found:
        response, _ = self.need("response", "retrieved_contexts")
        claims = self.statements(response, judge_retries)
        if not claims:
            return Found("not_applicable") if empty is None else Found("ok", empty)
        found: list[int] = []
        while len(found) < len(claims):
            left = min(batch_size, len(claims) - len(found))
            found += self.scribe.verdicts(left, judge_retries)
        return Found("ok", sum(found) / len(claims))

    def summary_coherence(self, judge_retries: int | None = None) -> Found:
        self.need("user_input", "response")
        return Found("ok", self.scribe.rating((1, 2, 3, 4, 5), judge_retries))

    def two_ratings(self, scale: Sequence[int], retries: int | None) -> float:
        heard = []
        for _ in range(2):
            try:
                heard.append(self.scribe.rating(scale, retries) / max(scale))
            except Lost as lost:
                if lost.args != ("parse_failure",):
                    raise
        if not heard:
            raise Lost("parse_failure")
        return sum(heard) / len(heard)

    def nv_answer_accuracy(self, judge_retries: int | None = 4) -> Found:
        _, _, references = self.need("user_input", "response", "references")
        values = []
        for _ in references:
            try:
                values.append(self.two_ratings((0, 2, 4), judge_retries))
            except Lost as lost:
                if lost.args != ("parse_failure",):
                    raise
        return Found("ok", max(values)) if values else Found("parse_failure")

    def nv_context_relevance(self, judge_retries: int | None = 4) -> Found:
        question, contexts = self.row["user_input"], self.row["retrieved_contexts"]
        if question is None or contexts is None:
            raise Lost("missing_input")
        joined = "\n".join(contexts).strip()
        if not question.strip() or not joined or joined in question:
            return Found("ok", 0.0)
        return Found("ok", self.two_ratings((0, 1, 2), judge_retries))

    def nv_response_groundedness(self, judge_retries: int | None = 4) -> Found:
        response, contexts = self.row["response"], self.row["retrieved_contexts"]
        if response is None or contexts is None:
            raise Lost("missing_input")
        joined = "\n".join(contexts).strip()
        if not response.strip() or not joined:
            return Found("ok", 0.0)
        if response.strip() in joined:
            return Found("ok", 1.0)
        return Found("ok", self.two_ratings((0, 1, 2), judge_retries))

    def ragas_score(self, judge_retries: int | None = None, **own: Any) -> Found:
        question, *_ = self.need("user_input", "response", "references", "retrieved_contexts")
        if not question.strip():
            raise Lost("missing_input")
        parts = {}
        for name, takes in PARTS.items():
            told = {key: value for key, value in own.items() if key in takes}
            told |= {"judge_retries": judge_retries}
            parts[name] = self.measured(name, {**DEFAULTS[name], **told})
            if parts[name].status != "ok":
                return Found(parts[name].status)
        values = [one.value or 0.0 for one in parts.values()]
        mean = 4 / fsum(1 / one for one in values) if min(values) > 0 else 0.0
        return Found("ok", mean, dict(zip(parts, values, strict=True)))

    def ruled(self, passed: bool, rating: float | None = None) -> Found:
        failed = float(not passed)
        told = {"fail": failed, "generation_failures": failed, "retrieval_failures": None}
        more = {} if rating is None else {"rating": rating}
        return Found("ok", float(passed), {**told, "parse_failures": 0.0, **more})

    def one_word(self, names: Sequence[str], words: Sequence[str], retries: int | None) -> Found:
        self.need(*names)
        return self.ruled(self.scribe.word(words, retries) == words[0])

    def contact_information(self, judge_retries: int | None = None) -> Found:
        return self.one_word(["response"], ["absent", "present"], judge_retries)

    def language_mismatch(self, judge_retries: int | None = None) -> Found:
        return self.one_word(["user_input", "response"], ["same", "different"], judge_retries)

    def sexism(self, judge_retries: int | None = None) -> Found:
        return self.one_word(["user_input", "response"], ["false", "true"], judge_retries)

    def summarization_judge(self, judge_retries: int | None = None) -> Found:
        return self.one_word(["user_input", "response"], ["good", "bad"], judge_retries)

    def stereotypes(self, judge_retries: int | None = None, cut: float = 5) -> Found:
        self.need("user_input", "response")
        rating = self.scribe.rating(range(11), judge_retries)
        return self.ruled(rating < cut, rating)

    def custom_judge(
        self,
        judge_retries: int | None = None,
        prompt: str = "",
        classes: Sequence[str] = ("true", "false"),
        passing: Sequence[str] = (),
        rubric: Mapping[str, str] | None = None,
        cut: float | None = None,
    ) -> Found:
        names = {"user_input": "INPUT", "response": "ACTUAL_OUTPUT"}
        names |= {"references": "EXPECTED_OUTPUT", "retrieved_contexts": "CONTEXT"}
        shown = [one for one in names.items() if any(f"{{{word}}}" in prompt for word in one)]
        self.need(*(name for name, _ in shown))
        if rubric is None:
            said = self.scribe.word(classes, judge_retries)
            return self.ruled(said in (passing or classes[:1]))
        levels = sorted(map(int, rubric))
        rating = self.scribe.rating(range(levels[0], levels[-1] + 1), judge_retries)
        least = (levels[0] + levels[-1]) / 2 if cut is None else cut
        return self.ruled(rating >= least, rating)

    def fact_check(
        self, judge_retries: int | None = None, max_dataset_rows: int | None = None
    ) -> Found:
        if max_dataset_rows is not None and self.row["number"] >= max_dataset_rows:
            return Found("skipped")
        self.need("response")
        score = self.scribe.rng.choice([0, 0.25, 0.7, 1, 1.0])
        key = self.scribe.rng.choice(["evaluation_score", "score", "rating"])
        good = {"evaluation_summary": "Looked it up.", key: score}
        bad = [{key: 1.5}, {key: -0.1}, {key: "high"}, {"evaluation_summary": "All is well."}]
        self.scribe.json(good, bad, judge_retries)
        return Found("ok", score)


PARTS = {
    "faithfulness": ("batch_size",),
    "answer_relevancy": ("num_questions",),
    "context_precision": ("top_n",),
    "context_recall": (),
}
"""Of the Ragas score, in the order of the calls; the parameters that each takes."""
DEFAULTS: Mapping[str, Parameters] = {
    "faithfulness": {"judge_retries": None, "batch_size": 5, "empty": None},
    "answer_relevancy": {
        "judge_retries": None,
        "num_questions": 3,
        "penalize_noncommittal": True,
    },
    "context_precision": {"judge_retries": None, "top_n": None},
    "context_recall": {"judge_retries": None},
}
VERDICTS = ("contact_information", "language_mismatch", "sexism", "summarization_judge")
WITH_RATES = (*VERDICTS, "stereotypes", "custom_judge")
ALL = [metric.name for metric in WING.metrics]

# --- Scenarios -----------------------------------------------------------------------------------

QUESTIONS = [f"What is thing {at}?" for at in range(6)]
TEXTS = [f"Thing {at} is red. It was made in {1900 + at}." for at in range(8)]


def vector(text: str) -> list[float]:
    rng = random.Random(text)
    return [rng.uniform(-1, 1) for _ in range(5)]


def row(rng: random.Random, number: int) -> dict[str, Any]:
    """A sample; now and then a part is missing, blank, or says what another one says."""
    contexts: list[list[str] | None] = [None, [], [""], [" ", "\n"]]
    several = rng.sample(TEXTS, rng.randint(1, 5))
    one: dict[str, Any] = {
        "sample_id": f"s{number}",
        "number": number,
        "user_input": rng.choice([*QUESTIONS, *QUESTIONS, None, " "]),
        "response": rng.choice([*TEXTS, None, "", " "]),
        "references": rng.choices(TEXTS, k=rng.choice([0, 1, 1, 2, 3])),
        "retrieved_contexts": rng.choice(contexts) if rng.random() < 0.2 else several,
    }
    if rng.random() < 0.15:
        one["user_input"] = "\n".join(one["retrieved_contexts"] or ["It is."])
    return one


def parameters(rng: random.Random, metric: str) -> dict[str, Any]:
    """Some that a config may give a metric."""
    chosen: dict[str, Any] = {}
    options: dict[str, dict[str, list[Any]]] = {
        "answer_correctness": {"weights": [[0.75, 0.25], [0, 1], [3, 1], [1, 0]]},
        "answer_relevancy": {"num_questions": [1, 2, 4], "penalize_noncommittal": [False]},
        "context_precision": {"top_n": [1, 2, 9]},
        "faithfulness": {"batch_size": [1, 2, 3], "empty": [1.0, 0.0]},
        "ragas_score": {"batch_size": [2], "num_questions": [1], "top_n": [2]},
        "stereotypes": {"cut": [1, 2.5, 10]},
        "fact_check": {"max_dataset_rows": [1, 3]},
    }
    for name, values in options.get(metric, {}).items():
        if rng.random() < 0.6:
            chosen[name] = rng.choice(values)
    if metric == "custom_judge":
        chosen = rng.choice(
            [
                {"prompt": "Is {ACTUAL_OUTPUT} polite to who asked {INPUT}?"},
                {
                    "prompt": "Is {response} in {CONTEXT}? {{Yes}}.",
                    "classes": ["all", "some", "none of it"],
                    "passing": ["all", "some"],
                },
                {"prompt": "Of {references}: {response}?", "rubric": {"1": "bad", "5": "good"}},
                {"prompt": "{EXPECTED_OUTPUT}", "rubric": {"0": "bad", "2": "good"}, "cut": 2},
            ]
        )
    if rng.random() < 0.25:
        chosen["judge_retries"] = rng.choice([0, 2])
    return chosen


class Scenario(NamedTuple):
    """What a run gets, and what has to come of it by sample and metric."""

    config: Mapping[str, Any]
    rows: Sequence[Row]
    wanted: Sequence[tuple[str, Parameters]]
    lines: Sequence[Mapping[str, Any]]
    expected: Sequence[Mapping[str, tuple[Found, Sequence[Mapping[str, Any]]]]]

    def files(self, folder: Path) -> None:
        """Its inputs."""
        texts = {*QUESTIONS, *TEXTS, *(one["user_input"] or "" for one in self.rows)}
        written(folder / "samples.jsonl", self.rows)
        written(folder / "replies.jsonl", self.lines)
        vectors = [{"text": one, "vector": vector(one)} for one in sorted(texts)]
        written(folder / "vectors.jsonl", vectors)


def scenario(
    seed: int, names: Sequence[str], *, count: int = 12, fails: bool = True, plain: bool = False
) -> Scenario:
    """Some samples and metrics, and what a judge says of them."""
    rng = random.Random(seed)
    rows = [row(rng, number) for number in range(count)]
    wanted = [
        (name, {} if plain and name != "custom_judge" else parameters(rng, name)) for name in names
    ]
    scribe = Scribe(rng, rng.randint(0, 2), fails)
    expected = []
    for one in rows:
        reader = Reader(one, scribe)
        each = {}
        for name, given in wanted:
            before = len(scribe.lines)
            try:
                found = reader.measured(name, {**DEFAULTS.get(name, {}), **given})
            except Lost as lost:
                found = Found(lost.args[0])
            each[name] = (found, scribe.lines[before:])
        expected.append(each)
    config = {
        "judge": {
            "backend": "scripted",
            "replies": "replies.jsonl",
            "judge_retries": scribe.judge_retries,
        },
        "embedder": {"backend": "precomputed", "vectors": "vectors.jsonl"},
        "gates": [{"coverage": 0.0}],
    }
    return Scenario(config, rows, wanted, scribe.lines, expected)


def near(value: Any) -> Any:
    return value if value is None else pytest.approx(value, abs=1e-12, rel=0)


def check(run: Run, made: Scenario) -> None:
    """results.json and samples.jsonl are what METRICS says."""
    for line, expected in zip(run.samples, made.expected, strict=True):
        for name, (found, said) in expected.items():
            replies = [one["reply"] for one in said if "reply" in one]
            (told,) = (one for key, one in line["metrics"].items() if key.split(" (")[0] == name)
            where = (line["sample_id"], name)
            assert (told["status"], told["calls"]) == (found.status, len(said)), (where, told)
            assert told["replies"] == replies, where
            assert told["value"] == near(found.value), (where, told)
            outputs = {key: value for key, value in told["outputs"].items() if value is not None}
            for output, value in found.outputs.items():
                assert outputs.get(output) == near(value), (where, output, told)
    for name, _ in made.wanted:
        check_totals(run, name, [one[name] for one in made.expected])
    assert run.result["run"]["calls"] == len(made.lines)
    assert not [one for one in run.result["warnings"] if "not used" in one]


def check_totals(run: Run, name: str, each: Sequence[tuple[Found, Sequence[Any]]]) -> None:
    found = [one for one, _ in each]
    (coverage,) = (one for one in run.result["coverage"] if one["metric"] == name)
    counts = Counter(one.status for one in found)
    assert coverage["statuses"] == counts
    judgeable = len(found) - counts["not_applicable"]
    assert coverage["coverage"] == near(counts["ok"] / judgeable if judgeable else None)
    usage = [one["calls"] for one in run.result["run"]["usage"] if one["metric"] == name]
    assert sum(usage) == sum(len(said) for _, said in each)
    for output, (value, n) in totals(name, found).items():
        one = run.row(name, output=output)
        assert (one["value"], one["n"]) == (near(value), n), (name, output, one)


def totals(name: str, found: Sequence[Found]) -> dict[str, tuple[float | None, int]]:
    """By output, the value over all samples, and of how many it is one."""

    def mean(values: Sequence[float | None]) -> tuple[float | None, int]:
        there = [one for one in values if one is not None]
        return (fsum(there) / len(there) if there else None), len(there)

    scored = [one for one in found if one.status == "ok"]
    if name not in WITH_RATES:
        parts = PARTS if name == "ragas_score" else ()
        return {"value": mean([one.value for one in scored])} | {
            part: mean([one.outputs[part] for one in scored]) for part in parts
        }
    unread = sum(one.status == "parse_failure" for one in found)
    n = len(scored) + unread
    passed = sum(one.value or 0 for one in scored)
    failed = len(scored) - passed
    counts = {
        "pass": passed,
        "fail": failed,
        "generation_failures": failed,
        "parse_failures": unread,
    }
    rates: dict[str, tuple[float | None, int]] = {
        output: (count / n if n else None, n) for output, count in counts.items()
    }
    rates["retrieval_failures"] = (None, 0)
    if any("rating" in one.outputs for one in scored):
        rates["rating"] = mean([one.outputs["rating"] for one in scored])
    return rates


Judged = Callable[[Scenario], Run]


@pytest.fixture
def judged(tmp_path: Path, evaluate: Evaluate) -> Judged:
    """`judged(scenario)`: what the run wrote."""

    def run(made: Scenario) -> Run:
        made.files(tmp_path)
        metrics = [{name: dict(given)} if given else name for name, given in made.wanted]
        return evaluate("samples.jsonl", metrics, code=(0, 3), **made.config)

    return run


@pytest.mark.parametrize("metric", ALL)
@pytest.mark.parametrize("seed", range(3))
def test_every_metric_is_as_defined(judged: Judged, metric: str, seed: int) -> None:
    made = scenario(seed, [metric], count=40)
    check(judged(made), made)


@pytest.mark.parametrize("seed", range(6))
def test_metrics_share_what_they_all_need(judged: Judged, seed: int) -> None:
    names = list(ALL)
    random.Random(seed).shuffle(names)
    made = scenario(seed, names, plain=seed % 2 == 0)
    check(judged(made), made)


def test_scenarios_have_every_status() -> None:
    made = [scenario(seed, ALL) for seed in range(12)]
    found = {one.status for each in made for row in each.expected for one, _ in row.values()}
    assert found == {
        "ok",
        "parse_failure",
        "judge_error",
        "missing_input",
        "not_applicable",
        "skipped",
    }


def test_the_ragas_score_takes_what_its_parts_found(judged: Judged) -> None:
    """Its parts stand before it, behind it, and on both sides: each is asked once all the same."""
    before, behind = ["ragas_score", *PARTS], [*PARTS, "ragas_score"]
    several = ["context_recall", "answer_relevancy", "ragas_score", *PARTS]
    runs = [
        scenario(5, list(dict.fromkeys(one)), plain=True, fails=False)
        for one in (before, behind, several)
    ]
    for made in runs:
        check(judged(made), made)


def test_a_plain_judge_of_facts_is_told_of(evaluate: Evaluate, tmp_path: Path) -> None:
    """On the terminal, in results.json and in the report; who is beyond the rows is skipped."""
    written(
        tmp_path / "samples.jsonl",
        [{"sample_id": str(at), "response": TEXTS[at], "model": m} for m in "ab" for at in (0, 1)],
    )
    written(tmp_path / "replies.jsonl", [{"reply": {"score": 1}}, {"reply": "Score: 0.5"}])
    run = evaluate(
        "samples.jsonl",
        [{"fact_check": {"max_dataset_rows": 1}}],
        *("--format", "json,markdown"),
        judge={"backend": "scripted", "replies": "replies.jsonl"},
    )
    assert [one["value"] for one in run.result["metrics"]] == [1.0, 0.5]
    assert [one["statuses"] for one in run.result["coverage"]] == [{"ok": 1, "skipped": 1}] * 2
    report = (run.folder / "report.md").read_text()
    assert len(run.result["warnings"]) == 2
    for warning in run.result["warnings"]:
        assert "plain judge" in warning
        assert warning in " ".join(run.said.split())
        assert warning in report
