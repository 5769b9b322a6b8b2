"""One raw line in, its printable sub-lines out: no escape sequences or control characters, carriage returns split."""

from __future__ import annotations

import re

LONGEST_RAW = 1 << 20  # characters of one physical line that are looked at
LONGEST_LINE = 64 << 10  # characters of one cleaned line that are kept

_BUILDKITE = r"\x1b_bk;t=\d+\x07?"
_OSC = r"\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)?"
_CSI = r"\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]"
_OTHER_ESCAPE = r"\x1b[ -/]{0,8}[0-~]|\x9b[0-?]{0,64}[@-~]"
_ESCAPE = re.compile("|".join((_BUILDKITE, _OSC, _CSI, _OTHER_ESCAPE)))
_SPELLED_ESCAPE = re.compile(r"(?:\^\[|#033|\\u001b|\\x1b|\\033|\\e|\u241b)\[[0-9;?]{0,16}[A-Za-z]")
_SGR = r"\[(?:[01247]|22|3\d|4\d|9\d)?(?:;\d{1,3}){0,4}m"
_BARE_ESCAPE = re.compile(_SGR)
_CONTROLS = re.compile("[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufeff\u200b-\u200f\u2060\u00ad]")
_SPACES = re.compile("[\u00a0\u2000-\u200a\u202f\u3000]")
_BREAKS = re.compile(r"[\r\n]+")
_SPELLED_RETURN = re.compile(r"(?:\^M|#015)+$")

BAR = re.compile(r"\d%(?: Completed)? ?\||[\d?](?:it|s|[kMG]?i?B)/(?:s|it)[],]|\| *\d+/\d+ \[")
_HEADER_BEHIND_BAR = re.compile(
    r"(?<=[]%s|])(?=(?:\(\w[\w ]{0,40} pid=\d+\) )?(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d )"
)
_HEADER_BEHIND_TEXT = re.compile(
    r"(?<=[^\s(\[|>:])(?=\(\w[\w ]{0,40} pid=\d+\) (?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d \[)"
)


def sub_lines(text: str) -> list[str]:
    """The lines a terminal would have shown for this physical line; at least one, possibly empty."""
    if len(text) > LONGEST_RAW:
        text = text[: LONGEST_RAW // 2] + " … " + text[-LONGEST_RAW // 2 :]
    if not (text.isascii() and text.isprintable()):
        text = _without_controls(text)
    if text[13:14] == "," and text[:13].isdigit():
        text = _without_csv(text)
    if "[" in text and not _has_header_bracket_only(text):
        text = _without_spelled_escapes(text)
    if "^M" in text or text.endswith("#015"):
        text = _SPELLED_RETURN.sub("", text)
    glued = (_has_bar_end(text) or _has_glued_process(text)) and not _holds_json(text)
    if not glued and "\r" not in text and "\n" not in text:
        return [_shortened(text.rstrip())]
    parts = [part for whole in _BREAKS.split(text) for part in (_unglued(whole) if glued else [whole])]
    parts = [_shortened(part.rstrip()) for part in parts if part.strip()]
    return _without_middle_bars(parts) if parts else [""]


def _has_header_bracket_only(text: str) -> bool:
    """The only bracket is that of `INFO 05-22 10:00:00 [core.py:77]`, and no escape sequence."""
    at = text.find("[")
    after = text[at + 1 : at + 2]
    return at > 0 and text[at - 1] == " " and after.isalpha() and after != "m" and text.find("[", at + 1) < 0


def _holds_json(text: str) -> bool:
    return '{"' in text[:200]


def _has_bar_end(text: str) -> bool:
    """A logger line may follow a bar: told by plain searches, since statistics lines have % and | too."""
    return "|" in text and ("%|" in text or "% |" in text or "ompleted" in text or "it/s" in text or "s/it" in text)


def _has_glued_process(text: str) -> bool:
    """Some `(Name pid=` stands right behind other text."""
    position = text.find(" pid=", 40)
    while position > 0:
        opened = text.rfind("(", 0, position)
        if opened > 0 and text[opened - 1] not in " \t(|[>:":
            return True
        position = text.find(" pid=", position + 5)
    return False


def is_bar(text: str) -> bool:
    """A state of a progress bar."""
    return ("%" in text or "it]" in text or "/s" in text or "/it" in text) and BAR.search(text[:4096]) is not None


def _without_csv(text: str) -> str:
    """A row `milliseconds,message` of a CloudWatch export as `milliseconds message`, the quotes of CSV taken off."""
    time, message = text[:13], text[14:].rstrip()
    if len(message) > 1 and message[0] == message[-1] == '"':
        message = message[1:-1].replace('""', '"')
    return f"{time} {message}"


def _without_controls(text: str) -> str:
    if "\x1b" in text or "\x9b" in text:
        text = _ESCAPE.sub("", text)
    return _SPACES.sub(" ", _CONTROLS.sub("", text))


def _without_spelled_escapes(text: str) -> str:
    if "^[" in text or "\\" in text or "#033" in text or "\u241b" in text:
        text = _SPELLED_ESCAPE.sub("", text)
    # A lone "[1m" may be a duration, a pair of them or one with parameters is colour that lost its ESC.
    found = _BARE_ESCAPE.findall(text) if _has_bare_escape_start(text) else ()
    if len(found) > 1 or (found and ";" in found[0]):
        text = _BARE_ESCAPE.sub("", text)
    return text


def _has_bare_escape_start(text: str) -> bool:
    position = text.find("[")
    while position >= 0:
        if text[position + 1 : position + 2] in "0123456789;m":
            return True
        position = text.find("[", position + 1)
    return False


def _unglued(text: str) -> list[str]:
    """A logger line that follows a progress bar, or another process's text, without a line break stands for itself."""
    if _has_bar_end(text):
        text = _HEADER_BEHIND_BAR.sub("\n", text)
    if _has_glued_process(text):
        text = _HEADER_BEHIND_TEXT.sub("\n", text)
    return text.split("\n")


def _without_middle_bars(parts: list[str]) -> list[str]:
    if len(parts) < 4:
        return parts
    kept: list[str] = []
    run: list[str] = []
    title = ""
    for part in parts:
        this_title = part.split("%", 1)[0].rstrip("0123456789 ") if is_bar(part) else ""
        if run and (not is_bar(part) or this_title != title):
            kept += run if len(run) < 4 else [run[0], *run[-2:]]
            run = []
        if is_bar(part):
            run.append(part)
            title = this_title
        else:
            kept.append(part)
    return kept + (run if len(run) < 4 else [run[0], *run[-2:]])


def _shortened(text: str) -> str:
    if len(text) <= LONGEST_LINE:
        return text
    return text[: LONGEST_LINE // 4 * 3] + " … " + text[-LONGEST_LINE // 4 :]
