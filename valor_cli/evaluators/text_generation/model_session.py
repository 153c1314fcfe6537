"""Open the models that a text run needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from valor_cli.evaluators.embedding.calibrated_thresholds import CALIBRATED, SEEDS_MODEL, family_of
from valor_cli.evaluators.embedding.metrics.semantic_similarity import CROSS_ENCODER
from valor_cli.evaluators.text_generation.inputs import TextOptions
from valor_cli.metric import Call, MissingConfig, RunTerms
from valor_cli.models.settings import EmbedderSettings, model_name

if TYPE_CHECKING:
    from valor_cli.models.session import Session

JUDGE = """\
name the judge in the config, for example:
judge: {backend: litellm, model: openai/gpt-4o-mini}"""
LANGUAGE_MODEL = """\
name the language model in the config, for example:
language_model: {model: distilbert/distilgpt2}
or, from a package and without a network: language_model: {model: smollm2-135m}"""


def missing_model(options: TextOptions, call: Call) -> MissingConfig | None:
    """The model that the config must name for a call."""
    if "judge" in call.asks and not options.panel:
        return MissingConfig("asks a judge, and the config names none", JUDGE)
    if "language_model" in call.asks and options.language_model is None:
        return MissingConfig("asks a language model, and the config names none", LANGUAGE_MODEL)
    return None


def open_session(options: TextOptions, calls: Sequence[Call], terms: RunTerms) -> Session:
    """Open a session for the models that some calls use.

    Raises:
        ConfigError: An own prompt cannot be used.
    """
    # Only runs that ask a model need the loop in which it is asked.
    from valor_cli.models import session

    asked = {kind: call.metric.name for call in calls for kind in call.asks}
    judges = options.panel if "judge" in asked else ()
    wanted = session.Settings(
        judges,
        options.combine if judges else None,
        (options.embedder or EmbedderSettings()) if "embedder" in asked else None,
        options.prompts if judges else {},
        options.language_model if "language_model" in asked else None,
        options.device,
        dict(_named(calls)),
        asked.get("reduction"),
    )
    return session.Session(
        wanted,
        terms.identity,
        offline=terms.offline,
        resume=terms.resume,
        dry_run=terms.dry_run,
        on_progress=terms.on_progress,
    )


def model_asked(options: TextOptions, call: Call) -> str | None:
    """The local model that a call uses, as named in results; None if it uses none."""
    if (named := _own_model(call)) is not None:
        return model_name(named)
    if "language_model" in call.asks and options.language_model is not None:
        return options.language_model.called
    if "embedder" in call.asks and "judge" not in call.asks:
        return (options.embedder or EmbedderSettings()).called
    return None


def _own_model(call: Call) -> str | None:
    """The model that a call names itself, in place of those of the config."""
    model: str | None = call.parameters.get("model")
    if "classifier" in call.asks:
        return model or CROSS_ENCODER
    # Another encoder in place of the embedder.
    return None if call.asks else model


def _named(calls: Sequence[Call]) -> Iterator[tuple[str, str]]:
    """Models that calls themselves name, each with a metric that asks it."""
    for call in calls:
        if (model := _own_model(call)) is not None:
            yield model, call.metric.name


def tuned(options: TextOptions, call: Call) -> tuple[Call, str | None]:
    """The call with its model's name and the thresholds calibrated for the embedder, with warnings.

    Args:
        options: Which embedder is asked.
        call: A metric and its parameters; those that are None are filled in, and so is a threshold
            that the config does not give.
    """
    call = replace(call, model=model_asked(options, call))
    if call.metric.name not in CALIBRATED or "embedder" not in call.asks:
        return call, None
    embedder = options.embedder or EmbedderSettings()
    known = CALIBRATED[call.metric.name]
    family = family_of(embedder.called)
    own = known.get(family or "", known[SEEDS_MODEL])
    parameters = {
        name: own.get(name) if value is None and name in own else value
        for name, value in call.parameters.items()
    }
    filled = [name for name, value in call.parameters.items() if value is None and name in own]
    threshold = call.threshold
    if not call.threshold_given and "threshold" in own:
        threshold = own["threshold"]
        filled.append("threshold")
    call = replace(call, parameters=parameters, threshold=threshold)
    if family is not None or not filled:
        return call, None
    told = " and ".join(f"{name} {own[name]:g}" for name in filled)
    return call, (
        f"{call.metric.name}: {told} was chosen for {SEEDS_MODEL}; what fits {embedder.called} "
        f"is not known: set {' and '.join(f'`{name}:`' for name in filled)}"
    )
