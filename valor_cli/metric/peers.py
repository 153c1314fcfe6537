"""Metrics of other tools, by their names there, with the nearest ones here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

PEERS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "agent goal accuracy": ("ragas", ("custom_judge",)),
    "answer similarity": ("ragas", ("semantic_similarity",)),
    "aspect critic": ("ragas", ("custom_judge",)),
    "bert score": ("torchmetrics", ("bertscore",)),
    "character error rate": ("jiwer", ("edit_similarity", "ter")),
    "cer": ("jiwer", ("edit_similarity", "ter")),
    "context entity recall": ("ragas", ("context_recall",)),
    "contextual precision": ("deepeval", ("context_precision",)),
    "contextual recall": ("deepeval", ("context_recall",)),
    "contextual relevancy": ("deepeval", ("context_relevancy",)),
    "dag": ("deepeval", ("custom_judge",)),
    "dice": ("torchmetrics", ("f1",)),
    "factual correctness": ("ragas", ("answer_correctness", "fact_check")),
    "factuality": ("promptfoo", ("answer_correctness",)),
    "g eval": ("deepeval", ("custom_judge",)),
    "geval": ("deepeval", ("custom_judge",)),
    "groundedness": ("trulens", ("faithfulness", "groundedness_semantic")),
    "instance specific rubrics": ("ragas", ("custom_judge",)),
    "is json": ("promptfoo", ("json_schema",)),
    "jaccard index": ("torchmetrics", ("iou", "mean_iou")),
    "json correctness": ("deepeval", ("json_schema",)),
    "levenshtein": ("promptfoo", ("edit_similarity",)),
    "llm rubric": ("promptfoo", ("custom_judge",)),
    "meteor": ("nltk", ("rouge_l", "bertscore")),
    "model graded closedqa": ("promptfoo", ("nv_answer_accuracy",)),
    "moderation": ("promptfoo", ("toxicity", "toxicity_detoxify")),
    "noise sensitivity": ("ragas", ("faithfulness", "hallucination")),
    "non llm string similarity": ("ragas", ("edit_similarity",)),
    "prompt alignment": ("deepeval", ("custom_judge",)),
    "quasi exact match": ("HELM", ("exact_match",)),
    "response relevancy": ("ragas", ("answer_relevancy",)),
    "rubrics score": ("ragas", ("custom_judge",)),
    "simple criteria score": ("ragas", ("custom_judge",)),
    "string presence": ("ragas", ("text_matching",)),
    "summarization": ("deepeval", ("summarization_judge",)),
    "summarization score": ("ragas", ("summarization_judge",)),
    "tool correctness": ("deepeval", ("agent_sanity",)),
    "topic adherence": ("ragas", ("custom_judge",)),
    "wer": ("jiwer", ("ter", "edit_similarity")),
    "word error rate": ("jiwer", ("ter", "edit_similarity")),
}

_PARTS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\s_\-]+")


def nearest(name: str) -> tuple[str, tuple[str, ...]] | None:
    """The tool that has a metric of that name, and the nearest metrics here; None: none is known.

    `AspectCritic`, `aspect_critic` and `AspectCriticMetric` are one name.
    """
    words = " ".join(_PARTS.split(name)).casefold()
    return PEERS.get(words.removesuffix(" metric").strip()) or PEERS.get(name.casefold())
