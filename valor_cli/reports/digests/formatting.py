"""Format values and untrusted text for reports."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from valor_cli.results import InputFile, ParameterValue

NO_VALUE = "–"

UNCLEAR = "cannot tell"
"""The severity of a problem of which it cannot be told."""

SEVERITIES = ("high", "medium", "low", UNCLEAR)

UNKNOWN = "unknown"
"""What a thing cost that has no known price."""

TINY = 0.0005
"""Below this a number of three decimals would read as 0.000."""

LARGE = 1e15
"""From here on a number is shown with an exponent: 3.2e+217."""

CLEANED = 50
"""Characters that are looked at for each one shown: a text may be megabytes of escapes."""

_ESCAPES = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")

# Controls, bidirectional overrides (they reorder what stands beside them) and lone surrogates.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)

_HASH = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{52}\b")
"""A SHA-256, of which the first digits tell one file from another."""

_LONGEST: Final = 200


class ShownInput(NamedTuple):
    """A file, its number of rows, the number of rejected rows, and its SHA-256."""

    path: str
    rows: str
    skipped: str
    sha256: str


def clean(text: str, limit: int = 80) -> str:
    """Untrusted text as one line of printable characters, at most `limit`."""
    if not text.isprintable():
        seen = text[: CLEANED * limit]
        more = "…" if len(seen) < len(text) else ""
        text = _UNSEEN.sub("", " ".join(_ESCAPES.sub("", seen).split())) + more
    if len(text) > limit:
        text = text[: limit - 1].rstrip() + "…"
    return text or "(empty)"


def number(value: float | None, unit: str = "fraction") -> str:
    """Format a value: counts with thousands separators, others with three decimals."""
    if value is None:
        return NO_VALUE
    return _decimals(value, unit, 3)


def _decimals(value: float, unit: str, decimals: int) -> str:
    if abs(value) >= LARGE:
        text = f"{value:.{decimals}g}"
    elif unit == "count" and value == int(value):
        text = f"{int(value):,}"
    elif value and abs(value) < TINY and decimals == 3:
        text = f"{value:.1e}"  # a tiny loss or p-value is not zero
    else:
        text = f"{value:,.{decimals}f}"
    if not text.startswith("-"):
        return text
    return text.replace("-", "−", 1) if text.strip("-0.,") else text[1:]


def short(count: int) -> str:
    """A count in at most five digits, or three and a unit: 12,345 and 123k and 1.23M."""
    if count < 100_000:
        return f"{count:,}"
    for size, unit in ((1e3, "k"), (1e6, "M"), (1e9, "G")):
        if count < 999.5 * size:  # from there on it would read as 1000
            return f"{count / size:#.3g}".rstrip(".") + unit
    return f"{count / 1e12:,.2f}T"


def money(usd: float | None) -> str:
    """Format US dollars: cents from one dollar, up to four decimals below, never rounded to zero.

    `$12.34`, `$0.50`, `$0.0123`, `<$0.0001`, `$0`; unknown where there is none.
    """
    if usd is None:
        return UNKNOWN
    if not usd:
        return "$0"
    if usd < 0.0001:
        return "<$0.0001"
    if usd >= 0.99995:
        return f"${usd:,.2f}"
    whole, _, decimals = f"{usd:.4f}".partition(".")
    return f"${whole}.{decimals.rstrip('0'):0<2}"


def percent(share: float) -> str:
    """Format a share in percent, never rounded to 0% or 100%."""
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.9995 <= share < 1:
        return ">99.9%"
    return f"{share:.1%}"


def plural(count: int, noun: str) -> str:
    """A count with its noun: "1 gate", "2 gates"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def capital(text: str) -> str:
    """Capitalise a heading: "mean IoU" as "Mean IoU"."""
    return text[:1].upper() + text[1:]


def signed(value: float | None, unit: str = "fraction") -> str:
    """A difference with its sign."""
    if value is None:
        return NO_VALUE
    if not value or (unit != "count" and abs(value) < TINY):
        return _decimals(0.0, unit, 3)
    return ("+" if value > 0 else "") + number(value, unit)


