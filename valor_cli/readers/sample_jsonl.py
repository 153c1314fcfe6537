"""JSONL files of text samples come in; a `SampleFile` goes out.

A line is `{"sample_id": …, "user_input": …, "response": …, "references": […], …}`;
`sample_header.ALIASES` says what else the keys may be called.
"""

from __future__ import annotations

from valor_cli.readers.checks import LineProblems
from valor_cli.readers.files import TextSource
from valor_cli.readers.sample_file_of import sample_file
from valor_cli.readers.sample_files import SampleFile, SampleReading, SampleRow
from valor_cli.readers.sample_header import Layouts
from valor_cli.readers.sample_plain import PlainRows
from valor_cli.readers.sample_rows import SampleRowReader
from valor_cli.readers.text_lines import blocks_of_lines

_BLOCK = 1 << 20


def read_sample_jsonl(path: str, reading: SampleReading) -> SampleFile:
    """The samples of a JSONL file.

    Args:
        path: The file, plain or compressed, or "-" for standard input.
        reading: How to read it.

    Raises:
        DataError: The file cannot be read; a line is not such JSON; a value is wrong; there are no
            samples, or no column of a known name.
    """
    source = TextSource(path)
    problems = LineProblems(path)
    layouts = Layouts(reading)
    plain = PlainRows(reading, layouts)
    slow = SampleRowReader(reading, layouts, problems)
    rows: list[tuple[int, SampleRow]] = []
    line_number = number = 0
    for block in blocks_of_lines(source, _BLOCK):
        for line in block.removesuffix(b"\n").split(b"\n"):
            line_number += 1
            if not line or line.isspace():
                continue
            number += 1
            row = plain.line(line, line_number) or slow.line(line, line_number)
            if row is not None:
                rows.append((number, row))
    return sample_file(
        path,
        rows,
        problems,
        reading,
        faulty=slow.faulty,
        sha256=source.sha256,
        names=layouts.names,
        metadata=plain.found | slow.found,
        plain_contexts=slow.plain_contexts,
    )
