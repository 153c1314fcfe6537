"""Errors shown to the user: what is wrong, where, and what to do next."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from valor_cli.masking import without_secrets

LISTED = 20
"""Problems printed in full; the rest are counted."""

SHORTENED = 3
"""Letters of a name from which on it may be the beginning of another: "acc" of "accuracy"."""

ALIKE = 3
"""Of these, problems of one cause."""


@dataclass(frozen=True)
class Problem:
    """One problem: `place` ("run.yaml:3:5: metrics.1") and `message`, which says what to fix and
    how.

    `cause` is what problems of one cause have in common, empty for a problem that is listed in any
    case; `more` counts those that are not listed.
    """

    place: str
    message: str
    cause: str = ""
    more: int = 0

    def __str__(self) -> str:
        text = f"{self.place}: {self.message}" if self.place else self.message
        return printable(without_secrets(text))


class ValorError(Exception):
    """An error that the user can fix: one or more problems and, if known, the next step.

    `total` counts the problems found when not all of them were kept.
    """

    exit_code = 2

    def __init__(
        self, problems: Problem | Sequence[Problem], *, total: int | None = None, hint: str = ""
    ) -> None:
        given = (problems,) if isinstance(problems, Problem) else tuple(problems)
        # What several inputs or steps say alike is told once, where it was first said.
        distinct = tuple(dict.fromkeys(given))
        known = len(given) - len(distinct)
        self.total = len(distinct) if total is None else total - known
        self.problems = _first_of_each(distinct)
        self.hint = "\n".join(dict.fromkeys(hint.split("\n")))
        super().__init__(self.problems, self.total, hint)

    def __str__(self) -> str:
        lines, left = list[str](), self.total
        for problem in self.problems[:LISTED]:
            lines.append(str(problem))
            if problem.more:
                lines.append(f"… and {problem.more:,} more like this")
            left -= 1 + problem.more
        if left > 0:
            lines.append(f"… and {left:,} more problems")
        if self.hint:
            lines += [printable(without_secrets(line)) for line in self.hint.split("\n")]
        return "\n".join(lines)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.problems, self.total, self.hint)


def _first_of_each(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """The first problems of each cause; the others are counted with the last of these."""
    total: Counter[str] = Counter()
    for problem in problems:
        total[problem.cause] += 1 + problem.more
    kept: list[Problem] = []
    places: dict[str, list[int]] = {}
    for problem in problems:
        own = places.setdefault(problem.cause, [])
        # One more is sooner listed than counted.
        most = ALIKE + (total[problem.cause] == ALIKE + 1)
        if problem.cause and len(own) >= most:
            last = kept[own[-1]]
            kept[own[-1]] = replace(last, more=last.more + 1 + problem.more)
        else:
            own.append(len(kept))
            kept.append(problem)
    return tuple(kept)


def _rebuild(
    kind: type[ValorError], problems: Sequence[Problem], total: int, hint: str
) -> ValorError:
    """Unpickle an error that a worker process raised."""
    return kind(problems, total=total, hint=hint)


class ConfigError(ValorError):
    """The YAML, or an option that overrides it, cannot be used as written."""


class UnknownNameError(ConfigError):
    """There is no task, metric or format of that name."""


class DataError(ValorError):
    """A file or a column cannot be used."""


class UnreachableError(ValorError):
    """A store or a server did not give a file.

    What is in the file is not known, so that nothing is left out for it: the next run may have it.
    """


class MissingExtraError(ValorError):
    """An optional dependency is not installed."""


class JudgeError(ValorError):
    """A judge did not give a usable answer."""

    exit_code = 3


class ClusterError(ValorError):
    """A cluster cannot be reached, or failed to run its work."""

    exit_code = 3


def printable(text: str) -> str:
    """Text on one line, with control and direction characters escaped.

    Names come from files: one may hold what a terminal would obey.
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The text " (did you mean 'x'?)" for the nearest known name, or an empty string."""
    # Of names that differ in case alone, the first listed is the canonical one.
    folded: dict[str, str] = {}
    for candidate in known:
        folded.setdefault(candidate.casefold(), candidate)
    name = name.casefold()
    begun = sorted((one for one in folded if one.startswith(name)), key=len)
    near = begun if len(name) >= SHORTENED else []
    near = near or difflib.get_close_matches(name, folded, n=1, cutoff=0.6)
    return f" (did you mean '{folded[near[0]]}'?)" if near else ""
