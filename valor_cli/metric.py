"""What a metric, a wing and a task are."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import dedent
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    Literal,
    NamedTuple,
    Protocol,
    Self,
    TypeVar,
    get_type_hints,
)

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from valor_cli.results import (
    Direction,
    ExampleResult,
    Findings,
    Illustration,
    InputFile,
    MetricExample,
    MetricValue,
    Pictures,
    Resampled,
    Scalar,
)

if TYPE_CHECKING:
    from valor_cli.models.session import Session


class Evidence(Protocol):
    """What a wing's metrics share. Units (images, samples) are what intervals resample."""

    @property
    def unit_count(self) -> int:
        """How many units there are."""

    def select(self, units: NDArray[np.bool_]) -> Self:
        """The evidence of those units alone, by a mask over all units."""

    def resamples(self, weights: NDArray[np.int64]) -> Iterable[Self]:
        """For each row b of `weights` the evidence in which unit i stands weights[b, i] times."""


class Dataset(Protocol):
    """Ground truth and one model's predictions, as columns."""

    @property
    def unit_count(self) -> int:
        """How many units there are."""

    @property
    def unit_ids(self) -> Sequence[Any]:
        """(units,) what the files call them."""

    def shard(self, units: NDArray[np.bool_]) -> Self:
        """The part with those units only."""

    def illustrate(self, examples: Sequence[MetricExample]) -> Sequence[Illustration]:
        """What is shown of each example."""

    def told(self) -> Mapping[str, Sequence[str | None]]:
        """By field, the texts of the units as reports show them; nothing of images."""

    def verify(self) -> None:
        """Look at what only making evidence would read.

        Raises:
            DataError: Something in it cannot be used.
        """


_SECTIONS = ("Formula:", "Pitfalls:", "Example:", "Args:", "Returns:", "Raises:")
"""The headings of a docstring's parts: those of the catalogue, and those for callers."""

E = TypeVar("E", bound=Evidence)
D = TypeVar("D", bound=Dataset)
R = TypeVar("R")
"""What a metric reads: evidence, or of evidence by samples what is its own."""


@dataclass(frozen=True, slots=True)
class Output:
    """One of a metric's numbers: its name, direction, unit and best and worst values."""

    name: str
    better: Direction
    bounds: tuple[float, float | None] = (0, 1)
    unit: str = "fraction"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A keyword argument of a metric's function: `kind` as annotated, and its default."""

    name: str
    kind: Any
    default: Any


def nothing_more(parameters: Mapping[str, Any]) -> tuple[()]:
    """Of metrics that read and ask the same whatever their parameters are."""
    return ()


ModelKind = Literal["judge", "embedder", "language_model", "classifier", "reduction"]
"""Of models that metrics ask."""


class Lack(NamedTuple):
    """What a config must name before a metric can be computed, and how."""

    message: str
    hint: str


def lacks_nothing(parameters: Mapping[str, Any]) -> None:
    """Of metrics that can be computed whatever their parameters are."""


