"""Lines of JSON that list some labels each come in; columns go out, or None.

For lines that list now more, now fewer labels, or that hold escapes: the JSON decoder makes objects
of them, which are checked and flattened all at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Annotated, Any, Final, TypeAlias

import msgspec
import numpy as np

from valor_cli.kernels.vocabulary import Vocabulary
from valor_cli.readers.score_fields import LONGEST_ID
from valor_cli.readers.score_json_shape import ITEM_LABELS, ITEM_SCORES, Wanted, named_keys
from valor_cli.readers.score_rows import Ints, ScorePiece

_FIRST: Final = 100
"""So many lines are looked at to find one that lists a label."""

# 0 may be written as -0, and a number as a name is taken as written.
_Id: TypeAlias = str | Annotated[int, msgspec.Meta(gt=0)]
_Keys: TypeAlias = tuple[tuple[str, ...], tuple[str, ...] | None]
"""Of a line, and of an object in its list; None where labels are the keys of one object."""


class ListedScores:
    """The reading of lines with lists, or objects, of scores of any length.

    All lines have the keys of the first, and those of its objects; label keys, metadata and nested
    values are read elsewhere.
    """

    __slots__ = ("_codes", "_decoders", "_labels", "_probabilities", "_wanted")

    def __init__(self, wanted: Wanted, labels: Vocabulary, *, probabilities: bool) -> None:
        self._wanted = wanted
        self._labels = labels
        self._probabilities = probabilities
        self._codes = _Codes(labels)
        self._decoders: dict[_Keys, msgspec.json.Decoder[Any] | None] = {}

    def piece(self, block: bytes, first: int) -> ScorePiece | None:
        """The samples of a block of whole lines, the first of which has the number `first`."""
        if self._wanted.metadata or self._wanted.side == "ground_truth":
            return None
        # A key that stands twice would be lost: keys are counted by these two bytes.
        if b'" :' in block or b"\t" in block:
            return None
        try:
            keys = self._keys(block)
            decoder = None if keys is None else self._decoder(keys)
            if keys is None or decoder is None:
                return None
            lines: Sequence[Any] = decoder.decode_lines(block)
        except (msgspec.MsgspecError, RecursionError):
            return None
        ends = block.count(b"\n") + (not block.endswith(b"\n"))
        many = list(map(attrgetter("many"), lines))
        count = np.fromiter(map(len, many), np.int64, len(lines))
        of_each = 1 if keys[1] is None else len(keys[1])
        if len(lines) != ends or block.count(b'":') != (
            len(lines) * len(keys[0]) + of_each * int(count.sum())
        ):
            return None
        return self._piece(lines, many, count, first)

    def _piece(
        self, lines: Sequence[Any], many: Sequence[Any], count: Ints, first: int
    ) -> ScorePiece | None:
        ids = [str(line.sample_id).encode() for line in lines]
        if not all(ids) or max(map(len, ids)) > LONGEST_ID or any(b"\0" in one for one in ids):
            return None
        if isinstance(many[0], dict):
            listed: list[str] = list(chain.from_iterable(many))
            scores = chain.from_iterable(one.values() for one in many)
        else:
            items = list(chain.from_iterable(many))
            listed = list(map(attrgetter("label"), items))
            scores = chain(map(attrgetter("score"), items))
        score = np.fromiter(scores, np.float64, len(listed))
        if self._probabilities and not ((score >= 0) & (score <= 1)).all():
            return None
        truths = [line.truth for line in lines] if self._wanted.side == "samples" else None
        if "" in listed or (truths is not None and "" in truths):
            return None
        before = len(self._labels)
        label, truth = self._coded(listed, truths, count)
        row = np.repeat(np.arange(len(count)), count)
        pairs = np.sort(row * len(self._labels) + label)
        if (pairs[1:] == pairs[:-1]).any():
            self._labels.forget(before)
            self._codes.clear()
            return None
        return ScorePiece(
            sample_id=np.array(ids, np.bytes_),
            line=np.arange(first, first + len(lines)),
            key=None,
            truth=truth,
            count=count,
            label=label,
            score=score,
            metadata={},
        )

    def _coded(
        self, listed: Sequence[str], truths: Sequence[str] | None, count: Ints
    ) -> tuple[Ints, Ints | None]:
        """Codes of labels listed and of true ones; new names are numbered line by line."""
        if truths is None:
            return np.fromiter(map(self._codes.__getitem__, listed), np.int64, len(listed)), None
        # The true label of a line stands before those that it lists.
        place = np.cumsum(count) - count + np.arange(len(count))
        own = np.zeros(len(listed) + len(truths), np.bool_)
        own[place] = True
        names = np.empty(len(own), dtype=object)
        names[own], names[~own] = truths, listed
        codes = np.fromiter(map(self._codes.__getitem__, names.tolist()), np.int64, len(names))
        return codes[~own], codes[own]

    def _keys(self, block: bytes) -> _Keys | None:
        """The keys of the first line, and of the first object that a list holds."""
        line = msgspec.json.decode(block[: (block + b"\n").index(b"\n")])
        if not isinstance(line, dict):
            return None
        named = named_keys(line, self._wanted.names)
        many = named["predictions"]
        if many is None or named["sample_id"] is None or named["label_key"] is not None:
            return None
        if self._wanted.side == "samples" and named["label"] is None:
            return None
        if isinstance(line[many], dict):
            return tuple(line), None
        for content in block.split(b"\n", _FIRST)[:_FIRST]:
            found = msgspec.json.decode(content or b"{}")
            items = found.get(many) if isinstance(found, dict) else None
            if items and isinstance(items, list):
                return (tuple(line), tuple(items[0])) if isinstance(items[0], dict) else None
        return None

    def _decoder(self, keys: _Keys) -> msgspec.json.Decoder[Any] | None:
        if keys not in self._decoders:
            self._decoders[keys] = self._made(keys)
        return self._decoders[keys]

    def _made(self, keys: _Keys) -> msgspec.json.Decoder[Any] | None:
        """The decoder of lines with these keys, and no others."""
        line, item = keys
        named = named_keys(line, self._wanted.names)
        many: Any = dict[str, float]
        if item is not None:
            of_item = {"label": _first(ITEM_LABELS, item), "score": _first(ITEM_SCORES, item)}
            if None in of_item.values():
                return None
            many = list[_struct(item, of_item, {"label": str, "score": float})]  # type: ignore[misc] # made just now
        roles = {"sample_id": named["sample_id"], "many": named["predictions"]}
        if self._wanted.side == "samples":
            roles["truth"] = named["label"]
        kinds = {"sample_id": _Id, "many": many, "truth": str}
        return msgspec.json.Decoder(_struct(line, roles, kinds))


class _Codes(dict[str, int]):
    """The codes of names, found out as they are asked for."""

    def __init__(self, names: Vocabulary) -> None:
        self._names = names

    def __missing__(self, name: str) -> int:
        code = self[name] = self._names.code(name.encode())
        return code


def _first(names: Sequence[Any], keys: Sequence[str]) -> str | None:
    return next((name for name in names if name in keys), None)


def _struct(
    keys: Sequence[str], roles: Mapping[str, str | None], kinds: Mapping[str, Any]
) -> type[msgspec.Struct]:
    """The type of objects with all of these keys, some of which have a role and a kind."""
    role_of = {key: role for role, key in roles.items()}
    names = {role_of.get(key, f"other_{at}"): key for at, key in enumerate(keys)}
    fields = [(name, kinds.get(name, msgspec.Raw)) for name in names]
    return msgspec.defstruct("Line", fields, rename=names, gc=False, forbid_unknown_fields=True)
