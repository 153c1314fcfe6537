"""Numbers of tiny models of torch, from folders to results.json, against the same models asked in
the plainest way: one text at a time, without batches, by transformers and bert-score themselves."""

from __future__ import annotations

import json
import math
import random
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from tests.oracles import tiny_classifiers, tiny_models
from tests.oracles.model_numbers import cosine, said, said_of, sentences
from tests.program import invoke

pytestmark = pytest.mark.models

Rows = Sequence[Mapping[str, Any]]
Make = Callable[..., Path]
Values = Mapping[str, Mapping[str, float]]
"""By sample and output."""

CLOSE = 1e-6
IGNORED = -100
"""What transformers leaves out of a loss."""

LENGTH = 512
BINS = (
    *(0.0, 0.01, 0.02, 0.03, 0.04, 0.07, 0.13, 0.37, 0.90, 0.91, 0.92, 0.93, 0.94, 0.95),
    *(0.955, 0.96, 0.965, 0.97, 0.975, 0.98, 0.985, 0.99, 0.995, 1.0),
)
"""Of SummaC-Conv, "percentile"."""

REWRITE = "Rewrite the following text "
SUMMARIZATION_REFERENCE = {
    "semantic_coverage": REWRITE + "with the same semantics. {} In other words, {}",
    "factuality": REWRITE + "with consistent facts. {} In other words, {}",
    "informativeness": REWRITE + "with its core information. {} In other words, {}",
    "coherence": REWRITE + "into a coherent text. {} In other words, {}",
    "relevance": REWRITE + "with consistent details. {} In other words, {}",
    "fluency": REWRITE + "into a fluent and grammatical text. {} In other words, {}",
}
TRANSLATION = {
    "accuracy": REWRITE + "with its core information and consistent facts: {} In other words, {}",
    "fluency": REWRITE + "to make it more grammatical and well-written: {} In other words, {}",
    "multidimensional_quality_metrics": REWRITE
    + "into high-quality text with its core information: {} In other words, {}",
}
SHORTEN = " the following text: {}\n\nTl;dr\n{}"
SUMMARIZATION = {
    "semantic_coverage": "Generate a summary with as much semantic coverage as possible for",
    "factuality": "Generate a summary with consistent facts for",
    "consistency": "Generate factually consistent summary for",
    "informativeness": "Generate an informative summary that captures the key points of",
    "coherence": "Generate a coherent summary for",
    "relevance": "Generate a relevant summary with consistent details for",
    "fluency": "Generate a fluent and grammatical summary for",
}
DIALOGUE = {
    "interest": "interesting?",
    "engagement": "engaging?",
    "understandability": "understandable?",
    "relevance": "relevant to the conversation?",
    "specific": "generic or specific to the conversation?",
    "correctness": "correct to conversations?",
    "semantically_appropriate": "semantically appropriate?",
    "fluency": "fluently written?",
}
CONVERSATION = (
    "Answer the question based on the conversation between a human and AI.\n"
    "Question: Are the responses of AI {} (a) Yes. (b) No.\n"
    "Conversation: \nhuman: {}\nAI: {}\nAnswer: Yes"
)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Of torch: several are slower on models so small, and wait for each other on busy machines."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def drawn_rows(samples: int = 14) -> list[dict[str, Any]]:
    """Samples of words that the tiny models know, of other scripts, and without some fields."""
    rng = random.Random(5)
    words = tiny_classifiers.WORDS[:30]

    def text(most: int) -> str:
        made = [
            " ".join(rng.choices(words, k=rng.randint(1, 9))).capitalize() + "."
            for _ in range(rng.randint(1, most))
        ]
        return " ".join(made)

    rows = [
        {
            "id": f"s{at}",
            "question": text(3),
            "response": text(3),
            "references": [text(2) for _ in range(at % 3 + 1)],
            "contexts": [text(2) for _ in range(at % 4 + 1)],
            "lang": "de" if at % 3 else "en",
        }
        for at in range(samples)
    ]
    rows[2]["response"] = None
    rows[3]["response"] = " \n"
    rows[4] |= {"references": ["", " "], "contexts": ["", " "], "question": ""}
    rows[5] |= {"references": ["", "The cat."], "contexts": [" ", "The cat sat."]}
    rows[6]["response"] = "القط 😀 cat"
    rows[7]["response"] = "Yes"
    return rows


