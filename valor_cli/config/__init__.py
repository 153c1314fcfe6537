"""Load a YAML config into a checked `RunConfig`, or report all its problems at once.

    text ─nodes, override─▶ nodes ─document─▶ tree and positions ─review─▶ RunConfig

Tasks, metrics and their parameters are looked up in a `Vocabulary`; this package knows none.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from valor_cli.config.document import read_document, read_mapping
from valor_cli.config.models import (
    AUTO,
    Gate,
    Interval,
    MetricRequest,
    Report,
    RunConfig,
    SliceRequest,
    SliceSearch,
)
from valor_cli.config.review import reviewed
from valor_cli.config.vocabulary import Vocabulary

__all__ = [
    "AUTO",
    "Gate",
    "Interval",
    "MetricRequest",
    "Report",
    "RunConfig",
    "SliceRequest",
    "SliceSearch",
    "Vocabulary",
    "json_schema",
    "load_config",
]


def load_config(
    config: str | Path | Mapping[str, Any],
    vocabulary: Vocabulary,
    overrides: Sequence[str] = (),
    *,
    plugins: bool = True,
) -> RunConfig:
    """Read and check a config.

    Args:
        config: The YAML file, or what it would hold. Paths in it are relative to the file's
            folder, or to the current one.
        vocabulary: The tasks and metrics there are.
        overrides: `a.b=value` each, from `--set`. Values are YAML; relative paths in them are
            relative to the YAML's folder too.
        plugins: Whether code that the config names may be loaded; else it is a problem.

    Raises:
        ConfigError: With every problem found, sorted by line.
    """
    if isinstance(config, Mapping):
        document = read_mapping(config, overrides, os.environ)
    else:
        document = read_document(Path(config), overrides, os.environ)
    return reviewed(document, vocabulary, plugins=plugins)


def json_schema(vocabulary: Vocabulary) -> dict[str, Any]:
    """The JSON Schema (2020-12) of the config, for editors."""
    from valor_cli.config.schema import config_schema

    return config_schema(vocabulary)
