"""Numbers of text generation from files to results.json and samples.jsonl, against other tools."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from nltk.translate.bleu_score import corpus_bleu as nltk_corpus_bleu
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU, CHRF, TER

from tests.cli.conftest import ROOT, Evaluate, Run, lines_of, written
from tests.oracles import squad
from tests.oracles.sacrebleu_corpus import streams

sklearn = pytest.importorskip("sklearn.metrics")

TASK = "text_generation"
DATA = ROOT / "tests" / "real_data"
SUMMARIES = DATA / "text" / "xsum-a"
DESCRIPTIONS = DATA / "text" / "e2e-nlg-retrieval-60" / "retrieval.jsonl"
SHORT_ANSWERS = DATA / "text" / "qa-eval-nq" / "responses.jsonl"
CHATS = DATA / "rag" / "mtrag-human-dev" / "responses.jsonl"

ROUGE = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL", "rouge_lsum": "rougeLsum"}
SENTENCE = {"tokenizer": "13a", "smoothing": "exp", "effective_order": True}
"""The settings of `BLEU(effective_order=True)` of sacrebleu for sentences."""

EPSILON = {"tokenizer": "whitespace", "smoothing": "floor", "smoothing_value": 0.1}
"""nltk's `SmoothingFunction().method1`."""


def near(value: Any) -> Any:
    return pytest.approx(value, abs=1e-9, rel=0)


def each(found: Run, name: str, output: str = "", model: str = "") -> list[float]:
    """A value of every sample; the primary one has no `output`."""
    own = [line["metrics"][name] for line in found.samples if model in ("", line["model"])]
    return [one["outputs"][output] if output else one["value"] for one in own]


def tokens(samples: Sequence[Mapping[str, Any]]) -> tuple[list[list[list[str]]], list[list[str]]]:
    """References and responses as nltk takes them, cut at white space."""
    return (
        [[one.split() for one in row["references"]] for row in samples],
        [row["prediction"].split() for row in samples],
    )