ROWS = drawn_rows()


def evaluated(
    folder: Path, metrics: Sequence[Any], rows: Rows = ROWS, jobs: int = 1, **config: Any
) -> Any:
    """What a run in this process wrote: results.json, and samples.jsonl."""
    (folder / "samples.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    told = {
        "task": "text_generation",
        "data": {"samples": "samples.jsonl"},
        "metrics": list(metrics),
        "report": {"out": "out", "formats": ["json"]},
        "device": "cpu",
        **config,
    }
    (folder / "run.yaml").write_text(json.dumps(told), encoding="utf-8")
    arguments = ["evaluate", str(folder / "run.yaml"), "--jobs", str(jobs)]
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        done = invoke(arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    result = json.loads((folder / "out" / "results.json").read_text(encoding="utf-8"))
    lines = (folder / "out" / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    return result, {one["sample_id"]: one["metrics"] for one in map(json.loads, lines)}


def check(found: Any, metric: str, wanted: Values, *, key: str = "", close: float = CLOSE) -> None:
    """Compare every sample, and the means of all and of a slice."""
    result, samples = found
    for name, told in samples.items():
        line = told[key or metric]
        if name not in wanted:
            assert (line["status"], line["value"]) == ("missing_input", None), (metric, name)
            continue
        primary, *_ = wanted[name]
        values = {primary: line["value"], **line["outputs"]}
        assert line["status"] == "ok", (metric, name)
        assert values == pytest.approx(dict(wanted[name]), abs=close, rel=close), (metric, name)
    outputs = list(next(iter(wanted.values())))
    for output in outputs:
        rows = [
            row
            for row in result["metrics"]
            if (row["metric"], row["output"], row["slice"]) == (metric, output, None)
        ]
        assert any(
            row["value"] == pytest.approx(fmean(one[output] for one in wanted.values()), rel=1e-5)
            and row["n"] == len(wanted)
            for row in rows
        )


class Tiny:
    """A language model in a folder, as transformers has it."""

    def __init__(
        self, folder: Path, make: Callable[..., Path], template: str, context: int
    ) -> None:
        import transformers

        self.folder = make(folder)
        tiny_models.tokenizer_files(folder, template=template, length=context)
        config = transformers.AutoConfig.from_pretrained(folder)
        self.causal = not config.is_encoder_decoder
        head = "AutoModelForCausalLM" if self.causal else "AutoModelForSeq2SeqLM"
        self.model = getattr(transformers, head).from_pretrained(folder).eval()
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)

    def loss(self, prompt: str, target: str) -> float:
        """The mean negative log-likelihood of a target after a prompt."""
        import torch

        with torch.no_grad():
            if not self.causal:
                read = self.tokenizer(prompt, return_tensors="pt").input_ids
                labels = self.tokenizer(text_target=target, return_tensors="pt").input_ids
                return float(self.model(read, labels=labels).loss)
            ids = self.tokenizer(prompt + target, return_tensors="pt").input_ids
            labels = ids.clone()
            labels[0, : len(self.tokenizer(prompt).input_ids)] = IGNORED
            return float(self.model(ids, labels=labels).loss)

    def perplexity(self, text: str, context: int, stride: int) -> dict[str, float]:
        """As the page of transformers' documentation about perplexity computes it."""
        import torch

        ids = self.tokenizer(text, return_tensors="pt").input_ids
        total, tokens, before = 0.0, 0, 0
        for begin in range(0, ids.shape[1], stride):
            end = min(begin + context, ids.shape[1])
            seen = ids[:, begin:end]
            labels = seen.clone()
            labels[:, : before - begin] = IGNORED
            scored = int((labels[:, 1:] != IGNORED).sum())
            with torch.no_grad():
                total += float(self.model(seen, labels=labels).loss) * scored
            tokens += scored
            before = end
            if end == ids.shape[1]:
                break
        return {"value": math.exp(total / tokens), "tokens": tokens} if tokens else {}


def causal(folder: Path) -> Path:
    return tiny_models.gpt2(folder, n_positions=LENGTH)


CAUSAL = [(causal, "$A"), (tiny_models.llama, "<s> $A")]


@pytest.mark.parametrize(("make", "template"), CAUSAL, ids=["gpt2", "llama"])
@pytest.mark.parametrize("stride", [None, 5, 31])
def test_perplexity(tmp_path: Path, make: Any, template: str, stride: int | None) -> None:
    context = 32
    tiny = Tiny(tmp_path / "model", make, template, context)
    asked = [{"perplexity": {} if stride is None else {"stride": stride}}]
    long = [{**ROWS[0], "id": "long", "response": " ".join(one["question"] for one in ROWS)}]
    rows = [*ROWS, *long]
    found = evaluated(tmp_path, asked, rows, language_model={"model": "model"})
    wanted = {
        row["id"]: tiny.perplexity(row["response"], context, stride or context // 2)
        for row in rows
        if said(row["response"])
    }
    # Of "Yes" a model without a token before it says nothing.
    single = [name for name, one in wanted.items() if not one]
    for name in single:
        assert found[1].pop(name)["perplexity"]["status"] == "not_applicable"
        del wanted[name]
    assert len(single) == (template == "$A")
    assert max(one["tokens"] for one in wanted.values()) > 3 * context
    check(found, "perplexity", wanted, close=1e-5)
    (corpus,) = (row for row in found[0]["metrics"] if row["output"] == "corpus")
    nats = sum(math.log(one["value"]) * one["tokens"] for one in wanted.values())
    tokens = sum(one["tokens"] for one in wanted.values())
    assert corpus["value"] == pytest.approx(math.exp(nats / tokens), rel=1e-5)


SEQUENCE = [(causal, "$A"), (tiny_models.t5, "$A </s>")]


@pytest.mark.parametrize(("make", "template"), SEQUENCE, ids=["gpt2", "t5"])
def test_gptscore(tmp_path: Path, make: Any, template: str) -> None:
    tiny = Tiny(tmp_path / "model", make, template, LENGTH)
    names = ("summarization_reference", "translation", "summarization", "dialogue")
    metrics = [f"gptscore_{name}" for name in names]
    rows = ROWS[:8]
    found = evaluated(tmp_path, metrics, rows, language_model={"model": "model"})

    def mean_loss(template: str, *texts: str) -> float:
        """That of what stands in the last braces, its space included, or of "Yes"."""
        target = texts[-1] if template.endswith("{}") else "Yes"
        whole = template.format(*texts)
        prompt = whole.removesuffix(target)
        kept = prompt.rstrip(" ")
        return tiny.loss(kept, prompt[len(kept) :] + target)

    for metric, templates in (
        ("gptscore_summarization_reference", SUMMARIZATION_REFERENCE),
        ("gptscore_translation", TRANSLATION),
    ):
        wanted = {}
        for row in rows:
            response, references = row["response"], said_of(row["references"])
            if said(response) and references:
                wanted[row["id"]] = {
                    aspect: min(
                        (mean_loss(one, ref, response) + mean_loss(one, response, ref)) / 2
                        for ref in references
                    )
                    for aspect, one in templates.items()
                }
        check(found, metric, wanted, close=1e-5)
    both = [row for row in rows if said(row["response"]) and said(row["question"])]
    wanted = {
        row["id"]: {
            aspect: mean_loss(one + SHORTEN, row["question"], row["response"])
            for aspect, one in SUMMARIZATION.items()
        }
        for row in both
    }
    check(found, "gptscore_summarization", wanted, close=1e-5)
    wanted = {
        row["id"]: {
            aspect: mean_loss(CONVERSATION, one, row["question"], row["response"])
            for aspect, one in DIALOGUE.items()
        }
        for row in both
    }
    check(found, "gptscore_dialogue", wanted, close=1e-5)


class Classifier:
    """A classifier in a folder, asked for one text or pair at a time."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModelForSequenceClassification.from_pretrained(folder).eval()

    def logits(self, first: str, second: str | None = None) -> Any:
        import torch

        with torch.no_grad():
            return self.model(**self.tokenizer(first, second, return_tensors="pt")).logits[0]


TOXICITY = ("toxicity", "severe_toxicity", "obscene", "threat", "insult", "identity_attack")
LABELS = ("threat", "toxic", "insult", "severe_toxic", "identity_hate", "obscene")
"""What the model has, in another order than the metric's outputs."""


def test_toxicity(tmp_path: Path) -> None:
    folder = tiny_classifiers.bert_classifier(
        tmp_path / "model", LABELS, problem_type="multi_label_classification"
    )
    found = evaluated(tmp_path, [{"toxicity_detoxify": {"model": "model"}}])
    model = Classifier(folder)
    places = [1, 3, 5, 0, 2, 4]
    wanted = {}
    for row in ROWS:
        if said(row["response"]):
            each = [model.logits(one).sigmoid().tolist() for one in sentences(row["response"])]
            pairs = zip(TOXICITY, places, strict=True)
            wanted[row["id"]] = {name: max(one[at] for one in each) for name, at in pairs}
    check(found, "toxicity_detoxify", wanted)


def test_bias(tmp_path: Path) -> None:
    folder = tiny_classifiers.bert_classifier(tmp_path / "model", ("Biased", "Non-biased"))
    found = evaluated(tmp_path, [{"fairness_bias": {"model": "model"}}])
    model = Classifier(folder)
    wanted = {
        row["id"]: {"value": float(model.logits(row["response"]).softmax(-1)[0])}
        for row in ROWS
        if said(row["response"])
    }
    check(found, "fairness_bias", wanted)


@pytest.mark.parametrize("aggregate", ["max", "joined"])
def test_hallucination(tmp_path: Path, aggregate: str) -> None:
    import torch
    from tokenizers import Tokenizer
    from transformers import T5ForTokenClassification

    folder = tiny_classifiers.t5_classifier(tmp_path / "model")
    asked = [{"hallucination_hhem": {"model": "model", "aggregate": aggregate}}]
    found = evaluated(tmp_path, asked)
    model = T5ForTokenClassification.from_pretrained(folder).eval()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))

    def consistent(premise: str, hypothesis: str) -> float:
        prompt = (
            "<pad> Determine if the hypothesis is true given the premise?\n\n"
            f"Premise: {premise}\n\nHypothesis: {hypothesis}"
        )
        with torch.no_grad():
            told = model(input_ids=torch.tensor([tokenizer.encode(prompt).ids])).logits[0, 0]
        return float(told.softmax(-1)[1])

    wanted = {}
    for row in ROWS:
        contexts = said_of(row["contexts"])
        if said(row["response"]) and contexts:
            premises = contexts if aggregate == "max" else ["\n\n".join(contexts)]
            value = max(consistent(one, row["response"]) for one in premises)
            wanted[row["id"]] = {"value": value}
    check(found, "hallucination_hhem", wanted)


