"""Places of personal data, by hand and against Presidio's labelled sentences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest

from valor_cli.kernels.secrets.checksums import base58check, bech32
from valor_cli.kernels.secrets.payment_cards import is_payment_card
from valor_cli.kernels.secrets.personal_data import find_personal_data
from valor_cli.kernels.secrets.personal_entities import DEFAULT_ENTITIES, Entity

PRESIDIO = Path(__file__).parents[2] / "real_data" / "safety" / "pii" / "presidio.jsonl"
ALL = get_args(Entity)


def found(text: str, *entities: Entity) -> list[str]:
    spans = find_personal_data(text, entities or DEFAULT_ENTITIES)
    return [text[span.start : span.end] for span in spans]


def test_spans_are_places_and_kinds() -> None:
    text = "Mail a@b.org, SSN 123-45-6789, card 4111 1111 1111 1111."
    assert [tuple(span) for span in find_personal_data(text)] == [
        (5, 12, "EMAIL_ADDRESS"),
        (18, 29, "US_SSN"),
        (36, 55, "CREDIT_CARD"),
    ]


@pytest.mark.parametrize(
    "number",
    # The test numbers that the schemes publish.
    ["4111111111111111", "4222222222222", "5555555555554444", "2223003122003222", "378282246310005"]
    + ["30569309025904", "6011111111111117", "3530111333300000", "6200000000000005"],
)
def test_card_numbers_of_every_scheme(number: str) -> None:
    assert is_payment_card(number)
    assert found(f"My card is {number}, thanks") == [number]
    # A wrong digit, and a prefix that nobody has.
    assert not found(f"{number[:-1]}{(int(number[-1]) + 1) % 10}")
    assert not is_payment_card("9" + number[1:])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4111-1111-1111-1111", ["4111-1111-1111-1111"]),
        ("4111\u20111111\u20111111\u20111111", ["4111\u20111111\u20111111\u20111111"]),
        ("3782 822463 10005", ["3782 822463 10005"]),
        # A number in front, and the three digits of the card's back behind.
        ("1234 4111 1111 1111 1111 123", ["4111 1111 1111 1111"]),
        ("4111111111111111,5555555555554444", ["4111111111111111", "5555555555554444"]),
        ("0.4111111111111111 and 4111111111111111.5", []),
        ("x4111111111111111 4111111111111111y", []),
        ("41111111111111111111", []),
        # 19 digits are more often the key of a row.
        (
            "6212345678901232 6200 0000 0000 0000 000",
            ["6212345678901232", "6200 0000 0000 0000 000"],
        ),
        ("id 6200000000000000000", []),
        ("UnionPay card no. 6200000000000000000", ["6200000000000000000"]),
        ("4111 1111 11111111", []),
    ],
)
def test_card_numbers_as_they_are_printed(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("123-45-6789", ["123-45-6789"]),
        ("(899-99-9999)", ["899-99-9999"]),
        # Areas 000, 666 and 900 to 999, group 00 and serial 0000 are never issued.
        ("000-12-1234 666-12-1234 900-12-1234 123-00-1234 123-12-0000", []),
        ("078-05-1120", []),
        ("123-45-67890 1123-45-6789 1-123-45-6789 123-45-6789-0", []),
        ("SSN: 123456789", ["123456789"]),
        ("Her social security number is 123 45 6789.", ["123 45 6789"]),
        ("order 123456789, 123 45 6789", []),
    ],
)
def test_social_security_numbers(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<a.b+c@ex-ample.co.uk>; 'd@e.org'", ["a.b+c@ex-ample.co.uk", "d@e.org"]),
        ("Write to a@b.com. Or to c@d.com-office", ["a@b.com", "c@d.com"]),
        ("https://h.org/?mail=a@b.com&x=1", ["a@b.com"]),
        ("jürgen@müller.de 邮箱是a@b.cn。", ["jürgen@müller.de", "a@b.cn"]),
        ("logo@2x.png a@b a@1.2 @b.com a@ b.com @@", []),
        ("git@github.com:a/b https://name:word@host.org/", []),
    ],
)
def test_email_addresses(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("entity", "text", "expected"),
    [
        ("iban", "GB82 WEST 1234 5698 7654 32 is mine", ["GB82 WEST 1234 5698 7654 32"]),
        ("iban", "de89370400440532013000.", ["de89370400440532013000"]),
        ("iban", "NO9386011117947 NO9386011117974", ["NO9386011117947"]),
        ("iban", "GB82WEST12345698765433 ZZ82WEST12345698765432 XGB82WEST12345698765432", []),
        ("ip", "at 192.168.1.1. and 8.8.8.8:53", ["192.168.1.1", "8.8.8.8"]),
        ("ip", "fe80::1: [2001:db8::8a2e:370:7334]", ["fe80::1", "2001:db8::8a2e:370:7334"]),
        ("ip", "127.0.0.1 ::1 255.255.255.0 1.2.3.4.5 256.1.1.1 255.255.255.255.1", []),
        ("ip", "std::cout a::b 12:30:45 00:1a:2b:3c:4d:5e", []),
        ("phone", "Call +44 20 7946 0958.", ["+44 20 7946 0958"]),
        ("phone", "(212) 555-0123 or 1-212-555-0124", ["(212) 555-0123", "1-212-555-0124"]),
        ("phone", "212.555.0123x45, 06-10446904", ["212.555.0123x45", "06-10446904"]),
        ("phone", "call 7654321; 7654321", ["7654321"]),
        ("phone", "on 2024-01-02, 12.03.2021, 3.14159265; ISBN 978-0-306-40615-7", []),
        ("us_itin", "912-70-1234 912-66-1234 712-7-01234", ["912-70-1234"]),
        ("uk_nino", "AB123456C AB 12 34 56 D GB123456A", ["AB123456C", "AB 12 34 56 D"]),
        (
            "crypto",
            "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb",
            ["bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"],
        ),
    ],
)
def test_entities_that_are_asked_for(entity: Entity, text: str, expected: list[str]) -> None:
    assert found(text, entity) == expected
    assert found(text) == []


def test_a_telephone_number_gives_way_to_what_has_check_digits() -> None:
    text = "+4111111111111111 call 4111111111111111"
    kinds = [span.kind for span in find_personal_data(text, ("credit_card", "phone"))]
    assert kinds == ["CREDIT_CARD", "CREDIT_CARD"]


@pytest.mark.parametrize(
    "kind",
    ["CREDIT_CARD", "US_SSN", "EMAIL_ADDRESS", "IBAN_CODE", "IP_ADDRESS", "PHONE_NUMBER"],
)
def test_labels_of_presidio_s_sentences(kind: str) -> None:
    # Everything labelled is found as it is labelled, and nothing else.
    rows = [json.loads(line) for line in PRESIDIO.read_text().splitlines()]
    labelled = [
        (row["id"], span["start"], span["end"])
        for row in rows
        for span in row["spans"]
        if span["type"] == kind
    ]
    seen = [
        (row["id"], span.start, span.end)
        for row in rows
        for span in find_personal_data(row["text"], ALL)
        if span.kind == kind
    ]
    assert len(labelled) > 5
    assert sorted(seen) == sorted(labelled)


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
