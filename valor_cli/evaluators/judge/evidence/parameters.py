"""Parameter types of judge metrics."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Interval

JudgeRetries = Annotated[int, Interval(ge=0, le=20)] | None
"""Tries again after replies that do not fit; None: as the `judge:` block says."""

BatchSize = Annotated[int, Interval(ge=1, le=1000)]
"""Texts that a judge gives its verdicts on at a time."""

QuestionCount = Annotated[int, Interval(ge=1, le=100)]
"""Questions that a judge makes up for a response."""

FirstContexts = Annotated[int, Interval(ge=1)] | None
"""The first so many contexts; None: all."""

ValueIfNone = Annotated[float, Interval(ge=0, le=1)] | None
"""The value of a sample of which there is nothing to judge; None: it has none."""
