"""Write requirements.lock and requirements-dev.lock from the ranges in pyproject.toml.

Needs uv (`pip install uv`). The locks hold versions and hashes for every platform and Python that
pyproject.toml allows, and no address of a package index.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMON = [
    "uv",
    "pip",
    "compile",
    "pyproject.toml",
    "--universal",
    "--python-version",
    "3.11",
    "--generate-hashes",
    "--quiet",
    "--no-header",
    "--no-annotate",
    "--no-emit-index-url",
]


def main() -> None:
    """Compile the lock of the product, then that of its development, which agrees with it."""
    for more in (
        ["--group", "build", "-o", "requirements.lock"],
        ["--group", "build", "--group", "dev", "-c", "requirements.lock"]
        + ["-o", "requirements-dev.lock"],
    ):
        subprocess.run([*COMMON, *more], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
