"""Runs and comparisons of every kind and size, by name: what properties of reports hold for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, cycle

from msgspec.structs import replace

from tests.oracles.compared import (
    classification_compared,
    detection_compared,
    equal_compared,
    hostile_compared,
    models_compared,
    nothing_compared,
    texts_compared,
    unpaired_compared,
)
from tests.reports.check_runs import checked_run, named_alike, silent_judge
from tests.reports.conftest import HOSTILE, LABELS, attacked, built, built_with_findings, two
from tests.reports.found_runs import compared, each_pair, searched, unsure
from tests.reports.judge_runs import JUDGES, agreement, judge_run, usage
from tests.reports.judge_runs import worst as judged
from tests.reports.task_runs import THINGS, classified, renamed, segmented
from tests.reports.text_runs import METRICS, MODELS, parameters, text_run
from tests.reports.text_runs import worst as worst_text
from valor_cli.results import (
    ComparedRuns,
    ComparisonResult,
    Picture,
    PromptUsed,
    RunResult,
    ShownText,
    Verdict,
)

SIZES = (1, 2, 3, 6, 30)


def names(count: int) -> list[str]:
    return [f"model-{at}" for at in range(count)]


def pairs(models: Sequence[str]) -> tuple[ComparisonResult, ...]:
    """Every later model against every earlier one, by all headline values of a run of texts."""
    return tuple(
        compared(later, earlier, 0.02 * at - 0.11, metric=metric, output=outputs[0],
                 parameters=parameters(metric))
        for earlier, later in combinations(models, 2)
        for at, (metric, outputs, _) in enumerate(METRICS)
    )  # fmt: skip


def against_itself(models: Sequence[str]) -> tuple[ComparisonResult, ...]:
    """Each model against that of a baseline, which has another name."""
    return tuple(
        compared(model, f"{model}-monday", 0.04 * at - 0.1, metric=metric, output=outputs[0],
                 parameters=parameters(metric), baseline=True)
        for model in models
        for at, (metric, outputs, _) in enumerate(METRICS)
    )  # fmt: skip


def whole_texts(models: Sequence[str] = MODELS) -> RunResult:
    """A run of texts that was compared with a baseline, within itself, and searched."""
    found = [searched(model, "metadata.topic=toll & metadata.length=long") for model in models[:-1]]
    rows = (*pairs(models), *against_itself(models))
    return unsure(text_run(models, comparisons=rows, searches=[*found, searched(models[-1])]))


def _sized(count: int) -> dict[str, Callable[[], RunResult]]:
    models, labels = names(count), LABELS[: 20 if count < 30 else 6]
    return {
        f"detection of {count}": lambda: built_with_findings(models, labels),
        f"compared detection of {count}": lambda: replace(
            built(models, LABELS[:6]), comparisons=each_pair(models)
        ),
        f"texts of {count}": lambda: text_run(models),
        f"all of texts of {count}": lambda: whole_texts(models),
        f"judges of {count}": lambda: judge_run(models, JUDGES[: 1 + count % 3]),
        f"classes of {count}": lambda: classified(models, LABELS[:5]),
        f"pixels of {count}": lambda: segmented(models, images=30),
    }


RUNS: dict[str, Callable[[], RunResult]] = {
    name: made for count in SIZES for name, made in _sized(count).items()
} | {
    "two models": two,
    "no gates, no slices": lambda: built(("m",), (), gates="none", slices=False, intervals=False),
    "passed": lambda: built(("m",), LABELS[:3], gates="passed"),
    "nothing": lambda: replace(two(), metrics=(), curves=(), gates=(), models=("m",), data={}),
    "checked": checked_run,
    "a silent judge": lambda: checked_run(coverage=[silent_judge()]),
    "stopped": lambda: judge_run(judges=JUDGES, stopped="the budget of 2.00 US dollars is reached"),
    "label keys": lambda: classified(keys=("color", "shape")),
    "scores of recall": lambda: built(("m", "n"), LABELS[:4], curve="recall"),
}
"""Runs of tame words."""

COMPARED: dict[str, Callable[[], ComparedRuns]] = {
    "texts compared": texts_compared,
    "detection compared": detection_compared,
    "classes compared": classification_compared,
    "models compared": models_compared,
    "seven models compared": lambda: models_compared(names(7)),
    "equal": equal_compared,
    "unpaired": unpaired_compared,
    "nothing compared": nothing_compared,
}

ATTACKS = (
    *HOSTILE,
    "</title><script>window.owned = 1</script>",
    "</style><img src=x onerror='window.owned = 1'>",
    "<svg onload=window.owned=1>",
    "javascript:window.owned=1",
    "' autofocus onfocus='window.owned=1",
    '"><iframe srcdoc="<script>top.owned=1</script>">',
    "{digest} {{ 7 * 7 }} {% raw %} %s ${window.owned=1}",
    "**bold** [a](http://b) ![i](j) <img src=x> # h\n\n# h",
    "$$x$$ ~~s~~ </details>",
    "#",
    "%00%22",
    "\x00nul\x07bel\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\",
    "\ud800 lone \udfff",
    "\u202eevil\u2066\u2069",
    "👩‍👩‍👧 é ﷽ " + "\u0301" * 200,
    "&lt;b&gt; &amp; &#x3c;script&#x3e;",
    "-->]]><!-- <mark> </li></ul></p></section>",
)


def attacked_texts(attacks: Sequence[str] = ATTACKS) -> RunResult:
    """A run of texts in which all that data can choose is an attack."""
    models = attacks[:3]
    words = cycle(attacks)
    rows = pairs(models)
    run = text_run(
        models, comparisons=[*rows, replace(rows[0], slice=attacks[4], reason=attacks[0])]
    )

    def texts(at: int) -> tuple[ShownText, ...]:
        size = len(attacks[at % len(attacks)])
        marked = ShownText("response", attacks[at % len(attacks)], [(0, size, next(words))])
        return marked, ShownText("user_input", next(words)), ShownText(next(words), next(words))

    return replace(
        run,
        metrics=[replace(one, slice=next(words)) if one.metric == "looping" else one
                 for one in run.metrics] + [one for one in run.metrics if one.metric == "looping"],
        searches=[searched(models[0], *attacks)],
        samples=[
            replace(one, sample_ids=[f"{next(words)}{at}" for at, _ in enumerate(one.sample_ids)],
                    undefined=[next(words) for _ in one.undefined])
            for one in run.samples
        ],
        examples=[
            replace(one, sample_id=next(words), texts=texts(at), reason=next(words),
                    verdicts=[Verdict(next(words), next(words), True, next(words))])
            for at, one in enumerate(run.examples)
        ],
        problems=[replace(run.problems[0], message=word, sample_ids=attacks) for word in attacks],
        insights=[replace(run.insights[0], kind=word, message=word) for word in attacks],
        gates=[replace(one, reason=next(words)) for one in run.gates],
        warnings=attacks,
        data=dict.fromkeys(attacks, 1),
        settings={word: word for word in attacks},
        run=replace(run.run, command=attacks[0], packages=dict(zip(attacks, attacks, strict=True)),
                    stopped=attacks[1]),
    )  # fmt: skip


def _attacked_judges() -> RunResult:
    word = ATTACKS[12]
    run = judge_run(
        ATTACKS[:2],
        usage=[usage(one, ATTACKS[0], judge) for one in ATTACKS[:4] for judge in (word, "b")],
        agreements=[
            agreement(one, ATTACKS[0], raters=(word, "b", "c"), disagreements=[one], statistic=one)
            for one in ATTACKS
        ],
        prompts=[PromptUsed(one, 1, one, own=True) for one in ATTACKS],
        examples=[
            judged("faithfulness", ATTACKS[0], at, verdicts=[Verdict(one, one, False, one)])
            for at, one in enumerate(ATTACKS)
        ],
        stopped=word,
    )
    return replace(run, run=replace(run.run, models_used=ATTACKS))


def _attacked_findings() -> RunResult:
    run = built_with_findings(ATTACKS[:2], ATTACKS[:14])
    examples = [
        replace(one, sample_id=f"{ATTACKS[at % 29]}{at}", picture=Picture(ATTACKS[2], 640, 480),
                objects=[replace(thing, label=ATTACKS[at % 14]) for thing in one.objects])
        for at, one in enumerate(run.examples)
    ]  # fmt: skip
    at = {"iou_threshold": ATTACKS[8], ATTACKS[8]: ATTACKS[0]}
    tables = [replace(table, parameters=at) for table in run.tables]
    return replace(run, examples=examples, tables=tables, settings={ATTACKS[8]: ATTACKS[0]})


HOSTILE_RUNS: dict[str, Callable[[], RunResult | ComparedRuns]] = {
    "detection": attacked,
    "findings": _attacked_findings,
    "texts": attacked_texts,
    "judges": _attacked_judges,
    "classes": lambda: classified(ATTACKS[:2], ATTACKS[:12], (ATTACKS[13], ATTACKS[16])),
    "pixels": lambda: renamed(
        segmented(ATTACKS[12:14]), dict(zip(THINGS, ATTACKS[12:], strict=False))
    ),
    "compared": hostile_compared,
    **{f"alike {at}": lambda word=word: named_alike(word) for at, word in enumerate(ATTACKS)},  # type: ignore[misc]
}
"""Whatever data can choose is an attack or an accident."""


def huge_texts() -> RunResult:
    """Texts, words and reasons of ten megabytes."""
    huge = "<script>window.owned = 1</script>" + "A\u202e\x1b[31m<b>" * 1_000_000
    run = text_run(("m",))
    return replace(
        run,
        warnings=(huge,),
        problems=[replace(one, message=huge) for one in run.problems],
        examples=[worst_text("bleu_1", "m", 0, sample_id=huge, reason=huge)],
    )
