"""Pair label maps of ground truth and predictions by their names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import product
from typing import Final, NamedTuple

from valor_cli.data.column_names import some_of
from valor_cli.data.shapes.label_maps import LabelMap, LabelMaps
from valor_cli.errors import DataError, Problem, printable

_MANIFEST: Final = (
    "list the pairs in a manifest (.jsonl or .csv with the columns ground_truth and prediction)."
)
_SAME_NAMES: Final = (
    "Give both sides the same names (street_1.png), or names of which all of a side begin and end "
    f"alike (street_1_mask.png, street_2_mask.png; street_1_pred.png, street_2_pred.png), or "
    f"{_MANIFEST}"
)
_WORD: Final = re.compile(r"(?P<text>[^\W_]*)[\W_]+")
"""A word of a name, and what is between it and the next."""


def pair_maps(
    truth: LabelMaps, found: LabelMaps, model: str, *, skip: bool
) -> tuple[dict[str, LabelMap], list[str]]:
    """Pair samples by image id if both sides have ids, otherwise by equal names.

    If no names are equal, their last parts are compared, which have to be unique. If none of those
    are equal either, both sides are compared without the first and last words that all their names
    share, such as "_mask" and "_pred".

    Args:
        truth, found: Ground truth, and predictions of a model.
        model: Its name, for warnings.
        skip: Whether samples on one side only may be left out; not all of them, though.

    Returns:
        The predictions by name of the ground truth, and warnings of what is left out, and of words
        that were.

    Raises:
        DataError: There is no pair; names cannot tell which belong together; a file of one side
            has no partner.
    """
    warnings: list[str] = []
    if truth.images is not None and found.images is not None:
        by_image = {image: name for name, image in found.images.items()}
        pairs = {name: by_image[image] for name, image in truth.images.items() if image in by_image}
    else:
        pairs = {name: name for name in truth.maps if name in found.maps}
    pairs = pairs or _by_last_parts(truth, found, _NONE, _NONE)
    if not pairs and (words := _common_words(truth, found)) is not None:
        pairs = _equal_without(truth, found, *words)
        warnings.append(
            f"label maps are paired by their names without {words[0]} in {truth.path} and "
            f"{words[1]} in {found.path}"
        )
    if not pairs:
        message = (
            f"no label map has a prediction of its name in {found.path} (ground truth has "
            f"{some_of(truth.maps)}; predictions have {some_of(found.maps)})"
        )
        raise DataError(Problem(truth.path, message), hint=_SAME_NAMES)
    problems: list[Problem] = []
    for side, paired, missing, left_out in (
        (truth, pairs.keys(), f"prediction in {found.path}", "ground truths"),
        (found, pairs.values(), f"ground truth in {truth.path}", f"predictions of {model}"),
    ):
        alone = sorted(side.maps.keys() - paired)
        problems += [Problem(side.maps[name].path, f"has no {missing}") for name in alone]
        if alone:
            count = f"{len(alone):,} of {len(side.maps):,} {left_out}"
            first = printable(alone[0])
            warnings.append(f"left out: {count} have no {missing} (the first: {first})")
    if problems and not skip:
        hint = "Add the missing files, or set `on_invalid: skip` under `data:` to leave these out."
        raise DataError(problems, hint=hint)
    return {name: found.maps[other] for name, other in pairs.items()}, warnings


class _Words(NamedTuple):
    """What the last parts of all names of a side begin and end with."""

    begin: str
    end: str

    def __str__(self) -> str:
        words = [f"'{printable(one)}'" for one in self if one]
        return " and ".join(words) or "nothing"

    @property
    def length(self) -> int:
        """How much of a name they are."""
        return len(self.begin) + len(self.end)

    def without(self, last: str) -> str:
        """The last part of a name without them."""
        return last[len(self.begin) : len(last) - len(self.end)]

    def out_of(self, name: str) -> str:
        """A name without them."""
        folder, slash, last = name.rpartition("/")
        return f"{folder}{slash}{self.without(last)}"


_NONE: Final = _Words("", "")


def _by_last_parts(
    truth: LabelMaps, found: LabelMaps, true_words: _Words, found_words: _Words
) -> dict[str, str]:
    """Pairs of names whose last parts are equal without some words.

    Raises:
        DataError: Several names of a side have a last part that the other side has too.
    """
    stems: list[dict[str, list[str]]] = [{}, {}]
    sides = zip((truth, found), (true_words, found_words), stems, strict=True)
    for side, words, by_stem in sides:
        for name in sorted(side.maps):
            by_stem.setdefault(words.without(_last(name)), []).append(name)
    true, predicted = stems
    common = sorted(true.keys() & predicted.keys())
    several = {
        stem: names for stem in common for names in (true[stem], predicted[stem]) if len(names) > 1
    }
    if several:
        raise DataError(
            [
                Problem(f"{truth.path}, {found.path}", f"'{stem}' names several: {some_of(names)}")
                for stem, names in several.items()
            ],
            hint=f"Give both sides the same sub-folders, or {_MANIFEST}",
        )
    return {true[stem][0]: predicted[stem][0] for stem in common}


def _equal_without(
    truth: LabelMaps, found: LabelMaps, true_words: _Words, found_words: _Words
) -> dict[str, str]:
    """Pairs of names, or else of their last parts, that are equal without some words.

    Raises:
        DataError: As `_by_last_parts`.
    """
    true = {true_words.out_of(name): name for name in truth.maps}
    predicted = {found_words.out_of(name): name for name in found.maps}
    pairs = {name: predicted[stem] for stem, name in true.items() if stem in predicted}
    return pairs or _by_last_parts(truth, found, true_words, found_words)


def _common_words(truth: LabelMaps, found: LabelMaps) -> tuple[_Words, _Words] | None:
    """The shortest words of each side without which most names are equal; None if there are none.

    Raises:
        DataError: There are two ways that pair other names.
    """
    sides = [sorted({_last(name) for name in side.maps}) for side in (truth, found)]
    stems = [
        {words: {words.without(name): name for name in names} for words in _words_of(names)}
        for names in sides
    ]
    fewest = min(map(len, sides))
    best: list[tuple[tuple[_Words, _Words], dict[str, str]]] = []
    most = fewest // 2 + 1
    for true, predicted in sorted(product(*stems), key=lambda way: way[0].length + way[1].length):
        names = stems[1][predicted]
        pairs = {name: names[stem] for stem, name in stems[0][true].items() if stem in names}
        if len(pairs) > most:
            best, most = [], len(pairs)
        if len(pairs) == most and all(pairs != other for _, other in best):
            best.append(((true, predicted), pairs))
    if len(best) > 1:
        (_, first), (_, second) = best[:2]
        name = min(one for one in first if first[one] != second.get(one))
        ends = " or ".join(f"'{way.get(name, 'nothing')}'" for way in (first, second))
        message = f"names can be paired in several ways: '{name}' with {ends}"
        problem = Problem(f"{truth.path}, {found.path}", message)
        raise DataError(problem, hint=f"Give both sides the same names, or {_MANIFEST}")
    return best[0][0] if best else None


def _words_of(names: Collection[str]) -> Iterator[_Words]:
    """The words that all of several names begin and end with, from none to all of them.

    Numbers are not among them: they tell images apart, even if those here share one. Of a single
    name nothing says which of its words others would have.
    """
    begins, ends = _beginnings(names), _beginnings([one[::-1] for one in names])
    shortest = min(map(len, names))
    for begin, end in product(begins, ends):
        if len(begin) + len(end) < shortest:
            yield _Words(begin, end[::-1])


def _beginnings(names: Collection[str]) -> list[str]:
    """What several names begin with, up to behind each word and to the first number; "" first."""
    found = [""]
    if len(names) > 1:
        low, high = min(names), max(names)
        same = next((at for at, one in enumerate(low) if one != high[at]), len(low))
        for word in _WORD.finditer(low[:same]):
            if word["text"].isdigit():
                break
            found.append(low[: word.end()])
    return found


def _last(name: str) -> str:
    return name.rpartition("/")[2]
