"""What pages say of keys, thresholds, limits and files is what the code has."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import text_of
from valor_cli.config import document, nodes
from valor_cli.data.formats import images as image_files
from valor_cli.evaluators.embedding.calibrated_thresholds import (
    CALIBRATED,
    MINILM_FAMILY,
    SEEDS_MODEL,
)
from valor_cli.evaluators.structure import artifact_files
from valor_cli.kernels.geometry import rle
from valor_cli.kernels.patterns import regex as patterns
from valor_cli.kernels.replies import json_values as reply_json
from valor_cli.kernels.secrets.places import secret_spans
from valor_cli.models import store_file
from valor_cli.models.litellm import client as litellm_client
from valor_cli.results.history import HistoryRow


def test_the_keys_of_a_row() -> None:
    _, _, table = text_of("docs/history.md").partition("| key of a row | meaning |\n")
    first = [line.split(" | ")[0] for line in table.partition("\n\n")[0].splitlines()[1:]]
    named = [name for cell in first for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(named) == sorted(HistoryRow.__struct_fields__)


ROW = re.compile(r"^\| (?:`(\w+)` of )?`(\w+)`[\w ]* \| ([\d.]+) \| ([\d.]+) \|", re.MULTILINE)


def test_the_thresholds_are_those_that_are_used() -> None:
    told = {
        (metric, parameter or "threshold"): (float(minilm), float(seeds))
        for parameter, metric, minilm, seeds in ROW.findall(text_of("docs/models.md"))
    }
    used = {
        (metric, name): (families[MINILM_FAMILY][name], families[SEEDS_MODEL][name])
        for metric, families in CALIBRATED.items()
        for name in families[SEEDS_MODEL]
    }
    assert told == used


SECURITY = text_of("docs/security.md")
WORDS = " ".join(SECURITY.split())


def test_the_limits_are_those_of_the_code() -> None:
    yaml = f"at most {document.LARGEST >> 20} MiB, {nodes.MOST_VALUES:,} values with aliases"
    assert f"{yaml} expanded, {nodes.DEEPEST} levels" in WORDS
    assert f"more than {image_files.MOST_PIXELS:,} pixels are refused" in WORDS
    assert f"files above {image_files.LARGEST_FILE >> 30} GiB" in WORDS
    assert f"sides up to {rle.LARGEST_SIDE:,} pixels" in WORDS
    assert (patterns.LIMIT_S, patterns.TRIES) == (1.0, 3)
    assert "one second of processor time" in WORDS
    assert "stopped three times" in WORDS
    artifacts = f"at most {artifact_files.MOST_FILES:,} files, {artifact_files.DEEPEST} folders"
    assert f"{artifacts} deep, {artifact_files.LARGEST >> 20} MiB a file" in WORDS
    assert f"at most {reply_json.DEEPEST} levels deep" in WORDS


def test_the_bad_releases_are_those_that_are_refused() -> None:
    assert f"litellm {' and '.join(litellm_client.MALICIOUS)}, releases that stole keys" in WORDS


def test_the_cache_is_called_so() -> None:
    assert f"`{store_file.FILE}` in the cache folder" in SECURITY


@pytest.mark.parametrize(
    "text",
    [
        "jane.doe@example.com",
        "4111 1111 1111 1111",
        "536-22-1234",
        "AKIAIOSFODNN7EXAMPLE",
        "amFuZS5kb2VAZXhhbXBsZS5jb20gaXMgaGVy",
    ],
)
def test_what_is_said_to_be_masked_is(text: str) -> None:
    assert [(one.start, one.end) for one in secret_spans(f"it is {text} .")] == [(6, 6 + len(text))]


@pytest.mark.parametrize("text", ["Jane Doe, 12 Elm St.", "415-555-2671", "DE89370400440532013000"])
def test_what_is_said_to_stay_stays(text: str) -> None:
    assert not secret_spans(f"it is {text} .")
