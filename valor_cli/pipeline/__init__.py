"""Config in, result out: plan a run, carry it out, judge its gates."""

from valor_cli.pipeline.run import Plan, check, evaluate, make_plan

__all__ = ["Plan", "check", "evaluate", "make_plan"]
