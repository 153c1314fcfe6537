"""Completeness: reaches of given points by hand, what has no value, and UMAP's own points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from tests.oracles.measured_by_models import each_outcome, outcomes_of
from tests.oracles.text_models import ScriptedModels
from tests.oracles.text_samples import samples
from valor_cli.errors import MissingExtraError
from valor_cli.evaluators.embedding.metrics import completeness as module
from valor_cli.evaluators.embedding.metrics.completeness import COMPLETENESS
from valor_cli.evaluators.model_metrics import ModelTexts
from valor_cli.evaluators.samples.outcomes import Outcome
from valor_cli.models.embedders.reduction import Cloud, UmapReduction, dimensions_of
from valor_cli.models.requests import Stop
from valor_cli.models.settings import EmbedderSettings
from valor_cli.models.text.windows import Runtime
from valor_cli.models.text_models import TextModels
from valor_cli.results import Mark

PLACES: Mapping[str, tuple[float, float]] = {
    "Ants.": (0.0, 0.0),
    "Bees.": (8.0, 0.0),
    "Cows.": (0.0, 6.0),
    "Dogs.": (2.0, 0.0),
    "Elks.": (0.0, 5.0),
    "Fish.": (30.0, 40.0),
    "Goat.": (2.0, 8.0),
}
TEXT = "Ants. Bees. Cows. Dogs."


@dataclass
class Given:
    """A reduction to points that were given: vectors are found again in a table of places."""

    seen: list[Cloud] = field(default_factory=list)
    name: str = "given"

    def points(self, clouds: Iterable[Cloud], total: int) -> Iterator[Cloud]:
        for cloud in clouds:
            self.seen.append(cloud)
            yield Cloud(*(self._placed(vectors) for vectors in cloud))

    def _placed(self, vectors: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        places = list(PLACES.values())
        return np.array([places[int(row.argmax())] for row in vectors], float).reshape(-1, 2)


@dataclass
class Placed(ScriptedModels):
    """Models whose reduction has those points: a vector points at its sentence's place."""

    vectors: Mapping[str, Sequence[float]] = field(
        default_factory=lambda: dict(zip(PLACES, np.eye(len(PLACES)).tolist(), strict=True))
    )
    given: Given = field(default_factory=Given)

    def reduction(self, metric: str) -> Any:
        return self.given


def of(text: str | None, summary: str | None) -> Outcome:
    (found,) = each_outcome(COMPLETENESS, samples([summary], user_input=[text]), Placed())
    return found


def test_by_hand() -> None:
    # Of the text, bees and cows are 10 apart; from bees ants are at 8, from cows dogs at sqrt 40.
    whole = 10 + 8 + 40**0.5
    # Pairs are apart 8, 6, 2, 10, 6, sqrt 40: the median is (6 + sqrt 40) / 2 = 6.16. Elks are
    # nearest to cows, at 1; goats too, at sqrt 8. Fish are near nothing.
    found = of(TEXT, "Ants. Elks. Fish. Goat.")
    assert found.values["value"] == pytest.approx(6 / whole, abs=1e-9)
    assert found.details == {
        "dimensions": 2,
        "sentences": 4,
        "summary_sentences": 4,
        "dropped": 1,
        "reach": pytest.approx(6, abs=1e-9),
        "reach_of_text": pytest.approx(whole, abs=1e-9),
    }
    assert found.marks == (Mark("response", 12, 17, "far from the text"),)
    assert found.reason is None
    # Three points: all three segments between them.
    found = of(TEXT, "Ants. Bees. Elks.")
    assert found.values["value"] == pytest.approx((10 + 8 + 6) / whole, abs=1e-9)


def test_the_text_itself_is_complete() -> None:
    assert of(TEXT, TEXT).values == {"value": 1.0}
    assert of(TEXT, "Dogs. Cows. Bees. Ants. Ants.").values == {"value": 1.0}


def test_a_sentence_of_the_text_is_its_own_point() -> None:
    models = Placed()
    each_outcome(COMPLETENESS, samples(["Bees. Elks. Elks."], user_input=[TEXT]), models)
    ((trained, others),) = models.given.seen
    assert (len(trained), len(others)) == (4, 1)
    assert models.embedded == ["Ants.", "Bees.", "Cows.", "Dogs.", "Elks."]


def test_a_sentence_that_stands_twice_is_one_point() -> None:
    models = Placed()
    data = samples(["Ants. Bees."], user_input=[f"{TEXT} {TEXT} Ants."])
    (found,) = each_outcome(COMPLETENESS, data, models)
    assert len(models.given.seen[0].trained) == 4
    assert found.values["value"] == pytest.approx(8 / (18 + 40**0.5), abs=1e-9)


def test_one_sentence_reaches_nowhere() -> None:
    assert of(TEXT, "Elks.").values == {"value": 0.0}


def test_all_sentences_dropped() -> None:
    found = of(TEXT, "Fish.")
    assert (found.values, found.status) == ({"value": 0.0}, "ok")
    assert found.reason == "no sentence of the summary is near one of the text"
    assert found.marks == (Mark("response", 0, 5, "far from the text"),)