@pytest.mark.parametrize("source", ["user_input", "retrieved_contexts"])
def test_summac(tmp_path: Path, source: str) -> None:
    labels = ("neutral", "entailment", "contradiction")
    folder = tiny_classifiers.bert_classifier(tmp_path / "model", labels)
    rng = random.Random(2)
    drawn = {
        "mlp.weight": [[rng.gauss(0, 1) for _ in BINS[1:]]],
        "mlp.bias": [0.3],
        "layer_final.weight": [[rng.gauss(0, 1) for _ in range(3)] for _ in range(2)],
        "layer_final.bias": [0.1, -0.2],
    }
    (tmp_path / "conv.json").write_text(json.dumps(drawn))
    ways = [
        {"summac_zs": {"model": "model", "source": source, "contrast": "paired"}},
        {"summac_zs": {"model": "model", "source": source, "contrast": "separate"}},
        {"summac_conv": {"model": "model", "source": source, "weights": "conv.json"}},
    ]
    found = evaluated(tmp_path, ways)
    ask = cache(Classifier(folder).logits)
    paired, separate, conv = {}, {}, {}
    for row in ROWS:
        texts = [row["question"]] if source == "user_input" else row["contexts"]
        document = [sentence for one in said_of(texts) for sentence in sentences(one)]
        if not said(row["response"]) or not document:
            continue
        best, apart, features = [], [], []
        for own in sentences(row["response"]):
            each = [ask(other, own).softmax(-1).tolist() for other in document]
            best.append(max(one[1] - one[2] for one in each))
            apart.append(max(one[1] for one in each) - max(one[2] for one in each))
            features.append(feature([one[1] for one in each], drawn))
        paired[row["id"]] = {"value": fmean(best)}
        separate[row["id"]] = {"value": fmean(apart)}
        conv[row["id"]] = {"value": consistent_of(fmean(features), drawn)}
    keys = list(next(iter(found[1].values())))
    (first,) = (key for key in keys if "paired" in key)
    (second,) = (key for key in keys if "separate" in key)
    check(found, "summac_zs", paired, key=first)
    check(found, "summac_zs", separate, key=second)
    check(found, "summac_conv", conv)


