"""Check digits, by hand and by the examples of the standards."""

from __future__ import annotations

import pytest

from valor_cli.kernels.secrets.checksums import base58check, bech32, luhn, mod_97


def test_luhn_of_the_standard_s_example() -> None:
    # 7992739871 and its check digit: from the right 3, 1·2, 7, 8·2→7, 9, 3·2, 7, 2·2, 9, 9·2→9, 7:
    # 3+2+7+7+9+6+7+4+9+9+7 = 70.
    assert luhn("79927398713")
    assert not any(luhn(f"7992739871{digit}") for digit in "012456789")


@pytest.mark.parametrize(
    "number", ["GB82WEST12345698765432", "DE89370400440532013000", "NO9386011117947"]
)
def test_mod_97_of_the_registry_s_examples(number: str) -> None:
    assert mod_97(number)
    swapped = number[:-2] + number[-1] + number[-2]
    assert swapped == number or not mod_97(swapped)


def test_base58check_of_the_first_address() -> None:
    assert base58check("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa")
    assert not base58check("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb")
    assert not base58check("1A1zP1eP5QGefi2DMPTfTL5SLmv7Div0Na")
    assert not base58check("z" * 60)


@pytest.mark.parametrize(
    "address",
    [
        "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",  # BIP 173
        "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",  # BIP 350
    ],
)
def test_bech32_of_the_proposals_examples(address: str) -> None:
    assert bech32(address)
    assert not bech32(address[:-1] + ("q" if address[-1] != "q" else "p"))
    assert not bech32(address + "b")
