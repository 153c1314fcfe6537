"""What a text config says of models in; the session that asks them out."""

from __future__ import annotations

from collections.abc import Sequence

from valor_cli.evaluators import judge
from valor_cli.evaluators.classifier.summac_conv import lack_of_weights
from valor_cli.evaluators.judge.panel import lack as lack_of_judges
from valor_cli.evaluators.text_generation.options import TextOptions
from valor_cli.metric import Call, Lack, Session, Terms
from valor_cli.models.embedder_settings import EmbedderSettings

LANGUAGE_MODEL = """\
name the language model in the config, for example:
language_model: {model: distilbert/distilgpt2}
or, from a package and without a network: language_model: {model: smollm2-135m}"""

_JUDGED = frozenset(metric.name for metric in judge.WING.metrics)


def lacks(options: TextOptions, call: Call) -> Lack | None:
    """What the config must still name before a call can be made."""
    if call.metric.name in _JUDGED:
        return lack_of_judges(options, call)
    asked = call.metric.models(call.parameters)
    if "language_model" in asked and options.language_model is None:
        return Lack("asks a language model, and the config names none", LANGUAGE_MODEL)
    return lack_of_weights(call)


def open_session(options: TextOptions, calls: Sequence[Call], terms: Terms) -> Session:
    """The models that some calls ask, not asked yet.

    Raises:
        ConfigError: An own prompt cannot be used.
    """
    # Only runs that ask a model need the loop in which it is asked.
    from valor_cli.models import session

    asked = {kind for call in calls for kind in call.metric.models(call.parameters)}
    judges = options.panel if any(call.metric.name in _JUDGED for call in calls) else ()
    wanted = session.Settings(
        judges,
        options.combine if judges else None,
        (options.embedder or EmbedderSettings()) if "embedder" in asked else None,
        options.prompts if judges else {},
        options.language_model,
        options.device,
    )
    return session.Session(
        wanted,
        terms.identity,
        offline=terms.offline,
        resume=terms.resume,
        imagined=terms.imagined,
        told=terms.told,
    )
