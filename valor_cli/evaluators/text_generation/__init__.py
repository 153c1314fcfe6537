"""Text generation task: rules, model-based metrics and judges on text samples."""

from __future__ import annotations

from valor_cli.data.shapes.samples.dataset import TextDataset
from valor_cli.evaluators import (
    classifier,
    embedding,
    judge,
    likelihood,
    overlap,
    rules,
    structure,
)
from valor_cli.evaluators.text_generation.inputs import TextInputs, TextOptions
from valor_cli.evaluators.text_generation.loading import load_text
from valor_cli.evaluators.text_generation.model_session import missing_model, open_session, tuned
from valor_cli.metric import Asking, Stream, Task

__all__ = ["TEXT_GENERATION"]


def _in_pieces() -> Stream[TextDataset]:
    # Small inputs, which are loaded whole, do without.
    from valor_cli.evaluators.text_generation.streaming import STREAM

    return STREAM


TEXT_GENERATION = Task(
    name="text_generation",
    description="Responses of language models: against references, by rules, by their shape, by "
    "models on this machine, and as judges see them.",
    inputs=TextInputs,
    options=TextOptions,
    load=load_text,
    wings=(
        overlap.WING,
        overlap.GROUPS,
        rules.WING,
        structure.WING,
        # Before judges, whose replies are paid for: what fails here has cost nothing.
        embedding.WING,
        likelihood.WING,
        classifier.WING,
        judge.WING,
    ),
    asking=Asking(missing_model, tuned, open_session),
    stream=_in_pieces,
    defaults=(
        "rouge_1",
        "rouge_2",
        "rouge_l",
        "bleu",
        "exact_match",
        "token_f1",
        "pii_leakage",
        "sensitive_data_leakage",
        "looping",
    ),
    primary=(
        ("rouge_l", "f1"),
        ("bleu", "value"),
        ("exact_match", "value"),
        ("token_f1", "f1"),
        ("llm_classification", "accuracy"),
        ("corpus_bleu", "value"),
        ("chrf", "value"),
        ("ter", "value"),
        ("edit_similarity", "value"),
        ("text_matching", "pass"),
        ("json_schema", "pass"),
        ("pii_leakage", "pass"),
        ("sensitive_data_leakage", "pass"),
        ("encoding_guardrail", "pass"),
        ("language_consistency", "pass"),
        ("self_consistency", "rouge_l"),
        ("looping", "unique_sentences"),
        ("agent_sanity", "value"),
        ("groundedness_semantic", "value"),
        ("answer_accuracy_semantic", "value"),
        ("semantic_similarity", "value"),
        ("sentence_similarity", "mean"),
        ("answer_relevancy_sentence", "value"),
        ("context_relevancy_soft", "recall"),
        ("context_mrr", "value"),
        ("bertscore", "f1"),
        ("completeness", "value"),
        ("step_alignment", "edits"),
        ("questions_drift", "value"),
        ("perplexity", "value"),
        ("gptscore_summarization_reference", "semantic_coverage"),
        ("gptscore_summarization", "semantic_coverage"),
        ("gptscore_translation", "accuracy"),
        ("gptscore_dialogue", "interest"),
        ("hallucination_hhem", "value"),
        ("summac_zs", "value"),
        ("summac_conv", "value"),
        ("toxicity_detoxify", "toxicity"),
        ("fairness_bias", "value"),
        ("faithfulness", "value"),
        ("answer_correctness", "value"),
        ("answer_relevance", "value"),
        ("answer_relevancy", "value"),
        ("ragas_score", "value"),
        ("context_precision", "value"),
        ("context_recall", "value"),
        ("context_relevance", "value"),
        ("context_relevancy", "value"),
        ("hallucination", "value"),
        ("summary_coherence", "value"),
        ("nv_answer_accuracy", "value"),
        ("nv_context_relevance", "value"),
        ("nv_response_groundedness", "value"),
        ("bias", "value"),
        ("toxicity", "value"),
        ("contact_information", "pass"),
        ("language_mismatch", "pass"),
        ("sexism", "pass"),
        ("stereotypes", "pass"),
        ("summarization_judge", "pass"),
        ("custom_judge", "pass"),
        ("fact_check", "value"),
        ("rouge_1", "f1"),
        ("rouge_2", "f1"),
        ("rouge_lsum", "f1"),
        ("bleu_1", "value"),
        ("bleu_2", "value"),
        ("bleu_3", "value"),
        ("bleu_4", "value"),
    ),
)
