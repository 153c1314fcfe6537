"""Config in, result out: plan a run, carry it out, judge its gates."""

from valor_cli.pipeline.calibrate import Calibrated, calibrate
from valor_cli.pipeline.estimate import Estimate, estimate
from valor_cli.pipeline.plan import Plan, make_plan
from valor_cli.pipeline.run import check, evaluate, pictures

__all__ = [
    "Calibrated",
    "Estimate",
    "Plan",
    "calibrate",
    "check",
    "estimate",
    "evaluate",
    "make_plan",
    "pictures",
]
