"""Plan a run, execute it, and check its gates.

`calibrate` and `estimate`, which few runs use, are imported from the modules of their name.
"""

from valor_cli.pipeline.compare.baseline import read_baseline
from valor_cli.pipeline.executor.executor import Progress
from valor_cli.pipeline.plan import Plan, make_plan
from valor_cli.pipeline.run import check, evaluate

__all__ = ["Plan", "Progress", "check", "evaluate", "make_plan", "read_baseline"]
