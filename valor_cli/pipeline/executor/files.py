"""Make calls in other processes of this machine; large and kept values are handed over in files."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct

from valor_cli.pipeline.executor.executor import Calls, Kept, opened
from valor_cli.pipeline.executor.handover import LARGE, Parcel, parcel, size_of

R = TypeVar("R")
S = TypeVar("S")


class Work(Struct, frozen=True):
    """One call, as a process is given it.

    Attributes:
        function: What to call.
        arguments: On what.
        keeps: Whether the second of its two results stays in a file.
        folder: Where files are written.
    """

    function: Callable[..., Any]
    arguments: Sequence[Any]
    keeps: bool
    folder: str


def worked(work: Work) -> Any:
    """The result of a call, in a file if it is large."""
    found = work.function(*map(opened, work.arguments))
    if work.keeps:
        told, left = found
        return told, parcel(left, work.folder)
    return parcel(found, work.folder) if size_of(found) > LARGE else found


Results: TypeAlias = Callable[[Iterable[Work]], Iterator[Any]]
"""Of each work what `worked` gives, in order; work is taken a little ahead of the results."""


class LocalWorkers:
    """Other processes of this machine. What one of them kept outlives it."""

    def __init__(self, count: int, folder: str, results: Results) -> None:
        self.count = count
        self._folder = folder
        self._results = results

    def map(self, function: Callable[..., R], calls: Calls) -> Iterator[R]:
        """The result of each call, in their order."""
        yield from self._made(function, calls, keeps=False)

    def keep(
        self, function: Callable[..., tuple[S, Any]], calls: Calls
    ) -> Iterator[tuple[S, Kept]]:
        """The same for functions that return two values, of which the second is kept in a file."""
        yield from self._made(function, calls, keeps=True)

    def share(self, value: Any) -> Kept:
        """Keep a value in a file."""
        return parcel(value, self._folder)

    def _made(self, function: Callable[..., Any], calls: Calls, *, keeps: bool) -> Iterator[Any]:
        """Results of calls. Files of their arguments and results go once they are read."""
        sent: deque[list[Parcel[Any]]] = deque()

        def work() -> Iterator[Work]:
            for arguments in calls:
                files = {
                    at: parcel(one, self._folder)
                    for at, one in enumerate(arguments)
                    if size_of(one) > LARGE
                }
                sent.append(list(files.values()))
                given = [files.get(at, one) for at, one in enumerate(arguments)]
                yield Work(function, given, keeps, self._folder)

        for found in self._results(work()):
            value = opened(found)
            for file in sent.popleft():
                file.drop()
            if isinstance(found, Parcel):
                found.drop()
            yield value
