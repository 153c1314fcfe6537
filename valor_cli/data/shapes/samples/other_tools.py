"""Convert rows written by other tools to our column names.

Supported: results of promptfoo (`promptfoo eval --output results.json`, or its JSON lines),
logs of inspect-ai (`.json`), samples of lm-eval (`--log_samples`), output items of OpenAI's Evals
API, chats as lists of messages (as OpenAI, Langfuse and Braintrust have them), spans with the GenAI
attributes of OpenTelemetry, and queries of valor-lite (`context` as an object of `groundtruth` and
`prediction`); in `logs` and `labs` what is more than a row a sample. Files of ragas and deepeval,
and spans of Phoenix, need only the aliases.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import reduce
from operator import or_
from typing import Any, Final

from valor_cli.data.json_records import Record, scalar_text
from valor_cli.data.schema import value_at
from valor_cli.data.shapes.samples.chats import in_texts, is_message, last
from valor_cli.data.shapes.samples.schema import ALIASES, SCHEMA
from valor_cli.data.shapes.samples.spans import PREFIX, attributes_in, from_span
from valor_cli.data.tape import LIST, OBJECT, Bools, Column

_PROMPTFOO: Final = frozenset({"gradingResult", "namedScores", "promptIdx", "testCase", "testIdx"})
"""Keys of promptfoo's results, beside `vars`, that nobody else has; `prompt` anyone may have."""

_INPUTS: Final = ("user_input", *ALIASES["user_input"])
_OUTPUTS: Final = ("response", *ALIASES["response"])
_CHAT: Final = ("messages", *_INPUTS, *_OUTPUTS)
_MADE: Final = ("model", *ALIASES["model"], *_OUTPUTS)

_RULES: Final = (
    "answer-relevance|bleu|classifier|contains|contains-all|contains-any|contains-html|"
    "contains-json|contains-sql|contains-xml|context-faithfulness|context-recall|"
    "context-relevance|cost|eval|factuality|finish-reason|fn|g-eval|gleu|grade|guardrails|"
    "icontains|icontains-all|icontains-any|is-html|is-json|is-refusal|is-sql|"
    "is-valid-function-call|is-valid-openai-function-call|is-valid-openai-tools-call|is-xml|"
    "javascript|latency|levenshtein|llm-rubric|max-score|meteor|model-graded-closedqa|"
    "model-graded-factuality|moderation|perplexity|perplexity-score|pi|python|regex|rouge-n|ruby|"
    "select-best|similar|starts-with|webhook|word-count"
)
_RULE: Final = re.compile(
    rf"(?:(?:not-)?(?:{_RULES})(?:\([^()\n]*\))?:|not-equals:|file://|(?:not-)?is-[a-z-]+$)"
)
"""How a cell of `__expected` begins that asserts something else than equality."""


def is_promptfoo(names: Collection[str]) -> bool:
    """Whether a row with these keys is a promptfoo result."""
    return "vars" in names and not _PROMPTFOO.isdisjoint(names)


def other_tools(names: Collection[str], column: Callable[[str], Column]) -> Bools | None:
    """(n,) rows that `one_shape` may change; None for none."""
    held = [name for name, (_, others, _) in _TOOLS.items() if {name, *others} <= set(names)]
    held += {"messages", "attributes", "gen_ai"}.intersection(names)
    found = [column(name).is_of(LIST, OBJECT) for name in held]
    found += [column(name).node >= 0 for name in names if PREFIX in name]
    for name in names:
        if name in _INPUTS:
            found += [column(name).is_of(LIST), column(name).field("messages").node >= 0]
        elif name in _OUTPUTS:
            found += [column(name).is_of(LIST), column(name).field("role").node >= 0]
    return reduce(or_, found) if found else None


def one_shape(record: Record) -> Record:
    """Rename a row's keys to ours; most rows are unchanged."""
    for name, (kind, others, shaped) in _TOOLS.items():
        known = isinstance(record.get(name), kind) and record.keys() >= set(others)
        if known and (row := shaped(record)) is not None:
            return row
    if attributes := attributes_in(record):
        return from_span(record, attributes)
    return _from_chat(record)


def expected_answer(text: str) -> str | None:
    """The expected answer in promptfoo's `__expected` cell; None if it is a rule.

    A bare text, or one after `equals:`, is an answer; `contains:`, `llm-rubric:` … are rules.
    """
    if text.startswith("equals:"):
        return text.removeprefix("equals:").strip()
    return None if _RULE.match(text) else text


def _from_valor_lite(record: Record) -> Record | None:
    """`groundtruth` holds right answers, `prediction` the passages that were retrieved."""
    context = record["context"]
    if not context or not context.keys() <= {"groundtruth", "prediction"}:
        return None
    return {
        **{name: value for name, value in record.items() if name != "context"},
        "references": context.get("groundtruth"),
        "retrieved_contexts": context.get("prediction"),
    }


