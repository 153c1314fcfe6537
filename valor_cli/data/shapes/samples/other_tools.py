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
from typing import Any, Final, NamedTuple, TypeAlias

from valor_cli.data.json_records import Record, scalar_text
from valor_cli.data.schema import path_of, value_at
from valor_cli.data.shapes.samples.chats import before, in_texts, is_message, last
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


Columns: TypeAlias = str | Callable[[Record], Any]
"""The way to a column in a row of another tool, or what makes it of the row."""


class _Tool(NamedTuple):
    """How a tool writes a sample.

    Attributes:
        keys: What all of its rows have.
        holder: The key of them under which is an object or a list.
        type: Which of the two.
        shaped: The row with our names; None if it is not of the tool after all.
    """

    keys: frozenset[str]
    holder: str
    type: type
    shaped: Callable[[Record], Record | None]


def is_promptfoo(names: Collection[str]) -> bool:
    """Whether a row with these keys is a promptfoo result."""
    return "vars" in names and not _PROMPTFOO.isdisjoint(names)


def other_tools(names: Collection[str], column: Callable[[str], Column]) -> Bools | None:
    """(n,) rows that `one_shape` may change; None for none."""
    held = {tool.holder for tool in _TOOLS if tool.keys <= set(names)}
    held.update({"messages", "attributes", "gen_ai"}.intersection(names))
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
    for tool in _TOOLS:
        known = record.keys() >= tool.keys and isinstance(record[tool.holder], tool.type)
        if known and (shaped := tool.shaped(record)) is not None:
            return shaped
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


def _columns(**ways: Columns) -> Callable[[Record], Record]:
    """A function that adds our columns to a row, given the way to each."""

    def shaped(record: Record) -> Record:
        found = {
            name: way(record) if callable(way) else value_at(record, path_of(way))
            for name, way in ways.items()
        }
        return {**record, **in_texts(found)}

    return shaped


def _numbered(number: str, part: str, whole: Collection[str]) -> Callable[[Record], str | None]:
    """A function that joins the number of a sample and what makes it one of several."""

    def sample_id(record: Record) -> str | None:
        first, second = scalar_text(record.get(number)), scalar_text(record.get(part))
        return f"{first}.{second}" if first and second and second not in whole else first

    return sample_id


def _from_valor_lite(record: Record) -> Record | None:
    """`groundtruth` holds right answers, `prediction` the passages that were retrieved."""
    context = record["context"]
    if not context or not context.keys() <= {"groundtruth", "prediction"}:
        return None
    rest = {name: value for name, value in record.items() if name != "context"}
    return {
        **rest,
        "references": context.get("groundtruth"),
        "retrieved_contexts": context.get("prediction"),
    }


def _first_call(record: Record) -> str | None:
    """What lm-eval asked first, by the name of the argument or by its place."""
    call = record["arguments"]
    while isinstance(call, dict | list) and call:
        call = call.get("arg_0", call.get("gen_args_0")) if isinstance(call, dict) else call[0]
    return call if isinstance(call, str) else None


def _first_response(record: Record) -> str | None:
    """The first response that lm-eval filtered; tasks that score choices have none."""
    response = next(iter(record["filtered_resps"]), None)
    return response if isinstance(response, str) else None


def _completion(record: Record) -> Any:
    """The response in a log of inspect-ai."""
    message = value_at(record, ("output", "choices", 0, "message"))
    return value_at(record, ("output", "completion")) or last([message], "assistant")


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
        "sample_id": _numbered("testIdx", "promptIdx", ("0",))(record),
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
    asked = in_texts({"user_input": sample.get("input"), "response": sample.get("output")})
    # The id of the output item is another one for each model.
    others = {**asked, "model": sample.get("model"), "sample_id": record.get("datasource_item_id")}
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
    turns = record.get("messages")
    found = {}
    if "response" not in layout:
        found["response"] = last(turns, "assistant")
    elif is_message(said := value_at(record, layout["response"])):
        found["response"] = None if said.get("tool_calls") else last([said], "assistant")
    else:
        found["response"] = last(said, "assistant")
    if "user_input" in layout:
        turns = _or_inside(value_at(record, layout["user_input"]), "messages")
    found["user_input"] = last(turns, "user")
    if "history" not in layout:
        found["history"] = before(turns)
    found = {name: text for name, text in found.items() if text is not None}
    return {**record, **found} if found else record


_TOOLS: Final = (
    _Tool(frozenset({"vars"}), "vars", dict, _from_promptfoo),
    _Tool(frozenset({"context"}), "context", dict, _from_valor_lite),
    _Tool(  # lm-eval: each filter is a row of its own.
        frozenset({"doc_id", "arguments", "filtered_resps", "target"}),
        "filtered_resps",
        list,
        _columns(
            sample_id=_numbered("doc_id", "filter", ("none",)),
            user_input=_first_call,
            response=_first_response,
            references="target",
        ),
    ),
    _Tool(  # inspect-ai: each epoch is a sample of its own.
        frozenset({"id", "epoch", "input", "output", "target"}),
        "output",
        dict,
        _columns(
            sample_id=_numbered("id", "epoch", ("1",)),
            user_input="input",
            response=_completion,
            references=lambda record: record["target"] or None,
            duration_s="total_time",
        ),
    ),
    _Tool(frozenset({"datasource_item", "sample"}), "sample", dict, _from_output_item),
)
"""The tools whose rows are told by their keys, in the order of looking."""
