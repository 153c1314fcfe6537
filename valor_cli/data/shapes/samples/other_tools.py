"""Convert rows written by other tools to our column names.

Supported: results of promptfoo (`promptfoo eval --output results.json`, or its JSON lines),
logs of inspect-ai (`.json`), samples of lm-eval (`--log_samples`), event logs of OpenAI evals
(`oaieval`), chats as lists of messages (as OpenAI, Langfuse and Braintrust have them), spans with
the GenAI attributes of OpenTelemetry, queries of valor-lite (`context` as an object of
`groundtruth` and `prediction`), and the test labs of H2O Eval Studio and Sonar. Files of ragas and
deepeval, and spans of Phoenix, need only the aliases.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from operator import or_
from typing import Any, Final

from valor_cli.data.batch import Found
from valor_cli.data.json_records import Record, parsed, scalar_text
from valor_cli.data.schema import value_at
from valor_cli.data.shapes.samples.schema import ALIASES, SCHEMA
from valor_cli.data.source.inputs import head_of
from valor_cli.data.tape import LIST, OBJECT, Bools, Column

_PROMPTFOO: Final = frozenset({"gradingResult", "namedScores", "promptIdx", "testCase", "testIdx"})
"""Keys of promptfoo's results, beside `vars`, that nobody else has; `prompt` anyone may have."""

_LM_EVAL: Final = frozenset({"doc_id", "arguments", "filtered_resps", "target"})
_INSPECT: Final = frozenset({"id", "epoch", "input", "output", "target"})
"""Keys of the rows of lm-eval and of inspect-ai."""

_GEN_AI: Final = "gen_ai."
"""What the names of OpenTelemetry's attributes of language models begin with."""

_SHAPED: Final = ("vars", "context", "filtered_resps", "messages", "attributes", "gen_ai")
"""Keys of which rows of other tools hold lists or objects."""

_INPUTS: Final = ("user_input", *ALIASES["user_input"])
_OUTPUTS: Final = ("response", *ALIASES["response"])
_CHAT: Final = ("messages", *_INPUTS, *_OUTPUTS)
_MADE: Final = ("model", *ALIASES["model"], *_OUTPUTS)

_SPAN_IDS: Final = ("sample_id", "context.span_id", "span_id", "spanId")
_EVENTS: Final = ("sampling", "match")
"""Events of OpenAI evals that say what was asked and answered, and what was expected."""

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
    found = [column(name).is_of(LIST, OBJECT) for name in names if name in _SHAPED]
    found += [column(name).node >= 0 for name in names if _GEN_AI in name]
    if "epoch" in names and "output" in names:
        found.append(column("output").is_of(OBJECT))
    for name in names:
        if name in _INPUTS:
            found += [column(name).is_of(LIST), column(name).field("messages").node >= 0]
        elif name in _OUTPUTS:
            found.append(column(name).field("role").node >= 0)
    return reduce(or_, found) if found else None


def one_shape(record: Record) -> Record:
    """Rename a row's keys to ours; most rows are unchanged."""
    if is_promptfoo(record) and isinstance(record["vars"], dict):
        return _from_promptfoo(record)
    context = record.get("context")
    if isinstance(context, dict) and context and context.keys() <= {"groundtruth", "prediction"}:
        return _from_valor_lite(record, context)
    if record.keys() >= _LM_EVAL and isinstance(record["filtered_resps"], list):
        return _from_lm_eval(record)
    if record.keys() >= _INSPECT and isinstance(record["output"], dict):
        return _from_inspect(record)
    if attributes := _gen_ai(record):
        return _from_span(record, attributes)
    return _from_chat(record)


def expected_answer(text: str) -> str | None:
    """The expected answer in promptfoo's `__expected` cell; None if it is a rule.

    A bare text, or one after `equals:`, is an answer; `contains:`, `llm-rubric:` … are rules.
    """
    if text.startswith("equals:"):
        return text.removeprefix("equals:").strip()
    return None if _RULE.match(text) else text


def _from_valor_lite(record: Record, context: Record) -> Record:
    """`groundtruth` holds right answers, `prediction` the passages that were retrieved."""
    rest = {name: value for name, value in record.items() if name != "context"}
    return {
        **rest,
        "references": context.get("groundtruth"),
        "retrieved_contexts": context.get("prediction"),
    }


