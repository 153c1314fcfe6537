"""A text in; the telephone numbers in it out.

A number is one where its form says so: a leading "+", the grouping of North America, an area code
in brackets, a leading 0 with groups. Other digits count where a word beside them says so ("call",
"Fax:", "… office"). No numbering plan is consulted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_GAPS = " \u00a0\u202f.\\-\u2010-\u2013"
_RUN = re.compile(
    rf"[0-9][0-9()/{_GAPS}]{{5,26}}+(?<=[0-9])(?:[ ]?(?:x|ext\.?[ ]?)[0-9]{{1,6}})?(?![0-9A-Za-z_])"
)
