"""Write every lock of the product and of its environments from pyproject.toml.

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
    """Compile the lock of the product, then those that agree with it."""
    for more in (
        ["pyproject.toml", "--group", "build", "-o", "requirements.lock"],
        ["pyproject.toml", "--group", "build", "--group", "dev", "-c", "requirements.lock"]
        + ["-o", "requirements-dev.lock"],
        ["--group", "browser", "-c", "requirements-dev.lock", "-o", "requirements-browser.lock"],
        ["pyproject.toml", "--group", "build", "--group", "scale", "-c", "requirements.lock"]
        + ["-o", "requirements-scale.lock"],
        ["pyproject.toml", "--group", "build", "--group", "export", "-c", "requirements.lock"]
        + ["-o", "requirements-export.lock"],
        ["--group", "docs", "-o", "requirements-docs.lock"],
        ["--group", "pip", "-o", "requirements-pip.lock"],
        # The group names all that is needed beside torch and what torch brings.
        ["--group", "models", "--no-deps", "-c", "requirements-dev.lock"]
        + ["-o", "requirements-models.lock"],
    ):
        subprocess.run([*COMMON, *more], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
