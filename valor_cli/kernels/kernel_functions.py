"""Type declarations of the compiled kernel's functions."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

from numpy.typing import NDArray

Column: TypeAlias = NDArray[Any] | bytes | bytearray | memoryview


class Kernel(Protocol):
    """Functions of the compiled kernel; arguments are documented in C."""

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
        rows: Column,
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
        rows: Column,
        starts: Column,
        corrected: Column,
        sign: Column,
        counted_before: Column,
        counted_through: Column,
        corrected_before: Column,
        corrected_through: Column,
        /,
    ) -> tuple[int, int]: ...
    def reaching(
        self, values: Column, group: Column, levels: Column, counts: Column, /
    ) -> None: ...
    def meet(
        self,
        label: Column,
        image: Column,
        truth_label: Column,
        truth_image: Column,
        rank: Column,
        row: Column,
        first: Column,
        count: Column,
        images: int,
        /,
    ) -> int: ...
    def interpolate(
        self,
        starts: Column,
        copies: Column,
        seen: Column,
        ground_truths: Column,
        recalls: Column,
        best: Column,
        at: Column,
        /,
    ) -> None: ...
    def average_precisions(
        self,
        starts: Column,
        counted_before: Column,
        counted_through: Column,
        corrected_before: Column,
        corrected_through: Column,
        hit_image: Column,
        counted_image: Column,
        corrected_image: Column,
        sign: Column,
        weights: Column,
        ground_truths: Column,
        recalls: Column,
        average: Column,
        /,
    ) -> None: ...
    def tally_resamples(
        self,
        group: Column,
        unit: Column,
        weight: Column,
        found: Column,
        /,
    ) -> None: ...
    def running_sums(self, row: Column, stop: Column, weight: Column, found: Column, /) -> None: ...
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
    def json_tape(
        self,
        text: Column,
        kind: Column,
        start: Column,
        end: Column,
        parent: Column,
        key: Column,
        number: Column,
        line: Column,
        begin: Column,
        stop: Column,
        root: Column,
        key_start: Column,
        key_end: Column,
        /,
    ) -> tuple[int, int, int, int]: ...
    def csv_tape(
        self,
        text: Column,
        start: Column,
        end: Column,
        line: Column,
        fields: Column,
        delimiter: int,
        spaced: bool,
        width: int,
        /,
    ) -> tuple[int, int, int, int, bool]: ...
    def decimals(
        self, text: Column, start: Column, end: Column, value: Column, read: Column, /
    ) -> None: ...
    def coded(
        self,
        text: Column,
        start: Column,
        end: Column,
        code: Column,
        letters: Column,
        ends: Column,
        slots: Column,
        count: int,
        from_span: int,
        /,
    ) -> tuple[int, int]: ...
    def padded(self, text: Column, start: Column, end: Column, cells: Column, /) -> None: ...
    def held(
        self, key: Column, parent: Column, row: Column, node: Column, code: int, /
    ) -> None: ...
    def inside(self, parent: Column, row: Column, child: Column, owner: Column, /) -> int: ...
