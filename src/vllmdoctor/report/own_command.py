"""A fix's rendered changes and the user's own command in, the command with just these changes out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from vllmdoctor.facts.command import CUT, UserCommand
from vllmdoctor.facts.options import JSON_LISTS, OF_THE_MODEL, REPEATED, SERVER, canonical_option
from vllmdoctor.report import words as w
from vllmdoctor.report.words import Words

Pairs = tuple[tuple[str, str], ...]
_COMMENT_NAMES = 3


@dataclass(frozen=True, slots=True)
class Mended:
    """All arguments in the user's order, new ones behind them; which of them the fix sets, and what it takes away."""

    arguments: Pairs
    environment: Pairs
    changed: frozenset[str]
    removed: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    def engine(self) -> Mended:
        """Without what only the server understands."""
        kept = tuple((n, v) for n, v in self.arguments if n in self.changed or n not in SERVER)
        left_out = tuple(name for name in self.left_out if name.lstrip("-").replace("-", "_") not in SERVER)
        return Mended(kept, self.environment, self.changed, self.removed, left_out)


def mended(arguments: Pairs, environment: Pairs, other_model: str, own: UserCommand | None) -> Mended:
    """The changes applied to the command; the changes alone when it is not known."""
    changes = {canonical_option(name): text for name, text in arguments}
    removed = tuple(name for name, text in changes.items() if not text)
    kept = dict(own.arguments) if own else {}
    variables = dict(own.environment) if own else {}
    gone = (*removed, *(_of_another_model(other_model) if own else ()))
    removed = (*removed, *(name for name in gone if name not in removed and name in kept))
    result = {name: text for name, text in {**kept, **changes}.items() if name not in gone or changes.get(name)}
    left_out = tuple(n for n in own.left_out if _plain(n) not in changes) if own else ()
    return Mended(
        tuple(result.items()),
        tuple({**variables, **dict(environment)}.items()),
        frozenset(name for name, text in changes.items() if text),
        removed,
        left_out,
    )


def _of_another_model(model: str) -> tuple[str, ...]:
    """A local copy of the model is still quantized in the same way, another checkpoint is not."""
    return () if not model else (*OF_THE_MODEL, "quantization") if model.startswith("<") else OF_THE_MODEL


def _plain(flag: str) -> str:
    return canonical_option(flag.lstrip("-"))


def flag_of(name: str) -> str:
    """`max_model_len` → `--max-model-len`."""
    return "--" + name.replace("_", "-")


def option_words(name: str, text: str, *, old: bool = False) -> list[str]:
    """The words of an option. `old` is vLLM before 0.9, which has no `--no-…` for this one."""
    if text == "true":
        return [flag_of(name)]
    if text == "false":
        return [f"{flag_of(name)}=False"] if old and name == "enable_chunked_prefill" else [flag_of("no_" + name)]
    words = _list_words(text) if name not in JSON_LISTS else None
    if words is None:
        return [flag_of(name), text]
    return [part for word in words for part in (flag_of(name), word)] if name in REPEATED else [flag_of(name), *words]


def _list_words(text: str) -> list[str] | None:
    """The items of a JSON list without structure; None for other texts."""
    if not text.startswith("["):
        return None
    try:
        items = json.loads(text)
    except ValueError:
        return None
    plain = all(isinstance(item, (str, int, float)) and not isinstance(item, bool) for item in items)
    return [str(item) for item in items] if items and plain else None


def comment_on(done: Mended, words: Words, names: bool = False) -> str:
    """What the printed command does not show: options that go, options that the log does not tell; "" without."""
    parts = []
    shown = (lambda name: name) if names else flag_of
    if done.removed:
        parts.append(words(w.COMMAND_WITHOUT, options=", ".join(map(shown, done.removed))))
    known = [name for name in done.left_out if name != CUT]
    if CUT in done.left_out:
        parts.append(words(w.COMMAND_PLUS_OTHERS))
    elif known:
        more = ", …" if len(known) > _COMMENT_NAMES else ""
        options = ", ".join(map(_as_flag, known[:_COMMENT_NAMES])) + more
        parts.append(words(w.COMMAND_PLUS_OWN, options=options))
    return "; ".join(parts)


def _as_flag(name: str) -> str:
    return name if name.startswith("-") else flag_of(name)


def with_docker_flags(program: Sequence[str], flags: Sequence[str]) -> list[str]:
    """`docker run …` with more flags; one of the same name gives way, unless it can be given several times."""
    kept = list(program)
    position = kept.index("run") + 1
    for flag in flags:
        words = flag.split(" ", 1)
        name = words[0].partition("=")[0]
        if name not in ("-e", "--env", "-v", "--volume", "--ulimit", "--device", "--mount", "-p", "--publish"):
            _drop_flag(kept, name)
        elif name in ("-e", "--env", "--ulimit") and len(words) > 1:
            _drop_setting(kept, words[1].partition("=")[0])
        kept[position:position] = words
    return kept


def _drop_flag(words: list[str], name: str) -> None:
    for index, word in enumerate(words):
        if word.partition("=")[0] == name:
            del words[index : index + (1 if "=" in word else 2)]
            return


def _drop_setting(words: list[str], name: str) -> None:
    for index in range(len(words) - 1):
        if words[index] in ("-e", "--env", "--ulimit") and words[index + 1].partition("=")[0] == name:
            del words[index : index + 2]
            return
