"""The history of a config: its values over many runs, with paired tests."""

from valor_cli.pipeline.history.history import history_of
from valor_cli.pipeline.history.values import Chosen

__all__ = ["Chosen", "history_of"]
