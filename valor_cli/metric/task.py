"""What a task is, and how its metrics ask models."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic

from msgspec import Struct, field
from pydantic import BaseModel, ConfigDict

from valor_cli.metric.definition import Call, Metric, MissingConfig
from valor_cli.metric.evidence import D
from valor_cli.metric.loading import Loaded, Selection, Stream
from valor_cli.metric.measure import Measure
from valor_cli.metric.wing import Wing
from valor_cli.results import EmbeddedImages, ExampleResult

if TYPE_CHECKING:
    from valor_cli.models.session import Session


class RunTerms(Struct, frozen=True):
    """On which terms a run may ask models.

    Attributes:
        identity: SHA-256 of what the run is: config and inputs.
        offline: Whether nothing may leave this machine.
        resume: Whether to go on with the run of that identity.
        dry_run: Whether replies are only simulated, to estimate what the calls would cost.
        on_progress: Called with a stage, how much of it is done, and how much there is.
    """

    identity: str
    offline: bool = False
    resume: bool = False
    dry_run: bool = False
    on_progress: Callable[[str, int, int], None] = lambda stage, done, total: None


class Asking(Struct, frozen=True):
    """How the metrics of a task ask models, under its options.

    Attributes:
        missing_config: What the options must still name before a call can be made; None: nothing.
            What its parameters must name, the metric itself says.
        tuned: A call with the defaults that belong to the models it asks, where the config does
            not say otherwise, and what to warn of.
        session: Opens the models that the calls ask, on some terms.
    """

    missing_config: Callable[[Any, Call], MissingConfig | None]
    tuned: Callable[[Any, Call], tuple[Call, str | None]]
    session: Callable[[Any, Sequence[Call], RunTerms], Session]


class NoOptions(BaseModel):
    """The options of a task without any."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Task(Struct, Generic[D], frozen=True):
    """A kind of evaluation: what it reads and which wings look at it.

    Attributes:
        inputs: The pydantic model of the config's `data:` block.
        options: The pydantic model of the keys that the task adds to the top of a config.
        load: Reads what `inputs` names, under the options, as far as the selection wants it.
        defaults: Names of the metrics computed when the config lists none.
        primary: (metric, output) of the headline values, most important first.
        by_sample: The metric that says how each single sample or image went; None: others do.
        overlays: Draws what models predict over the images of examples, and what to warn of; from
            the `data:` block, the selection, and the examples; None: nothing is drawn.
        stream: Says how inputs are read piece by piece; None: they are loaded whole.
        asking: How models are asked; None: they are not.
        variant: Finds out from the `data:` block which kind of data the inputs hold: the block as
            it is read then, and the task as it evaluates that kind; None: there is one kind.
        instead: Values of parameters, by name, in place of what metrics have by default.
        lacks: What this kind of data cannot give of `Metric.needs`, or has no use for, as a
            parameter's value ("hardmax: true"): why, and what to do.
        named: The measure that a name of the field stands for, beside names of metrics; its second
            argument are the parameters that are given with it.
    """

    name: str
    description: str
    inputs: type[Any]
    load: Callable[[Any, Any, Selection], Loaded[D]]
    wings: tuple[Wing[D, Any], ...]
    defaults: tuple[str, ...]
    primary: tuple[tuple[str, str], ...]
    options: type[Any] = NoOptions
    by_sample: str | None = None
    overlays: (
        Callable[[Any, Selection, Sequence[ExampleResult]], tuple[EmbeddedImages, Sequence[str]]]
        | None
    ) = None
    stream: Callable[[], Stream[D]] | None = None
    asking: Asking | None = None
    variant: Callable[[Any], tuple[Any, Task[D]]] | None = None
    instead: Mapping[str, Any] = field(default_factory=dict)
    lacks: Mapping[str, MissingConfig] = field(default_factory=dict)
    named: Callable[[str, Collection[str]], Measure | None] = lambda name, given: None

    @property
    def metrics(self) -> tuple[Metric[Any], ...]:
        """All metrics of all wings, in catalogue order."""
        return tuple(metric for wing in self.wings for metric in wing.metrics)
