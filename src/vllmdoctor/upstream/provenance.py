"""A message that no rule knows and a vLLM in, the place in its source that prints the message out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata, util
from pathlib import Path

from vllmdoctor.logs.model import Record
from vllmdoctor.upstream.glob import GlobMatch, glob_match
from vllmdoctor.upstream.templates import MESSAGE_KINDS, TEXT, Piece, Template, folded, from_tsv, pieces_of
from vllmdoctor.upstream.tree import file_templates, package_folder, source_files, version_of

_PLAIN_WORD = re.compile(r"[A-Za-z][A-Za-z-]*[,.:]?")
_RUN_WORDS = 3
_MOST_RUNS = 12
_MOST_FILES = 12
_FEWEST_WORDS = 3  # of the template's own; with fewer, any message would do
_LONGEST_MESSAGE = 4000
_OWN_CHARACTERS, _OWN_SHARE = 60, 0.4
_PYDANTIC = re.compile(r"^(?:.{0,200}?\bValue error, )?(.*?)(?: \[type=\w+, input_value=.*)?$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a message comes from: file and function, its template, and what each placeholder held."""

    file: str
    function: str
    template: str
    values: Mapping[str, str]
    first_version: str = ""
    last_version: str = ""


def provenance_of(record: Record, vllm: Path | None = None) -> Provenance | None:
    """The source of a record's message in that vLLM (folder or table), or in the one installed beside this program.

    Raises InputError when the given path is none.
    """
    source = vllm or installed_vllm()
    if source is None:
        return None
    message = bare_message(record)
    files = _files_of(record)
    if source.suffix == ".tsv":
        return _best(_table(source), message, files)
    folder = package_folder(source)
    version = version_of(source)
    named = [folder.parent / file for file in files if (folder.parent / file).is_file()]
    return _best(_parsed(named, folder, version), message, files) or _best(
        _parsed(_files_with(message, folder), folder, version), message, files
    )


def check_source(vllm: Path) -> None:
    """Raises InputError when the path is neither a table nor a vLLM, before a long log is read."""
    if vllm.suffix == ".tsv":
        _table(vllm)
    else:
        package_folder(vllm)


def installed_vllm() -> Path | None:
    """The package folder of a vLLM in this program's environment. It is located, never imported."""
    try:
        metadata.distribution("vllm")
        spec = util.find_spec("vllm")
    except (metadata.PackageNotFoundError, ImportError, ValueError):
        return None
    for location in (spec.submodule_search_locations or []) if spec else []:
        if (Path(location) / "__init__.py").is_file():
            return Path(location)
    return None


def bare_message(record: Record) -> str:
    """The message without the exception's name and what pydantic puts around it."""
    text = folded(record.text[:_LONGEST_MESSAGE])
    if record.exception:
        text = text.removeprefix(record.exception).removeprefix(":").strip()
    found = _PYDANTIC.match(text)
    return found[1] if found else text


def _files_of(record: Record) -> list[str]:
    """Files of vLLM in the traceback, the innermost first."""
    paths = [frame.file.replace("\\", "/") for frame in reversed(record.frames)]
    inside = [path[path.rindex("vllm/") :] for path in paths if "vllm/" in path]
    return list(dict.fromkeys(inside))


@lru_cache(maxsize=4)
def _table(path: Path) -> tuple[Template, ...]:
    return tuple(from_tsv(path))


@lru_cache(maxsize=256)
def _templates_in(file: Path, folder: Path, version: str) -> tuple[Template, ...]:
    return tuple(file_templates(file, folder, version))


def _parsed(files: Iterable[Path], folder: Path, version: str) -> list[Template]:
    return [template for file in files for template in _templates_in(file, folder, version)]


def _files_with(message: str, folder: Path) -> list[Path]:
    """Files that hold some words of the message in a row, those with most of them first."""
    runs = [run.encode() for run in _word_runs(message)]
    hits: list[tuple[int, Path]] = []
    for file in source_files(folder) if runs else ():
        try:
            content = file.read_bytes()
        except OSError:
            continue
        count = sum(run in content for run in runs)
        if count:
            hits.append((-count, file))
    return [file for _, file in sorted(hits)[:_MOST_FILES]]


def _word_runs(message: str) -> list[str]:
    """Neighbouring words that can be no value; a string in the source may be broken between any two of them."""
    words = message.split()
    runs = [
        " ".join(words[start : start + _RUN_WORDS])
        for start in range(len(words) - _RUN_WORDS + 1)
        if all(_PLAIN_WORD.fullmatch(word) for word in words[start : start + _RUN_WORDS])
    ]
    step = max(1, len(runs) // _MOST_RUNS)
    return list(dict.fromkeys(runs[::step]))[:_MOST_RUNS]


def _best(templates: Sequence[Template], message: str, files: Sequence[str]) -> Provenance | None:
    """The template that explains most of the message; one of a file in the traceback wins over others."""
    found: list[tuple[tuple[bool, bool, int], Template, GlobMatch]] = []
    for template in templates:
        pieces = pieces_of(template.text)
        literals = [piece.text for piece in pieces if not piece.placeholder]
        if not literals or max(literals, key=len) not in message or template.words < _FEWEST_WORDS:
            continue
        match = glob_match(pieces, message)
        known_file = template.file in files
        if match is None or not (known_file or template.kind != TEXT and _explains(match, pieces, message)):
            continue
        rank = (known_file, template.kind in MESSAGE_KINDS, sum(map(len, literals)))
        found.append((rank, template, match))
    if not found:
        return None
    _, template, match = max(found, key=lambda entry: entry[0])
    return Provenance(
        template.file,
        template.function,
        template.text,
        _named_values(template, match),
        template.first_version,
        template.last_version,
    )


def _explains(match: GlobMatch, pieces: Sequence[Piece], message: str) -> bool:
    """Enough of the message is the template's own; "{a} does not support {b}" would take many a stranger's message."""
    begins = pieces[0].placeholder or match.literals[0][0] == 0
    ends = pieces[-1].placeholder or match.literals[-1][1] == len(message)
    own = match.shared(0, len(message))
    return begins and (own >= _OWN_CHARACTERS or ends and own >= _OWN_SHARE * len(message))


def _named_values(template: Template, match: GlobMatch) -> dict[str, str]:
    names = [piece.text or "value" for piece in pieces_of(template.text) if piece.placeholder]
    values: dict[str, str] = {}
    for number, (name, value) in enumerate(zip(names, match.values, strict=True), 1):
        if value:
            values[name if name not in values else f"{name} #{number}"] = value
    return values