def _from_lm_eval(record: Record) -> Record:
    """A document: tasks that score choices have no response. Each filter is a row of its own."""
    call = record["arguments"]
    while isinstance(call, dict | list) and call:
        call = call.get("arg_0", call.get("gen_args_0")) if isinstance(call, dict) else call[0]
    response = next(iter(record["filtered_resps"]), None)
    return {
        **record,
        "sample_id": _numbered(record, "doc_id", "filter", "none"),
        "user_input": call if isinstance(call, str) else None,
        "response": response if isinstance(response, str) else None,
        "references": record["target"],
    }


def _from_inspect(record: Record) -> Record:
    """A sample of a log; each epoch is a sample of its own."""
    message = value_at(record, ("output", "choices", 0, "message"))
    return {
        **record,
        "sample_id": _numbered(record, "id", "epoch", "1"),
        "user_input": record["input"],
        "response": record["output"].get("completion") or last([message], "assistant"),
        "references": record["target"] or None,
        "duration_s": record.get("total_time"),
        **in_texts(record["input"]),
    }


def _numbered(record: Record, number: str, part: str, first: str) -> str | None:
    """The number of a sample, and of its part unless that is the first."""
    sample, own = scalar_text(record.get(number)), scalar_text(record.get(part))
    return f"{sample}.{own}" if sample and own and own != first else sample


def _with_variables(variables: Record, others: Record) -> Record:
    """Columns of a test case that has any of our names, and others that it does not have."""
    layout = SCHEMA.layout([name for name in variables if name not in _MADE], {})
    return {
        **{str(key): variables[str(key)] for (key,) in layout.values()},
        **{name: value for name, value in others.items() if name not in layout},
    }


def _from_promptfoo(record: Record) -> Record | None:
    """A result: its variables may have any of our names; its prompt is the input without them."""
    if not is_promptfoo(record):
        return None
    variables, case = record["vars"], _object(record, "testCase")
    response, provider = record.get("response"), record.get("provider")
    others = {
        "user_input": _or_inside(record.get("prompt"), "raw"),
        "references": _answers(case.get("assert")),
        "response": _or_inside(response, "output"),
        "model": _or_inside(provider, "label") or _or_inside(provider, "id"),
        "sample_id": _numbered(record, "testIdx", "promptIdx", "0"),
    }
    if isinstance(response, dict) and "logProbs" in response:
        others["token_logprobs"] = response["logProbs"]
    return {
        **_with_variables(variables, others),
        "latency_ms": record.get("latencyMs"),
        "cost": record.get("cost"),
        "metadata": {**variables, **_object(case, "metadata"), **_object(record, "metadata")},
        # Columns may be mapped to values in these.
        "vars": variables,
        "testCase": case,
    }


def _answers(assertions: Any) -> list[Any]:
    """What the assertions of a test case say that the output should equal."""
    found = assertions if isinstance(assertions, list) else []
    return [
        one["value"]
        for one in found
        if isinstance(one, dict) and one.get("type") == "equals" and scalar_text(one.get("value"))
    ]


def _from_output_item(record: Record) -> Record:
    """An output item of OpenAI's Evals API: the item has the answer, the sample what was said."""
    item, sample = _object(record, "datasource_item"), record["sample"]
    asked, said = sample.get("input"), sample.get("output")
    others = {
        # The id of the output item is another one for each model.
        "sample_id": record.get("datasource_item_id"),
        "model": sample.get("model"),
        "user_input": asked,
        "response": said,
        **in_texts(asked, said),
    }
    found = {name: one for name, one in _with_variables(item, others).items() if one is not None}
    return {**record, "metadata": {**item, **_object(record, "metadata")}, **found}


def _object(record: Mapping[str, Any], name: str) -> Record:
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def _or_inside(value: Any, name: str) -> Any:
    """What an object has under a name; any other value itself."""
    return value.get(name) if isinstance(value, dict) else value


def _from_chat(record: Record) -> Record:
    """A chat: its last answer is the response, the last turn of the user the input."""
    if not any(isinstance(record.get(name), list | dict) for name in _CHAT):
        return record
    layout = SCHEMA.layout(record, {})
    asked = said = record.get("messages")
    if "user_input" in layout:
        asked = _or_inside(value_at(record, layout["user_input"]), "messages")
    if "response" in layout:
        said = value_at(record, layout["response"])
        if is_message(said) and not said.get("tool_calls"):
            said = [said]
    texts = {name: one for name, one in in_texts(asked, said).items() if one is not None}
    if "history" in layout:
        texts.pop("history", None)
    return {**record, **texts} if texts else record


_TOOLS: Final[Mapping[str, tuple[type, Collection[str], Callable[[Record], Record | None]]]] = {
    "vars": (dict, (), _from_promptfoo),
    "context": (dict, (), _from_valor_lite),
    "filtered_resps": (list, ("doc_id", "arguments", "target"), _from_lm_eval),
    "output": (dict, ("id", "epoch", "input", "target"), _from_inspect),
    "sample": (dict, ("datasource_item",), _from_output_item),
}
"""By the key under which a tool has an object or a list: which of the two, other keys of its rows,
and what makes them ours, or None if they are not the tool's after all."""
