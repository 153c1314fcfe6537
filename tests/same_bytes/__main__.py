"""`python -m tests.same_bytes`."""

from __future__ import annotations

import sys

from tests.same_bytes.command import main

if __name__ == "__main__":
    sys.exit(main())
