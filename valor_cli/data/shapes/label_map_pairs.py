"""Pair label maps of ground truth and predictions by their names."""

from __future__ import annotations

from typing import Final

from valor_cli.data.column_names import some_of
from valor_cli.data.shapes.label_maps import LabelMap, LabelMaps
from valor_cli.data.shared_words import NO_WORDS, Words, ways_to_pair
from valor_cli.errors import DataError, Problem, printable

_MANIFEST: Final = (
    "list the pairs in a manifest (.jsonl or .csv with the columns ground_truth and prediction)."
)
_SAME_NAMES: Final = (
    "Give both sides the same names (street_1.png), or names of which all of a side begin and end "
    f"alike (street_1_mask.png, street_2_mask.png; street_1_pred.png, street_2_pred.png), or "
    f"{_MANIFEST}"
)


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
    pairs = pairs or _by_last_parts(truth, found, NO_WORDS, NO_WORDS)
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


def _by_last_parts(
    truth: LabelMaps, found: LabelMaps, true_words: Words, found_words: Words
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
    truth: LabelMaps, found: LabelMaps, true_words: Words, found_words: Words
) -> dict[str, str]:
    """Pairs of names, or else of their last parts, that are equal without some words.

    Raises:
        DataError: As `_by_last_parts`.
    """
    true = {_without(name, true_words): name for name in truth.maps}
    predicted = {_without(name, found_words): name for name in found.maps}
    pairs = {name: predicted[stem] for stem, name in true.items() if stem in predicted}
    return pairs or _by_last_parts(truth, found, true_words, found_words)


def _common_words(truth: LabelMaps, found: LabelMaps) -> tuple[Words, Words] | None:
    """The shortest words of each side without which most names are equal; None if there are none.

    Raises:
        DataError: There are two ways that pair other names.
    """
    best = ways_to_pair(*({_last(name) for name in side.maps} for side in (truth, found)))
    if len(best) > 1:
        (_, first), (_, second) = best[:2]
        name = min(one for one in first if first[one] != second.get(one))
        ends = " or ".join(f"'{way.get(name, 'nothing')}'" for way in (first, second))
        message = f"names can be paired in several ways: '{name}' with {ends}"
        problem = Problem(f"{truth.path}, {found.path}", message)
        raise DataError(problem, hint=f"Give both sides the same names, or {_MANIFEST}")
    return best[0][0] if best else None


def _without(name: str, words: Words) -> str:
    """A name, the last part of which is without some words."""
    folder, slash, last = name.rpartition("/")
    return f"{folder}{slash}{words.without(last)}"


def _last(name: str) -> str:
    return name.rpartition("/")[2]