@dataclass(frozen=True, slots=True)
class Metric(Generic[R]):
    """A pure function of evidence and what its readers must know of it.

    `compute` takes the evidence and keyword-only parameters. The first paragraph of its docstring
    is the metric's entry in the catalogue, those behind it explain it, and sections called Formula,
    Pitfalls and Example say the rest; its defaults stand in its signature only.
    Where samples are judged one by one, `measure` does that while evidence is made: it takes the
    samples and the parameters, and has the docstring; `compute` then takes what it found alone.
    For one number, `better`, `bounds` and `unit` say all; several are listed in `outputs`,
    the primary one first. A metric that draws only curves has no outputs and `curve=True`, one
    that fills only tables `table=True`.
    `needs` is what of the inputs it reads, `needs_with` what beside that with some parameters;
    `asks` and `asks_with` likewise say which kinds of models it asks. `lack` says what some
    parameters must still name.
    `evidence` names what the metric reads of its wing's evidence beyond what all of them read.
    `prompts` names those that it asks judges with.
    A metric that is not `resampled` gets no intervals. `replicas` finds its values at several
    resamples at once: it takes what `compute` takes, the weights (resamples, units) and the
    parameters, and finds, bit for bit and in its order, what `compute` finds in each; without it
    they are computed one after the other.
    `condensed` says that it reads sums of its evidence alone, which the wing's `condense` keeps.
    `reference` is the implementation whose numbers it has, `citation` where it was defined.
    """

    name: str
    compute: Callable[Concatenate[R, ...], MetricValue | Findings]
    reference: str
    measure: Callable[..., Any] | None = None
    better: Direction = "higher"
    bounds: tuple[float, float | None] = (0, 1)
    unit: str = "fraction"
    outputs: tuple[Output, ...] = ()
    curve: bool = False
    table: bool = False
    aliases: tuple[str, ...] = ()
    citation: str = ""
    needs: tuple[str, ...] = ("ground_truth", "predictions")
    needs_with: Callable[[Mapping[str, Any]], tuple[str, ...]] = nothing_more
    asks: tuple[ModelKind, ...] = ()
    asks_with: Callable[[Mapping[str, Any]], tuple[ModelKind, ...]] = nothing_more
    lack: Callable[[Mapping[str, Any]], Lack | None] = lacks_nothing
    evidence: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    resampled: bool = True
    replicas: Callable[..., Resampled] | None = None
    threshold: float | None = None
    reproducible: bool = True
    condensed: bool = False

    def __post_init__(self) -> None:
        if not self.outputs and not self.curve and not self.table:
            one = Output("value", self.better, self.bounds, self.unit)
            object.__setattr__(self, "outputs", (one,))

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
        """How the values come about, line by line as the docstring has it; empty without one."""
        return self._section("Formula:")

    @property
    def pitfalls(self) -> str:
        """When the values mislead, on one line; empty if the docstring does not say."""
        return " ".join(self._section("Pitfalls:").split())

    @property
    def example(self) -> str:
        """A case worked by hand, on one line; empty if the docstring has none."""
        return " ".join(self._section("Example:").split())

    def _section(self, heading: str) -> str:
        """What stands under a heading of the docstring, or before all ("")."""
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
        """The function whose signature and docstring are the metric's."""
        return self.compute if self.measure is None else self.measure

    def output(self, name: str) -> Output:
        """The output of that name; a KeyError is a metric that returned what it did not declare."""
        return {output.name: output for output in self.outputs}[name]


@dataclass(frozen=True, slots=True)
class Call:
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
        """What of the inputs the metric reads."""
        return (*self.metric.needs, *self.metric.needs_with(self.parameters))

    @property
    def asks(self) -> tuple[ModelKind, ...]:
        """The kinds of models that the metric asks."""
        return (*self.metric.asks, *self.metric.asks_with(self.parameters))

    def found(self, evidence: Any) -> MetricValue | Findings:
        """What the metric says of evidence; of evidence by samples, that of its own `measure`."""
        if self.metric.measure is None:
            return self.metric.compute(evidence, **self.parameters)
        return self.metric.compute(evidence.of(self))

    def replicas(self, evidence: Any, weights: NDArray[np.int64]) -> Resampled:
        """What the metric says of each resample; of metrics that have `replicas`."""
        if self.metric.replicas is None:
            raise ValueError(f"{self.metric.name} is computed of one resample after the other")
        if self.metric.measure is None:
            return self.metric.replicas(evidence, weights, **self.parameters)
        return self.metric.replicas(evidence.of(self), weights)


class OneSided(NamedTuple):
    """Labels that only one side has: `missing` in predictions, `ignored` for want of truth."""

    missing: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


def unsaid(evidence: Any) -> OneSided:
    """Of labels that loading has told already."""
    return OneSided()


def in_one_part(evidence: E) -> Sequence[tuple[Mapping[str, Scalar], E]]:
    """Evidence that is evaluated as a whole."""
    return (({}, evidence),)