def span(interval: tuple[float, float] | None, unit: str = "fraction") -> str:
    """An interval in brackets, or an empty string; an end that is tiny beside the other is 0."""
    if interval is None:
        return ""
    if max(map(abs, interval)) >= TINY:
        interval = tuple(0.0 if abs(end) < TINY else end for end in interval)  # type: ignore[assignment]
    return f"[{number(interval[0], unit)}, {number(interval[1], unit)}]"


def against(value: float | None, limit: float, unit: str = "fraction") -> tuple[str, str]:
    """A value and its limit, with enough decimals to distinguish them."""
    if value is None:
        return NO_VALUE, number(limit, unit)
    if value != limit:
        for decimals in range(3, 16):
            texts = _decimals(value, unit, decimals), _decimals(limit, unit, decimals)
            if texts[0] != texts[1]:
                return texts
    return number(value, unit), number(limit, unit)


def covered(share: float, decimals: int = 0) -> str:
    """The share of samples with a value, in percent, rounded down."""
    if 0 < share < 0.01 and not decimals:
        return "<1%"
    return f"{int(share * 10 ** (decimals + 2) + 1e-9) / 10**decimals:.{decimals}f}%"


def against_share(share: float | None, limit: float) -> tuple[str, str]:
    """A share and its limit in percent, with enough decimals to distinguish them."""
    for decimals in range(16):
        told = NO_VALUE if share is None else covered(share, decimals)
        least = f"{limit:.{decimals}%}"
        exact = abs(float(least[:-1]) / 100 - limit) < 1e-9
        if exact and (share == limit or told != least):
            break
    return told, least


def words(name: str) -> str:
    """An identifier as words: "ground_truths" as "ground truths"."""
    return clean(name.replace("_", " "))


def parameter(value: ParameterValue) -> str:
    """A parameter's value, shortened.

    Long lists are shown by their ends and length, mappings of numbers by their first labels, any
    other JSON by its first keys: `{type, properties, … (5)}`.
    """
    if isinstance(value, str):
        return clean(_HASH.sub(r"\1", value), 40)
    if isinstance(value, Mapping):
        if not all(isinstance(item, int | float) for item in value.values()):
            return _keys(value)
        told = [f"{clean(label, 24)} {number:g}" for label, number in value.items()]
        more = [f"… ({len(told)})"] if len(told) > 4 else []
        return ", ".join([*told[: 3 if more else 4], *more]) or "none"
    if isinstance(value, Sequence):
        if len(value) > 4:
            return f"{parameter(value[0])}…{parameter(value[-1])} ({len(value)})"
        return ", ".join(parameter(item) for item in value)
    if value is None or isinstance(value, bool):
        return {None: "none", True: "true", False: "false"}[value]
    return f"{value:g}"


def _keys(value: Mapping[str, Any]) -> str:
    keys = [clean(key, 16) for key in list(value)[:3]]
    more = [f"… ({len(value)})"] if len(value) > 3 else []
    return f"{{{', '.join([*keys, *more])}}}"


def shown_input(file: InputFile) -> ShownInput:
    """A file as shown in reports, also when it was skipped."""
    return ShownInput(
        clean(file.path, _LONGEST),
        NO_VALUE if file.rows is None else f"{file.rows:,}",
        f"{file.skipped:,}" if file.left_out is None else "left out",
        NO_VALUE if file.sha256 is None else clean(file.sha256),
    )


_SPOKEN = {
    "f1": "F1",
    "iou": "IoU",
    "mean_iou": "mean IoU",
    "tp": "true positives",
    "fp": "false positives",
    "fn": "false negatives",
    "tn": "true negatives",
}


def output_words(output: str) -> str:
    """An output's name in words."""
    return _SPOKEN.get(output, words(output))


def whole(column: Sequence[float | None]) -> bool:
    """Whether a column is a count."""
    return all(isinstance(value, int) for value in column)