def _from_lm_eval(record: Record) -> Record:
    """A document: tasks that score choices have no response. Each filter is a row of its own."""
    arguments = record["arguments"]
    call: Any = arguments.get("gen_args_0") if isinstance(arguments, dict) else arguments
    while isinstance(call, dict | list) and call:
        call = call.get("arg_0") if isinstance(call, dict) else call[0]
    number, name = scalar_text(record["doc_id"]), scalar_text(record.get("filter"))
    response = next(iter(record["filtered_resps"]), None)
    return {
        **record,
        "sample_id": f"{number}.{name}" if number and name not in (None, "none") else number,
        "user_input": call if isinstance(call, str) else None,
        "response": response if isinstance(response, str) else None,
        "references": record["target"],
    }


def _from_inspect(record: Record) -> Record:
    """A sample of a log; each epoch is a sample of its own."""
    output, number, epoch = record["output"], *map(scalar_text, (record["id"], record["epoch"]))
    turns = output.get("choices")
    choices = turns if isinstance(turns, list) else []
    said = [one.get("message") for one in choices if isinstance(one, dict)]
    shown = record["input"]
    return {
        **record,
        "sample_id": f"{number}.{epoch}" if number and epoch not in (None, "1") else number,
        "user_input": _last(shown, "user") if isinstance(shown, list) else shown,
        "response": output.get("completion") or _last(said[:1], "assistant"),
        "references": record["target"] or None,
        "duration_s": record.get("total_time"),
        "history": _before(shown),
    }


def _gen_ai(record: Record) -> Record:
    """The GenAI attributes of a span, however they are written: names with dots or nested objects,
    in the span or under "attributes", there perhaps as OTLP's list of keys and values.
    """
    held = record.get("attributes")
    if isinstance(held, list):
        held = {
            one["key"]: next(iter(one["value"].values()), None)
            for one in held
            if isinstance(one, dict) and isinstance(one.get("value"), dict) and "key" in one
        }
    every = {**record, **(held if isinstance(held, dict) else {})}
    nested = every.pop("gen_ai", None)
    found = {
        name.removeprefix("attributes.").removeprefix(_GEN_AI): value
        for name, value in every.items()
        if name.removeprefix("attributes.").startswith(_GEN_AI)
    }
    for outer, value in (nested if isinstance(nested, dict) else {}).items():
        inner = value if isinstance(value, dict) else {"": value}
        found |= {f"{outer}.{name}".rstrip("."): one for name, one in inner.items()}
    return found


def _from_span(record: Record, attributes: Record) -> Record:
    """A span of a call of a language model, by OpenTelemetry's GenAI conventions."""
    said: Record = {}
    for side, names in (
        ("input", ("input.messages", "prompt")),
        ("output", ("output.messages", "completion")),
    ):
        value = next((attributes[name] for name in names if name in attributes), None)
        if isinstance(value, str) and value.lstrip()[:1] == "[":
            with suppress(ValueError, RecursionError):
                value = parsed(value.encode())
        said[side] = value
    turns, answers = said["input"], said["output"]
    times = [scalar_text(record.get(f"{end}TimeUnixNano")) for end in ("start", "end")]
    shaped = {
        "sample_id": next((record[name] for name in _SPAN_IDS if name in record), None),
        "model": attributes.get("request.model") or attributes.get("response.model"),
        "user_input": _last(turns, "user") if isinstance(turns, list) else turns,
        "response": _last(answers, "assistant") if isinstance(answers, list) else answers,
        "history": _before(turns),
    }
    if all(one and one.isdigit() for one in times):
        begin, end = (int(one or 0) for one in times)
        shaped["duration_s"] = (end - begin) / 1e9
    return {**record, **{name: value for name, value in shaped.items() if value is not None}}


def _from_chat(record: Record) -> Record:
    """A chat: its last answer is the response, the last turn of the user the input."""
    if not any(isinstance(record.get(name), list | dict) for name in _CHAT):
        return record
    layout = SCHEMA.layout(record, {})
    turns = record.get("messages")
    found = {}
    if "response" not in layout:
        found["response"] = _last(turns, "assistant")
    elif _is_message(said := value_at(record, layout["response"])):
        found["response"] = None if said.get("tool_calls") else _last([said], "assistant")
    if "user_input" in layout:
        turns = value_at(record, layout["user_input"])
        turns = turns.get("messages") if isinstance(turns, dict) else turns
    found["user_input"] = _last(turns, "user")
    if "history" not in layout:
        found["history"] = _before(turns)
    found = {name: text for name, text in found.items() if text is not None}
    return {**record, **found} if found else record


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and "role" in value and ("content" in value or "parts" in value)