@dataclass(frozen=True, slots=True)
class Wing(Generic[D, E]):
    """Metrics that share one kind of evidence, and how that evidence is made.

    Attributes:
        plan: What the evidence must hold to serve these calls and slices.
        evidence: A shard of a dataset, and the plan, to evidence.
        merge: The evidence of several shards together; associative, order-free in its result.
        slices: For each slice key that the evidence itself can cut by (box area), its values
            and the cut.
        parts: What is evaluated independently (label keys): each part of some evidence, with what
            it adds to the parameters of its rows. As many parts for every subset of the units.
        one_sided: The labels that only one side has, where `Loaded` cannot know them.
        sharded: Whether several processes make evidence sooner than one; not where handing them
            their shards takes longer.
        whole: Whether the evidence of a unit rests on others, so that all must be at hand.
        gather: Asks models about all datasets, before there is evidence: the datasets by model,
            the plan, and whom to ask (None: nobody, every sample is skipped), to the plan that
            `evidence` takes for each model.
        stored: The classes of the evidence and of what it consists of, where it is kept beside a
            run, for another run to be compared with it.
        condense: The evidence of a shard, to what these calls need of it without its units: of
            bounded size, and merged as evidence is.
    """

    metrics: tuple[Metric[E], ...]
    plan: Callable[[Sequence[Call], Sequence[str]], Any]
    evidence: Callable[[D, Any], E]
    merge: Callable[[Sequence[E]], E]
    slices: Mapping[str, tuple[Sequence[str], Callable[[E, str], E]]] = field(default_factory=dict)
    parts: Callable[[E], Sequence[tuple[Mapping[str, Scalar], E]]] = in_one_part
    one_sided: Callable[[E], OneSided] = unsaid
    sharded: bool = True
    whole: bool = False
    gather: Callable[[Mapping[str, D], Any, Any], Mapping[str, Any]] | None = None
    condense: Callable[[E, Sequence[Call]], Any] | None = None
    stored: tuple[type[Any], ...] = ()


METADATA = "metadata."
"""What keys of slices and filters that name a metadata column begin with."""


def written(value: Scalar) -> str:
    """A value as YAML writes it. Slices and filters compare what is written: "1" and 1 are one."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class Selection:
    """What of the data to evaluate, and under which names.

    Attributes:
        label_map: Label as in the files to label as evaluated; applied before anything else.
        keep: Column ("label", "metadata.weather") to the values kept.
        metadata: Names of the metadata columns that slices need.
        limit: Keep the first so many units; None for all.
        needs: What the metrics of the run need of the files (`Metric.needs`).
        wanted: What of `needs` the run can do without: only default metrics read it.
        optional: Names of further metadata columns, of which files may lack any.
        of_answers: Names of metadata that say something of a model's answer, not of the sample:
            one model's never hold for another's.
        every_metadata: Whether every metadata column that the files have is wanted too.
    """

    label_map: Mapping[str, str] = field(default_factory=dict)
    keep: Mapping[str, Sequence[Scalar]] = field(default_factory=dict)
    metadata: Sequence[str] = ()
    limit: int | None = None
    needs: frozenset[str] = frozenset()
    wanted: frozenset[str] = frozenset()
    optional: Sequence[str] = ()
    of_answers: Sequence[str] = ()
    every_metadata: bool = False


class Spent(NamedTuple):
    """What a model took: seconds a sample on average, and money for all; None if not known."""

    duration_s: float | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Loaded(Generic[D]):
    """What was read: a dataset per model, and what the reading has to report.

    `metadata` holds, by model, a value per unit for each name in `Selection.metadata`; `labels` are
    the labels that any file uses, in the order that results have; `known_labels` are those that a
    config may name beside them, though nothing that is evaluated has them; `settings` as in
    `RunResult`; `lacking` is what of `Selection.wanted` the files do not have.
    `groups` has, by model, the cluster of each unit that the files name; None: it stands alone.
    `perturbed` leads, by model, from perturbed copies of samples to their originals; `spent` is
    what each model took, where the files say so. `facts` is what a task's `Stream` joins by.
    """

    datasets: Mapping[str, D]
    metadata: Mapping[str, Mapping[str, Sequence[Scalar]]]
    labels: Sequence[str]
    sizes: Mapping[str, int]
    files: Sequence[InputFile]
    warnings: Sequence[str]
    missing_prediction_labels: Mapping[str, Sequence[str]]
    ignored_prediction_labels: Mapping[str, Sequence[str]]
    settings: Mapping[str, Scalar] = field(default_factory=dict)
    known_labels: Sequence[str] = ()
    lacking: frozenset[str] = frozenset()
    groups: Mapping[str, Sequence[Scalar]] = field(default_factory=dict)
    perturbed: Mapping[str, Mapping[Scalar, Scalar]] = field(default_factory=dict)
    spent: Mapping[str, Spent] = field(default_factory=dict)
    facts: Any = None


class Survey(NamedTuple):
    """What all pieces together say of a run, before any of it is joined.

    Attributes:
        ground: What every range needs to know: names of labels, what comes before each piece.
        ranges: Of units, ascending: what tells each from the others, and the pieces (positions)
            that have some of its units.
    """

    ground: Any
    ranges: Sequence[tuple[Any, Sequence[int]]]


@dataclass(frozen=True, slots=True)
class Stream(Generic[D]):
    """How a task reads its inputs piece by piece, and evaluates them range by range of units.

    What can be read at all can be loaded whole; `None` anywhere says that this is such a case.

    Attributes:
        cut: What `Task.load` takes, and the bytes that a piece should have, to pieces.
        read: A piece to what is told of it and its rows, by unit.
        survey: What `Task.load` takes, the pieces, and what was told of each.
        load: A ground, a range, and of each piece that has some of its units the position and the
            rows, to what `Task.load` gives of the units in that range.
        join: A ground, and what was loaded of all its ranges, in their order, to that of all.
        illustrate: The datasets of all ranges, and examples, to what is shown of each.
    """

    cut: Callable[[Any, Any, Selection, int], Sequence[Any] | None]
    read: Callable[[Any], tuple[Any, Any] | None]
    survey: Callable[[Any, Any, Selection, Sequence[Any], Sequence[Any]], Survey | None]
    load: Callable[[Any, Any, Sequence[tuple[int, Any]]], Loaded[D] | None]
    join: Callable[[Any, Sequence[Loaded[D]]], Loaded[D] | None]
    illustrate: Callable[[Sequence[D], Sequence[MetricExample]], Sequence[Illustration]]


@dataclass(frozen=True, slots=True)
class Terms:
    """On which terms a run may ask models.

    Attributes:
        identity: SHA-256 of what the run is: config and inputs.
        offline: Whether nothing may leave this machine.
        resume: Whether to go on with the run of that identity.
        imagined: Whether replies are only imagined, to see what asking would take.
        told: Told a stage, and how much of it is done.
    """

    identity: str
    offline: bool = False
    resume: bool = False
    imagined: bool = False
    told: Callable[[str, int, int], None] = lambda stage, done, total: None


class NoOptions(BaseModel):
    """The options of a task that has none."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


