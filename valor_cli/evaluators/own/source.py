"""Where an own metric is, and its function, loaded without leaving anything beside it."""

from __future__ import annotations

import importlib
import marshal
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from msgspec import Struct

from valor_cli.entry_points import METRICS, NAME, offered
from valor_cli.errors import ConfigError, Problem, did_you_mean

_LONGEST: Final = 300
"""Characters of an exception's message."""


class Source(Struct, frozen=True):
    """A function in a file, or in an installed module.

    Attributes:
        written: As the config has it: "metrics.py:politeness".
        file: The path of the file; of a module, where it was found.
        function: The function's name.
        code: The file's content, which other machines need not have; None of an installed module.
        module: The name it is imported by.
        sha256: Of the file.
    """

    written: str
    file: str
    function: str
    code: bytes | None
    module: str
    sha256: str

    @property
    def called(self) -> str:
        """The function as results call it, wherever its file is."""
        return f"{Path(self.file).name if self.code else self.module}:{self.function}"

    def told(self, error: BaseException) -> str:
        """An exception with the last line of the file that it passed."""
        lines = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename == self.file
        ]
        line = lines[-1] if lines else None
        if isinstance(error, SyntaxError) and error.filename == self.file:
            line = error.lineno
        message = " ".join(str(error.msg if isinstance(error, SyntaxError) else error).split())
        name = type(error).__name__
        told = f"{name}: {message}"[:_LONGEST] if message else name
        file = self.called.rpartition(":")[0]
        return f"{told} ({file})" if line is None else f"{told} ({file}, line {line})"


def source_of(written: str, folder: Path) -> Source:
    """The source that "FILE.py:FUNCTION" or "package.module:FUNCTION" names, or an entry point.

    Args:
        written: As the config has it.
        folder: What paths are relative to.

    Raises:
        ConfigError: It is not of that form, or there is no such file, module or entry point.
    """
    if NAME.fullmatch(written) and not written.endswith(".py"):
        return _installed(written, *offered(METRICS, written))
    where, colon, function = written.rpartition(":")
    if not (colon and where and function.isidentifier()) or "://" in where:
        raise _error(f"expected FILE.py:FUNCTION or package.module:FUNCTION, found {written!r:.80}")
    if not where.endswith(".py"):
        return _installed(written, where, function)
    path = Path(folder, where)
    try:
        code = path.read_bytes()
    except FileNotFoundError:
        raise _error(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        raise _error(f"{path}: cannot be read ({error})") from None
    digest = sha256(code).hexdigest()
    key = sha256(str(path.absolute()).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    # No name that anything else imports, and another one for another content.
    module = f"valor_own_{key}_{digest[:16]}"
    return Source(written, str(path), function, code, module, digest)


def _installed(written: str, module: str, function: str) -> Source:
    if not all(part.isidentifier() for part in module.split(".")):
        raise _error(f"expected FILE.py:FUNCTION or package.module:FUNCTION, found {written!r:.80}")
    found = Source(written, "", function, None, module, "")
    names = module_of(found)
    file = getattr(names, "__file__", None) or ""
    try:
        code = Path(file).read_bytes()
    except OSError:
        typed = getattr(vars(names).get(function), "__code__", None)
        if module != "__main__" or typed is None:
            raise _error(f"{module} has no file that can be read") from None
        # Of a function that is typed into a notebook, its code stands for the file.
        file, code = typed.co_filename, marshal.dumps(typed)
    return Source(written, file, function, None, module, sha256(code).hexdigest())


def load_function(source: Source) -> Callable[..., Any]:
    """The function of a source.

    Raises:
        ConfigError: The module cannot be imported, or has no such function.
    """
    names = vars(module_of(source))
    if source.function not in names:
        own = [name for name, value in names.items() if callable(value) and name[0] != "_"]
        near = did_you_mean(source.function, own)
        raise _error(f"{_place(source)} has no function {source.function!r}{near}")
    found = names[source.function]
    if not callable(found):
        raise _error(f"{source.function} in {_place(source)} is not a function")
    function: Callable[..., Any] = found
    return function


def _place(source: Source) -> str:
    return source.file or source.module


@cache
def module_of(source: Source) -> ModuleType:
    """The module of a source; that of a file is run once in a process, and writes no bytecode.

    Raises:
        ConfigError: It cannot be imported.
    """
    with redirect_stdout(sys.stderr):
        if source.code is None:
            return _imported(source)
        if source.module in sys.modules:
            return sys.modules[source.module]
        module = ModuleType(source.module)
        module.__file__ = os.path.abspath(source.file)
        # Dataclasses and type hints look their module up there.
        sys.modules[source.module] = module
        try:
            exec(compile(source.code, source.file, "exec", dont_inherit=True), vars(module))  # noqa: S102
        except (Exception, SystemExit) as error:
            del sys.modules[source.module]
            raise _error(f"{source.file} cannot be imported: {source.told(error)}") from None
        return module


def _imported(source: Source) -> ModuleType:
    try:
        return importlib.import_module(source.module)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{source.module}.".startswith(f"{error.name}."):
            hint = "; a file is named by its path, as metrics.py:FUNCTION"
            raise _error(f"no module {error.name!r} is installed{hint}") from None
        raise _error(f"{source.module} cannot be imported: {source.told(error)}") from None
    except (Exception, SystemExit) as error:
        raise _error(f"{source.module} cannot be imported: {source.told(error)}") from None


def _error(message: str) -> ConfigError:
    return ConfigError(Problem("", message))
