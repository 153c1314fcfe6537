"""Read chats: lists of messages, each with a role and a text or parts."""

from __future__ import annotations

from typing import Any

from valor_cli.data.json_records import Record


def is_message(value: Any) -> bool:
    """Whether a value is a message, as OpenAI or OpenTelemetry has it."""
    return isinstance(value, dict) and "role" in value and ("content" in value or "parts" in value)


def are_messages(value: Any) -> bool:
    """Whether a value is a list of messages."""
    return isinstance(value, list) and all(map(is_message, value))


def last(turns: Any, role: str) -> str | None:
    """The text of the last message of a role; None if it has none, or these are no messages."""
    if not are_messages(turns):
        return None
    return next((text_of(one) for one in reversed(turns) if one["role"] == role), None)


def before(turns: Any) -> str | None:
    """The turns before the last one of the user; None if there is none."""
    if not are_messages(turns):
        return None
    end = max((at for at, one in enumerate(turns) if one["role"] == "user"), default=0)
    return "\n".join(f"{one['role']}: {text_of(one) or ''}" for one in turns[:end]) or None


def text_of(message: Record) -> str | None:
    """The text of a message; of several parts, those that are text, a line each."""
    content = message.get("content", message.get("parts"))
    if isinstance(content, list):
        parts = [_text_in(part) for part in content if isinstance(part, dict)]
        content = "\n".join(part for part in parts if isinstance(part, str)) or None
    return content if isinstance(content, str) else None


def _text_in(part: Record) -> Any:
    # OpenTelemetry has the bytes of images and a model's reasoning under `content` too.
    return part.get("text", part.get("content") if part.get("type", "text") == "text" else None)


def in_texts(asked: Any, said: Any = None) -> Record:
    """Our columns of what are lists: of messages the last answer, the question and `history`."""
    texts: Record = {"response": last(said, "assistant")} if isinstance(said, list) else {}
    if isinstance(asked, list):
        texts |= {"user_input": last(asked, "user"), "history": before(asked)}
    return texts
