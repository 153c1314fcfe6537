"""How inputs are cut, before anything of them is read."""

from __future__ import annotations

import pytest

from valor_cli.errors import ValorError
from valor_cli.pipeline.piece_size import PIECE, PIECE_BYTES, piece_bytes, piece_of


@pytest.mark.parametrize("processes", [1, 2, 3, 8])
@pytest.mark.parametrize("total", [PIECE + 1, 106_000_000, 754_000_000, 10**11 + 7])
def test_each_process_gets_as_many_pieces(total: int, processes: int) -> None:
    size = piece_of(total, processes)
    assert size <= PIECE
    assert -(-total // size) % processes == 0


def test_small_inputs_are_one_piece() -> None:
    assert piece_of(0, 2) == piece_of(PIECE, 8) == PIECE


def test_the_environment_says_how_large_pieces_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PIECE_BYTES, raising=False)
    assert piece_bytes() is None
    monkeypatch.setenv(PIECE_BYTES, "4096")
    assert piece_bytes() == 4096


@pytest.mark.parametrize("said", ["", "0", "-1", "16MiB", "1e6", "٣"])
def test_what_is_no_number_of_bytes_is_refused(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setenv(PIECE_BYTES, said)
    with pytest.raises(ValorError, match=PIECE_BYTES) as caught:
        piece_bytes()
    assert "16777216" in str(caught.value.hint)
