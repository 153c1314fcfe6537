"""Settings in; the judge or embedder that they name out. Each backend is imported on first use."""

from __future__ import annotations

from valor_cli.models.embedder import Embedder
from valor_cli.models.judge import Judge
from valor_cli.models.settings import EmbedderSettings, JudgeSettings


def open_judge(settings: JudgeSettings) -> Judge:
    """The judge.

    Raises:
        ValorError: Its file cannot be used, or its package is not installed.
    """
    if settings.backend == "scripted":
        from valor_cli.models.scripted_judge import ScriptedJudge

        return ScriptedJudge(settings)
    if settings.backend == "replay":
        from valor_cli.models.replay_judge import ReplayJudge

        return ReplayJudge(settings)
    if settings.backend == "local":
        from valor_cli.models.local_judge import LocalJudge

        return LocalJudge(settings)
    from valor_cli.models.litellm_judge import LitellmJudge

    return LitellmJudge(settings)


def open_embedder(settings: EmbedderSettings) -> Embedder:
    """The embedder.

    Raises:
        ValorError: Its file cannot be used, or its package is not installed.
    """
    if settings.backend == "precomputed":
        from valor_cli.models.precomputed_embedder import PrecomputedEmbedder

        return PrecomputedEmbedder(settings)
    from valor_cli.models.litellm_embedder import LitellmEmbedder

    return LitellmEmbedder(settings)
