"""A call and the embedder of the config in; the call with that model's own thresholds out."""

from __future__ import annotations

from dataclasses import replace

from valor_cli.evaluators.embedding.calibrated import CALIBRATED, SEEDS_MODEL, family_of
from valor_cli.evaluators.text_generation.asking import model_asked
from valor_cli.evaluators.text_generation.options import TextOptions
from valor_cli.metric import Call
from valor_cli.models.embedder_settings import EmbedderSettings


def tuned(options: TextOptions, call: Call) -> tuple[Call, str | None]:
    """The call with the name of the model that it asks, and with the thresholds that were
    calibrated for the embedder; and what to warn of.

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
