"""Check a document against a vocabulary and build its `RunConfig`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from msgspec.structs import replace
from pydantic import BaseModel

from valor_cli import entry_points
from valor_cli.config.checks import Checks
from valor_cli.config.document import YamlDocument
from valor_cli.config.messages import unknown_key
from valor_cli.config.models import (
    AUTO,
    COMPOSITE,
    OWN,
    Composite,
    Gate,
    Interval,
    MetricRequest,
    Report,
    RunConfig,
    SliceRequest,
    SliceSearch,
)
from valor_cli.config.problems import TreePath, quoted
from valor_cli.config.short_forms import GATES, gate_of, told_of_peer
from valor_cli.config.vocabulary import FILTER_KEYS, METADATA, Vocabulary, is_metadata
from valor_cli.errors import ConfigError, did_you_mean
from valor_cli.results import OWN_SPACE, THRESHOLD, WHEN, Scalar

if TYPE_CHECKING:
    from valor_cli.metric import Measure, Metric

M = TypeVar("M", bound=BaseModel)

KEYS = tuple(
    name for name in RunConfig.model_fields if name not in ("path", "sha256", "options", "notes")
)
NAME: Final = "name"
"""The parameter of metrics that an entry may give a name of their own."""

OUTPUTS: Final = "outputs"
"""The parameter of metrics that names several, each a metric of its own."""

NO_PLUGINS: Final = "names code to run, which --no-plugins refuses"

LISTED_NAMES = 12
"""Names a message lists in full; of more it says which command lists them."""


def reviewed(document: YamlDocument, vocabulary: Vocabulary, *, plugins: bool = True) -> RunConfig:
    """The checked config of a document, or a `ConfigError` with all problems."""
    checks = Checks(document)
    known = (*KEYS, *_option_names(document.tree, vocabulary))
    for key in document.tree:
        if key not in known:
            checks.note((key,), unknown_key(key, "the config", known), key=True)
    review = _Review(checks, document.tree, vocabulary, document.path.parent, plugins=plugins)
    parts: dict[str, Any] = {
        "task": review.task,
        "data": review.data(),
        "options": review.options(),
        "metrics": review.metrics(),
        "label_map": review.label_map(),
        "filter": review.filter(),
        "slices": review.slices(),
        "interval": review.section("interval", Interval),
        "gates": review.gates(),
        "report": review.section("report", Report) or Report(),
    }
    if checks.problems:
        raise checks.problems.error()
    parts["notes"] = tuple(review.notes)
    config = RunConfig(path=document.path, sha256=document.sha256, **parts)
    config._document = document
    config._own = tuple(review.own.values())
    return config


def _searching(search: SliceSearch) -> SliceRequest:
    return SliceRequest(key=AUTO, values=None, search=search)


def _option_names(tree: Mapping[str, Any], vocabulary: Vocabulary) -> list[str]:
    """The keys that the task adds; of an unknown task, those of any, for one may be meant."""
    known = vocabulary.task_names()
    tasks = [task for task in known if task == tree.get("task")] or known
    return list(
        dict.fromkeys(name for task in tasks for name in vocabulary.options(task).model_fields)
    )


class _Review:
    """The sections of a config, one method each. What depends on an unknown task is not checked."""

    def __init__(
        self,
        checks: Checks,
        tree: Mapping[str, Any],
        vocabulary: Vocabulary,
        folder: Path,
        *,
        plugins: bool,
    ) -> None:
        self._checks = checks
        self._folder = folder
        self._plugins = plugins
        self.own: dict[str, Metric[Any]] = {}
        self._faulty_own = False
        self._judged: dict[str, str] = {}
        self._requested: set[str] = set()
        self._tree = tree
        self._vocabulary = vocabulary
        self.task = self._known_task()
        self._task_name = checks.written(("task",), self.task or "")
        self._metric_names = vocabulary.metric_names(self.task) if self.task else {}
        self.notes: dict[str, None] = {}
        self._slice_values = vocabulary.slice_values(self.task) if self.task else {}

    def _known_task(self) -> str | None:
        path, name, known = ("task",), self._tree.get("task"), self._vocabulary.task_names()
        listed = f"the tasks are {', '.join(known)}"
        if "task" not in self._tree:
            self._checks.note(path, f"required, but missing; {listed}")
        elif self._checks.expect(path, name, str, "the name of a task"):
            if name in known:
                return str(name)
            self._checks.unknown(path, "task", str(name), known, listed=listed)
        return None

    def section(self, name: str, model: type[M]) -> M | None:
        """A section that is one model; null leaves it out, as `--set interval=null` does."""
        node = self._tree.get(name)
        return None if node is None else self._checks.model(model, (name,), node, name)

    def data(self) -> BaseModel | None:
        path, node = ("data",), self._tree.get("data")
        if "data" not in self._tree:
            self._checks.note(path, "required, but missing")
        elif self._checks.expect(path, node, dict, "a mapping") and self.task is not None:
            model = self._vocabulary.inputs(self.task)
            self._check_formats(node or {})
            return self._checks.model(model, path, node, f"data of {self._task_name}")
        return None

    def _check_formats(self, node: Mapping[str, Any]) -> None:
        """Refuse readers of installed packages where no code may be loaded."""
        given = node.get("format")
        sides = given if isinstance(given, dict) else {None: given}
        for side, name in sides.items():
            self._refuse_offered(("data", "format", *([] if side is None else [side])), name)

    def _refuse_offered(self, path: TreePath, name: Any) -> None:
        if not self._plugins and isinstance(name, str) and entry_points.NAME.fullmatch(name):
            self._checks.note(path, NO_PLUGINS)

    def options(self) -> BaseModel | None:
        """The keys that the task adds; null leaves one out, as in `section`."""
        if self.task is None:
            return None
        model = self._vocabulary.options(self.task)
        given = {
            name: self._tree[name]
            for name in model.model_fields
            if self._tree.get(name) is not None
        }
        several = given.get("judges")
        blocks: dict[TreePath, Any] = {("judge",): given.get("judge")}
        for at, block in enumerate(several if isinstance(several, list) else ()):
            blocks["judges", at] = block
        for path, block in blocks.items():
            if isinstance(block, dict):
                self._refuse_offered((*path, "backend"), block.get("backend"))
        return self._checks.model(model, (), given, "the config")

    def _items(self, name: str) -> Sequence[Any]:
        node = self._tree.get(name, [])
        return node if self._checks.expect((name,), node, list, "a list") else ()

    def _mapping(self, name: str) -> Mapping[str, Any]:
        node = self._tree.get(name, {})
        return node if self._checks.expect((name,), node, dict, "a mapping") else {}

    def metrics(self) -> tuple[MetricRequest, ...] | None:
        if "metrics" not in self._tree:
            return None
        if self._tree["metrics"] == []:
            message = "names no metric; leave the key out for the task's default set"
            self._checks.note(("metrics",), message)
        requests: dict[str, MetricRequest] = {}
        for index, item in enumerate(self._items("metrics")):
            for request in self._metric(index, item):
                same = requests.setdefault(f"{request.name} {request.parameters!r}", request)
                if same is not request:
                    message = f"the same metric with the same parameters as metrics.{same.index}"
                    self._checks.note(("metrics", index), message)
        self._requested = {request.name for request in requests.values()}
        return tuple(requests.values())

    def _metric(self, index: int, item: Any) -> Sequence[MetricRequest]:
        """What an entry asks for; several metrics where it names several outputs."""
        path: TreePath = ("metrics", index)
        form = "a metric's name, or a mapping of one name to its parameters"
        if isinstance(item, dict) and (OWN in item or [*item] == [COMPOSITE]):
            found = (self._own_request if OWN in item else self._composite)(index, item)
            self._faulty_own |= found is None
            return [] if found is None else [found]
        if isinstance(item, dict) and len(item) != 1:
            keys = ", ".join(quoted(key) for key in list(item)[:5]) or "none"
            hint = "; indent the parameters below the name" if item else ""
            self._checks.note(path, f"expected {form}, found the keys {keys}{hint}")
            return []
        if not self._checks.expect(path, item, str | dict, form):
            return []
        name, body = (item, None) if isinstance(item, str) else next(iter(item.items()))
        inside = (*path, name)
        body = {} if body is None else body
        given = body if isinstance(body, dict) else ()
        measure = self._measure(path if isinstance(item, str) else inside, name, given)
        if not self._checks.expect(inside, body, dict, "a mapping of parameters"):
            return []
        if measure is None or self.task is None:
            return []
        canonical, body = measure.metric, {**measure.parameters, **body}
        model = self._parameters(self.task, canonical)
        parameters = self._checks.model(model, inside, body, name, word="parameter")
        request = self._request(canonical, parameters, index, body)
        if request is None:
            return []
        names = [*(request.parameters.get(OUTPUTS) or ())] if OUTPUTS in request.given else []
        if NAME in request.given and request.parameters[NAME] != model.model_fields[NAME].default:
            names = [request.parameters[NAME]]
        requests = [self._named(canonical, request, name, inside) for name in names]
        return [one for one in requests if one is not None] if names else [request]

    def _named(
        self, canonical: str, request: MetricRequest, name: str, path: TreePath
    ) -> MetricRequest | None:
        """The request under a name that the entry gives the metric, or one of its outputs."""
        found = self._vocabulary.named_metric(str(self.task), canonical, name)
        known = self.own.setdefault(found.name, found)
        if known != found:
            self._checks.note(path, f"another metric is called {found.name} already")
            return None
        self._judged[found.name] = canonical
        parameters = {**request.parameters, NAME: name}
        return request.model_copy(update={"name": found.name, "parameters": parameters})

    def _request(
        self, canonical: str, parameters: BaseModel | None, index: int, body: Mapping[str, Any]
    ) -> MetricRequest | None:
        if parameters is None:
            return None
        values = {field: getattr(parameters, field) for field in type(parameters).model_fields}
        threshold = values.pop(THRESHOLD, None)
        return MetricRequest(
            name=canonical,
            parameters=values,
            index=index,
            threshold=threshold,
            threshold_given=THRESHOLD in body,
            given=tuple(name for name in values if name in body),
        )

    def _composite(self, index: int, item: Mapping[str, Any]) -> MetricRequest | None:
        """An entry that is made of other metrics: `{composite: {name: good, all_of: [...]}}`."""
        place: TreePath = ("metrics", index, COMPOSITE)
        asked = self._checks.model(Composite, place, item[COMPOSITE], "a composite")
        if asked is None or self.task is None:
            return None
        given = asked.model_dump(mode="json", exclude={"name", THRESHOLD}, exclude_none=True)
        name = f"{OWN_SPACE}{asked.name}"
        if name in self.own:
            self._checks.note((*place, "name"), f"another metric is called {name} already")
            return None
        known = len(self._checks.problems)
        if asked.at_least is not None:
            given["at_least"]["of"] = self._parts((*place, "at_least", "of"), asked.at_least.of)
        for key in given.keys() & {"of", "all_of", "any_of", WHEN}:
            given[key] = self._parts((*place, key), given[key])
        if len(self._checks.problems) > known:
            return None
        parameters = {"missing": None, **given}
        try:
            found = self._vocabulary.composite_metric(self.task, name, parameters, self.own)
        except ConfigError as error:
            problem = error.problems[0]
            self._checks.note((*place, problem.place), problem.message)
            return None
        self.own[name] = found
        return MetricRequest(
            name=name,
            parameters=parameters,
            index=index,
            threshold=found.threshold if asked.threshold is None else asked.threshold,
            threshold_given=asked.threshold is not None,
        )

    def _parts(self, path: TreePath, named: Any) -> Any:
        """The metrics in a list, or in the keys of a mapping, by their canonical names."""
        if isinstance(named, Mapping):
            return {self._part((*path, name), name): value for name, value in named.items()}
        return [self._part((*path, index), name) for index, name in enumerate(named)]

    def _part(self, path: TreePath, name: str) -> str:
        measure = self._measure(path, name)
        if measure is None:
            return name
        if measure.parameters:
            self._checks.note(
                path, f"{name} stands for parameters too; list it, and name its metric"
            )
        return ".".join(filter(None, (measure.metric, measure.output)))

    def _own_request(self, index: int, item: Mapping[str, Any]) -> MetricRequest | None:
        """An entry that names a function of the user's: `{python: metrics.py:politeness}`."""
        place: TreePath = ("metrics", index)
        path: TreePath = (*place, OWN)
        written, name = item[OWN], item.get("name")
        if not self._checks.expect(path, written, str, "FILE.py:FUNCTION"):
            return None
        if not self._checks.expect((*place, "name"), name, str | None, "a name"):
            return None
        if not self._plugins:
            self._checks.note(path, NO_PLUGINS)
        if self.task is None or not self._plugins:
            return None
        try:
            found = self._vocabulary.own_metric(self.task, written, self._folder, name)
        except ConfigError as error:
            problem = error.problems[0]
            at: TreePath = (*place, problem.place or OWN)
            self._checks.note(at, self._checks.safe(at, problem.message))
            return None
        known = self.own.setdefault(found.name, found)
        if known != found:
            message = f"another function is called {found.name} already; give this one a name:"
            self._checks.note(path, message)
            return None
        body = {key: value for key, value in item.items() if key not in (OWN, "name", WHEN)}
        model = self._vocabulary.parameters_of(found)
        parameters = self._checks.model(model, place, body, found.name, word="parameter")
        request = self._request(found.name, parameters, index, body)
        if item.get(WHEN) is not None and found.measure is None:
            self._checks.note((*place, WHEN), f"{found.name} has no values of single samples")
        elif request is not None and item.get(WHEN) is not None:
            when = self._when((*place, WHEN), item[WHEN])
            return request.model_copy(update={"parameters": {**request.parameters, WHEN: when}})
        return request

    def _when(self, path: TreePath, node: Any) -> Any:
        """The verdicts that samples must have, by metric."""
        if not self._checks.expect(path, node, dict, "a metric with passes or fails"):
            return {}
        for name, wanted in node.items():
            if wanted not in ("passes", "fails"):
                self._checks.wrong((*path, name), "passes or fails", wanted, kind=False)
        return self._parts(path, node)

    def _own_measure(self, path: TreePath, name: str) -> Measure | None:
        """What "own.NAME", or "own.NAME.OUTPUT", stands for."""
        from valor_cli.metric import Measure

        if name in self.own:
            return Measure(name)
        of, _, output = name.rpartition(".")
        if of in self.own and any(one.name == output for one in self.own[of].outputs):
            return Measure(of, output)
        # Of an entry that is at fault the problem is known.
        if not self._faulty_own:
            listed = f"this config has {', '.join(self.own) or 'no own metrics'}; `metrics:` lists "
            listed += "them, as {python: metrics.py:FUNCTION} or {custom_judge: {name: NAME, …}}"
            self._checks.unknown(path, "metric", name, self.own, listed=listed)
        return None

    def _measure(self, path: TreePath, name: str, given: Collection[str] = ()) -> Measure | None:
        """What a name stands for, with a problem noted where that is nothing."""
        if self.task is None:
            return None
        if name.startswith(OWN_SPACE):
            return self._own_measure(path, name)
        found = self._vocabulary.measure(self.task, name, given)
        if found is None:
            names = self._metric_names
            known = tuple(dict.fromkeys(names.values()))
            listed = f"{self._task_name} has {', '.join(known)}"
            if len(known) > LISTED_NAMES:
                listed = f"'valor metrics --task {self._task_name}' lists them"
            others = [
                one
                for one in self._vocabulary.task_names()
                if name in self._vocabulary.metric_names(one)
            ]
            told = f"is a metric of {' and '.join(others)}, not of {self._task_name}; {listed}"
            if others:
                self._checks.note(path, f"'{name}' {told}", key=path[-1] == name)
            elif told := told_of_peer(name):
                self._checks.note(path, told, key=path[-1] == name)
            else:
                self._checks.unknown(path, "metric", name, names, listed=listed)
        elif found.note:
            self.notes[found.note] = None
        return found

    def label_map(self) -> Mapping[str, str]:
        labels = self._mapping("label_map")
        for label, becomes in labels.items():
            self._checks.expect(("label_map", label), becomes, str, "text")
        return labels

    def filter(self) -> Mapping[str, tuple[Scalar, ...]]:
        kept: dict[str, tuple[Scalar, ...]] = {}
        for key, value in self._mapping("filter").items():
            path: TreePath = ("filter", key)
            if key not in FILTER_KEYS and not is_metadata(key):
                message = unknown_key(key, "a filter", (*FILTER_KEYS, "metadata.NAME"))
                self._checks.note(path, message, key=True)
            several = isinstance(value, list)
            values = value if several else [value]
            if not values:
                self._checks.note(path, "expected at least one value, found an empty list")
            for index, element in enumerate(values):
                place = (*path, index) if several else path
                if isinstance(element, dict | list) or (element is None and not is_metadata(key)):
                    self._checks.wrong(place, "a single value", element)
            kept[key] = tuple(values)
        return kept

    def slices(self) -> tuple[SliceRequest, ...]:
        node = self._tree.get("slices", [])
        if node == AUTO:
            return (_searching(SliceSearch()),)
        if not self._checks.expect(("slices",), node, list, f"a list, or {AUTO}"):
            return ()
        requests: dict[str, SliceRequest] = {}
        for index, item in enumerate(node):
            path: TreePath = ("slices", index)
            if isinstance(item, str):
                request = self._slice(path, item, None)
            elif isinstance(item, dict) and len(item) == 1:
                key, values = next(iter(item.items()))
                request = self._slice_list((*path, key), key, values)
            else:
                self._checks.wrong(path, "a key, or a mapping of one key to a list of values", item)
                continue
            key = item if isinstance(item, str) else key
            if key in requests:
                shown = self._checks.shown(path, key)
                self._checks.note(path, f"duplicate slice {shown}")
            if request is not None:
                requests[key] = request
        return tuple(requests.values())

    def _slice(
        self, path: TreePath, key: str, values: tuple[Scalar, ...] | None
    ) -> SliceRequest | None:
        if key == AUTO:
            return _searching(SliceSearch())
        key = self._slice_key(path, key, AUTO)
        return SliceRequest.model_construct(key=key, values=values)

    def _slice_list(self, path: TreePath, key: str, values: Any) -> SliceRequest | None:
        if key == AUTO:
            search = self._checks.model(SliceSearch, path, {} if values is None else values, AUTO)
            return None if search is None else _searching(search)
        key = self._slice_key(path, key, AUTO)
        if not self._checks.expect(path, values, list, "a list of values"):
            return SliceRequest.model_construct(key=key, values=None) if values is None else None
        if not values:
            self._checks.note(path, "expected at least one value, found an empty list")
        seen: set[str] = set()
        for index, value in enumerate(values):
            place = (*path, index)
            if isinstance(value, dict | list):
                self._checks.wrong(place, "a single value", value)
            else:
                self._slice_value(place, key, value)
            if repr(value) in seen:
                self._checks.note(place, f"duplicate value {self._checks.shown(place, value)}")
            seen.add(repr(value))
        return SliceRequest.model_construct(key=key, values=tuple(values))

    def _slice_key(self, path: TreePath, key: str, *more: str) -> str:
        """The key in full: one that is none of the task's, nor near to one, is a metadata column.

        `more` are other accepted words.
        """
        known = (*self._slice_values, *more)
        if self.task is not None and not is_metadata(key) and key not in known:
            written = self._checks.written(path, key) == key
            if key and key != METADATA and written and not did_you_mean(key, known):
                return f"{METADATA}{key}"
            listed = f"{self._task_name} has {', '.join((*self._slice_values, 'metadata.NAME'))}"
            listed = f"{listed}; {AUTO} looks for the worst" if more else listed
            self._checks.unknown(path, "slice key", key, known, listed=listed)
        return key

    def _slice_value(self, path: TreePath, key: str, value: Scalar) -> None:
        known = self._slice_values.get(key)
        if known is not None and value not in known:
            self._checks.wrong(path, f"one of {', '.join(known)}", value, kind=False)

    def gates(self) -> tuple[Gate, ...]:
        gates = []
        for index, item in enumerate(self._items("gates")):
            path: TreePath = ("gates", index)
            if isinstance(item, str):
                item = self._gate_text(path, item)
                if item is None:
                    continue
            gate = self._checks.model(Gate, path, item, "a gate")
            named = self._gate_names(path, item) if isinstance(item, dict) else {}
            if gate is not None:
                request = named.pop("request", {})
                gates.append(gate.model_copy(update=named))
                gates[-1]._request = request
        return tuple(gates)

    def _gate_text(self, path: TreePath, text: str) -> dict[str, Any] | None:
        """The mapping that a gate in short form stands for."""
        found = gate_of(text)
        if found is None:
            self._checks.wrong(path, f"a gate such as {' or '.join(GATES)}", text)
        return found

    def _parameters(self, task: str, metric: str) -> type[BaseModel]:
        if metric in self.own:
            return self._vocabulary.parameters_of(self.own[metric])
        return self._vocabulary.parameters(task, metric)

    def _outputs(self, task: str, metric: str) -> Sequence[str]:
        if metric in self.own:
            return [output.name for output in self.own[metric].outputs]
        return self._vocabulary.outputs(task, metric)

    def _under_its_name(
        self, path: TreePath, measure: Measure, given: Mapping[str, Any]
    ) -> Measure | None:
        """A measure of a metric that the config gives another name, under that name."""
        named = [own for own, canonical in self._judged.items() if canonical == measure.metric]
        if not named or measure.metric in self._requested:
            return measure
        if NAME in given:
            named = [own for own in named if own == f"{OWN_SPACE}{given[NAME]}"]
        if len(named) != 1:
            all_named = ", ".join(self._judged)
            self._checks.note(path, f"is called otherwise in `metrics:`; name one of {all_named}")
            return None
        return replace(measure, metric=named[0])

    def _gate_names(self, path: TreePath, gate: Mapping[str, Any]) -> dict[str, Any]:
        """What a gate's metric and slice are in full; they are checked, and so is its output."""
        metric, output, part = gate.get("metric"), gate.get("output"), gate.get("slice")
        named: dict[str, Any] = {}
        if isinstance(part, str):
            place = (*path, "slice")
            key, equals, value = part.partition("=")
            if key and equals:
                named["slice"] = f"{self._slice_key(place, key)}={value}"
                self._slice_value(place, key, value)
            else:
                self._checks.wrong(place, "text such as metadata.camera=front", part, kind=False)
        given = gate.get("parameters")
        given = given if isinstance(given, dict) else {}
        if not isinstance(metric, str) or self.task is None:
            return named
        of_label = ("label",) if gate.get("label") is not None else ()
        measure = self._measure((*path, "metric"), metric, (*given, *of_label))
        if measure is not None:
            measure = self._under_its_name((*path, "metric"), measure, given)
        if measure is None:
            return named
        if isinstance(output, str):
            place = (*path, "output")
            known = self._outputs(self.task, measure.metric)
            if output not in known:
                owner = self._checks.written((*path, "metric"), metric)
                listed = f"{owner} has {', '.join(known) or 'none'}"
                self._checks.unknown(place, "output", output, known, listed=listed)
        return named | {
            "metric": measure.metric,
            "output": output or measure.output,
            "parameters": {**measure.row, **given},
            "request": dict(measure.parameters),
        }
