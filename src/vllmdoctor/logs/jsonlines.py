"""A line that is, or holds, a JSON object in, its message with level, time and process out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from vllmdoctor.logs.headers import LEVELS
from vllmdoctor.logs.model import NO_PROCESS, Process, RawLine
from vllmdoctor.logs.processes import process_of

_MESSAGE_KEYS = ("log", "message", "msg", "textPayload", "line", "MESSAGE", "event", "text", "body", "@message")
_NESTED_KEYS = ("jsonPayload", "data", "fields", "record", "_source")
_PROCESS_KEYS = ("processName", "vllm_process_name", "process_name")
_PID_KEYS = ("process", "pid", "vllm_process_pid", "process_id")
_TIME_KEYS = ("asctime", "time", "timestamp", "ts", "@timestamp")
_ERROR_START = re.compile(r"\{\s*[\"'](?:error|object|detail|message|type)[\"']\s*:")
_LONGEST = 256 << 10
_DEEPEST = 5
_MOST_OBJECT_LINES = 60


@dataclass(frozen=True, slots=True)
class JsonLine:
    """`texts` are the message's lines. `logger`: the object is a logger's record, not a shipper's wrapper."""

    texts: tuple[str, ...]
    level: str | None = None
    time: str | None = None
    place: str | None = None
    process: Process = NO_PROCESS
    logger: bool = False
    client: bool = False


def json_line(text: str) -> JsonLine | None:
    """The content of a line that is one JSON object, None when it is not one with a message."""
    data = _object(text)
    if data is None:
        return None
    error = _relayed_error(data) or client_error(data)
    if error is not None:
        return JsonLine((error,), client=True)
    message = _message(data)
    if message is None:
        return None
    lines = tuple(message.replace("\r\n", "\n").rstrip("\n").split("\n"))
    level = _first(data, ("levelname", "level"))
    logger = level is not None and level.upper() in LEVELS and ("message" in data or "msg" in data)
    process = _process(data)
    logger = logger or process is not NO_PROCESS
    place = None
    if logger and isinstance(data.get("filename"), str) and isinstance(data.get("lineno"), int):
        place = f"{data['filename']}:{data['lineno']}"
    known = level.upper() if level and level.upper() in LEVELS else None
    time = _first(data, _TIME_KEYS)
    return JsonLine(lines, known if logger else None, time, place, process, logger)


def client_error(data: Mapping[str, object]) -> str | None:
    """An OpenAI-style error object as `message (type …, code …)`."""
    inner = data.get("error")
    if isinstance(inner, dict) and isinstance(inner.get("message"), str):
        return _error_text(inner)
    if isinstance(inner, str) and len(data) == 1:
        return inner
    if data.get("object") == "error" and isinstance(data.get("message"), str):
        return _error_text(data)
    if isinstance(data.get("message"), str) and "code" in data and str(data.get("type", "")).endswith("Error"):
        return _error_text(data)
    detail = data.get("detail")
    if "detail" in data and len(data) == 1:
        return detail if isinstance(detail, str) else json.dumps(detail, ensure_ascii=False)
    return None


def _relayed_error(data: Mapping[str, object], depth: int = 0) -> str | None:
    """The server's own error object inside the one of a router that passed it on."""
    for key, value in data.items():
        if isinstance(value, str):
            if not depth and key in _MESSAGE_KEYS:
                continue  # a log shipper's
            inner = _object(value) if value.startswith("{") and '"message"' in value else None
        else:
            inner = value if isinstance(value, dict) else None
        if inner is None:
            continue
        found = _relayed_error(inner, depth + 1) if depth < _DEEPEST else None
        if found is None and isinstance(value, str):
            found = client_error(inner)
        if found is not None:
            return found
    return None


def with_error_objects_joined(raws: Sequence[RawLine]) -> Iterator[RawLine]:
    """The lines, with an error object of the API that a client printed over several lines put on its first one."""
    position = 0
    while position < len(raws):
        raw = raws[position]
        taken = 0
        if raw.text[-2:].rstrip().endswith("{"):
            taken, text = _error_object_at(raws, position)
            if taken:
                yield RawLine(raw.input, raw.number, text)
        if not taken:
            yield raw
        position += taken or 1


def _error_object_at(raws: Sequence[RawLine], position: int) -> tuple[int, str]:
    """How many lines the error object that begins here has, and its text on one line; 0 when there is none."""
    pieces: list[str] = []
    depth = 0
    for raw in raws[position : position + _MOST_OBJECT_LINES]:
        piece = raw.text.strip()
        depth += piece.count("{") - piece.count("}")
        pieces.append(piece)
        if depth <= 0:
            break
    text = " ".join(pieces)
    found = _ERROR_START.search(text)
    if depth != 0 or found is None or text[: found.start()].count("{") or len(text) > _LONGEST:
        return 0, ""
    data = _object(text[found.start() :])
    return (len(pieces), text) if data is not None and client_error(data) is not None else (0, "")


def with_error_unescaped(text: str) -> str:
    """A line that quotes an error object of the API, with its message in plain words."""
    found = _ERROR_START.search(text)
    if found is None:
        return text
    try:
        data, end = json.JSONDecoder().raw_decode(text[found.start() : found.start() + _LONGEST])
    except (ValueError, RecursionError):
        return text
    error = client_error(data) if isinstance(data, dict) else None
    return text if error is None else text[: found.start()] + error.replace("\n", " ") + text[found.start() + end :]


def _object(text: str) -> Mapping[str, object] | None:
    bare = text.strip()
    if bare.startswith("data: "):
        bare = bare[6:]
    if bare.endswith("}%"):  # the mark of a shell for output without a line end
        bare = bare[:-1]
    if not (bare.startswith("{") and bare.endswith("}")) or len(bare) > _LONGEST:
        return None
    try:
        data = json.loads(bare)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _message(data: Mapping[str, object]) -> str | None:
    for key in _MESSAGE_KEYS:
        value = data.get(key)
        if isinstance(value, str):
            return value
    for key in _NESTED_KEYS:
        value = data.get(key)
        if isinstance(value, dict):
            found = _message(value)
            if found is not None:
                return found
    return None


def _process(data: Mapping[str, object]) -> Process:
    name = _first(data, _PROCESS_KEYS)
    if name is None:
        return NO_PROCESS
    pid = next((str(data[key]) for key in _PID_KEYS if isinstance(data.get(key), int | str)), "")
    return process_of(name, "", pid if pid.isdigit() else "")


def _first(data: Mapping[str, object], keys: tuple[str, ...]) -> str | None:
    return next((str(data[key]) for key in keys if isinstance(data.get(key), str | int | float)), None)


def _error_text(error: Mapping[str, object]) -> str:
    told = [f"{key} {error[key]}" for key in ("type", "code") if error.get(key) is not None]
    return str(error["message"]) + (f" ({', '.join(told)})" if told else "")