def _last(turns: Any, role: str) -> str | None:
    """The text of the last message of a role; None if it has none, or these are no messages."""
    if not isinstance(turns, list) or not all(map(_is_message, turns)):
        return None
    return next((_text(one) for one in reversed(turns) if one["role"] == role), None)


def _before(turns: Any) -> str | None:
    """The turns before the last one of the user; None if there is none."""
    if not isinstance(turns, list) or not all(map(_is_message, turns)):
        return None
    last = max((at for at, one in enumerate(turns) if one["role"] == "user"), default=0)
    return "\n".join(f"{one['role']}: {_text(one) or ''}" for one in turns[:last]) or None


def _text(message: Record) -> str | None:
    """The text of a message, of whose parts those that are texts are joined."""
    content = message.get("content", message.get("parts"))
    if isinstance(content, list):
        parts = [one.get("text", one.get("content")) for one in content if isinstance(one, dict)]
        content = "\n".join(part for part in parts if isinstance(part, str)) or None
    return content if isinstance(content, str) else None


def is_event_log(path: str) -> bool:
    """Whether a file is an event log of OpenAI evals: its first line is what was run.

    Raises:
        DataError: It cannot be read.
    """
    return head_of(path).lstrip().startswith(b'{"spec":')


def rows_of_events(events: Iterable[tuple[int, Any]]) -> dict[int, Record]:
    """The samples of an event log of OpenAI evals, by the line of the first event of each.

    Args:
        events: Lines with their numbers; the last answer of a sample is its response.
    """
    rows: dict[str, tuple[int, Record]] = {}
    model = None
    for line, event in events:
        if not isinstance(event, dict):
            continue
        spec, data, name = (event.get(key) for key in ("spec", "data", "sample_id"))
        if isinstance(spec, dict):
            models = spec.get("completion_fns")
            model = models[0] if isinstance(models, list) and models else model
        if not isinstance(data, dict) or name is None or event.get("type") not in _EVENTS:
            continue
        _, row = rows.setdefault(
            str(scalar_text(name)), (line, {"sample_id": name, "model": model})
        )
        sampled = data.get("sampled")
        said = sampled[-1] if isinstance(sampled, list) and sampled else sampled
        told = {
            "user_input": data.get("prompt"),
            "response": said,
            "references": data.get("expected"),
        }
        row |= {key: value for key, value in told.items() if value is not None}
    return dict(rows.values())


def _from_promptfoo(record: Record) -> Record:
    """A result: its variables may have any of our names; its prompt is the input without them."""
    variables = record["vars"]
    response = record.get("response")
    provider = record.get("provider")
    case = record.get("testCase")
    case = case if isinstance(case, dict) else {}
    layout = SCHEMA.layout([name for name in variables if name not in _MADE], {})
    shaped: Record = {str(key): variables[key] for (key,) in layout.values()}
    if "user_input" not in layout:
        prompt = record.get("prompt")
        shaped["user_input"] = prompt.get("raw") if isinstance(prompt, dict) else prompt
    if "references" not in layout:
        shaped["references"] = _answers(case.get("assert"))
    shaped["response"] = response.get("output") if isinstance(response, dict) else response
    if isinstance(provider, dict):
        shaped["model"] = provider.get("label") or provider.get("id")
    else:
        shaped["model"] = provider
    if "sample_id" not in layout:
        shaped["sample_id"] = _case_number(record)
    if isinstance(response, dict) and "logProbs" in response:
        shaped["token_logprobs"] = response["logProbs"]
    shaped["latency_ms"] = record.get("latencyMs")
    shaped["cost"] = record.get("cost")
    shaped["metadata"] = {**variables, **_object(case, "metadata"), **_object(record, "metadata")}
    # Columns may be mapped to values in these.
    return {**shaped, "vars": variables, "testCase": case}


