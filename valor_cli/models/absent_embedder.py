"""An embedder that is not on this machine in; whoever asks it is told so."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from valor_cli.models.embedder_settings import EmbedderSettings
from valor_cli.models.identity import ModelIdentity, Unavailable


class AbsentEmbedder:
    """In place of an embedder that cannot be had; `reason` says in words why."""

    remote = False
    keeps = None
    longest = None

    def __init__(self, settings: EmbedderSettings, reason: str) -> None:
        self.name = settings.called
        self.identity = ModelIdentity(self.name)
        self.reason = reason

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Nothing.

        Raises:
            Unavailable: Always.
        """
        raise Unavailable(self.reason)

    def cut(self, texts: Sequence[str]) -> int:
        """None."""
        return 0

    async def close(self) -> None:
        """It holds nothing."""
