"""Object stores and clusters have an environment of their own (`make test-scale`), which has no
judges: what needs packages that are not there is not collected.
"""

from __future__ import annotations

from importlib.util import find_spec

NEEDED = {
    "test_cluster*.py": ("distributed",),
    "test_remote*.py": ("aiohttp", "moto", "s3fs"),
}

# Nothing is imported to find out: litellm says what warnings it does not want when it is imported,
# and outside of a test that is forgotten.
collect_ignore_glob = [
    pattern for pattern, names in NEEDED.items() if not all(map(find_spec, names))
]
