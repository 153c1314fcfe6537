"""Collect the files of an input that could be read and report those that were skipped.

A file that cannot be read as a whole (truncated, not UTF-8, other columns, deleted) is skipped
entirely where that is allowed, and not read up to the fault: how much of it is lost is unknown,
and the rows before a fault are not a fair sample of a file. Single invalid rows are skipped by the
readers.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

from msgspec.structs import replace

from valor_cli.data.partition.pieces import sha256_of
from valor_cli.data.table import SKIP_HINT, InvalidRows
from valor_cli.errors import LISTED, DataError, Problem
from valor_cli.results import InputFile

P = TypeVar("P")

SKIP_FILES_HINT = (
    "Fix these files, or set `on_invalid: skip` under `data:` to leave out what cannot be used."
)

_SHOWN = 3
"""Maximum number of files named in a warning."""


class SkippedFiles(NamedTuple):
    """Files that were left out completely.

    Attributes:
        files: Their records, in the order of the input.
        warnings: What to warn of, a line at most.
    """

    files: Sequence[InputFile] = ()
    warnings: Sequence[str] = ()


NOTHING: Final = SkippedFiles()
"""Result where every file could be used."""


class Gathered(NamedTuple, Generic[P]):
    """The parts of an input, at least one, in its order; and what was left out of it."""

    parts: list[P]
    left_out: SkippedFiles


def read_shards(
    path: str,
    names: Sequence[str],
    read: Callable[[str], P],
    invalid: InvalidRows,
    incompatible: Callable[[Sequence[P]], Mapping[int, DataError]] | None = None,
) -> Gathered[P]:
    """The parts of an input in file order; each file is read once, good or not.

    Errors that no file causes are raised at once.

    Args:
        path: What the user wrote for all of them.
        names: The files that it names.
        read: Reads one of them.
        invalid: Whether files that cannot be used may be left out; not all of them, though.
        incompatible: Finds parts (positions) that cannot be joined with the others, and says why.

    Raises:
        DataError: The problems of all files that cannot be used.
    """
    parts: dict[int, P] = {}
    broken: dict[int, DataError] = {}
    for at, name in enumerate(names):
        try:
            parts[at] = read(name)
        except DataError as error:
            broken[at] = error
        if broken and invalid == "error":
            # Nobody will ask for them, and they may be large.
            parts.clear()
    if incompatible is not None and len(parts) > 1:
        rejected = incompatible(list(parts.values()))
        numbers = list(parts)
        broken |= {numbers[one]: error for one, error in rejected.items()}
    errors = {names[at]: broken[at] for at in sorted(broken)}
    kept = [part for at, part in parts.items() if at not in broken]
    if errors and (invalid == "error" or not kept):
        raise _of_input(path, names, errors, invalid)
    return Gathered(kept, _left_out(names, errors) if errors else NOTHING)


class _Input(Protocol):
    @property
    def files(self) -> Sequence[InputFile]: ...
    @property
    def warnings(self) -> Sequence[str]: ...


R = TypeVar("R", bound=_Input)


def read_joined(
    path: str,
    names: Sequence[str],
    read: Callable[[str], R],
    invalid: InvalidRows,
    join: Callable[[str, Sequence[R]], R],
    incompatible: Callable[[Sequence[R]], Mapping[int, DataError]] | None = None,
) -> R:
    """All files of an input as one; files that were left out stand behind the others.

    Args:
        path, names, read, invalid, incompatible: As for `read_shards`.
        join: Joins parts, at least one, under the path.

    Raises:
        DataError: As `read_shards` and `join` do.
    """
    parts, left_out = read_shards(path, names, read, invalid, incompatible)
    found = join(path, parts)
    if not left_out.files:
        return found
    struct: Any = found
    files, warnings = [*found.files, *left_out.files], [*left_out.warnings, *found.warnings]
    whole: R = replace(struct, files=files, warnings=warnings)
    return whole


def minority_parts(
    kinds: Sequence[Hashable], error: Callable[[int, int], DataError]
) -> dict[int, DataError]:
    """Parts that are of another kind than more than half; none where no kind has so many.

    Args:
        kinds: Of each part.
        error: What to say of a part, beside one of the usual kind; both as positions.
    """
    usual, count = Counter(kinds).most_common(1)[0]
    if 2 * count <= len(kinds):
        return {}
    other = kinds.index(usual)
    return {at: error(at, other) for at, kind in enumerate(kinds) if kind != usual}


def pieces_error(read: Iterable[tuple[str, str, DataError | None]]) -> DataError:
    """One error for all that is wrong with inputs that were read piece by piece.

    Args:
        read: Of each piece what the user wrote for its input, its file, and what is wrong with it;
            at least one has something.
    """
    inputs: dict[str, dict[str, list[DataError]]] = {}
    for path, name, error in read:
        own = inputs.setdefault(path, {}).setdefault(name, [])
        own += [] if error is None else [error]
    found = []
    for path, files in inputs.items():
        broken = {name: _of_file(errors) for name, errors in files.items() if errors}
        if broken:
            found.append(_of_input(path, list(files), broken, "error"))
    return combined_error(found)


def combined_error(errors: Sequence[DataError]) -> DataError:
    """Combine errors into one: some problems of each, and all hints without duplicates."""
    errors = list({(error.problems, error.hint): error for error in errors}.values())
    return _joined(errors, some_of_each(errors), _hints(errors))


def _of_file(errors: Sequence[DataError]) -> DataError:
    """The errors of a file, from those of its pieces."""
    problems = [problem for error in errors for problem in error.problems]
    return _joined(errors, problems[:LISTED], _hints(errors))


def _joined(
    errors: Sequence[DataError], problems: Sequence[Problem], hints: Sequence[str]
) -> DataError:
    return DataError(problems, total=sum(error.total for error in errors), hint="\n".join(hints))


def _hints(errors: Sequence[DataError]) -> list[str]:
    return [error.hint for error in errors if error.hint]


def _left_out(names: Sequence[str], broken: dict[str, DataError]) -> SkippedFiles:
    """Records of the skipped files, by what is wrong with each, and a warning."""
    shown = [_summary(error, str(error.problems[0])) for error in broken.values()][:_SHOWN]
    more = len(broken) - len(shown)
    rest = f"; and {more:,} more" if more else ""
    message = f"left out: {len(broken):,} of {len(names):,} files: {'; '.join(shown)}{rest}"
    return SkippedFiles([_record(*one) for one in broken.items()], [message])


def _record(name: str, error: DataError) -> InputFile:
    """What is known of a file that was left out."""
    first = error.problems[0]
    where = first.place.removeprefix(name).lstrip(":. ") if first.place else ""
    where = f"line {where}" if where.isdigit() else where
    return InputFile(
        name, _digest(name), None, left_out=_summary(error, str(Problem(where, first.message)))
    )


def _summary(error: DataError, first: str) -> str:
    more = error.total - 1
    return f"{first} (and {more:,} more problem{'s' * (more > 1)})" if more > 0 else first


def _digest(path: str) -> str | None:
    """Hex digest of the stored bytes; None where they cannot be read, or only once."""
    try:
        return sha256_of(path) if os.path.isfile(path) else None
    except DataError:
        return None


def _of_input(
    path: str, names: Sequence[str], broken: dict[str, DataError], invalid: InvalidRows
) -> DataError:
    """One error for all files that cannot be used; the error of a single file is unchanged."""
    errors = list(broken.values())
    if len(names) == 1:
        return errors[0]
    hints = _hints(errors)
    whole = [error for error in errors if SKIP_HINT not in error.hint]
    if whole and invalid == "error" and len(broken) < len(names):
        # It tells of rows as well.
        hints = [*(hint for hint in hints if hint != SKIP_HINT), SKIP_FILES_HINT]
    where = f"These are in {len(broken):,} of the {len(names):,} files of {path}."
    return _joined(errors, some_of_each(errors), [where, *hints])


def some_of_each(errors: Sequence[DataError]) -> list[Problem]:
    """The first problems of every error, in their order: as many of each as there is room for."""
    shares = [0] * len(errors)
    room = LISTED
    while room:
        open_ones = [at for at, one in enumerate(errors) if shares[at] < len(one.problems)][:room]
        if not open_ones:
            break
        for at in open_ones:
            shares[at] += 1
        room -= len(open_ones)
    return [
        problem
        for one, share in zip(errors, shares, strict=True)
        for problem in one.problems[:share]
    ]
