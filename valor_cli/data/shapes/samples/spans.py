"""Read traces with OpenTelemetry's GenAI attributes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from valor_cli.data.json_records import Number, Record, parsed, scalar_text
from valor_cli.data.schema import value_at
from valor_cli.data.shapes.samples.chats import in_texts

PREFIX: Final = "gen_ai."
"""What the names of attributes of language models begin with."""

_ASKED: Final = ("input.messages", "prompt")
_SAID: Final = ("output.messages", "completion")
_IDS: Final = (
    ("sample_id",),
    ("context.span_id",),
    ("context", "span_id"),
    ("span_id",),
    ("spanId",),
)
_NANOSECONDS: Final = ("startTimeUnixNano", "endTimeUnixNano")
_TIMES: Final = ("start_time", "end_time")
_LEVELS: Final = 8
"""Of lists and objects in the attributes of OTLP. Messages with parts have five."""


def attributes_in(record: Record) -> Record:
    """The GenAI attributes of a span by name without prefix, however they are written: names with
    dots or nested objects, in the span or under "attributes", there perhaps as OTLP's list.
    """
    held = record.get("attributes")
    if isinstance(held, list):
        held = _plain({"kvlistValue": {"values": held}})
    every = {**record, **(held if isinstance(held, dict) else {})}
    return {
        name.removeprefix(PREFIX): value
        for key, held in every.items()
        for name, value in _flat(key.removeprefix("attributes."), held, 4 if key == "gen_ai" else 0)
        if name.startswith(PREFIX)
    }


def from_span(record: Record, attributes: Record) -> Record:
    """A call of a language model; its attributes can be named as metadata."""
    asked, said = _said(attributes, _ASKED, "user"), _said(attributes, _SAID, "assistant")
    told = attributes.get("system_instructions")
    if isinstance(told, str | list) and isinstance(asked, list):
        asked = [{"role": "system", "parts": _from_json(told)}, *asked]
    shaped = {
        "sample_id": next(
            (one for way in _IDS if (one := value_at(record, way)) is not None), None
        ),
        "model": attributes.get("request.model") or attributes.get("response.model"),
        "user_input": asked,
        "response": said,
        "duration_s": _seconds(record),
        **in_texts(asked, said),
    }
    # The `context` of a span is its ids, not what was retrieved.
    own = {name for name in record if name != "context" or value_at(record, _IDS[2]) is None}
    return {
        **{name: one for name, one in record.items() if name in own},
        **{PREFIX + name: one for name, one in attributes.items()},
        **{name: one for name, one in shaped.items() if one is not None},
    }


def spans_in(document: Record) -> list[Record]:
    """The spans of OTLP's JSON in which something was asked of a language model, or answered."""
    spans: list[Any] = [document]
    for key in ("resourceSpans", "scopeSpans", "spans"):
        lists = [one.get(key) for one in spans if isinstance(one, dict)]
        spans = [one for items in lists if isinstance(items, list) for one in items]
    return [
        span
        for span in spans
        if isinstance(span, dict)
        and (attributes := attributes_in(span))
        and any(_said(attributes, names, "") is not None for names in (_ASKED, _SAID))
    ]


def _said(attributes: Record, names: tuple[str, ...], role: str) -> Any:
    """The text or the messages under the first of some names, or under `prompt.0.content` …

    Messages may be a text of JSON. Those that are numbered are of the role if they say none.
    """
    for name in names:
        if name in attributes:
            return _from_json(attributes[name])
        turns: dict[int, Record] = {}
        for key, value in attributes.items():
            number, _, field = key.removeprefix(f"{name}.").partition(".")
            if key != number and number.isdecimal() and field:
                turns.setdefault(int(number), {"role": role, "content": None})[field] = value
        if turns:
            return [turns[number] for number in sorted(turns)]
    return None


def _flat(name: str, value: Any, levels: int) -> Iterator[tuple[str, Any]]:
    """What is inside of objects, by names with dots."""
    if not levels or not isinstance(value, dict):
        yield name, value
        return
    for key, one in value.items():
        yield from _flat(f"{name}.{key}", one, levels - 1)


def _from_json(value: Any) -> Any:
    """The list that a text is as JSON; any other value as it is."""
    if isinstance(value, str) and value.lstrip()[:1] == "[":
        with suppress(ValueError, RecursionError):
            return parsed(value.encode())
    return value


def _plain(value: Any, levels: int = _LEVELS) -> Any:
    """A value of OTLP, which says its type: `{"stringValue": "one"}`; None of what is no such."""
    if not isinstance(value, dict) or len(value) != 1 or not levels:
        return None
    ((kind, held),) = value.items()
    inside = held.get("values") if isinstance(held, dict) else None
    items = [one for one in inside if isinstance(one, dict)] if isinstance(inside, list) else []
    if kind == "arrayValue":
        return [_plain(one, levels - 1) for one in items]
    if kind == "kvlistValue":
        return {str(one.get("key")): _plain(one.get("value"), levels - 1) for one in items}
    whole = kind == "intValue" and isinstance(held, str) and held.lstrip("-").isdecimal()
    return Number(held) if whole else held


def _seconds(record: Record) -> Number | None:
    """How long a span took, by its times in nanoseconds or as ISO 8601 has them."""
    begin, end = (scalar_text(record.get(name)) or "" for name in _NANOSECONDS)
    if begin.isdecimal() and end.isdecimal():
        return Number(repr((int(end) - int(begin)) / 1e9))
    with suppress(ValueError, TypeError):
        times = [datetime.fromisoformat(scalar_text(record.get(name)) or "") for name in _TIMES]
        return Number(repr((times[1] - times[0]).total_seconds()))
    return None
