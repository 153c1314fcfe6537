"""A run in; what the HTML report tells of the judges that were asked out."""

from __future__ import annotations

from typing import Any

from valor_cli.reports.judge_agreement import agreement_lines, prompt_lines
from valor_cli.reports.judge_usage import usage_table
from valor_cli.results import RunResult

USAGE = 120
AGREEMENTS = 100
PROMPTS = 100
"""Lines listed; results.json has all of them."""


def judges_told(result: RunResult) -> dict[str, Any]:
    """The parts of the template of judges."""
    used = usage_table(result, USAGE)
    agreed = agreement_lines(result)
    prompts = prompt_lines(result)
    return {
        "judged": bool(used or agreed or prompts),
        "usage": used,
        "agreements": agreed[:AGREEMENTS],
        "all_agreements": len(agreed),
        "prompts": prompts[:PROMPTS],
        "all_prompts": len(prompts),
    }
