"""Patterns of recognisable credentials: issuer prefixes, lengths, grammars.

Every pattern runs in linear time: it begins with rare characters, each repetition is bounded or
possessive, and the few nested ones end at a character that they cannot match. Credentials known to
the named plugins of Yelp's detect-secrets 1.5 have the same form here, except that they must not
be adjacent to a word or number.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from dataclasses import dataclass

_W = "[A-Za-z0-9_-]"
_END = f"(?!{_W})"
_WORD_END = "(?![A-Za-z0-9_])"
_ALNUM_END = "(?![A-Za-z0-9])"


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a kind of credential.

    Attributes:
        kind: Its name.
        hint: Found in each, within one word of 10 characters or more; seldom in other long words.
        pattern: Finds it; its first group, where it has one, is what is secret.
        check: Whether what was found is one indeed.
        before: Must end where `pattern` begins; the secret begins with it, unless that has a group.
        reach: Characters that `before` spans, at most.
    """

    kind: str
    hint: str
    pattern: re.Pattern[str]
    check: Callable[[str], bool] | None = None
    before: re.Pattern[str] | None = None
    reach: int = 0


def _is_jwt(text: str) -> bool:
    """Whether head and claims of a token are JSON, as RFC 7519 has them."""
    try:
        for part in text.split(".")[:2]:
            bare = part.rstrip("=")
            json.loads(base64.urlsafe_b64decode(bare + "=" * (-len(bare) % 4)))
    except (ValueError, RecursionError):
        return False
    return True


def _mixed(text: str) -> bool:
    """Whether there are digits and capitals among the letters, as names seldom have them."""
    return any(map(str.isdecimal, text)) and any(map(str.isupper, text))


_OPENAI_MARK = re.compile(r"[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}")


def _is_openai_key(text: str) -> bool:
    scoped = text.startswith(("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"))
    return (scoped and _mixed(text)) or _OPENAI_MARK.search(text) is not None


def _is_h2o_key(text: str) -> bool:
    return _mixed(text) and "T3BlbkFJ" not in text


def _is_password(text: str) -> bool:
    """Reject placeholders such as "$PASSWORD", "xxx" or "****"."""
    return any(map(str.isalnum, text)) and not text.startswith("$") and set(text.lower()) != {"x"}


def _no_name(text: str) -> bool:
    """Reject names such as "APPLICATIONS" and "APChemistry": letters only, in capitals or with
    vowels.
    """
    spoken = text.isupper() or not set("aeiou").isdisjoint(text[3:].lower())
    return not (text.isalpha() and spoken)


def _is_product_key(text: str) -> bool:
    """Reject placeholders such as "XXXXX-XXXXX-…", and words."""
    return any(map(str.isdecimal, text)) and len(set(text)) > 4


def _token(kind: str, prefix: str, body: str, check: Callable[[str], bool] | None = None) -> Form:
    """Of a token whose prefix has one width, and no word runs into it."""
    return Form(kind, prefix, re.compile(rf"{prefix}(?<![A-Za-z0-9]{prefix}){body}"), check)