def feature(entailment: Sequence[float], drawn: Mapping[str, Any]) -> float:
    """Of a sentence: its histogram times the weights; the last bin holds its upper edge too."""
    total = drawn["mlp.bias"][0]
    for low, high, weight in zip(BINS, BINS[1:], drawn["mlp.weight"][0], strict=False):
        for value in entailment:
            if low <= value < high or (value == high == 1.0):
                total += weight
    return float(total)


def consistent_of(mean: float, drawn: Mapping[str, Any]) -> float:
    logits = [
        sum(weight * mean for weight in row) + bias
        for row, bias in zip(drawn["layer_final.weight"], drawn["layer_final.bias"], strict=True)
    ]
    powers = [math.exp(one) for one in logits]
    return powers[1] / sum(powers)


@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize("rescaled", [False, True])
def test_bertscore(tmp_path: Path, idf: bool, rescaled: bool) -> None:
    import bert_score

    tiny_classifiers.bert_encoder(tmp_path / "model", layers=3)
    layers = (f"{layer},{layer / 10},{layer / 20},{layer / 30}\n" for layer in range(4))
    (tmp_path / "base.csv").write_text("LAYER,P,R,F\n" + "".join(layers))
    # It makes nothing of blank references: here they are left out.
    rows = [row for row in ROWS if said(row["response"]) and said_of(row["references"])]
    references = [said_of(row["references"]) for row in rows]
    with warnings.catch_warnings(action="ignore"):
        told = bert_score.score(
            [row["response"] for row in rows],
            references,
            model_type=str(tmp_path / "model"),
            num_layers=2,
            idf=idf,
            batch_size=1,
            rescale_with_baseline=rescaled,
            baseline_path=str(tmp_path / "base.csv"),
            lang="en",
            device="cpu",
        )
    way = {"model": "model", "num_layers": 2, "idf": idf, "rescale_with_baseline": rescaled}
    way |= {"baseline": "base.csv"} if rescaled else {}
    found = evaluated(tmp_path, [{"bertscore": way}], rows if idf else ROWS)
    wanted = {
        row["id"]: {"f1": float(f1), "precision": float(precision), "recall": float(recall)}
        for row, precision, recall, f1 in zip(rows, *told, strict=True)
    }
    check(found, "bertscore", wanted, close=1e-5)


