"""Every error a user can meet: what is wrong, where it stands, what to do next."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

LISTED = 20
"""Problems printed in full; the rest are counted."""

_MASK = "…"
_URL = re.compile(r"(?<![A-Za-z0-9+.-])([A-Za-z][A-Za-z0-9+.-]*)://[^\s<>\"`]+")

_LOGIN = re.compile(r"(?<=://)(?:[^/@]*@)+|(?<=://)[^/:@]*:(?!\d+(?:[/?#]|\Z)).*@")
"""Name and password before the host. With a slash in the password, the "port" is no number."""

_SAID = re.compile(r"(?<=[?&;#])([^?&;#=]+)(=?)([^&;#]*?)(?=(?::\d+)*[:,.;)\]}']*(?:[&;#]|\Z))")
"""A name in a query or a fragment, and its value; less the line that a message says after it."""

_PLAIN = frozenset(
    {"version", "versionid", "generation", "revision", "rev", "ref", "format", "raw", "download"}
    | {"file", "filename", "name", "path", "part", "shard", "split", "page"}
    | {"x-amz-algorithm", "x-amz-date", "x-amz-expires"}
    | {"x-goog-algorithm", "x-goog-date", "x-goog-expires"}
)
"""Names of values in a query that are shown; any other may be a key."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to mend: `place` is where ("run.yaml:3:5: metrics.1"), `message` what and how."""

    place: str
    message: str

    def __str__(self) -> str:
        text = f"{self.place}: {self.message}" if self.place else self.message
        return printable(without_secrets(text))


class ValorError(Exception):
    """Something the user can mend. Carries one or more problems and, if any, the next step.

    `total` counts the problems found when not all of them were kept.
    """

    exit_code = 2

    def __init__(
        self, problems: Problem | Sequence[Problem], *, total: int | None = None, hint: str = ""
    ) -> None:
        given = (problems,) if isinstance(problems, Problem) else tuple(problems)
        # What several inputs or steps say alike is told once, where it was first said.
        self.problems = tuple(dict.fromkeys(given))
        known = len(given) - len(self.problems)
        self.total = len(self.problems) if total is None else total - known
        self.hint = "\n".join(dict.fromkeys(hint.split("\n")))
        super().__init__(self.problems, self.total, hint)

    def __str__(self) -> str:
        lines = [str(problem) for problem in self.problems[:LISTED]]
        if self.total > len(lines):
            lines.append(f"… and {self.total - len(lines):,} more problems")
        if self.hint:
            lines += [printable(without_secrets(line)) for line in self.hint.split("\n")]
        return "\n".join(lines)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.problems, self.total, self.hint)


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
    """A judge did not answer usably."""

    exit_code = 3


class ClusterError(ValorError):
    """A cluster cannot be reached, or did not carry out what it was given."""

    exit_code = 3


def without_secrets(text: str) -> str:
    """Text as it is shown: passwords and signatures in its URLs are "…".

    What names and signs whoever reads an object stands before the host (`https://name:pw@host`) or
    in the query (`?X-Amz-Signature=`, `?sig=`, `?token=`). Values of a query are masked unless
    their names are known to be harmless.
    """
    text = _URL.sub(_shown_url, text) if "://" in text else text
    return without_kept(text)


def without_kept(text: str) -> str:
    """Text without the secrets that a config had from the environment."""
    return _pattern(tuple(_KEPT)).sub(_MASK, text) if _KEPT else text


_KEPT: dict[str, None] = {}
"""Values of the environment that a config used as secrets; in the order in which they came."""

_SECRET_NAME = re.compile(
    r"(?:KEY|TOKEN|SECRET|PASS(?:WORD|WD)?|PWD|CREDENTIAL|AUTH)S?(?:_(?!FILE|PATH|DIR)|[0-9]|\Z)",
    re.I,
)
_RUN = re.compile(r"[A-Za-z0-9]|[_-]|[^A-Za-z0-9_-]+")
_WRAP = r"(?:\n\s*|<wbr>)?"

