"""What is told of the worst sentence: cut, without secrets, and as an insight."""

from __future__ import annotations

import numpy as np

from tests.oracles.measured_by_models import each_outcome, findings_by, sentences
from tests.oracles.text_models import ScriptedModels, ScriptedSession
from tests.oracles.text_samples import samples
from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators.embedding.metrics.answer_accuracy_semantic import ANSWER_ACCURACY_SEMANTIC
from valor_cli.evaluators.embedding.metrics.nearest_sentences import GROUNDEDNESS_SEMANTIC
from valor_cli.evaluators.model_metrics import gather, measured_evidence
from valor_cli.metric import Call
from valor_cli.results import Findings, MetricInsight

VECTORS = {
    "Ants.": [1.0, 0.0],
    "Bees.": [0.6, 0.8],
    "Cows\n\x1b ran.": [0.28, 0.96],
    "Dogs.": [0.8, 0.6],
}
MODELS = ScriptedModels(vectors=VECTORS)


def data(*responses: str | None, ids: list[str] | None = None) -> TextDataset:
    return samples(responses, retrieved_contexts=[["Ants."]] * len(responses), sample_ids=ids)


def grounded(threshold: float | None, *responses: str | None) -> list[MetricInsight]:
    return list(findings_by(GROUNDEDNESS_SEMANTIC, data(*responses), MODELS, threshold).insights)


def test_the_worst_sentence_of_all_samples_is_told() -> None:
    # Of the samples 0.8, none, 0.6 and 0.28; the worst sentence is on two lines, with a control
    # character.
    responses = ["Dogs.", None, "Ants. Bees.", "Ants. Cows\n\x1b ran."]
    (told,) = grounded(0.75, *responses)
    assert told.kind == "worst_sentence"
    assert told.message == 'least grounded sentence: "Cows \\x1b ran." (0.280, sample s003)'
    assert told.sample_ids == ("s003",)
    assert told.value is not None
    assert abs(told.value - 0.28) < 1e-9


def test_only_below_the_threshold() -> None:
    assert grounded(0.6, "Dogs.") == []
    assert len(grounded(0.81, "Dogs.")) == 1
    assert grounded(None, "Dogs.") == []
    assert grounded(0.75, None, "") == []
    assert grounded(0.75) == []


def test_of_equal_ones_the_first_by_id() -> None:
    for ids in (["b", "a"], ["a", "b"]):
        found = findings_by(GROUNDEDNESS_SEMANTIC, data("Bees.", "Bees.", ids=ids), MODELS, 0.75)
        assert found.insights[0].sample_ids == ("a",)


def test_resamples_tell_nothing() -> None:
    call = Call(GROUNDEDNESS_SEMANTIC, {}, 0.75)
    own = data("Bees.", "Dogs.")
    evidence = measured_evidence(own, gather({"m": own}, (call,), ScriptedSession(MODELS))["m"])
    (again,) = evidence.resamples(np.array([[2, 0]]))
    found = call.findings(again)
    assert isinstance(found, Findings)
    assert found.insights == ()
    assert abs((found.values[0].value or 0) - 0.6) < 1e-12


def test_accuracy_tells_its_own() -> None:
    own = samples(["Yes", "No"], references=[["Yes"], ["Yep"]], sample_ids=["one", "two"])
    (told,) = findings_by(ANSWER_ACCURACY_SEMANTIC, own, MODELS, 0.75).insights
    assert told == MetricInsight(
        "worst_sentence", 'least accurate sentence: "No" (0.000, sample two)', 0.0, ("two",)
    )


def test_secrets_are_shown_nowhere() -> None:
    key = "AKIAIOSFODNN7EXAMPLE"
    own = samples([f"All is well. The key is {key}."], retrieved_contexts=[["A passage."]])
    found = findings_by(GROUNDEDNESS_SEMANTIC, own, ScriptedModels(), 1.0)
    assert found.samples is not None
    assert found.insights
    assert key not in repr(found.samples.details) + found.insights[0].message


def test_what_is_left_of_a_secret_is_hidden_as_well() -> None:
    # The blank line ends a sentence; what stands before it, or after it, is no key by itself.
    lines = ["".join(chr(65 + (at * 7 + line) % 26) for at in range(64)) for line in range(4)]
    block = "\n".join(lines)
    head = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED"
    text = f"{head}\n\n{block}\n\n-----END RSA PRIVATE KEY-----"
    # A sentence longer than is shown is cut in the midst of a key.
    long = "word " * 58 + "AKIAIOSFODNN7EXAMPLE and more words to come"
    own = samples([text, long], retrieved_contexts=[["A passage."]] * 2)
    assert not list(own.secrets(block))
    vectors = dict.fromkeys(sentences(text), (1.0, 0.0))
    models = ScriptedModels(
        vectors={**vectors, "A passage.": [1.0, 0.0], block: [0.0, 1.0], long: [1.0, 0.0]}
    )
    first, second = each_outcome(GROUNDEDNESS_SEMANTIC, own, models)
    for one in (first, second):
        assert one.details is not None
        quoted = one.details["worst_sentence"]["text"]
        assert len(quoted) <= 300
        assert "•" * 9 in quoted
        assert not any(line[:12] in quoted for line in (*lines, "AKIAIOSFODNN7EXAMPLE"))
    assert first.details is not None
    assert first.details["worst_sentence"]["start"] == text.index(block)
