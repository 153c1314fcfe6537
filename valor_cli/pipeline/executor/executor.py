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
    """Told how far a stage has come; `total` is 0 where it is not known."""

    def __call__(self, stage: str, done: int, total: int) -> None: ...


class Kept(Protocol[K_co]):
    """What work left behind, wherever that is; only the `Workers` that kept it look into it."""


class Workers(Protocol):
    """Something that applies a function to many things.

    Functions stand in modules; what they take and give can be pickled. What one of them raises
    comes out where its result is asked for.

    Attributes:
        count: How many tasks it works on at a time.
    """

    count: int

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
        """Results in the order of the tasks."""

    def keep(
        self, function: Callable[[T], tuple[S, K]], tasks: Sequence[T]
    ) -> Iterator[tuple[S, Kept[K]]]:
        """As `map`, of functions that give two things: the first comes, the second is kept."""

    def map_kept(
        self,
        function: Callable[[T, Sequence[Any]], R],
        tasks: Sequence[tuple[T, Sequence[Kept[Any]]]],
    ) -> Iterator[R]:
        """As `map`, of functions that take what was kept beside their task."""

    def share(self, value: K) -> Kept[K]:
        """A value put where all workers find it, once."""

    def fetch(self, kept: Kept[K]) -> K:
        """What was kept, here."""

    def forget(self, kept: Iterable[Kept[Any]]) -> None:
        """Let go of what is not needed any more."""


class Held(Generic[K]):
    """What this process keeps in memory."""

    __slots__ = ("value",)

    def __init__(self, value: K) -> None:
        self.value: K | None = value

    def open(self) -> K:
        """What was kept.

        Raises:
            ValueError: It was let go.
        """
        if self.value is None:
            raise ValueError("what was let go cannot be fetched")
        return self.value

    def drop(self) -> None:
        """Let go of it."""
        self.value = None


class ThisProcess:
    """One task after the other, here. What is kept goes to files: memory is for evidence."""

    count = 1

    def __init__(self) -> None:
        self._folder: TemporaryDirectory[str] | None = None

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
        """Results in the order of the tasks, each made when asked for."""
        return map(function, tasks)

    def keep(
        self, function: Callable[[T], tuple[S, K]], tasks: Sequence[T]
    ) -> Iterator[tuple[S, Kept[K]]]:
        """As `map`, the second part of each result kept."""
        for task in tasks:
            told, left = function(task)
            # As another process would have it: a view of what is kept would hold all of that.
            yield pickle.loads(pickle.dumps(told)), parcel(left, self.folder)  # noqa: S301

    def map_kept(
        self,
        function: Callable[[T, Sequence[Any]], R],
        tasks: Sequence[tuple[T, Sequence[Kept[Any]]]],
    ) -> Iterator[R]:
        """As `map`, with what was kept. Where that went to files, results do too: little of most
        of them is looked at.
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
        return Held(value)

    @property
    def folder(self) -> str:
        """Where files go, made on first use."""
        if self._folder is None:
            self._folder = temporary_folder()
        return self._folder.name

    def stop(self) -> None:
        """Remove the files."""
        if self._folder is not None:
            self._folder.cleanup()

    def fetch(self, kept: Kept[K]) -> K:
        """What was kept."""
        found: K = local(kept).open()
        return found

    def forget(self, kept: Iterable[Kept[Any]]) -> None:
        """Let go of values, and of their files."""
        for one in kept:
            local(one).drop()


def local(kept: Kept[K]) -> Held[K] | Parcel[K]:
    """What was kept on this machine.

    Raises:
        ValueError: It was not.
    """
    if not isinstance(kept, Held | Parcel):
        raise ValueError("only what was kept on this machine can be fetched here")
    return kept
