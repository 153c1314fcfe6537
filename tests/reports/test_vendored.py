"""What the report carries of other people's work is what was built, and says whose it is."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from msgspec.structs import replace

from tests.reports.rendered import page as to_html
from tests.reports.task_runs import classified, segmented

ROOT = Path(__file__).parents[2]
VENDOR = ROOT / "valor_cli/reports/page/vendor"
BUILD = ROOT / "docs/vendor"
RECORD = json.loads((VENDOR / "vendored.json").read_text(encoding="utf-8"))


def test_the_files_are_those_that_were_built() -> None:
    found = {path.name for path in VENDOR.iterdir() if path.name != "vendored.json"}
    assert found == set(RECORD["sha256"])
    for name, digest in RECORD["sha256"].items():
        assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == digest


def test_name_version_and_licence_are_kept() -> None:
    packages = json.loads((BUILD / "package.json").read_text(encoding="utf-8"))
    assert packages["dependencies"] == {RECORD["name"]: RECORD["version"]}
    banner = f"/*! {RECORD['name']} {RECORD['version']}, {RECORD['licence']} licence"
    for name in ("uplot.min.js", "uplot.min.css"):
        assert (VENDOR / name).read_text(encoding="utf-8").startswith(banner)
    licence = (VENDOR / "uplot.LICENSE").read_text(encoding="utf-8")
    assert "Permission is hereby granted, free of charge" in licence


def test_the_lock_names_no_address() -> None:
    lock = json.loads((BUILD / "package-lock.json").read_text(encoding="utf-8"))
    assert not [one for one in lock["packages"].values() if "resolved" in one]
    pinned = {name: one for name, one in lock["packages"].items() if name}
    assert all("integrity" in one for one in pinned.values())


def test_only_pages_with_charts_carry_it() -> None:
    script = (VENDOR / "uplot.min.js").read_text(encoding="utf-8")
    assert script in to_html(classified())
    assert script in to_html(segmented())
    assert script not in to_html(replace(classified(), curves=()))
    assert "</script" not in script