def _case_number(record: Record) -> str | None:
    """Which test case, the same for every provider; and which prompt, if not the first."""
    case, prompt = scalar_text(record.get("testIdx")), scalar_text(record.get("promptIdx"))
    return f"{case}.{prompt}" if case and prompt and prompt != "0" else case


def _answers(assertions: Any) -> list[Any]:
    """What the assertions of a test case say that the output should equal."""
    found = assertions if isinstance(assertions, list) else []
    return [
        one["value"]
        for one in found
        if isinstance(one, dict) and one.get("type") == "equals" and scalar_text(one.get("value"))
    ]


def _object(record: Mapping[str, Any], name: str) -> Record:
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def rows_of_labs(document: Record, found: Found | None) -> Found | None:
    """The rows of a document that is an H2O test lab, or its results."""
    if is_lab(document):
        found = Found("dataset.inputs", document["dataset"]["inputs"])
    if found is not None and has_lab_rows(found.rows):
        return found._replace(rows=lab_rows(document, found.rows))
    return found


def lab_rows(document: Record, rows: Sequence[Any]) -> list[Any]:
    """The rows of an H2O test lab, with model names for keys, and sample ids.

    A lab has every prompt once for each model. Rows of models with the same prompt are the same
    sample, whether or not their keys say so.
    """
    names = _lab_models(document)
    records = [row for row in rows if isinstance(row, dict)]
    models = {str(row.get("model_key")) for row in records}
    keys = Counter((str(row.get("model_key")), str(row.get("key") or "")) for row in records)
    shared = len({key for _, key in keys}) < len(keys) or len(models) == 1
    keyed = shared and all(key and count == 1 for (_, key), count in keys.items())
    counts: Counter[tuple[str, str]] = Counter()
    numbers: dict[tuple[str, int], str] = {}
    shaped: list[Any] = []
    for row in rows:
        if not isinstance(row, dict):
            shaped.append(row)
            continue
        model, prompt = str(row.get("model_key")), str(row.get("input"))
        counts[model, prompt] += 1
        number = numbers.setdefault((prompt, counts[model, prompt]), str(len(numbers) + 1))
        one = {name: value for name, value in row.items() if name != "model_key"}
        if model in names or "model_key" in row:
            one["model"] = names.get(model, row.get("model_key"))
        one["sample_id"] = row["key"] if keyed else number
        if not one.get("expected_output"):
            one["expected_output"] = None
        if not one.get("output_condition"):
            one["output_condition"] = _condition(one.get("output_constraints"))
        shaped.append(one)
    return shaped


def _condition(constraints: Any) -> str | None:
    """Older constraints as a condition: all of a list must hold, any of a list inside it."""
    found = constraints if isinstance(constraints, list) else []
    groups = [one if isinstance(one, list) else [one] for one in found]
    operands = [
        [_operand(one) for one in group if isinstance(one, str) and one] for group in groups
    ]
    parts = [
        f"({' OR '.join(group)})" if len(group) > 1 else group[0] for group in operands if group
    ]
    return " AND ".join(parts) or None


def _operand(constraint: str) -> str:
    """A constraint as a condition writes it; `REGEXP:` begins those that are patterns."""
    text = constraint.removeprefix("REGEXP:")
    quoted = '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return quoted if text == constraint else f"regexp({quoted})"


def is_lab(document: Mapping[str, Any]) -> bool:
    """Whether a JSON object is an H2O test lab."""
    dataset = document.get("dataset")
    return isinstance(dataset, dict) and isinstance(dataset.get("inputs"), list)


def has_lab_rows(rows: Sequence[Any]) -> bool:
    """Whether rows are of an H2O test lab or of its results."""
    return bool(rows) and isinstance(rows[0], dict) and rows[0].keys() >= _LAB_ROW


_LAB_ROW: Final = frozenset({"input", "actual_output", "model_key"})


def _lab_models(document: Record) -> dict[str, str]:
    """Key of each model to its name: of its language model if that tells them apart."""
    models = [one for one in document.get("models") or () if isinstance(one, dict)]
    for name in ("llm_model_name", "name"):
        names = [scalar_text(one.get(name)) for one in models]
        if all(names) and len(set(names)) == len(names):
            return {str(one.get("key")): str(one[name]) for one in models}
    return {}
