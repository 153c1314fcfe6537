"""Clusters and object stores have an environment of their own (`make test-scale`)."""

from __future__ import annotations

from importlib.util import find_spec

PACKAGES = ("distributed", "moto", "s3fs")

collect_ignore_glob = (
    []
    if all(find_spec(name) for name in PACKAGES)
    else ["test_cluster*.py", "test_distributed*.py", "test_remote*.py"]
)
