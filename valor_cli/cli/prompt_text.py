"""Show the judge prompts of metrics as text, YAML or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from valor_cli.errors import ConfigError, Problem
from valor_cli.metric import Metric
from valor_cli.models.judge.prompt_files import names, shipped_text
from valor_cli.models.judge.prompts import Prompt, Prompts


def prompts_of(name: str | None, metrics: Iterable[Metric[Any]]) -> list[Prompt]:
    """The judge prompts of all metrics of a name, in call order, without duplicates.

    Where no metric is called so, the prompt of that name.

    Raises:
        ConfigError: There is no name, or they ask with none.
    """
    if name is None:
        raise ConfigError(
            Problem("--prompt", "which metric's?"), hint="valor metrics NAME --prompt shows them"
        )
    wanted = dict.fromkeys(one for metric in metrics for one in metric.prompts)
    if not wanted and name in names():
        wanted = {name: None}
    if not wanted:
        raise ConfigError(
            Problem(f"metric {name}", "has no prompts of its own"),
            hint=f"valor metrics {name} explains it",
        )
    prompts = Prompts()
    return [prompts.of(one) for one in wanted]


def as_yaml(prompts: Sequence[Prompt]) -> str:
    """The YAML of the metric's own prompt, to edit and name under `prompts:`."""
    *before, own = prompts
    told = [f"# What valor sends; after editing, use `prompts: {{{own.name}: this-file.yaml}}`."]
    if before:
        others = ", ".join(one.name for one in before)
        told.append(f"# Sent before it: {others} (valor metrics NAME --prompt --format yaml).")
    return "\n".join([*told, shipped_text(own.name)])


def as_text(prompts: Sequence[Prompt]) -> str:
    """The prompts as text; `{field}` and … vary by sample."""
    return "\n\n".join(_shown(prompt) for prompt in prompts)


def as_json(prompts: Sequence[Prompt]) -> str:
    """The prompts as a JSON list."""
    listed = [
        {
            "name": prompt.name,
            "version": prompt.version,
            "sha256": prompt.sha256,
            "fields": list(prompt.fields),
            "messages": [message._asdict() for message in prompt.template],
        }
        for prompt in prompts
    ]
    return json.dumps(listed, indent=2, ensure_ascii=False)


def _shown(prompt: Prompt) -> str:
    parts = [f"{prompt.name}, version {prompt.version}, sha256 {prompt.sha256}"]
    parts += [f"--- {role} ---\n{content}" for role, content in prompt.template]
    return "\n\n".join(parts)