@pytest.mark.parametrize(
    "path", [DESCRIPTIONS, *sorted(SUMMARIES.glob("*.jsonl"))[:2]], ids=lambda path: path.stem
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
    samples = lines_of(path)
    check_rouge(found, samples)
    check_bleu_of_samples(found, samples)
    check_corpus(found, samples)


def check_rouge(found: Run, samples: Sequence[Mapping[str, Any]]) -> None:
    for stem in (False, True):
        scorer = RougeScorer(list(ROUGE.values()), use_stemmer=stem)
        told = [scorer.score_multi(row["references"], row["prediction"]) for row in samples]
        for name, theirs in ROUGE.items():
            key = f"{name} (use_stemmer={str(stem).lower()})"
            f1 = [row[theirs].fmeasure for row in told]
            recall = [row[theirs].recall for row in told]
            assert each(found, key) == near(f1)
            assert each(found, key, "recall") == near(recall)
            for output, values in (("f1", f1), ("recall", recall)):
                value = found.value(name, output=output, parameters={"use_stemmer": stem})
                assert value == near(fmean(values))


def check_bleu_of_samples(found: Run, samples: Sequence[Mapping[str, Any]]) -> None:
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
        assert each(found, key) == near(told)
        assert found.value("bleu", parameters={"smoothing": smoothing}) == near(fmean(told))


def check_corpus(found: Run, samples: Sequence[Mapping[str, Any]]) -> None:
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
        value = found.value(metric, output="value", parameters={**settings, **signed})
        assert value == near(told.score / 100)
    bleu = BLEU().corpus_score(*given)
    ratio = bleu.sys_len / bleu.ref_len
    where = {"lowercase": False, "smooth_method": "exp"}
    for output, expected in (("brevity_penalty", bleu.bp), ("length_ratio", ratio)):
        assert found.value("corpus_bleu", output=output, parameters=where) == near(expected)
    plain = nltk_corpus_bleu(*tokens(samples), weights=(0.5, 0.5))
    order = {"max_ngram_order": 2}
    assert found.value("corpus_bleu", output="value", parameters=order) == near(plain)


def test_ter_is_that_of_sacrebleu(evaluate: Evaluate) -> None:
    path = SUMMARIES / "PtGen.jsonl"
    found, samples = evaluate(path, ["ter"]), lines_of(path)
    tool = TER()
    given = [row["prediction"] for row in samples], streams([row["references"] for row in samples])
    assert found.value("ter", output="value") == near(tool.corpus_score(*given).score / 100)
    assert each(found, "ter") == near(
        [tool.sentence_score(row["prediction"], row["references"]).score / 100 for row in samples]
    )


def test_short_answers_have_the_numbers_of_squad(evaluate: Evaluate) -> None:
    found = evaluate(
        SHORT_ANSWERS, ["exact_match", "token_f1", {"exact_match": {"normalize": False}}]
    )
    told = json.loads((SHORT_ANSWERS.parent / "expected.json").read_text())["per_model"]
    assert found.result["models"] == list(told)
    for model, expected in told.items():
        own = [row for row in lines_of(SHORT_ANSWERS) if row["model"] == model]
        as_written = fmean(row["prediction"] in row["references"] for row in own)
        for normalize, right in ((True, expected["squad_exact_match"]), (False, as_written)):
            where = {"normalize": normalize}
            assert found.value("exact_match", model=model, parameters=where) == near(right)
        mean = found.value("token_f1", output="f1", model=model)
        assert mean == near(expected["squad_token_f1"])
        alone = [squad.token_f1(row["prediction"], row["references"])[0] for row in own]
        assert each(found, "token_f1", model=model) == near(alone)


def test_chats_have_the_published_rouge(evaluate: Evaluate) -> None:
    data = {"samples": str(CHATS), "columns": {"sample_id": "task_id"}}
    found, samples = evaluate(data, ["rouge_l", "looping"]), lines_of(CHATS)
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
        assert found.value("rouge_l", output="f1", model=model) == near(fmean(own))


def test_consistency_is_rouge_between_all_answers(evaluate: Evaluate, tmp_path: Path) -> None:
    answers: dict[str, list[str]] = {}
    for path in sorted(SUMMARIES.glob("*.jsonl")):
        for row in lines_of(path):
            answers.setdefault(row["id"], []).append(row["prediction"])
    lines = [{"prompt": name, "output": one} for name, own in answers.items() for one in own]
    found = evaluate(written(tmp_path / "four.jsonl", lines), ["self_consistency"])
    scorer = RougeScorer(["rouge1", "rougeL"])
    told: dict[str, list[float]] = {"rouge1": [], "rougeL": []}
    for own in answers.values():
        shared: dict[str, list[list[float]]] = {name: [[] for _ in own] for name in told}
        for i, j in combinations(range(len(own)), 2):
            for name, value in scorer.score(own[i], own[j]).items():
                shared[name][i].append(value.fmeasure)
                shared[name][j].append(value.fmeasure)
        for name, values in shared.items():
            told[name] += map(fmean, values)
    assert each(found, "self_consistency") == near(told["rougeL"])
    assert each(found, "self_consistency", "rouge_1") == near(told["rouge1"])
    for output, theirs in (("rouge_l", "rougeL"), ("rouge_1", "rouge1")):
        assert found.value("self_consistency", output=output) == near(fmean(told[theirs]))


LABELLED = {
    ("spam", "spam"): 7,
    ("spam", " ham "): 2,
    ("ham", "ham\n"): 5,
    ("ham", "spam"): 3,
    ("news", "news"): 2,
    ("news", "I think it is news"): 1,
}


def test_labels_have_the_numbers_of_scikit_learn(evaluate: Evaluate, tmp_path: Path) -> None:
    labelled = [pair for pair, count in LABELLED.items() for _ in range(count)]
    lines = [{"output": answer, "reference": truth} for truth, answer in labelled]
    written(tmp_path / "labels.jsonl", lines)
    truth = [one for one, _ in labelled]
    answers = [one.strip() for _, one in labelled]
    averages = ("macro", "micro", "weighted")
    wanted: list[Any] = [{"llm_classification": {"average": average}} for average in averages]
    found = evaluate("labels.jsonl", [*wanted, {"llm_classification": {"positive_label": "spam"}}])
    settings = [({"average": average, "positive_label": None}, average) for average in averages]
    for where, average in [*settings, ({"positive_label": "spam"}, None)]:
        told = sklearn.precision_recall_fscore_support(
            truth, answers, average=average, zero_division=0, labels=None if average else ["spam"]
        )
        accuracy = found.value("llm_classification", output="accuracy", parameters=where)
        assert accuracy == near(sklearn.accuracy_score(truth, answers))
        for output, value in zip(("precision", "recall", "f1"), told, strict=False):
            expected = float(value if average else value[0])
            ours = found.value("llm_classification", output=output, parameters=where)
            assert ours == near(expected)
