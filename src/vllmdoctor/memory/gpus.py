"""A GPU as a user names it (`RTX 3090`, `A100 80GB`, `24GiB`, `2x L40S`) in, its memory and capability out.

The names stand in gpus.json. A name that is not there, or that stands for GPUs of several sizes, is an error.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from vllmdoctor.errors import UsageError
from vllmdoctor.languages import Message

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(GiB|GB|G|MiB|MB|TiB|TB)", re.IGNORECASE)
_COUNT = re.compile(
    r"(?:(?P<before>\d{1,3})\s*[x×*]\s*(?=\S))?(?P<rest>.*?)(?:\s*[x×*]\s*(?P<after>\d{1,3}))?", re.IGNORECASE
)
_GIB_PER = {"g": 1.0, "m": 2**-10, "t": 2.0**10}
_VENDOR = frozenset("nvidia geforce tesla amd instinct radeon corporation gpu".split())
_BOARD = frozenset(
    "sxm sxm2 sxm3 sxm4 sxm5 sxm6 ac pcie oam mezz hbm2 hbm2e hbm3 generation blackwell server workstation edition "
    "tensor core superchip jetson".split()
)
_SERIES = frozenset("rtx gtx quadro titan rx".split())
_BOX_SIZE = re.compile(r"(\d{1,3})(?:gb|g|gib)")
_NEAR = 0.1  # the number on the box is up to a tenth above what CUDA reports


@dataclass(frozen=True, slots=True)
class GpuKind:
    """`capability` is None when it is not known; `unified`: the memory is the machine's own."""

    name: str
    total_gib: float
    capability: float | None = None
    unified: bool = False


@dataclass(frozen=True, slots=True)
class GpuChoice:
    kind: GpuKind
    count: int | None


def gpu_from(text: str) -> GpuChoice:
    """Raises UsageError for a name that is unknown or ambiguous."""
    found = _COUNT.fullmatch(text.strip())
    count, rest = None, text.strip()
    if found and (found["before"] or found["after"]):
        count, rest = int(found["before"] or found["after"]), found["rest"].strip()
    if count == 0:
        raise UsageError(Message("--gpu {text!r}: no GPU at all", text=text))
    size = _SIZE.fullmatch(rest)
    if size:
        gib = float(size[1]) * _GIB_PER[size[2][0].lower()]
        if not 0.5 <= gib <= 4096:
            raise UsageError(Message("--gpu {text!r}: {gib:g} GiB is no size of a GPU", text=text, gib=gib))
        return GpuChoice(GpuKind(f"{gib:g} GiB", gib), count)
    return GpuChoice(named_gpu(rest), count)


def named_gpu(name: str) -> GpuKind:
    """The GPU of that name; board names and vendors in it are ignored. Raises UsageError."""
    words = _words(name)
    boxed = next((int(found[1]) for word in words if (found := _BOX_SIZE.fullmatch(word))), None)
    words = [word for word in words if not _BOX_SIZE.fullmatch(word)]
    fitting = [entry for entry in _entries() if _fits(entry.words, words)]
    if not fitting:
        raise UsageError(
            Message(
                "--gpu {name!r} is not in the list of GPUs; give its memory instead, for example --gpu 24GiB", name=name
            )
        )
    entry = max(fitting, key=lambda entry: len(entry.words))
    sizes = [gib for gib in entry.sizes if boxed is None or (1 - _NEAR) * boxed <= gib <= boxed * 1.02]
    if not sizes:
        raise UsageError(
            Message(
                "--gpu {name!r}: {entry} has {sizes}, not {boxed} GB",
                name=name,
                entry=entry.name,
                sizes=_listed(entry.sizes),
                boxed=boxed,
            )
        )
    if len(sizes) > 1:
        example = f"{entry.name} {round(sizes[-1] * 1.01)}GB"
        raise UsageError(
            Message(
                "--gpu {name!r} exists with {sizes}; say which, for example --gpu {example!r}",
                name=name,
                sizes=_listed(sizes),
                example=example,
            )
        )
    return GpuKind(entry.name, sizes[0], entry.capability, entry.unified)


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    words: frozenset[str]
    sizes: tuple[float, ...]
    capability: float | None
    unified: bool


@cache
def _entries() -> tuple[_Entry, ...]:
    document = json.loads(files("vllmdoctor.memory").joinpath("gpus.json").read_text(encoding="utf-8"))
    return tuple(
        _Entry(
            one["name"],
            frozenset(_words(one["name"])),
            tuple(sorted([one["gib"], *one.get("also", ())])),
            one["capability"],
            one.get("unified", False),
        )
        for one in document["gpus"]
    )


def gpu_names() -> tuple[str, ...]:
    """All names in the list."""
    return tuple(entry.name for entry in _entries())


def gpu_choices() -> tuple[str, ...]:
    """What `gpu_from` takes: every name, with its size where there are several."""
    return tuple(
        f"{entry.name} {round(gib * 1.01)}GB" if len(entry.sizes) > 1 else entry.name
        for entry in _entries()
        for gib in entry.sizes
    )


def _words(name: str) -> list[str]:
    spaced = re.sub(r"\b(rtx|gtx)(?=\d)", r"\1 ", name.lower())
    spaced = re.sub(r"(?<=\d)(ti|super)\b", r" \1", spaced)
    return [word for word in re.split(r"[\s,_/()-]+", spaced) if word and word not in _VENDOR]


def _fits(entry: frozenset[str], words: list[str]) -> bool:
    """All words are the entry's own or a board's; the series (RTX) may be left out."""
    given = {word for word in words if word not in _BOARD}
    return given == entry or bool(given) and given == entry - _SERIES


def _listed(sizes: tuple[float, ...] | list[float]) -> str:
    return " / ".join(f"{gib:g} GiB" for gib in sizes)
