"""What deepeval's GEval and ragas' AspectCritic make of fixed replies, as JSON.

`python tests/oracles/peer_judges.py deepeval` and `… ragas`, each in an environment with that tool,
print what tests/golden/migrating/judges.json holds of it. No model is asked.
"""

from __future__ import annotations

import asyncio
import json
import math
import sys
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

STEPS = ["Read the answer.", "Rate how well its sentences follow from each other."]
ANSWERS = ["First wait, then sit.", "Sit. Because wait.", "Wait: the doctor is busy."]
SCORED: list[tuple[int, str, dict[str, float]]] = [
    (8, "Clear.", {"8": 0.7, "9": 0.2, "7": 0.1}),
    (3, "Muddled.", {"3": 0.6, "4": 0.3, "x": 0.1}),
    (10, "It gives its reason.", {"10": 0.9, "9": 0.1}),
]
"""What the judge says: a score from 0 to 10, why, and the probabilities at the score's token."""
CRITIC = [(1, "It asks."), (0, "It orders."), (1, "It explains.")]


def _deepeval() -> dict[str, Any]:
    from deepeval.metrics import GEval
    from deepeval.models import DeepEvalBaseLLM
    from deepeval.test_case import LLMTestCase, SingleTurnParams

    class Fixed(DeepEvalBaseLLM):
        """A model that says what stands above."""

        def __init__(self) -> None:
            self.replies = iter(SCORED)

        def load_model(self) -> Fixed:
            return self

        def get_model_name(self) -> str:
            return "fixed"

        def generate(self, prompt: str, schema: Any = None) -> Any:
            return schema(steps=STEPS)

        async def a_generate(self, prompt: str, schema: Any = None) -> Any:
            return self.generate(prompt, schema)

        def generate_raw_response(self, prompt: str, top_logprobs: int = 20) -> tuple[Any, float]:
            score, reason, likely = next(self.replies)
            tops = [SimpleNamespace(token=t, logprob=math.log(p)) for t, p in likely.items()]
            tokens = [SimpleNamespace(token=str(score), top_logprobs=tops)]
            said = json.dumps({"reason": reason, "score": score})
            choice = SimpleNamespace(
                message=SimpleNamespace(content=said), logprobs=SimpleNamespace(content=tokens)
            )
            return SimpleNamespace(choices=[choice]), 0.0

    metric = GEval(
        name="coherence",
        criteria="Each sentence follows from the one before.",
        evaluation_params=[SingleTurnParams.ACTUAL_OUTPUT],
        model=Fixed(),
        threshold=0.5,
        async_mode=False,
    )
    scores, passed = [], []
    for answer in ANSWERS:
        metric.measure(LLMTestCase(input="?", actual_output=answer), _show_indicator=False)
        scores.append(metric.score)
        passed.append(metric.is_successful())
    return {"version": version("deepeval"), "score": scores, "passed": passed}


def _ragas() -> dict[str, Any]:
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from ragas.dataset_schema import SingleTurnSample
    from ragas.llms import LangchainLLMWrapper
    from ragas.metrics import AspectCritic

    said = [AIMessage(json.dumps({"reason": why, "verdict": one})) for one, why in CRITIC]
    metric = AspectCritic(
        name="polite",
        definition="Is the answer polite?",
        llm=LangchainLLMWrapper(GenericFakeChatModel(messages=iter(said))),
    )
    scores = [
        asyncio.run(metric.single_turn_ascore(SingleTurnSample(user_input="?", response=answer)))
        for answer in ANSWERS
    ]
    return {"version": version("ragas"), "score": scores}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_deepeval() if sys.argv[1] == "deepeval" else _ragas()) + "\n")
