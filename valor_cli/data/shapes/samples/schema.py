"""The columns of text samples, their aliases, and where metadata is."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from valor_cli.data.schema import Field, Path, Schema, path_of, plain_name, value_at

SCHEMA: Final = Schema(
    Field(
        "sample_id",
        "id",
        ("id", "uid", "context.span_id"),
        description="the key of a sample; without one, the number of the row",
    ),
    Field(
        "model",
        "name",
        ("model_name", "model_key", "attributes.llm.model_name"),
        description="the model that answered",
    ),
    Field(
        "user_input",
        "text",
        ("question", "query", "input", "prompt", "attributes.input.value"),
        single=True,
        description="the question, the prompt, or the text to summarise",
    ),
    Field(
        "response",
        "any",
        (
            "answer",
            "actual_output",
            "actual_answer",
            "prediction",
            "output",
            "attributes.output.value",
        ),
        single=True,
        description="what the model answered",
    ),
    Field(
        "references",
        "texts",
        (
            "reference",
            "ground_truths",
            "ground_truth",
            "expected_output",
            "expected_answer",
            "__expected",
            "expected",
            "target",
        ),
        single=True,
        description="the right answers",
    ),
    Field(
        "retrieved_contexts",
        "contexts",
        ("retrieval_context", "contexts", "context"),
        description="the passages that were retrieved, in their order",
    ),
    Field(
        "condition",
        "name",
        ("output_condition", "conditions"),
        description="what `text_matching` requires of the sample",
    ),
    Field("categories", "texts", description="what kind of sample it is"),
    Field("group", "name", description="the cluster that the sample belongs to, for intervals"),
    Field("perturbed_from", "name", description="the sample that this one is an altered copy of"),
    Field(
        "duration_s",
        "amount",
        ("actual_duration", "latency_s", "latency_ms", "duration_ms"),
        description="how long the answer took, in seconds",
    ),
    Field("cost_usd", "amount", ("cost",), description="what the answer cost"),
    Field("artifacts", "path", description="the folder of an agent's output"),
    Field(
        "token_logprobs",
        "logprobs",
        description="natural logarithms of the probabilities of the response's tokens",
    ),
    Field(
        "history",
        "any",
        ("chat_history", "conversation"),
        description="the turns of a chat before the question",
    ),
)
"""The fields of a sample. Types are `id`, `text` (an empty one is a text),
`name` (an empty one is none), `path`, `any` (a text, or JSON as text), `texts` (one or a list),
`contexts` (texts, or objects with a text), `amount` (0 or more) and `logprobs`."""

ALIASES: Final = SCHEMA.aliases
COLUMNS: Final = SCHEMA.names
LOGPROBS: Final = "token_logprobs"

TEXT_KEYS: Final = ("text", "content", "page_content")
"""Keys of the text of a context that is an object, in order of preference."""

LOGPROB: Final = "logprob"
"""The key of the number in an item of log-probabilities that is an object."""

ROUNDING: Final = 1e-6
"""What a logarithm may be above 0: the probability of a sure token, rounded up."""

NESTED: Final = ("metadata", "additional_metadata", "additionalMetadata")
"""Keys of objects that hold metadata."""

PEER_METADATA: Final = "__metadata:"
"""The prefix of promptfoo's metadata columns."""


def other_names(standard: str) -> str:
    """The accepted names of a column, for messages."""
    return ", ".join(f"'{name}'" for name in (standard, *ALIASES[standard]))


def in_milliseconds(name: str) -> bool:
    """Whether the name of a duration column implies milliseconds: latencyMs, LATENCY_MS."""
    apart = name.endswith("Ms") or name.casefold().endswith(("_ms", " ms", "-ms"))
    return apart or plain_name(name) in ("latencyms", "durationms")


def metadata_ways(names: Collection[str], name: str) -> tuple[list[Path], list[Path]]:
    """The ways to metadata of a name in rows with some keys, in the order of looking.

    Returns:
        Keys, and keys of objects of metadata, which may hold null; and a path, where null is none.
    """
    ways: list[Path] = [(key,) for key in (name, PEER_METADATA + name) if key in names]
    ways += [(outer, name) for outer in NESTED if outer in names]
    path = path_of(name)
    return ways, [path] * (len(path) > 1 and path[0] in names)


def metadata_at(record: Mapping[str, Any], name: str) -> Path | None:
    """The way to metadata of a name in a row; None if it says none."""
    ways, paths = metadata_ways(record, name)
    for *outer, key in ways:
        held = value_at(record, outer)
        if isinstance(held, dict) and key in held:
            return (*outer, key)
    return next((path for path in paths if value_at(record, path) is not None), None)
