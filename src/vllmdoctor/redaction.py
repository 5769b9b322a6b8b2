"""Text of a log in, the same text without secrets, personal names and prompts out. Idempotent, linear in the text."""

from __future__ import annotations

import re

MARK = "[redacted]"

_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)
_TOKENS = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"hf_[A-Za-z0-9]{16,}|api_org_[A-Za-z0-9]{16,}"
    r"|sk-[A-Za-z0-9_-]{16,}|gsk_[A-Za-z0-9]{16,}|nvapi-[A-Za-z0-9_-]{16,}"
    r"|(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}(?![A-Za-z0-9])"
    r"|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}|gl[a-z]{2,5}-[A-Za-z0-9_-]{16,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{8,}|xapp-[A-Za-z0-9-]{8,}|(?<=hooks\.slack\.com/services/)[A-Za-z0-9/]+"
    r"|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{10,}|GOCSPX-[A-Za-z0-9_-]{16,}"
    r"|dckr_pat_[A-Za-z0-9_-]{16,}|hvs\.[A-Za-z0-9_-]{16,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"
    r")"
)
# A lone "Bearer authentication" is prose; a credential has a digit or is long.
_BEARER = re.compile(r"(?i)(\bbearer\s+)(?:(?=[^\s'\"]*\d)[\w.~+/=-]{8,}|[\w.~+/=-]{24,})")
_SIGNED_URL = re.compile(
    r"(?i)([?&;](?:X-Amz-(?:Signature|Credential|Security-Token)|Signature|Policy|Key-Pair-Id|sig|token)=)[^\s&'\"<>]+"
)
_URL_USER = re.compile(r"((?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*://)[^\s/@'\"<>]+@")
_EMAIL = re.compile(r"(?<![\w.%+-])[\w.%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}(?![A-Za-z0-9-])")
_HOME = re.compile(r"(/home/|/Users/(?!Shared\b))[^\s/:;,'\"()\[\]{}<>|\\]+")
_WINDOWS_HOME = re.compile(r"(?i)(\b[a-z]:[\\/]+users[\\/]+)(?:[^\\/:*?\"'<>|\r\n]+(?=[\\/])|[^\\/:*?\"'<>|\s]+)")
_SHELL_PROMPT = re.compile(r"(?m)^((?:\([\w.-]+\) )?)[a-z_][\w.-]*@[\w.-]+(?=:[~/][^\s]*[$#] )")

# What stands before a value: a name (a flag with its dashes), its closing quote, and a separator.
_KEYED = re.compile(
    r"(?<![\w.\-])(?P<key>[\w.\-]{2,100})(?P<quote>\\*[\"'])?"
    r"(?P<separator>[ \t]*(?:=>|[:=])[ \t]*|[ \t]*,[ \t]*|[ \t]+)b?"
)
_HINT = re.compile(r"(?i)key|token|secret|passw|passphrase|credential|cookie|authorization|prompt|messages|content")
_SECRET_NAME = re.compile(
    r"(?:^-*|[_.-]|(?<=[a-z])(?=[A-Z]))(?i:api[_-]?keys?|access[_-]?key|secret(?:[_-]?access)?[_-]?key|account[_-]?key"
    r"|private[_-]?key|encryption[_-]?key|secret|password|passwd|passphrase|credentials?|cookie|authorization"
    r"|(?:hf|hub|hugging[_-]?face|auth|access|refresh|api|bearer|session|security|oauth|user|bot|personal|private|deploy"
    r"|registry|github|gh|gitlab|slack|jwt|service|modelscope|wandb|write|read)[_-]?token)$"
)
_TOKEN_VARIABLE = re.compile(
    r"(?!.*(?:EOS|BOS|PAD|UNK|SEP|CLS|MASK|STOP|IMAGE|VIDEO|AUDIO|MAX|NUM|PER)_TOKEN$)[A-Z0-9_]+_TOKEN"
)
_BARE_TOKEN = re.compile(r"-*token")
_PROMPT_NAME = re.compile(r"(?:system_|user_|negative_|formatted_|encoder_|decoder_|text_)?prompts?|prompt_token_ids")
_MESSAGE_NAME = re.compile(r"messages|content|reasoning_content")
_ENV_PAIR = re.compile(r"(?:name)[\"']?[:=][ \t]*[\"']?([A-Z0-9_]+)[\"']?[\s,]+[\"']?$")
_NO_SECRET = re.compile(r"(?i)(?:none|null|true|false|\*+|<.*|\$.*|\{\{.*|\.\.\.|…|secretstr.*|x+)?")
# "use --api-key to protect the server": words that follow an option's name in prose
_PROSE = frozenset(
    "to is are or and option options flag argument for was with in the a an must not if can as when on of value values "
    "should may will from by is/are parameter set using environment variable".split()
)
_STRUCTURE = re.compile(r"\\*[\"']|[\[\](){}]")
_BARE = re.compile(r"[^\s'\"&]+")
_RECEIVED = re.compile(
    r"(Received request [^\n]*?\bprompt: )(?!['\"\[{]|None\b)(.*?)(?=, (?:params|sampling_params|lora_request)\b|\n|\Z)"
)
_CLOSERS = {"[": "]", "(": ")", "{": "}"}