def test_more_than_all_is_all(monkeypatch: pytest.MonkeyPatch) -> None:
    # Three corners of a triangle of side 1; two points, over and under it, 1.001 apart: from either
    # the corners are at 0.764. All reach 1.001 + 2 * 0.764 = 2.53, the corners alone 3.
    height = 3**0.5 / 2
    corners = [(0, 0, 0), (1, 0, 0), (0.5, height, 0)]
    poles = [(0.5, height / 3, side * 0.5005) for side in (1, -1)]
    everything = np.array([*corners, *poles], float)
    monkeypatch.setattr(Given, "points", lambda *_: iter([Cloud(everything, np.empty((0, 3)))]))
    (found,) = each_outcome(
        COMPLETENESS,
        samples(["Ants. Bees. Cows."], user_input=["Ants. Bees. Cows. Dogs. Elks."]),
        Placed(),
    )
    assert found.values == {"value": 1.0}
    assert found.details is not None
    assert found.details["reach"] > found.details["reach_of_text"]


@pytest.mark.parametrize(
    ("text", "summary", "status", "reason"),
    [
        (None, "Ants.", "missing_input", "no user_input"),
        (" ", "Ants.", "missing_input", "the user_input is empty"),
        (TEXT, None, "missing_input", "no response"),
        (TEXT, "\n", "missing_input", "the response is empty"),
        (
            "Ants. Bees. Cows. Ants.",
            "Ants.",
            "not_applicable",
            "the text has 3 distinct sentences; 4 are needed",
        ),
    ],
)
def test_without_value(text: str | None, summary: str | None, status: str, reason: str) -> None:
    found = of(text, summary)
    assert (found.values, found.status, found.reason) == ({}, status, reason)


def test_sentences_on_one_point() -> None:
    models = ScriptedModels(best=True)
    (found,) = each_outcome(COMPLETENESS, samples([TEXT], user_input=[TEXT]), models)
    assert found.status == "not_applicable"
    assert found.reason == "all sentences of the text lie on one point"


def test_too_many_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_SENTENCES", 4)
    assert of(TEXT, TEXT).status == "ok"
    assert of(f"{TEXT} Elks.", "Ants.").status == "skipped"
    found = of(TEXT, "Ants. Ants. Ants. Ants. Ants.")
    assert (found.status, found.reason) == ("skipped", "there are more than 4 sentences")


def test_several_samples_each_on_its_own() -> None:
    rows = [(TEXT, "Ants. Bees."), ("one", "x"), (f"{TEXT} Elks.", TEXT), (None, TEXT)]
    data = samples([two for _, two in rows], user_input=[one for one, _ in rows])
    together = each_outcome(COMPLETENESS, data, Placed())
    assert together == [of(*row) for row in rows]


def test_what_stands_beside_values() -> None:
    assert outcomes_of(COMPLETENESS, samples([TEXT], user_input=[TEXT]), Placed()).beside == {
        "model": "scripted-vectors",
        "model_sha256": "0" * 64,
        "splitter": "valor-2",
        "reduction": "given",
    }


@pytest.mark.parametrize(("count", "dimensions"), [(4, 2), (5, 3), (6, 4), (7, 5), (1000, 5)])
def test_dimensions(count: int, dimensions: int) -> None:
    assert dimensions_of(count) == dimensions


def test_without_umap_nothing_is_embedded(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise ModuleNotFoundError(name=name)

    models = TextModels(EmbedderSettings(), None, Runtime("cpu", Stop(), lambda *_: None))
    monkeypatch.setattr("valor_cli.extras.importlib.import_module", absent)
    texts = ModelTexts(samples([TEXT], user_input=[TEXT]), models)
    with pytest.raises(
        MissingExtraError, match=r"(?s)completeness: .*umap.*'valor-cli\[summary\]'"
    ):
        module.completeness(texts)


LONG = " ".join(
    f"The {animal} {does} {where}."
    for animal in ("heron", "badger", "tortoise", "falcon")
    for does in ("sleeps", "hunts", "drinks")
    for where in ("by the river", "under an old oak", "in the snow")
)


@pytest.mark.models
def test_umap_makes_the_same_points_twice_whatever_comes_before() -> None:
    rng = np.random.default_rng(0)
    clouds = [
        Cloud(rng.normal(size=(n, 16)), rng.normal(size=(m, 16)))
        for n, m in ((4, 1), (5, 0), (6, 3), (7, 2), (16, 4), (60, 5))
    ]
    told: list[tuple[str, int, int]] = []
    reduction = UmapReduction("completeness", Runtime("cpu", Stop(), lambda *one: told.append(one)))
    first = list(reduction.points(clouds, len(clouds)))
    assert told[-1] == ("laying out sentences", 6, 6)
    again = list(reduction.points(reversed(clouds), len(clouds)))[::-1]
    for vectors, one, other in zip(clouds, first, again, strict=True):
        assert one.trained.shape == (len(vectors.trained), dimensions_of(len(vectors.trained)))
        assert one.others.shape == (len(vectors.others), one.trained.shape[1])
        assert np.isfinite(one.trained).all()
        assert np.isfinite(one.others).all()
        assert np.array_equal(one.trained, other.trained)
        assert np.array_equal(one.others, other.others)


@pytest.mark.models
def test_completeness_with_umap() -> None:
    class Models(ScriptedModels):
        def reduction(self, metric: str) -> Any:
            return UmapReduction(metric, Runtime("cpu", Stop(), lambda *_: None))

    said = LONG.split(". ")
    summaries = [LONG, f"{said[0]}.", f"{said[0]}. {said[20]}.", "Quite another thing. And more."]
    data = samples(summaries, user_input=[LONG] * len(summaries))
    found = [one.values["value"] for one in each_outcome(COMPLETENESS, data, Models())]
    assert found[:2] == [1.0, 0.0]
    assert 0 < (found[2] or 0) < 1
    assert 0 <= (found[3] or 0) <= 1
    assert found == [one.values["value"] for one in each_outcome(COMPLETENESS, data, Models())]
