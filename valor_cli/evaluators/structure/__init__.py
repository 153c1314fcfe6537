"""Structure: whether a response repeats itself, follows its steps, leaves what it should."""

from __future__ import annotations

from valor_cli.evaluators.samples import sample_wing
from valor_cli.evaluators.structure.agent_sanity import AGENT_SANITY
from valor_cli.evaluators.structure.looping import LOOPING
from valor_cli.evaluators.structure.step_alignment import STEP_ALIGNMENT

__all__ = ["WING"]

WING = sample_wing(LOOPING, STEP_ALIGNMENT, AGENT_SANITY)