_CUT = 8
"""Characters by which a longer secret is known that was cut."""

_SHORTEST, _WORD = 6, 16
"""Characters of a secret, and of one of letters alone: what is shorter is a word of any report."""

_BEFORE_VALUE = re.compile(r"://(?:[^/?#]*\Z|[^?#]*[?#](?:.*[&;])?([^&;=]*)=?\Z)", re.S)
"""What stands in front of a login, or of a value in a query or a fragment."""


def keep_secret(name: str, value: str, before: str, after: str) -> None:
    """Mask a value of the environment from now on, wherever it is said or written, if it is secret.

    It is where its name says so, and where it is a login of a URL or a value in its query. Numbers
    and short words are not kept: they stand in any report.

    Args:
        name: Of the variable.
        value: What it holds.
        before, after: What stands around it in the config.
    """
    place = _BEFORE_VALUE.search(before)
    login = place is not None and place[1] is None and "@" in after.partition("/")[0]
    asked = None if place is None else place[1]
    queried = asked is not None and asked.lower() not in _PLAIN
    if not (_SECRET_NAME.search(name) or login or queried):
        return
    number = not any(each.isalpha() for each in value)
    if len(value) >= _SHORTEST and not number and (len(value) >= _WORD or not value.isalpha()):
        _KEPT[value] = None


def masked_bytes(content: bytes) -> bytes:
    """A file as it is written: without the secrets that a config had from the environment."""
    return _byte_pattern(tuple(_KEPT)).sub(_MASK.encode(), content) if _KEPT else content


@cache
def _pattern(secrets: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(_escaped, sorted(secrets, key=len, reverse=True))))


@cache
def _byte_pattern(secrets: tuple[str, ...]) -> re.Pattern[bytes]:
    return re.compile(_pattern(secrets).pattern.encode())


def _escaped(secret: str) -> str:
    """A pattern of a text as it is, as the formats of files write it, as it wraps, and cut."""
    other = r"&#?\w{1,8};|\\u[0-9A-Fa-f]{4}|(?:%[0-9A-Fa-f]{2}){1,4}"

    def written(run: str) -> str:
        marks = [rf"(?:(?:\\*{re.escape(one)}){{1,2}}|{other})" for one in run]
        # An anchor of a page has one "-" for several.
        return run if run.isalnum() and run.isascii() else f"(?:{_WRAP.join(marks)}|-)"

    runs = [written(run) for run in _RUN.findall(secret)]
    begun, rest = _WRAP.join(runs[:_CUT]), _WRAP.join(runs[_CUT:])
    return rf"{begun}(?:{_WRAP}{rest}|\S{{0,{2 * len(secret)}}}?{_MASK})" if rest else begun


def _shown_url(found: re.Match[str]) -> str:
    """A URL in a text. In an object store `?` alone stands for any character of a name."""
    url = _LOGIN.sub(f"{_MASK}@", found[0])
    web = found[1].lower() in ("http", "https")
    return _SAID.sub(lambda said: _shown_value(said, web=web), url)


def _shown_value(said: re.Match[str], *, web: bool) -> str:
    name, equals, value = said.groups()
    if name.lower() in _PLAIN:
        return said[0]
    if not equals:
        return _MASK if web else said[0]
    return f"{name}={_MASK}" if value else said[0]


def printable(text: str) -> str:
    """Text on one line in which control and direction characters are spelled out.

    Names come from files: one may hold what a terminal would obey.
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The words " (did you mean 'x'?)" for the nearest known name, else an empty string."""
    # Of names that differ in case alone, the first listed is the canonical one.
    folded: dict[str, str] = {}
    for candidate in known:
        folded.setdefault(candidate.casefold(), candidate)
    near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return f" (did you mean '{folded[near[0]]}'?)" if near else ""
