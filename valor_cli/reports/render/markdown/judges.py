"""Judge section of the Markdown report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from valor_cli.reports.render.markdown.escaping import escaped, folded, table
from valor_cli.reports.sections.digest import Digest
from valor_cli.reports.sections.formatting import clean
from valor_cli.reports.sections.judge_agreement import (
    FEW,
    AgreementLine,
    PromptLine,
    agreement_lines,
    prompt_lines,
)
from valor_cli.reports.sections.judge_usage import TOTAL, UsageLine, UsageTable, usage_table
from valor_cli.reports.sections.samples.verdicts import shown_verdicts
from valor_cli.results import RunResult, Verdict

USAGE = 16
LINES = 30
"""Lines of usage, and of agreements and of prompts, listed."""

VERDICTS = 5
"""Verdicts listed of a sample."""

_NUMBERS = ("calls", "cached", "failed", "tokens in", "tokens out", "cost", "saved")


def judges(result: RunResult, digest: Digest) -> Iterator[str]:
    """Usage, agreement and prompts of the judges."""
    used = usage_table(result, USAGE)
    agreed = agreement_lines(result)
    prompts = prompt_lines(result)
    if not (used or agreed or prompts):
        return
    yield from folded("Judges", _judges(used, agreed, prompts, digest))


def _judges(
    used: UsageTable | None,
    agreed: Sequence[AgreementLine],
    prompts: Sequence[PromptLine],
    digest: Digest,
) -> Iterator[str]:
    if used:
        yield from _usage(used)
        yield ""
    if agreed:
        yield from _agreements(agreed, many=len(digest.models) > 1)
        yield ""
    if prompts:
        rows = [
            [escaped(one.name), one.version, escaped(one.sha256), one.source]
            for one in prompts[:LINES]
        ]
        yield from table(["prompt", "version", "sha256", "from"], rows, left=4)
        yield from _more(len(prompts) - LINES)


def _usage(used: UsageTable) -> Iterator[str]:
    names = ["judge", *(["metric"] if used.by_metric else [])]
    names += ["model"] if used.by_model else []
    rows = [_row(line, used) for line in used.lines]
    if used.total:
        rows.append(_row(used.total, used))
    yield from table([*names, *_NUMBERS], rows, left=len(names))
    yield from _more(used.left_out)


def _row(line: UsageLine, used: UsageTable) -> list[str]:
    judge = f"**{TOTAL}**" if line is used.total else escaped(line.judge)
    return [
        judge,
        *([escaped(line.metric) if line is not used.total else ""] if used.by_metric else []),
        *([escaped(line.model)] if used.by_model else []),
        *(line.calls, line.cached, line.failed, line.tokens_in, line.tokens_out),
        *(line.cost.replace("$", r"\$"), line.saved.replace("$", r"\$")),
    ]


def _agreements(lines: Sequence[AgreementLine], *, many: bool) -> Iterator[str]:
    rows = [
        [
            escaped(line.metric),
            *([escaped(line.model)] if many else []),
            escaped(line.raters),
            escaped(line.means),
            escaped(", ".join(line.apart[:FEW])),
            line.samples,
            line.share,
            escaped(line.coefficient),
            line.spread,
        ]
        for line in lines[:LINES]
    ]
    names = ["metric", *(["model"] if many else []), "who", "means", "widest apart"]
    numbers = ["samples", "agree on", "coefficient", "apart by"]
    yield from table([*names, *numbers], rows, left=len(names))
    yield from _more(len(lines) - LINES)


def _more(left_out: int) -> Iterator[str]:
    if left_out > 0:
        yield f"\n… and {left_out:,} more in results.json."


def verdict_lines(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Judge verdicts on one sample, one per line, negative ones first."""
    shown = shown_verdicts(verdicts, VERDICTS)
    for line in shown.lines:
        text = f": {escaped(line.text)}" if line.text else ""
        reason = f" – {escaped(line.reason)}" if line.reason else ""
        yield f"  - {line.mark} **{escaped(clean(line.word))}**{text}{reason}"
    if shown.left_out:
        yield f"  - … and {shown.left_out:,} more verdicts"