def redacted(text: str) -> str:
    """The text with every secret, user name, e-mail address and prompt replaced by a stable stand-in."""
    text = _PRIVATE_KEY.sub(MARK, text)
    if _HINT.search(text):
        text = _without_keyed_values(_RECEIVED.sub(rf"\g<1>{MARK}", text))
    text = _TOKENS.sub(MARK, text)
    text = _BEARER.sub(rf"\g<1>{MARK}", text)
    if "://" in text:
        text = _URL_USER.sub(rf"\g<1>{MARK}@", _SIGNED_URL.sub(rf"\g<1>{MARK}", text))
    if "@" in text:
        text = _EMAIL.sub(MARK, _SHELL_PROMPT.sub(r"\g<1>user@host", text))
    return _WINDOWS_HOME.sub(r"\g<1>user", _HOME.sub(r"\g<1>user", text))


def _without_keyed_values(text: str) -> str:
    kept: list[str] = []
    done = position = 0
    while found := _KEYED.search(text, position):
        position = found.end("key")
        start = found.end()
        end = _secret_end(text, found, start)
        if end is not None and end > start:
            kept += (text[done:start], _stand_in(text, start, end))
            done = position = end
    kept.append(text[done:])
    return "".join(kept)


def _secret_end(text: str, found: re.Match[str], start: int) -> int | None:
    """Where the private value that begins at `start` ends; None when there is nothing private."""
    key, separator, quoted_key = found["key"], found["separator"].strip(), found["quote"] is not None
    if text.startswith(MARK, start):
        return None
    if separator in ("=", ":", "=>"):
        if _PROMPT_NAME.fullmatch(key) or _MESSAGE_NAME.fullmatch(key) and (quoted_key or separator == "="):
            return _prompt_end(text, start)
        if key == "value" and (pair := _ENV_PAIR.search(text, max(0, found.start() - 120), found.start())):
            key, quoted_key = pair[1], True
    elif not _is_argument(key, separator, quoted_key, text, start):
        return None
    if _BARE_TOKEN.fullmatch(key):
        return _bare_token_end(text, start, separator, quoted_key, key)
    if not (_SECRET_NAME.search(key) or _TOKEN_VARIABLE.fullmatch(key)):
        return None
    if key.lower().endswith(("authorization", "cookie")) and not _STRUCTURE.match(text, start):
        return _header_end(text, start)
    return _value_end(text, start)


def _is_argument(key: str, separator: str, quoted_key: bool, text: str, start: int) -> bool:
    """True for `--api-key X`, `'--api-key', 'X'` and the pair `(b'x-api-key', b'X')`, where no `=` or `:` stands."""
    if separator == ",":
        return quoted_key and (key.startswith("-") or text[start - 1] == "b")
    word = _BARE.match(text, start)
    return key.startswith("--") and not quoted_key and not (word and (word[0][0] == "-" or word[0] in _PROSE))


def _bare_token_end(text: str, start: int, separator: str, quoted_key: bool, key: str) -> int | None:
    """`token` is also a word and a unit ("per token: 12 ms"), so that its value must look like a credential."""
    end = _value_end(text, start)
    if end is None or quoted_key or key.startswith("-"):
        return end
    value = text[start:end].strip("'\"")
    least = 6 if separator == "=" else 12
    letters_and_digits = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return end if len(value) >= least and " " not in value and (separator == "=" or letters_and_digits) else None


def _prompt_end(text: str, start: int) -> int | None:
    opener = _STRUCTURE.match(text, start)
    if not opener or opener[0] == "{":
        return None
    end = _structure_end(text, opener)
    return end if end - start > 2 else None


def _header_end(text: str, start: int) -> int:
    """A header's value goes on to the end of the line or of the quotes around it; a plain scheme takes one word."""
    found = re.compile(r"(?:(?:bearer|basic|token|negotiate) +[^\s'\"]+|[^\n'\"]*)", re.IGNORECASE).match(text, start)
    assert found is not None  # the second branch matches anything
    return found.end()


def _value_end(text: str, start: int) -> int | None:
    """The end of a quoted, bracketed or bare value, None when it is empty or evidently no secret (None, true, $VAR)."""
    opener = _STRUCTURE.match(text, start)
    if opener:
        end = _structure_end(text, opener)
        inside = text[opener.end() : max(opener.end(), end - len(opener[0]))]
        return None if opener[0] in ")]}{" or _NO_SECRET.fullmatch(inside.strip(" '\"")) else end
    word = _BARE.match(text, start)
    value = word[0].rstrip(",;)}]") if word else ""
    return None if _NO_SECRET.fullmatch(value) or value.startswith(MARK) else start + len(value)


def _structure_end(text: str, opener: re.Match[str]) -> int:
    """The end of a quoted or bracketed value; the end of the text when it is cut."""
    token = opener[0]
    if token in ")]}":
        return opener.start()
    if token not in _CLOSERS:
        return _quote_end(text, token, opener.end())
    stack, position = [_CLOSERS[token]], opener.end()
    while stack:
        found = _STRUCTURE.search(text, position)
        if not found:
            return len(text)
        position = found.end()
        if found[0] in _CLOSERS:
            stack.append(_CLOSERS[found[0]])
        elif found[0] == stack[-1]:
            stack.pop()
        elif found[0] not in ")]}":
            position = _quote_end(text, found[0], position)
    return position


def _quote_end(text: str, quote: str, position: int) -> int:
    while found := _STRUCTURE.search(text, position):
        position = found.end()
        if found[0][-1] == quote[-1] and (found[0] == quote or len(quote) == 1 and len(found[0]) % 2):
            return position
    return len(text)


def _stand_in(text: str, start: int, end: int) -> str:
    opener = _STRUCTURE.match(text, start)
    if not opener:
        return MARK
    if opener[0] in _CLOSERS:
        return f"['{MARK}']" if opener[0] == "[" else f"('{MARK}')"
    return opener[0] + MARK + opener[0]
