"""Workers, which make the calls of a run; and this process as one of them.

Nothing else knows where work is done. What a call leaves for later calls, rather than for whoever
made it, is kept where it was made for as long as it is needed, so that large columns do not travel.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

from valor_cli.kernels.threads import in_threads
from valor_cli.pipeline.executor.handover import Parcel, parcel, temporary_folder

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

R = TypeVar("R")
S = TypeVar("S")
K = TypeVar("K")

Calls: TypeAlias = Sequence[Sequence[Any]]
"""The arguments of each call; in place of a kept value the function is given the value itself."""


class Progress(Protocol):
    """Progress callback of a stage; `total` is 0 if unknown."""

    def __call__(self, stage: str, done: int, total: int) -> None: ...


class Kept(Protocol):
    """A value that only calls of the workers which kept it can read."""

    def drop(self) -> None:
        """Let the value go; no later call takes it."""


class Workers(Protocol):
    """Call a function many times.

    Functions are those of a module; arguments and results can be pickled. Calls are made a few
    ahead of the results that are read. The exception of a call is raised where its result is read.

    Attributes:
        count: How many calls they work on at a time.
    """

    count: int

    def map(self, function: Callable[..., R], calls: Calls) -> Iterator[R]:
        """The result of each call, in their order."""

    def keep(
        self, function: Callable[..., tuple[S, Any]], calls: Calls
    ) -> Iterator[tuple[S, Kept]]:
        """The same for functions that return two values, of which the second is kept."""

    def share(self, value: Any) -> Kept:
        """Keep a value of this process."""


class InMemory(Generic[K]):
    """A value kept in the memory of this process."""

    __slots__ = ("value",)

    def __init__(self, value: K) -> None:
        self.value: K | None = value

    def open(self) -> K:
        """The value.

        Raises:
            ValueError: It was let go.
        """
        if self.value is None:
            raise ValueError("this value was let go")
        return self.value

    def drop(self) -> None:
        """Let the value go."""
        self.value = None


class ThisProcess:
    """Makes calls in threads of this process, and keeps values in files."""

    count = 1

    def __init__(self) -> None:
        self._folder: TemporaryDirectory[str] | None = None

    def map(self, function: Callable[..., R], calls: Calls) -> Iterator[R]:
        """The result of each call, in their order.

        Where values are kept in files, results are read from files too: most are read in part.
        Calls that take kept values, of which each opens its own, are made in threads; those of one
        value in memory, one after the other.
        """

        def made(arguments: Sequence[Any]) -> R:
            found = function(*map(opened, arguments))
            if self._folder is None:
                return found
            sent = parcel(found, self.folder)
            found = sent.open()
            sent.drop()
            return found

        apart = any(isinstance(one, Parcel) for arguments in calls for one in arguments)
        yield from in_threads(made, calls) if apart else map(made, calls)

    def keep(
        self, function: Callable[..., tuple[S, Any]], calls: Calls
    ) -> Iterator[tuple[S, Kept]]:
        """The same for functions that return two values, of which the second is kept."""
        folder = self.folder

        def made(arguments: Sequence[Any]) -> tuple[S, Kept]:
            told, left = function(*map(opened, arguments))
            # As another process would have it: a view of what is kept would hold all of that.
            return pickle.loads(pickle.dumps(told)), parcel(left, folder)  # noqa: S301

        yield from in_threads(made, calls)

    def share(self, value: Any) -> Kept:
        """Keep a value as it is."""
        return InMemory(value)

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


def opened(argument: Any) -> Any:
    """An argument as functions are given it: of a kept value on this machine, the value."""
    return argument.open() if isinstance(argument, InMemory | Parcel) else argument
