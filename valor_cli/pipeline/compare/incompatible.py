"""List the reasons why a comparison of two runs may be misleading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from valor_cli.errors import ConfigError, Problem
from valor_cli.results import RunResult, Scalar

_ASKED = ("embedder", "judge")
"""Settings that name the judge or model used."""

_OWN = "own."
"""What settings that name the code of an own metric begin with."""

_OF_ANSWERS = "response"
"""The text that differs by model; all others are the same for all models."""

_COUNTING = "sacrebleu"
"""The package whose versions tokenize words differently."""

_RUNS = ("first ", "second ")
_NOW = ("", "here ")
"""Names of both sides in messages: of two runs, and of a baseline and a run."""


def run_differences(
    first: RunResult, second: RunResult, pairs: Sequence[tuple[str, str]]
) -> list[str]:
    """Differences between two runs besides the models.

    Args:
        first, second: The runs; there are no differences if they are the same run.
        pairs: (model of the second, model of the first) that are compared.
    """
    if first is second:
        return []
    return [
        *_settings(first.settings, second.settings, _RUNS),
        *_prompts(first, second),
        *_sizes(first.data, second.data, _RUNS),
        *_inputs(first, second),
        *_texts(first, second, pairs),
        *_versions(first, second),
        *_stopped(first, second),
    ]


def baseline_differences(
    baseline: RunResult,
    task: str,
    sizes: Mapping[str, int],
    settings: Mapping[str, Scalar],
    *,
    held: bool,
) -> list[str]:
    """Why a comparison with the baseline may be misleading.

    Args:
        baseline: The baseline run.
        task, sizes, settings: Of the run: as `RunResult` has them, `sizes` as its `data`.
        held: Whether gates compare values with the baseline's.

    Raises:
        ConfigError: They do, and the run was evaluated with other settings.
    """
    if baseline.task != task:
        return [f"--baseline: a run of another task, {baseline.task}"]
    for message in _settings(baseline.settings, settings, _NOW):
        if held:
            hint = "compare with a run of the same settings, or leave max_drop and not_worse out"
            raise ConfigError(Problem("--baseline", message), hint=hint)
        return [f"--baseline: {message}"]
    return [f"--baseline: {message}" for message in _sizes(baseline.data, sizes, _NOW)]


def _settings(
    first: Mapping[str, Scalar], second: Mapping[str, Scalar], sides: tuple[str, str]
) -> Iterator[str]:
    # Who was asked in one of the runs alone has no part in values that are in both.
    alone = {
        name for name in first.keys() ^ second.keys() if name in _ASKED or name.startswith(_OWN)
    }
    before, now = (
        {name: value for name, value in settings.items() if name not in alone}
        for settings in (first, second)
    )
    if before != now:
        there, here = (
            side + (", ".join(f"{name}: {value}" for name, value in each.items()) or "as usual")
            for side, each in zip(sides, (before, now), strict=True)
        )
        yield f"evaluated in another way ({there}; {here})"


def _prompts(first: RunResult, second: RunResult) -> Iterator[str]:
    prompts = [{one.name: one.sha256 for one in run.prompts} for run in (first, second)]
    other = [name for name, sha in prompts[1].items() if prompts[0].get(name, sha) != sha]
    if other:
        yield f"judges were asked with other prompts: {', '.join(sorted(other))}"


def _sizes(
    first: Mapping[str, int], second: Mapping[str, int], sides: tuple[str, str]
) -> Iterator[str]:
    if dict(first) != dict(second):
        there, here = (
            side + _counts(each) for side, each in zip(sides, (first, second), strict=True)
        )
        yield f"made from other data ({there}; {here})"


def _counts(data: Mapping[str, int]) -> str:
    told = {name.replace("_", " "): count for name, count in data.items()}
    return ", ".join(
        f"1 {name.removesuffix('s')}" if count == 1 else f"{count:,} {name}"
        for name, count in told.items()
    )


def _inputs(first: RunResult, second: RunResult) -> Iterator[str]:
    """Of runs whose ground truth is a file of its own: it is read before those of the models."""
    truths = [
        run.run.inputs[: max(len(run.run.inputs) - len(run.models), 0)] for run in (first, second)
    ]
    if all(truths) and [one.sha256 for one in truths[0]] != [one.sha256 for one in truths[1]]:
        there, here = (", ".join(one.path for one in each[:3]) for each in truths)
        yield f"the ground truth is not the same file (first {there}; second {here})"


def _texts(first: RunResult, second: RunResult, pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Samples of one id with different inputs or references."""
    for model, other in pairs:
        now, before = _said(second, model), _said(first, other)
        common = [name for name in now if name in before]
        differing = sum(now[name] != before[name] for name in common)
        if differing:
            of = f" of {model}" if len(pairs) > 1 else ""
            yield (
                f"{differing:,} of {len(common):,} samples{of} that both have are others but for "
                "their ids: another question or reference"
            )


def _said(run: RunResult, model: str) -> dict[tuple[type, Scalar], list[str | None]]:
    """The input texts of each sample as one list, independent of column names."""
    said = next((one for one in run.texts if one.model == model), None)
    if said is None:
        return {}
    names = sorted(name for name in said.columns if name != _OF_ANSWERS)
    rows = zip(*(said.columns[name] for name in names), strict=True)
    ids = zip(map(type, said.sample_ids), said.sample_ids, strict=True)
    return dict(zip(ids, map(list, rows), strict=False))


def _versions(first: RunResult, second: RunResult) -> Iterator[str]:
    before, now = first.run, second.run
    if before.valor_version != now.valor_version:
        message = f"first {before.valor_version}; second {now.valor_version}"
        yield f"made by other versions of valor ({message})"
    there, here = before.packages.get(_COUNTING), now.packages.get(_COUNTING)
    if there and here and there != here:
        yield f"made with other versions of {_COUNTING} (first {there}; second {here})"


def _stopped(first: RunResult, second: RunResult) -> Iterator[str]:
    for which, run in (("first", first), ("second", second)):
        if run.run.stopped is not None:
            yield f"the {which} run was stopped: {run.run.stopped}"
