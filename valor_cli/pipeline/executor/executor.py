"""Workers, which apply a function to many things; and this process as one of them.

What work leaves behind for later work, rather than for whoever ordered it, is kept where it was
made for as long as it is needed, so that large columns do not travel.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from valor_cli.pipeline.executor.handover import Parcel, parcel, temporary_folder

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

T = TypeVar("T")
R = TypeVar("R")
S = TypeVar("S")
K = TypeVar("K")
K_co = TypeVar("K_co", covariant=True)


class Progress(Protocol):
    """Progress callback of a stage; `total` is 0 if unknown."""

    def __call__(self, stage: str, done: int, total: int) -> None: ...


class Kept(Protocol[K_co]):
    """A handle to an intermediate result, readable only through the `Workers` that kept it."""


class Workers(Protocol):
    """Applies functions to many items.

    Functions are module-level; arguments and results can be pickled. An exception of a call
    is raised when its result is read.

    Attributes:
        count: How many tasks it works on at a time.
    """

    count: int

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
        """Results in the order of the tasks."""

    def keep(
        self, function: Callable[[T], tuple[S, K]], tasks: Sequence[T]
    ) -> Iterator[tuple[S, Kept[K]]]:
        """Like `map`, for functions that return two values: the first is yielded, the second
        kept.
        """

    def map_kept(
        self,
        function: Callable[[T, Sequence[Any]], R],
        tasks: Sequence[tuple[T, Sequence[Kept[Any]]]],
    ) -> Iterator[R]:
        """Like `map`, for functions that also take a kept value."""

    def share(self, value: K) -> Kept[K]:
        """Store a value once where all workers can read it."""

    def fetch(self, kept: Kept[K]) -> K:
        """Load a kept value in this process."""

    def forget(self, kept: Iterable[Kept[Any]]) -> None:
        """Release values that are no longer needed."""


class LocalValue(Generic[K]):
    """A value kept in the memory of this process."""

    __slots__ = ("value",)

    def __init__(self, value: K) -> None:
        self.value: K | None = value

    def open(self) -> K:
        """The kept value.

        Raises:
            ValueError: It was let go.
        """
        if self.value is None:
            raise ValueError("this value was released and cannot be fetched")
        return self.value

    def drop(self) -> None:
        """Release the value."""
        self.value = None


class ThisProcess:
    """Runs tasks one after the other in this process and keeps results in files."""

    count = 1

    def __init__(self) -> None:
        self._folder: TemporaryDirectory[str] | None = None

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
        """Results in task order, computed lazily."""
        return map(function, tasks)

    def keep(
        self, function: Callable[[T], tuple[S, K]], tasks: Sequence[T]
    ) -> Iterator[tuple[S, Kept[K]]]:
        """Like `map`, with the second part of each result kept."""
        for task in tasks:
            told, left = function(task)
            # As another process would have it: a view of what is kept would hold all of that.
            yield pickle.loads(pickle.dumps(told)), parcel(left, self.folder)  # noqa: S301

    def map_kept(
        self,
        function: Callable[[T, Sequence[Any]], R],
        tasks: Sequence[tuple[T, Sequence[Kept[Any]]]],
    ) -> Iterator[R]:
        """Like `map`, with kept values; results go to files if those did, since most are read in
        part.
        """
        for task, kept in tasks:
            found = function(task, [self.fetch(one) for one in kept])
            if self._folder is not None:
                sent = parcel(found, self.folder)
                found = sent.open()
                sent.drop()
            yield found

    def share(self, value: K) -> Kept[K]:
        """The value itself."""
        return LocalValue(value)

    @property
    def folder(self) -> str:
        """The folder for files, created on first use."""
        if self._folder is None:
            self._folder = temporary_folder()
        return self._folder.name

    def stop(self) -> None:
        """Delete the files."""
        if self._folder is not None:
            self._folder.cleanup()

    def fetch(self, kept: Kept[K]) -> K:
        """The kept value."""
        found: K = local(kept).open()
        return found

    def forget(self, kept: Iterable[Kept[Any]]) -> None:
        """Release values and their files."""
        for one in kept:
            local(one).drop()


def local(kept: Kept[K]) -> LocalValue[K] | Parcel[K]:
    """The handle of a value kept on this machine.

    Raises:
        ValueError: It was not.
    """
    if not isinstance(kept, LocalValue | Parcel):
        raise ValueError("only what was kept on this machine can be fetched here")
    return kept
