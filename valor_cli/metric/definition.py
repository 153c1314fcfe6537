"""What a metric is, and a call of one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from textwrap import dedent
from typing import Any, Concatenate, Generic, Literal, NamedTuple, get_type_hints

from msgspec import Struct, field

from valor_cli.metric.evidence import R
from valor_cli.results import Direction, Findings, MetricValue

_SECTIONS = ("Formula:", "Pitfalls:", "Example:", "Args:", "Returns:", "Raises:")
"""The headings of a docstring's parts: those of the catalogue, and those for callers."""


class Output(Struct, frozen=True):
    """One number of a metric: name, direction, unit, bounds."""

    name: str = "value"
    better: Direction = "higher"
    bounds: tuple[float, float | None] = (0, 1)
    unit: str = "fraction"


class Parameter(Struct, frozen=True):
    """A keyword argument of a metric's function: `kind` as annotated, and its default."""

    name: str
    kind: Any
    default: Any


ModelKind = Literal["judge", "embedder", "language_model", "classifier", "reduction"]
"""Of models that metrics ask."""


class MissingConfig(NamedTuple):
    """Config that is missing before a metric can be computed, and how to add it."""

    message: str
    hint: str


class ByParameters(NamedTuple):
    """What a metric needs only with some values of its parameters; each is a function of these.

    Attributes:
        needs: What it reads of the inputs beside `Metric.needs`.
        asks: The kinds of models that it asks beside `Metric.asks`.
        lack: What the parameters must still name; None: nothing.
        parts: The metrics whose values of the same samples it rests on.
    """

    needs: Callable[[Mapping[str, Any]], tuple[str, ...]] | None = None
    asks: Callable[[Mapping[str, Any]], tuple[ModelKind, ...]] | None = None
    lack: Callable[[Mapping[str, Any]], MissingConfig | None] | None = None
    parts: Callable[[Mapping[str, Any]], tuple[str, ...]] | None = None


class Metric(Struct, Generic[R], frozen=True):
    """A pure function of evidence and what its readers must know of it.

    `compute` takes the evidence and keyword-only parameters. The first paragraph of its docstring
    is the metric's entry in the catalogue, those behind it explain it, and sections called Formula,
    Pitfalls and Example say the rest; its defaults stand in its signature only.
    Where samples are judged one by one, `measure` does that while evidence is made: it takes the
    samples and the parameters, and has the docstring; `compute` then takes what it found alone.
    `outputs` are its numbers, the primary one first; a metric without any says what it `draws`.
    `needs` is what of the inputs it reads and `asks` which kinds of models it asks, whatever its
    parameters are; `by_parameters` adds what depends on them.
    `evidence` names what the metric reads of its wing's evidence beyond what all of them read.
    `prompts` names those that it asks judges with.
    A metric that is not `resampled` gets no intervals.
    `condensed` says that it reads sums of its evidence alone, which the wing's `condense` keeps.
    `reference` is the implementation whose numbers it has, `citation` where it was defined.
    """

    name: str
    compute: Callable[Concatenate[R, ...], MetricValue | Findings]
    reference: str
    measure: Callable[..., Any] | None = None
    outputs: tuple[Output, ...] = (Output(),)
    draws: Literal["curves", "table"] | None = None
    aliases: tuple[str, ...] = ()
    citation: str = ""
    needs: tuple[str, ...] = ("ground_truth", "predictions")
    asks: tuple[ModelKind, ...] = ()
    by_parameters: ByParameters = field(default_factory=ByParameters)
    evidence: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    resampled: bool = True
    threshold: float | None = None
    condensed: bool = False

    @property
    def reproducible(self) -> bool:
        """Whether the same inputs give the same values: judges may answer differently."""
        return "judge" not in self.asks

    @property
    def description(self) -> str:
        """The first paragraph of the function's docstring, on one line."""
        return " ".join((inspect.getdoc(self.declared) or "").split("\n\n")[0].split())

    @property
    def explanation(self) -> tuple[str, ...]:
        """The further paragraphs of the docstring, on one line each, up to its first section."""
        return tuple(" ".join(one.split()) for one in self._section("").split("\n\n")[1:])

    @property
    def formula(self) -> str:
        """How the values are computed, line by line; empty if the docstring has no such section."""
        return self._section("Formula:")

    @property
    def pitfalls(self) -> str:
        """When the values mislead, on one line; empty if the docstring has no such section."""
        return " ".join(self._section("Pitfalls:").split())

    @property
    def example(self) -> str:
        """A case worked by hand, on one line; empty if the docstring has none."""
        return " ".join(self._section("Example:").split())

    def _section(self, heading: str) -> str:
        """The text under a heading of the docstring, or before all headings ("")."""
        found: list[str] = []
        under = ""
        for line in (inspect.getdoc(self.declared) or "").splitlines():
            if line in _SECTIONS:
                under = line
            elif under == heading:
                found.append(line)
        return dedent("\n".join(found)).strip("\n")

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The keyword-only arguments of the function, in its order."""
        kinds = get_type_hints(self.declared, include_extras=True)
        return tuple(
            Parameter(name, kinds[name], argument.default)
            for name, argument in inspect.signature(self.declared).parameters.items()
            if argument.kind is inspect.Parameter.KEYWORD_ONLY
        )

    @property
    def declared(self) -> Callable[..., Any]:
        """The function whose signature and docstring describe the metric."""
        return self.compute if self.measure is None else self.measure

    def output(self, name: str) -> Output:
        """The output of that name; a KeyError means that the metric returned an undeclared
        output.
        """
        return {output.name: output for output in self.outputs}[name]


class Call(Struct, frozen=True):
    """A metric to compute, with every parameter.

    `threshold` is what the mean is held against: the config's, as `threshold_given` says, else the
    metric's own. `model` is what results call the model of this machine that is asked.
    """

    metric: Metric[Any]
    parameters: Mapping[str, Any]
    threshold: float | None = None
    threshold_given: bool = False
    model: str | None = None

    @property
    def needs(self) -> tuple[str, ...]:
        """The inputs that the metric reads."""
        more = self.metric.by_parameters.needs
        return (*self.metric.needs, *(() if more is None else more(self.parameters)))

    @property
    def asks(self) -> tuple[ModelKind, ...]:
        """The kinds of models that the metric uses."""
        more = self.metric.by_parameters.asks
        return (*self.metric.asks, *(() if more is None else more(self.parameters)))

    @property
    def parts(self) -> tuple[str, ...]:
        """The metrics whose values of the same samples it rests on."""
        more = self.metric.by_parameters.parts
        return () if more is None else more(self.parameters)

    @property
    def missing_config(self) -> MissingConfig | None:
        """What the parameters must still name; None: nothing."""
        lack = self.metric.by_parameters.lack
        return None if lack is None else lack(self.parameters)

    def marked(self, mark: object) -> Iterator[Any]:
        """The values of the parameters whose annotated type has a mark."""
        for one in self.metric.parameters:
            if mark in getattr(one.kind, "__metadata__", ()):
                yield self.parameters[one.name]

    def findings(self, evidence: Any) -> MetricValue | Findings:
        """Compute the metric on evidence; for per-sample evidence, on the outcomes of its
        `measure`.
        """
        if self.metric.measure is None:
            return self.metric.compute(evidence, **self.parameters)
        return self.metric.compute(evidence.of(self))
