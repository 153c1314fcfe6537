"""Locate and load Hugging Face models that are already on this machine.

Nothing is downloaded, no code of a model's repository is run, and no pickle is read.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from valor_cli.errors import ConfigError, Problem
from valor_cli.extras import extra, extra_folder
from valor_cli.models.files.model_folder import (
    Incomplete,
    check_folder,
    files_read,
    has_tokenizer,
    readable,
)
from valor_cli.models.files.packaged import smollm2_file
from valor_cli.models.protocols import (
    ModelIdentity,
    Unavailable,
    sha256_of,
    sha256_of_files,
)
from valor_cli.models.settings import SMOLLM2, model_name

T = TypeVar("T")

_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
_OF_GGUF = ("gguf", "accelerate")
"""What transformers reads GGUF files with."""
_AGAIN = "fetch it again, or name another folder"


class Located(Struct, frozen=True):
    """Location of a model.

    Attributes:
        model: As the config says it.
        folder: Of its files.
        gguf: The name of the one file in it that is read, where that is a GGUF file.
    """

    model: str
    folder: Path
    gguf: str | None = None

    @property
    def identity(self) -> ModelIdentity:
        """Its name, and the hash of its GGUF file or of all files that are read."""
        if self.gguf is not None:
            digest = sha256_of(self.folder / self.gguf)
        else:
            digest = sha256_of_files(files_read(self.folder))
        return ModelIdentity(model_name(self.model), digest)


def transformers(what: str) -> Any:
    """Import transformers without logging and in offline mode.

    Raises:
        MissingExtraError: It, or torch, is not installed.
    """
    # Read at import: whatever is asked later, no hub is asked.
    os.environ.update(_ENVIRONMENT)
    extra("torch", "hf", what)
    hub: Any = extra("huggingface_hub.constants", "hf", what)
    # Another package may have imported it before.
    hub.HF_HUB_OFFLINE = True
    package = extra("transformers", "hf", what)
    package.utils.logging.set_verbosity_error()
    package.utils.logging.disable_progress_bar()
    return package


def located(model: str, what: str) -> Located:
    """Locate a model's files: a folder, a GGUF file, or the hub's cache.

    Neither torch nor transformers is imported for it.

    Args:
        model: A path that exists, an id of the hub, or the name of a packaged model.
        what: What needs it, for messages: "perplexity".

    Raises:
        Unavailable: It is not on this machine, or not all of it.
        ConfigError: Its weights are of a form that is never loaded.
        MissingExtraError: transformers is not installed.
    """
    for package in ("torch", "transformers"):
        extra_folder(package, "hf", what)
    os.environ.update(_ENVIRONMENT)
    with readable(model):
        return _located(model, what)


def _located(model: str, what: str) -> Located:
    path = Path(model)
    # os.path answers also for names that no file can have.
    if model == SMOLLM2 and not os.path.exists(model):
        path = smollm2_file()
    elif os.path.isdir(model):
        return _checked(model, path, fetched=False)
    elif not os.path.isfile(model):
        return _checked(model, _fetched(model, what), fetched=True)
    if path.suffix.lower() != ".gguf":
        raise ConfigError(Problem(model, "is neither a model folder nor a GGUF file"))
    for package in _OF_GGUF:
        extra_folder(package, "hf", what)
    return Located(model, path.parent, path.name)


def _checked(model: str, folder: Path, *, fetched: bool) -> Located:
    try:
        check_folder(model, folder)
    except Incomplete as lack:
        if fetched:
            told = f"the model {model} is incomplete on this machine: {lack} is missing"
            raise Unavailable(f"{told}; fetch it: hf download {model}") from None
        problem = Problem(model, f"is not a model folder: {lack} is missing")
        raise ConfigError(problem, hint=_AGAIN) from None
    return Located(model, folder)


def folder_of(model: str, what: str) -> Path:
    """Locate a model's folder without checking it: a path, or the hub's cache.

    Raises:
        Unavailable: It is not on this machine.
    """
    return Path(model) if os.path.isdir(model) else _fetched(model, what)


def _fetched(model: str, what: str) -> Path:
    """The newest snapshot that a command of the hub's fetched.

    Raises:
        Unavailable: There is none.
    """
    hub = extra("huggingface_hub", "hf", what)
    try:
        return Path(hub.snapshot_download(model, local_files_only=True))
    except hub.errors.HFValidationError:
        # Of a wrong form: an id of nothing.
        told = "there is no such file or folder, and it cannot be a model id"
        raise Unavailable(f"the model {model} is not on this machine: {told}") from None
    except (OSError, ValueError):
        told = f"the model {model} is not on this machine; fetch it: hf download {model}"
        raise Unavailable(told) from None


def loaded(
    auto: Any,
    found: Located,
    device: Any,
    *,
    may_lack: Callable[[str], bool] = lambda name: False,
    **more: Any,
) -> Any:
    """Load a model.

    Args:
        auto: The class that loads it: `transformers.AutoModelForCausalLM`.
        found: Where it is.
        device: To compute on.
        may_lack: Weights that it can do without, by name.
        more: Further arguments of `from_pretrained`.

    Raises:
        ConfigError: It cannot be loaded, or was not trained for this.
    """
    import torch

    given = {"use_safetensors": True} if found.gguf is None else {"gguf_file": found.gguf}
    with _refusals(found):
        model, info = auto.from_pretrained(
            found.folder,
            local_files_only=True,
            trust_remote_code=False,
            dtype=torch.float32,
            output_loading_info=True,
            **given,
            **more,
        )
    lacking = sorted(name for name in info["missing_keys"] if not may_lack(name))
    if lacking:
        told = ", ".join(lacking[:3])
        message = f"is missing weights ({told}): it was not trained for this"
        raise ConfigError(Problem(found.model, message))
    return model.eval().to(device)


def config_of(found: Located) -> Any:
    """Its architecture config, from config.json or the GGUF file.

    Raises:
        ConfigError: It cannot be read.
    """
    return _from_pretrained(transformers(found.model).AutoConfig, found)


def tokenizer_of(found: Located) -> Any:
    """Its fast tokenizer.

    Raises:
        ConfigError: There is none.
    """
    auto = transformers(found.model).AutoTokenizer
    if found.gguf is None and not has_tokenizer(found.folder):
        problem = Problem(found.model, "has no tokenizer (tokenizer.json)")
        raise ConfigError(problem, hint=_AGAIN)
    tokenizer = _from_pretrained(auto, found, use_fast=True)
    if not tokenizer.is_fast:
        raise ConfigError(Problem(found.model, "has no fast tokenizer (tokenizer.json)"))
    return tokenizer


def _from_pretrained(auto: Any, found: Located, **more: Any) -> Any:
    given = {} if found.gguf is None else {"gguf_file": found.gguf}
    with _refusals(found):
        return auto.from_pretrained(
            found.folder, local_files_only=True, trust_remote_code=False, **given, **more
        )


@contextmanager
def _refusals(found: Located) -> Iterator[None]:
    """Translate errors of the loaders, and silence their output."""
    if found.gguf is not None:
        for package in _OF_GGUF:
            extra(package, "hf", found.model)
    try:
        with warnings.catch_warnings(action="ignore"):
            if found.gguf is None:
                yield
            else:
                # Its progress bar heeds no setting.
                with redirect_stderr(io.StringIO()):
                    yield
    except Exception as error:
        raise unloadable(found.model, error) from None


def unloadable(model: str, error: Exception) -> ConfigError:
    """The error for a model that could not be loaded."""
    if "trust_remote_code" in str(error):
        problem = Problem(model, "needs code from its own repository, which valor never runs")
        return ConfigError(problem, hint="name a model of a type that transformers supports itself")
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = lines[0][:200] if lines else type(error).__name__
    if "ignore_mismatched_sizes" in said:
        said = "its weights have other sizes than its config.json says"
    elif isinstance(error, LookupError | TypeError | AttributeError):
        # What a loader stumbled over says little without what kind of stumble it was.
        kind = type(error).__name__
        said = f"one of its JSON files does not have the expected form ({kind}: {said})"
    return ConfigError(Problem(model, f"cannot be loaded: {said}"))