_CLOUDS = (
    _token("AWS_ACCESS_KEY", "A(?:3T[A-Z0-9]|BIA|CCA|KIA|SIA)", rf"[0-9A-Z]{{16}}{_ALNUM_END}"),
    _token("AZURE_STORAGE_KEY", "AccountKey=", r"([A-Za-z0-9+/=]{88})"),
    _token("AZURE_SHARED_ACCESS_KEY", "SharedAccessKey=", r"([A-Za-z0-9+/]{43}=)"),
    Form("AZURE_SAS_TOKEN", "[?&]sig=", re.compile(r"[?&]sig=([A-Za-z0-9%+/]{43,63}(?:%3[Dd]|=))")),
    Form(
        "AZURE_CLIENT_SECRET",
        "[0-9]Q~",
        re.compile(r"Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~-])"),
        before=re.compile(r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}[0-9]\Z"),
        reach=4,
    ),
    _token("GOOGLE_API_KEY", "AIza", rf"{_W}{{35}}{_END}"),
    _token("GOOGLE_OAUTH_SECRET", "GOCSPX-", rf"{_W}{{28}}{_END}"),
    _token("GOOGLE_OAUTH_TOKEN", r"ya29\.", rf"{_W}{{30,4096}}+", _mixed),
    _token("ALIBABA_ACCESS_KEY", "LTAI", rf"[A-Za-z0-9]{{17,21}}{_ALNUM_END}", _mixed),
    _token("DIGITALOCEAN_TOKEN", "do[opr]_v1_", rf"[a-f0-9]{{64}}{_ALNUM_END}"),
    _token("DATABRICKS_TOKEN", "dapi", rf"[a-f0-9]{{32}}{_ALNUM_END}"),
    _token("VAULT_TOKEN", r"hv[sb]\.", rf"{_W}{{24,512}}+", _mixed),
    Form(
        "TERRAFORM_TOKEN",
        r"\.atlasv1\.",
        re.compile(rf"\.atlasv1\.{_W}{{60,70}}{_END}"),
        before=re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\Z"),
        reach=14,
    ),
    Form(
        "SOFTLAYER_KEY",
        r"api\.softlayer\.com/soap/",
        re.compile(rf"api\.softlayer\.com/soap/v3(?:\.1)?/([A-Za-z0-9]{{64}}){_ALNUM_END}"),
    ),
)
_MODELS = (
    _token("OPENAI_KEY", "sk-", rf"{_W}{{20,255}}+", _is_openai_key),
    _token("H2O_KEY", "sk-", rf"[A-Za-z0-9]{{48}}{_END}", _is_h2o_key),
    _token("ANTHROPIC_KEY", "sk-ant-", rf"[a-z0-9]{{2,12}}-{_W}{{32,255}}+"),
    _token("OPENROUTER_KEY", "sk-or-v1-", rf"[0-9a-f]{{64}}{_END}"),
    _token("DEEPSEEK_KEY", "sk-", rf"[0-9a-f]{{32}}{_END}"),
    _token("HUGGING_FACE_TOKEN", "hf_", rf"[A-Za-z0-9]{{34,40}}{_WORD_END}"),
    _token("REPLICATE_TOKEN", "r8_", rf"[A-Za-z0-9]{{37,40}}{_WORD_END}"),
    _token("GROQ_KEY", "gsk_", rf"[A-Za-z0-9]{{52}}{_WORD_END}"),
    _token("XAI_KEY", "xai-", rf"[A-Za-z0-9]{{80}}{_WORD_END}"),
    _token("PERPLEXITY_KEY", "pplx-", rf"[A-Za-z0-9]{{48,56}}{_WORD_END}"),
)
_CODE = (
    _token("GITHUB_TOKEN", "gh[oprsu]_", r"[A-Za-z0-9_]{36,255}+"),
    _token("GITHUB_TOKEN", "github_pat_", r"[A-Za-z0-9]{22}_[A-Za-z0-9]{59}(?![A-Za-z0-9_])"),
    _token("GITLAB_TOKEN", "glpat-", rf"{_W}{{20,50}}{_WORD_END}"),
    _token("GITLAB_TOKEN", "gl(?:dt|ft|rt)-", rf"{_W}{{20,50}}{_WORD_END}"),
    _token("GITLAB_TOKEN", "glsoat-", rf"{_W}{{20,50}}{_WORD_END}"),
    _token("GITLAB_TOKEN", "GR1348941", rf"{_W}{{20,50}}{_WORD_END}"),
    _token("GITLAB_TOKEN", "glcbt-", rf"(?:[0-9a-fA-F]{{2}}_)?{_W}{{20,50}}{_WORD_END}"),
    _token("GITLAB_TOKEN", "glimt-", rf"{_W}{{25}}{_WORD_END}"),
    _token("GITLAB_TOKEN", "glptt-", rf"{_W}{{40}}{_WORD_END}"),
    _token("GITLAB_TOKEN", "glagent-", rf"{_W}{{50,1024}}{_WORD_END}"),
    _token("GITLAB_TOKEN", "gloas-", rf"{_W}{{64}}{_WORD_END}"),
    Form(
        "NPM_TOKEN",
        "/:_authToken=",
        re.compile(r"/:_authToken=[ \t]{0,8}(npm_[^\s\"']{1,255}+|[A-Fa-f0-9-]{36})"),
        before=re.compile(r"//\S{1,200}\Z"),
        reach=202,
    ),
    _token("NPM_TOKEN", "npm_", rf"[A-Za-z0-9]{{36}}{_WORD_END}"),
    _token("PYPI_TOKEN", "pypi-AgEIcHlwaS5vcmc", rf"{_W}{{70,4096}}+"),
    _token("PYPI_TOKEN", "pypi-AgENdGVzdC5weXBpLm9yZw", rf"{_W}{{70,4096}}+"),
    _token("RUBYGEMS_KEY", "rubygems_", rf"[a-f0-9]{{48}}{_ALNUM_END}"),
    _token("DOCKER_TOKEN", "dckr_pat_", rf"{_W}{{27,64}}{_END}"),
    Form(
        "ARTIFACTORY_CREDENTIALS",
        "AKC|AP[0-9A-F]",
        re.compile(
            r"A(?:KC|P[0-9A-F])(?<![^\s=:\"'`(]...)(?:(?<=KC)[A-Za-z0-9]{10,512}+"
            r"|(?<!KC)[A-Za-z0-9]{8,512}+)(?![^\s\"'`),;.])"
        ),
        check=_no_name,
    ),
)
_SERVICES = (
    Form(
        "SLACK_TOKEN",
        "[xX][oO][xX][abeoprsABEOPRS]",
        re.compile(
            r"[xX][oO][xX](?<![A-Za-z0-9]...)(?:[abeoprsABEOPRS]-(?:[0-9]{1,20}-){1,8}"
            r"[A-Za-z0-9]{1,255}+|e(?:\.xox[bp])?-[0-9]-[A-Za-z0-9]{100,512}+)"
        ),
    ),
    _token("SLACK_TOKEN", "xapp-", r"[0-9]-[A-Z0-9]{5,20}-[0-9]{5,20}-[a-z0-9]{32,128}+"),
    Form(
        "SLACK_WEBHOOK",
        r"(?i:hooks\.slack\.com)",
        re.compile(
            r"(?i:https://hooks\.slack\.com/services/T[a-z0-9_]{1,32}+/B[a-z0-9_]{1,32}+/[a-z0-9_]{1,64}+)"
        ),
    ),
    _token("STRIPE_KEY", "[rs]k_live_", r"[0-9a-zA-Z]{24,255}+"),
    _token("TWILIO_KEY", "(?:AC|SK)", rf"[a-z0-9]{{32}}{_ALNUM_END}"),
    _token("SENDGRID_KEY", r"SG\.", rf"{_W}{{22}}\.{_W}{{43}}{_END}"),
    Form(
        "MAILCHIMP_KEY",
        "-us[0-9]",
        re.compile(rf"-us[0-9]{{1,2}}{_ALNUM_END}"),
        before=re.compile(r"(?<![0-9A-Za-z])[0-9a-z]{32}\Z"),
        reach=32,
    ),
    Form(
        "TELEGRAM_TOKEN",
        ":AA",
        re.compile(rf":AA{_W}{{33}}{_END}"),
        before=re.compile(r"(?<![0-9])[0-9]{8,10}\Z"),
        reach=10,
    ),
    Form(
        "DISCORD_TOKEN",
        rf"\.{_W}{{6}}\.{_W}{{27}}",
        re.compile(rf"\.{_W}{{6}}\.{_W}{{27,38}}{_END}"),
        check=_mixed,
        before=re.compile(rf"(?<!{_W})[MNO]{_W}{{23,25}}\Z"),
        reach=26,
    ),
    _token("SQUARE_SECRET", "sq0csp-", r"[0-9A-Za-z\\_-]{43}"),
    _token("SQUARE_TOKEN", "sq0atp-", rf"{_W}{{22}}{_END}"),
    _token("SHOPIFY_TOKEN", "shp(?:at|ca|pa|ss)_", rf"[a-fA-F0-9]{{32}}{_ALNUM_END}"),
    _token("POSTMAN_KEY", "PMAK-", rf"[a-f0-9]{{24}}-[a-f0-9]{{34}}{_ALNUM_END}"),
    _token("GRAFANA_TOKEN", "glsa_", rf"[A-Za-z0-9]{{32}}_[A-Fa-f0-9]{{8}}{_ALNUM_END}"),
    _token("NEW_RELIC_KEY", "NRAK-", rf"[A-Z0-9]{{27}}{_ALNUM_END}"),
    _token("ATLASSIAN_TOKEN", "ATATT3", r"[A-Za-z0-9_=-]{180,512}+"),
)
_ANY = (
    Form(
        "JWT",
        "eyJ",
        re.compile(rf"eyJ(?<!{_W}eyJ){_W}++={{0,2}}\.{_W}{{2,}}+={{0,2}}(?:\.{_W}*+)?"),
        check=_is_jwt,
    ),
    Form(
        "BASIC_AUTH",
        r"://[^\s/@]{3,}+@",
        re.compile(r"://[^\s:/?#\[\]@'\"<>{}()]{1,128}+:([^\s:/?#\[\]@'\"<>{}()]{1,256}+)@"),
        check=_is_password,
    ),
    _token("AGE_SECRET_KEY", "AGE-SECRET-KEY-1", rf"[0-9A-Z]{{58}}{_ALNUM_END}"),
    Form(
        "WINDOWS_PRODUCT_KEY",
        "(?:[A-Z0-9]{5}-){4}",
        re.compile(
            r"(?<![A-Za-z0-9_-])[BCDFGHJKMNPQRTVWXY2346789]{5}"
            rf"(?:-[BCDFGHJKMNPQRTVWXY2346789]{{5}}){{4}}{_END}"
        ),
        check=_is_product_key,
    ),
    Form(
        "ACTIVATION_KEY",
        "(?:[A-Z0-9]{5}-){4}",
        re.compile(rf"(?<![A-Za-z0-9_-])[A-Z0-9]{{5}}(?:-[A-Z0-9]{{5}}){{4}}{_END}"),
        check=_is_product_key,
    ),
)

FORMS: tuple[Form, ...] = (*_CLOUDS, *_MODELS, *_CODE, *_SERVICES, *_ANY)
"""Of one place, the form that comes first here names it."""
