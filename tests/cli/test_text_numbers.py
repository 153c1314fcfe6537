"""Numbers of text generation from files to results.json and samples.jsonl, against other tools."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import pytest
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from nltk.translate.bleu_score import corpus_bleu as nltk_corpus_bleu
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU, CHRF, TER

from tests.oracles import squad
from tests.oracles.sacrebleu_corpus import streams
from tests.program import invoke

sklearn = pytest.importorskip("sklearn.metrics")

DATA = Path(__file__).parents[1] / "real_data"
SUMMARIES = DATA / "text" / "xsum-a"
DESCRIPTIONS = DATA / "text" / "e2e-nlg-retrieval-60" / "retrieval.jsonl"
SHORT_ANSWERS = DATA / "text" / "qa-eval-nq" / "responses.jsonl"
CHATS = DATA / "rag" / "mtrag-human-dev" / "responses.jsonl"

ROUGE = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL", "rouge_lsum": "rougeLsum"}
SENTENCE = {"tokenizer": "13a", "smoothing": "exp", "effective_order": True}
"""The settings of `BLEU(effective_order=True)` of sacrebleu for sentences."""

EPSILON = {"tokenizer": "whitespace", "smoothing": "floor", "smoothing_value": 0.1}
"""nltk's `SmoothingFunction().method1`."""


class Found(NamedTuple):
    """What a run wrote: results.json, and the lines of samples.jsonl."""

    result: Mapping[str, Any]
    samples: Sequence[Mapping[str, Any]]

    def value(self, metric: str, output: str = "value", model: str = "", **where: Any) -> float:
        """That of the one row over all samples that fits."""
        (row,) = (
            row
            for row in self.result["metrics"]
            if (row["metric"], row["output"], row["label"]) == (metric, output, None)
            and model in ("", row["model"])
            and where.items() <= row["parameters"].items()
        )
        value: float = row["value"]
        return value

    def each(self, name: str, output: str = "", model: str = "") -> list[float]:
        """A value of every sample; the primary one has no `output`."""
        found = [line["metrics"][name] for line in self.samples if model in ("", line["model"])]
        return [one["outputs"][output] if output else one["value"] for one in found]


Evaluate = Callable[..., Found]