def embedder(folder: Path) -> Path:
    """An encoder and mean pooling, in the form of sentence-transformers."""
    made = tiny_classifiers.bert_encoder(folder)
    kinds = (("", "Transformer"), ("1_Pooling", "Pooling"))
    modules = [
        {"idx": at, "name": str(at), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for at, (path, kind) in enumerate(kinds)
    ]
    (made / "modules.json").write_text(json.dumps(modules))
    (made / "sentence_bert_config.json").write_text('{"max_seq_length": 64}')
    (made / "1_Pooling").mkdir()
    (made / "1_Pooling" / "config.json").write_text(
        json.dumps({"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True})
    )
    return made


def test_similarity_by_sentence_transformers(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    embedder(tmp_path / "model")
    own = {"backend": "sentence_transformers", "model": "model", "cache": False}
    found = evaluated(tmp_path, ["semantic_similarity"], embedder=own)
    with warnings.catch_warnings(action="ignore"):
        model = SentenceTransformer(str(tmp_path / "model"), device="cpu")
        encode = cache(lambda text: model.encode(text, show_progress_bar=False).tolist())
        wanted = {
            row["id"]: {
                "value": max(
                    cosine(encode(row["response"]), encode(one))
                    for one in said_of(row["references"])
                )
            }
            for row in ROWS
            if said(row["response"]) and said_of(row["references"])
        }
    check(found, "semantic_similarity", wanted)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of models, one of each kind."""
    folder = tmp_path_factory.mktemp("models")
    embedder(folder / "embedder")
    tiny_models.llama(folder / "language")
    tiny_classifiers.bert_classifier(folder / "nli")
    tiny_classifiers.t5_classifier(folder / "hhem")
    tiny_classifiers.bert_encoder(folder / "encoder")
    return folder


def all_metrics(folder: Path) -> list[Any]:
    return [
        "semantic_similarity",
        "groundedness_semantic",
        "bertscore",
        "perplexity",
        "gptscore_dialogue",
        "gptscore_translation",
        {"bertscore": {"model": str(folder / "encoder"), "idf": True, "num_layers": 2}},
        {"summac_zs": {"model": str(folder / "nli")}},
        {"hallucination_hhem": {"model": str(folder / "hhem")}},
    ]


def run_of(models: Path, folder: Path, size: int | None, rows: Rows = ROWS, **more: Any) -> Any:
    at_once = {} if size is None else {"batch_size": size}
    folder.mkdir()
    return evaluated(
        folder,
        all_metrics(models),
        rows,
        embedder={
            "backend": "sentence_transformers",
            "model": str(models / "embedder"),
            "cache": False,
            **at_once,
        },
        language_model={"model": str(models / "language"), **at_once},
        **more,
    )


def test_batches_and_order_change_no_value(models: Path, tmp_path: Path) -> None:
    _, first = run_of(models, tmp_path / "first", None)
    shuffled = random.Random(1).sample(ROWS, len(ROWS))
    runs = [
        run_of(models, tmp_path / "one", 1),
        run_of(models, tmp_path / "seven", 7),
        run_of(models, tmp_path / "shuffled", None, shuffled),
    ]
    for _, samples in runs:
        for name, told in samples.items():
            for metric, line in told.items():
                before = first[name][metric]
                assert line["status"] == before["status"]
                if before["value"] is not None:
                    values = {"value": line["value"], **line["outputs"]}
                    wanted = {"value": before["value"], **before["outputs"]}
                    assert values == pytest.approx(wanted, abs=CLOSE, rel=CLOSE), (metric, name)


def test_processes_change_no_byte(models: Path, tmp_path: Path) -> None:
    more = {"slices": ["metadata.lang"], "interval": {"method": "bootstrap", "resamples": 50}}
    runs = [run_of(models, tmp_path / str(jobs), None, jobs=jobs, **more) for jobs in (1, 2)]
    one, other = ({**result, "run": None} for result, _ in runs)
    assert json.dumps(one) == json.dumps(other)
    assert runs[0][1] == runs[1][1]
