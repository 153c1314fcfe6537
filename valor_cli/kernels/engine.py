"""Which engine computes: the compiled kernel where it is installed, else numpy.

Both give the same bits. A kernel that has a compiled twin asks `compiled` at each call, so that a
test can have either.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, cast

from numpy.typing import NDArray

REVISION: Final = 1
"""Of the functions below; those of another one are not called."""

VARIABLE: Final = "VALOR_KERNEL"
"""Says "numpy" or "compiled" to have one engine and no other."""

Column: TypeAlias = NDArray[Any] | bytes | bytearray | memoryview


class Kernel(Protocol):
    """The functions of the compiled kernel; each says what it takes in its C file."""

    REVISION: int

    def order_by_group(self, group: Column, order: Column, /) -> None: ...
    def ranked(self, label: Column, score: Column, before: Column, order: Column, /) -> None: ...
    def detected_boxes(
        self,
        text: Column,
        image_id: Column,
        category_id: Column,
        bbox: Column,
        score: Column,
        largest: float,
        /,
    ) -> tuple[int, int, int]: ...
    def detected_masks(
        self,
        text: Column,
        image_id: Column,
        category_id: Column,
        score: Column,
        size: Column,
        letters: Column,
        length: Column,
        largest_side: int,
        /,
    ) -> tuple[int, int, int]: ...
    def annotated_boxes(
        self,
        text: Column,
        image_id: Column,
        category_id: Column,
        bbox: Column,
        own_id: Column,
        area: Column,
        crowd: Column,
        largest: float,
        /,
    ) -> tuple[int, int, int]: ...
    def members(self, text: Column, spans: Column, /) -> int: ...
    def overlapping_boxes(
        self,
        detections: Column,
        ground_truths: Column,
        crowd: Column,
        first: Column,
        count: Column,
        detection: Column,
        ground_truth: Column,
        iou: Column,
        least: float,
        /,
    ) -> int: ...
    def order_hits(
        self,
        label: Column,
        candidate: Column,
        codes: Column,
        outside: Column,
        counted: Column,
        kept: Column,
        rows: Column,
        segment: Column,
        counted_span: Column,
        corrected: Column,
        sign: Column,
        corrected_span: Column,
        labels: int,
        /,
    ) -> tuple[int, int]: ...
    def reaching(
        self, values: Column, group: Column, levels: Column, counts: Column, /
    ) -> None: ...
    def match(
        self,
        start: Column,
        ground_truth: Column,
        iou: Column,
        turns: Column,
        regular: Column,
        crowd: Column,
        floors: Column,
        remember: Column,
        code: Column,
        taken: Column,
        /,
    ) -> None: ...
    def decoded_counts(
        self,
        letters: Column,
        lengths: Column,
        sizes: Column,
        counts: Column,
        starts: Column,
        foreground: Column,
        valid: Column,
        /,
    ) -> int: ...
    def drawn_room(self, points: Column, rings: Column, size: Column, /) -> int: ...
    def drawn_counts(
        self,
        points: Column,
        rings: Column,
        size: Column,
        counts: Column,
        starts: Column,
        foreground: Column,
        /,
    ) -> int: ...
    def bounded(
        self, counts: Column, starts: Column, size: Column, rows: Column, box: Column, /
    ) -> None: ...
    def taken_counts(
        self, counts: Column, starts: Column, size: Column, rows: Column, taken: Column, /
    ) -> None: ...
    def overlapping_masks(
        self,
        detections: Column,
        detection_starts: Column,
        detection_size: Column,
        ground_truths: Column,
        ground_truth_starts: Column,
        ground_truth_size: Column,
        rows: Column,
        first: Column,
        count: Column,
        own: Column,
        other: Column,
        crowd: Column,
        detection: Column,
        ground_truth: Column,
        iou: Column,
        least: float,
        /,
    ) -> int: ...
    def png_pixels(self, rows: Column, layout: Column, pixels: Column, /) -> bool: ...
    def meetings(
        self, truth: Column, prediction: Column, truth_codes: Column, prediction_codes: Column, /
    ) -> bytes: ...


class Engine(NamedTuple):
    """The kernel, if it computes, and why or why not."""

    kernel: Kernel | None
    reason: str


def found_engine(wish: str, module: str = "valor_cli.kernels._compiled") -> Engine:
    """What to compute with.

    Args:
        wish: "numpy"; anything else for the faster one that is there.
        module: Where the compiled kernel is looked for.
    """
    if wish == "numpy":
        return Engine(None, f"{VARIABLE}=numpy asks for it")
    try:
        kernel = cast(Kernel, import_module(module))
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError):
            return Engine(None, "the compiled kernel is not installed: no compiler was there")
        return Engine(None, f"the compiled kernel cannot be loaded ({error})")
    if kernel.REVISION != REVISION:
        return Engine(None, "the compiled kernel is of another version of valor; install it again")
    return Engine(kernel, "in valor_cli/kernels/c; results have the same bits with numpy")


ENGINE: Final = found_engine(os.environ.get(VARIABLE, ""))
compiled: Kernel | None = ENGINE.kernel
