"""Object stores and clusters have an environment of their own (`make test-scale`)."""

from __future__ import annotations

from importlib.util import find_spec

STORES = ("aiohttp", "moto", "s3fs")

collect_ignore_glob = [] if all(map(find_spec, STORES)) else ["test_remote*.py"]