@dataclass(frozen=True, slots=True)
class Task(Generic[D]):
    """A kind of evaluation: what it reads and which wings look at it.

    Attributes:
        inputs: The pydantic model of the config's `data:` block.
        options: The pydantic model of the keys that the task adds to the top of a config.
        load: Reads what `inputs` names, under the options, as far as the selection wants it.
        defaults: Names of the metrics computed when the config lists none.
        primary: (metric, output) of the headline values, most important first.
        by_sample: The metric that says how each single sample or image went; None: others do.
        pictures: What the report shows of the examples, and what to warn of; from the `data:`
            block, the selection, and the examples.
        lacks: What the options must still name before a call can be made; None: nothing. What its
            parameters must is the metric's own to say.
        session: Opens the models that the calls ask, under the options and on some terms.
        stream: Says how inputs are read piece by piece; None: they are loaded whole.
        tuned: A call with the defaults that belong to the models it asks, where the config does
            not say otherwise, and what to warn of.
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
    pictures: Callable[
        [Any, Selection, Sequence[ExampleResult]], tuple[Pictures, Sequence[str]]
    ] = lambda inputs, selection, examples: (Pictures(), ())
    lacks: Callable[[Any, Call], Lack | None] = lambda options, call: None
    session: Callable[[Any, Sequence[Call], Terms], Session] | None = None
    tuned: Callable[[Any, Call], tuple[Call, str | None]] = lambda options, call: (call, None)
    stream: Callable[[], Stream[D]] | None = None

    @property
    def metrics(self) -> tuple[Metric[Any], ...]:
        """All metrics of all wings, in catalogue order."""
        return tuple(metric for wing in self.wings for metric in wing.metrics)
