"""Map column names and JSON keys of text samples to their meaning."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from valor_cli.data.shapes.samples.sample_file import SampleReading, SampleRow

ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "sample_id": ("id", "uid"),
    "model": ("model_name", "model_key"),
    "user_input": ("question", "query", "input", "prompt"),
    "response": ("answer", "actual_output", "actual_answer", "prediction", "output"),
    "references": (
        "reference",
        "ground_truths",
        "ground_truth",
        "expected_output",
        "expected_answer",
        "__expected",
    ),
    "retrieved_contexts": ("retrieval_context", "contexts", "context"),
    "condition": ("output_condition", "conditions"),
    "categories": (),
    "group": (),
    "perturbed_from": (),
    "duration_s": ("actual_duration", "latency_s", "latency_ms", "duration_ms"),
    "cost_usd": ("cost",),
    "artifacts": (),
    "token_logprobs": (),
}
"""Standard name to the other names that a column may have, in the order of looking. Case, spaces,
hyphens and underscores make no difference: `actualOutput` is `actual_output`."""

NESTED: Final = ("metadata", "additional_metadata", "additionalMetadata")
"""Keys of objects that hold metadata."""

_DROPPED: Final = str.maketrans("", "", "_- ")

Path = tuple[str, ...]


class Layout(NamedTuple):
    """The meaning of a row's keys.

    Attributes:
        keys: The key of each standard column, in their order; None where there is none.
        paths: For those that stand deeper, by standard name, the keys that lead there.
    """

    keys: tuple[str | None, ...]
    paths: Mapping[str, Path]

    def has(self, standard: str) -> bool:
        """Whether a standard column is present."""
        return standard in self.paths or self.keys[COLUMNS.index(standard)] is not None

    def name_of(self, standard: str) -> str:
        """The file's name of a standard column, for messages."""
        if standard in self.paths:
            return ".".join(self.paths[standard])
        return self.keys[COLUMNS.index(standard)] or standard


COLUMNS: Final = SampleRow._fields[: len(ALIASES)]

LOGPROBS: Final = "token_logprobs"


class Layouts:
    """The layouts of all rows of a file; most files have one.

    Attributes:
        names: Every key seen, in order of appearance.
    """

    __slots__ = ("_known", "_reading", "names")

    def __init__(self, reading: SampleReading) -> None:
        self.names: dict[str, None] = {}
        self._reading = reading
        self._known: dict[Path, Layout] = {}

    def of(self, names: Path) -> Layout:
        """The layout for rows with these keys."""
        layout = self._known.get(names)
        if layout is None:
            if len(self._known) > _MOST_KNOWN:
                self._known.clear()
            self.names |= dict.fromkeys(names)
            layout = self._known[names] = read_layout(names, self._reading)
        return layout


_MOST_KNOWN = 1_000


def read_layout(names: Sequence[str], reading: SampleReading) -> Layout:
    """The layout that is needed: without log-probabilities if nothing uses them."""
    layout = layout_of(names, reading.columns)
    if reading.logprobs or not layout.has(LOGPROBS):
        return layout
    keys = dict(zip(COLUMNS, layout.keys, strict=True)) | {LOGPROBS: None}
    paths = {name: path for name, path in layout.paths.items() if name != LOGPROBS}
    return Layout(tuple(keys.values()), paths)


def layout_of(names: Sequence[str], columns: Mapping[str, str]) -> Layout:
    """The key of each standard column: the mapped one, its own name, or the first alias."""
    taken = set(columns.values()) | {path.split(".")[0] for path in columns.values()}
    exact = [name for name in names if name not in taken]
    plain: dict[str, str] = {}
    for name in exact:
        plain.setdefault(_plain(name), name)
    found: dict[str, str | None] = dict.fromkeys(ALIASES)
    paths: dict[str, Path] = {}
    for standard, aliases in ALIASES.items():
        if standard in columns:
            mapped = columns[standard]
            if mapped in names:
                found[standard] = mapped
            elif "." in mapped and mapped.split(".")[0] in names:
                paths[standard] = tuple(mapped.split("."))
            continue
        for name in (standard, *aliases):
            one = name if name in exact else plain.get(_plain(name))
            if one is not None and _is_alias(standard, one):
                found[standard] = one
                break
    return Layout(tuple(found[name] for name in COLUMNS), paths)


def _is_alias(standard: str, name: str) -> bool:
    """Whether a name that reads like an alias is one: `__expected` alone keeps its underscores."""
    return standard != "references" or _plain(name) != "expected" or name.startswith("__")


def ambiguous(names: Collection[str], columns: Mapping[str, str]) -> dict[str, list[str]]:
    """Standard columns with several candidates, in lookup order.

    A column of the standard name itself, or one that is mapped, leaves no doubt.
    """
    plain = {_plain(name): name for name in reversed(list(names))}
    found = {}
    for standard in ("user_input", "response", "references"):
        if standard in columns or _plain(standard) in plain:
            continue
        several = [plain[_plain(one)] for one in ALIASES[standard] if _plain(one) in plain]
        several = [one for one in dict.fromkeys(several) if _is_alias(standard, one)]
        if len(several) > 1:
            found[standard] = several
    return found


def in_milliseconds(name: str | None) -> bool:
    """Whether the name of a duration column implies milliseconds: latencyMs, LATENCY_MS."""
    if name is None:
        return False
    apart = name.endswith("Ms") or name.casefold().endswith(("_ms", " ms", "-ms"))
    return apart or _plain(name) in ("latencyms", "durationms")


def _plain(name: str) -> str:
    return name.translate(_DROPPED).casefold()


def value_at(record: Mapping[str, Any], path: Path) -> Any:
    """The value at a path of keys; None if absent."""
    value: Any = record
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def metadata_at(record: Mapping[str, Any], name: str) -> Path | None:
    """The path of a metadata name: a key, a key of a metadata object, or a path."""
    if name in record:
        return (name,)
    for outer in NESTED:
        inner = record.get(outer)
        if isinstance(inner, dict) and name in inner:
            return (outer, name)
    path = tuple(name.split("."))
    if len(path) > 1 and path[0] in record and value_at(record, path) is not None:
        return path
    return None


def known_names(names: Collection[str], columns: Mapping[str, str]) -> int:
    """Number of standard columns among names."""
    layout = layout_of(tuple(names), columns)
    return sum(key is not None for key in layout.keys) + len(layout.paths)


def other_names(standard: str) -> str:
    """The accepted names of a column, for messages."""
    return ", ".join(f"'{name}'" for name in (standard, *ALIASES[standard]))
