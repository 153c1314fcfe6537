"""Short forms of a config: gates as text, and names of other tools' metrics."""

from __future__ import annotations

import re
from typing import Any, Final

GATES: Final = "'f1 >= 0.8'", "'recall[person] >= 0.5'", "'f1 drop <= 0.01'", "'f1 not worse'"

_LIMIT: Final = re.compile(
    r"(?P<name>.+?)(?<!@)(?:\[(?P<label>[^\[\]]+)\])?\s*(?P<drop>\bdrop\s*)?(?P<sign>>=|<=|≥|≤)"
    r"\s*(?P<limit>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(?P<percent>%?)"
)
_NOT_WORSE: Final = re.compile(r"(?P<name>.+?)\s+not[ _-]worse")


def gate_of(text: str) -> dict[str, Any] | None:
    """The mapping of a gate such as "f1 >= 0.8"; None if it is no gate.

    A label stands in brackets: "recall[person] >= 0.5"; "f1 drop <= 0.01" and "f1 not worse"
    compare with the baseline; "coverage >= 0.95" is a limit on coverage.
    """
    text = text.strip()
    if found := _NOT_WORSE.fullmatch(text):
        return {"metric": found["name"].strip(), "not_worse": True}
    found = _LIMIT.fullmatch(text)
    if found is None:
        return None
    limit = float(found["limit"]) / (100 if found["percent"] else 1)
    least = found["sign"] in (">=", "≥")
    name = found["name"].strip()
    if name == "coverage" and least:
        return {"coverage": limit}
    if found["drop"] and least:
        return None
    kind = "max_drop" if found["drop"] else "min" if least else "max"
    label = {} if found["label"] is None else {"label": found["label"].strip()}
    return {"metric": name, **label, kind: limit}


def told_of_peer(name: str) -> str:
    """Which metrics here are nearest to one of another tool; empty if it is unknown."""
    from valor_cli.metric.peers import nearest

    found = nearest(name)
    if found is None:
        return ""
    tool, ours = found
    return f"{name!r:.40} is a metric of {tool}; nearest here: {', '.join(ours)}"
