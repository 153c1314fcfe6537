"""Structure wing: repetition in responses, and the files that agents produce."""

from __future__ import annotations

from valor_cli.evaluators.samples.evidence import sample_wing
from valor_cli.evaluators.structure.metrics.agent_sanity import AGENT_SANITY
from valor_cli.evaluators.structure.metrics.looping import LOOPING

__all__ = ["WING"]

WING = sample_wing(LOOPING, AGENT_SANITY)