@pytest.fixture
def evaluate(tmp_path: Path) -> Evaluate:
    """`evaluate(data, metrics, *options, **config)`: what the run wrote, run in this process."""

    def run(data: Any, wanted: Sequence[Any], *options: object, **config: Any) -> Found:
        inputs = data if isinstance(data, dict) else {"samples": str(data)}
        config = {"task": "text_generation", "data": inputs, "metrics": wanted, **config}
        path = tmp_path / "run.yaml"
        path.write_text(json.dumps({**config, "report": {"out": "out"}}))
        arguments = ["evaluate", str(path), "--format", "json", *map(str, options)]
        done = invoke(arguments, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        lines = (tmp_path / "out" / "samples.jsonl").read_text(encoding="utf-8").splitlines()
        result = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
        return Found(result, [json.loads(line) for line in lines])

    return run


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def near(value: Any) -> Any:
    return pytest.approx(value, abs=1e-9, rel=0)


def tokens(samples: Sequence[Mapping[str, Any]]) -> tuple[list[list[list[str]]], list[list[str]]]:
    """References and responses as nltk takes them, cut at white space."""
    return (
        [[one.split() for one in row["references"]] for row in samples],
        [row["prediction"].split() for row in samples],
    )


@pytest.mark.parametrize(
    "path", [DESCRIPTIONS, *sorted(SUMMARIES.glob("*.jsonl"))], ids=lambda path: path.stem
)
def test_overlap_is_that_of_the_tools(evaluate: Evaluate, path: Path) -> None:
    found = evaluate(
        path,
        [
            *ROUGE,
            *({name: {"use_stemmer": True}} for name in ROUGE),
            *({"bleu": settings} for settings in (SENTENCE, EPSILON)),
            "corpus_bleu",
            {"corpus_bleu": {"lowercase": True}},
            {"corpus_bleu": {"tokenize": "none", "smooth_method": "none", "max_ngram_order": 2}},
            *({"chrf": {"word_order": order}} for order in (0, 2)),
        ],
    )
    samples = rows(path)
    check_rouge(found, samples)
    check_bleu_of_samples(found, samples)
    check_corpus(found, samples)


def check_rouge(found: Found, samples: Sequence[Mapping[str, Any]]) -> None:
    for stem in (False, True):
        scorer = RougeScorer(list(ROUGE.values()), use_stemmer=stem)
        told = [scorer.score_multi(row["references"], row["prediction"]) for row in samples]
        for name, theirs in ROUGE.items():
            key = f"{name} (use_stemmer={str(stem).lower()})"
            f1 = [row[theirs].fmeasure for row in told]
            recall = [row[theirs].recall for row in told]
            assert found.each(key) == near(f1)
            assert found.each(key, "recall") == near(recall)
            assert found.value(name, "f1", use_stemmer=stem) == near(fmean(f1))
            assert found.value(name, "recall", use_stemmer=stem) == near(fmean(recall))


def check_bleu_of_samples(found: Found, samples: Sequence[Mapping[str, Any]]) -> None:
    tool = BLEU(effective_order=True)
    theirs = {
        "exp": [
            tool.sentence_score(row["prediction"], row["references"]).score / 100 for row in samples
        ],
        "floor": [
            sentence_bleu(*one, smoothing_function=SmoothingFunction().method1)
            for one in zip(*tokens(samples), strict=True)
        ],
    }
    keys = [key for key in found.samples[0]["metrics"] if key.startswith("bleu ")]
    for smoothing, told in theirs.items():
        (key,) = (key for key in keys if f"smoothing={smoothing}" in key)
        assert found.each(key) == near(told)
        assert found.value("bleu", smoothing=smoothing) == near(fmean(told))


def check_corpus(found: Found, samples: Sequence[Mapping[str, Any]]) -> None:
    given = [row["prediction"] for row in samples], streams([row["references"] for row in samples])
    tools = [
        ("corpus_bleu", {"lowercase": False, "smooth_method": "exp"}, BLEU()),
        ("corpus_bleu", {"lowercase": True}, BLEU(lowercase=True)),
        ("chrf", {"word_order": 0}, CHRF()),
        ("chrf", {"word_order": 2}, CHRF(word_order=2)),
    ]
    for metric, settings, tool in tools:
        told = tool.corpus_score(*given)
        signed = {"signature": str(tool.get_signature())}
        assert found.value(metric, **settings, **signed) == near(told.score / 100)
    bleu = BLEU().corpus_score(*given)
    where: dict[str, Any] = {"lowercase": False, "smooth_method": "exp"}
    assert found.value("corpus_bleu", "brevity_penalty", **where) == near(bleu.bp)
    assert found.value("corpus_bleu", "length_ratio", **where) == near(bleu.sys_len / bleu.ref_len)
    plain = nltk_corpus_bleu(*tokens(samples), weights=(0.5, 0.5))
    assert found.value("corpus_bleu", max_ngram_order=2) == near(plain)


def test_ter_is_that_of_sacrebleu(evaluate: Evaluate) -> None:
    path = SUMMARIES / "PtGen.jsonl"
    found, samples = evaluate(path, ["ter"]), rows(path)
    tool = TER()
    given = [row["prediction"] for row in samples], streams([row["references"] for row in samples])
    assert found.value("ter") == near(tool.corpus_score(*given).score / 100)
    assert found.each("ter") == near(
        [tool.sentence_score(row["prediction"], row["references"]).score / 100 for row in samples]
    )


def test_rows_have_the_stored_numbers(evaluate: Evaluate) -> None:
    found = evaluate(DESCRIPTIONS, [{"bleu": SENTENCE}, {"bleu": EPSILON}])
    told = [row["expected"] for row in rows(DESCRIPTIONS)]
    exp, floor = sorted(found.samples[0]["metrics"], key=lambda key: "smoothing=floor" in key)
    assert found.each(exp) == near([one["sentence_bleu"] / 100 for one in told])
    assert found.each(floor) == near([one["nltk_bleu4_method1"] for one in told])


def test_short_answers_have_the_numbers_of_squad(evaluate: Evaluate) -> None:
    found = evaluate(
        SHORT_ANSWERS, ["exact_match", "token_f1", {"exact_match": {"normalize": False}}]
    )
    told = json.loads((SHORT_ANSWERS.parent / "expected.json").read_text())["per_model"]
    assert [
        one["name"] if isinstance(one, dict) else one for one in found.result["models"]
    ] == list(told)
    for model, expected in told.items():
        own = [row for row in rows(SHORT_ANSWERS) if row["model"] == model]
        exact = found.value("exact_match", model=model, normalize=True)
        assert exact == near(expected["squad_exact_match"])
        assert found.value("token_f1", "f1", model) == near(expected["squad_token_f1"])
        each = [squad.token_f1(row["prediction"], row["references"]) for row in own]
        assert found.each("token_f1", model=model) == near([one[0] for one in each])
        as_written = fmean(row["prediction"] in row["references"] for row in own)
        assert found.value("exact_match", model=model, normalize=False) == near(as_written)


def test_chats_have_the_published_rouge(evaluate: Evaluate) -> None:
    data = {"samples": str(CHATS), "columns": {"sample_id": "task_id"}}
    found, samples = evaluate(data, ["rouge_l", "looping"]), rows(CHATS)
    published = {(row["task_id"], row["model"]): row["published"]["RougeL"] for row in samples}
    for line in found.samples:
        told = published[line["sample_id"], line["model"]]
        assert line["metrics"]["rouge_l"]["value"] == near(told)
    text = {(row["task_id"], row["model"]): row["answer"].encode() for row in samples}
    for line in found.samples:
        raw = text[line["sample_id"], line["model"]]
        ratio = len(zlib.compress(raw, 9)) / len(raw) if len(raw) >= 200 else None
        assert line["metrics"]["looping"]["outputs"].get("compression_ratio") == near(ratio)
    for model in {row["model"] for row in samples}:
        own = [value for (_, of), value in published.items() if of == model]
        assert found.value("rouge_l", "f1", model) == near(fmean(own))


def test_consistency_is_rouge_between_all_answers(evaluate: Evaluate, tmp_path: Path) -> None:
    answers: dict[str, list[str]] = {}
    for path in sorted(SUMMARIES.glob("*.jsonl")):
        for row in rows(path):
            answers.setdefault(row["id"], []).append(row["prediction"])
    lines = [{"prompt": name, "output": one} for name, own in answers.items() for one in own]
    (tmp_path / "four.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = evaluate("four.jsonl", ["self_consistency"])
    scorer = RougeScorer(["rouge1", "rougeL"])
    each: dict[str, list[float]] = {"rouge1": [], "rougeL": []}
    for own in answers.values():
        shared: dict[str, list[list[float]]] = {name: [[] for _ in own] for name in each}
        for i, j in combinations(range(len(own)), 2):
            for name, value in scorer.score(own[i], own[j]).items():
                shared[name][i].append(value.fmeasure)
                shared[name][j].append(value.fmeasure)
        for name, values in shared.items():
            each[name] += map(fmean, values)
    assert found.each("self_consistency") == near(each["rougeL"])
    assert found.each("self_consistency", "rouge_1") == near(each["rouge1"])
    assert found.value("self_consistency", "rouge_l") == near(fmean(each["rougeL"]))
    assert found.value("self_consistency", "rouge_1") == near(fmean(each["rouge1"]))


LABELLED = [
    *(("spam", "spam"),) * 7,
    *(("spam", " ham "),) * 2,
    *(("ham", "ham\n"),) * 5,
    *(("ham", "spam"),) * 3,
    *(("news", "news"),) * 2,
    *(("news", "I think it is news"),) * 1,
]


def test_labels_have_the_numbers_of_scikit_learn(evaluate: Evaluate, tmp_path: Path) -> None:
    lines = [{"output": answer, "reference": truth} for truth, answer in LABELLED]
    (tmp_path / "labels.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    truth = [one for one, _ in LABELLED]
    answers = [one.strip() for _, one in LABELLED]
    averages = ("macro", "micro", "weighted")
    wanted: list[Any] = [{"llm_classification": {"average": average}} for average in averages]
    found = evaluate("labels.jsonl", [*wanted, {"llm_classification": {"positive_label": "spam"}}])
    settings = [({"average": average, "positive_label": None}, average) for average in averages]
    for where, average in [*settings, ({"positive_label": "spam"}, None)]:
        told = sklearn.precision_recall_fscore_support(
            truth, answers, average=average, zero_division=0, labels=None if average else ["spam"]
        )
        accuracy = found.value("llm_classification", "accuracy", **where)
        assert accuracy == near(sklearn.accuracy_score(truth, answers))
        for output, value in zip(("precision", "recall", "f1"), told, strict=False):
            expected = float(value if average else value[0])
            assert found.value("llm_classification", output, **where) == near(expected)


def test_intervals_hold_the_value_and_are_those_of_the_seed(evaluate: Evaluate) -> None:
    interval = {"method": "bootstrap", "resamples": 100, "level": 0.9, "seed": 3}
    wanted = ["exact_match", "token_f1", "corpus_bleu"]
    found = evaluate(SHORT_ANSWERS, wanted, interval=interval)
    again = evaluate(SHORT_ANSWERS, wanted, "--jobs", 2, interval=interval)
    assert found.result["metrics"] == again.result["metrics"]
    for row in found.result["metrics"]:
        low, high = row["interval"]
        assert low <= row["value"] <= high
    # 400 answers, of which 225 are right: the standard error is sqrt(p (1 - p) / n) = 0.0248.
    (row,) = (
        row
        for row in found.result["metrics"]
        if (row["metric"], row["model"]) == ("exact_match", "fid")
    )
    assert row["interval"] == pytest.approx(
        [0.5625 - 1.645 * 0.0248, 0.5625 + 1.645 * 0.0248], abs=0.01
    )
