"""A folder of rule files in, their documents out, each value with its line. Needs PyYAML; everything else does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from vllmdoctor.errors import RuleError
from vllmdoctor.languages import Message
from vllmdoctor.rules.fields import Field

LANGUAGES = ("en", "vi", "ja")
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# What JSON can carry too: the compiled rules are JSON, so a date or a set must be a quoted text.
_JSON_TAGS = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "null", "seq", "map"))


@dataclass(slots=True)
class Documents:
    """The parsed files of a rules folder: rules and remedies by id, fact documents, translations by language and id."""

    rules: dict[str, Field] = field(default_factory=dict)
    remedies: dict[str, Field] = field(default_factory=dict)
    facts: list[Field] = field(default_factory=list)
    translations: dict[str, dict[str, Field]] = field(default_factory=dict)


def read_rules_folder(folder: Path, on_problem: Callable[[RuleError], None] | None = None) -> Documents:
    """Raises RuleError for a file that is not YAML, has no id, or repeats one; for a folder without any rule file.

    With `on_problem` the error of a single file goes there, and reading goes on with the next file.
    """
    documents = Documents()
    files = sorted(folder.rglob("*.yaml"))
    if not files:
        raise RuleError(str(folder), Message("no rule files (*.yaml) below this folder"))
    for path in files:
        try:
            _sort_in(documents, path, _read(path, str(path.relative_to(folder.parent))))
        except RuleError as problem:
            if on_problem is None:
                raise
            on_problem(problem)
    return documents


def _sort_in(documents: Documents, path: Path, document: Field) -> None:
    stem, _, language = path.stem.partition(".")
    if language:
        if language not in LANGUAGES:
            raise document.error(
                Message(
                    "{name}: no language {language!r}; there are {names}",
                    name=path.name,
                    language=language,
                    names=", ".join(LANGUAGES[1:]),
                )
            )
        documents.translations.setdefault(language, {})[stem] = document
    elif path.parent.name == "facts":
        documents.facts.append(document)
    else:
        group = documents.remedies if path.parent.name == "remedies" else documents.rules
        name = document.need("id").string()
        if name in group:
            raise document.error(Message("the id {name!r} is already used by {file}", name=name, file=group[name].file))
        group[name] = document


def _read(path: Path, shown: str) -> Field:
    try:
        node = yaml.compose(path.read_text(encoding="utf-8"), Loader=_Loader)
        lines = dict(_lines(node, "", shown, set())) if node else {}
        value = _value(node)
    except UnicodeDecodeError as problem:
        raise RuleError(shown, Message("is not UTF-8 ({reason})", reason=problem.reason)) from None
    except yaml.MarkedYAMLError as problem:
        line = problem.problem_mark.line + 1 if problem.problem_mark else 0
        raise RuleError(shown, Message("is not YAML ({reason})", reason=problem.problem), line=line) from None
    except (yaml.YAMLError, ValueError) as problem:
        raise RuleError(shown, Message("is not YAML ({reason})", reason=problem)) from None
    except RecursionError:
        raise RuleError(shown, Message("is nested too deeply")) from None
    except OSError as problem:
        raise RuleError(shown, Message("cannot be read ({reason})", reason=problem.strerror)) from None
    if not isinstance(value, dict):
        raise RuleError(shown, Message("is not a mapping"), line=1)
    return Field(shown, "", value, lines)


def _value(node: yaml.Node | None) -> Any:
    """The plain value of a composed node; constructed here so that the file is parsed once for values and lines."""
    if node is None:
        return None
    constructor = yaml.constructor.SafeConstructor()
    return constructor.construct_document(node)


def _lines(node: yaml.Node, path: str, file: str, seen: set[int]) -> Iterator[tuple[str, int]]:
    """The line of every value by its path. Raises RuleError for what a rule file must not use."""
    line = node.start_mark.line + 1
    if id(node) in seen:
        raise RuleError(
            file, Message("anchors and aliases (& and *) are not supported; write the value again"), line=line
        )
    if node.tag not in _JSON_TAGS:
        raise RuleError(
            file,
            Message("a value of type {type}; put it in quotes", type=node.tag.rpartition(":")[2]),
            line=line,
            field=path,
        )
    seen.add(id(node))
    yield path, line
    if isinstance(node, yaml.MappingNode):
        names = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise RuleError(file, Message("a key that is not a text"), line=key.start_mark.line + 1, field=path)
            if key.value in names:
                raise RuleError(
                    file, Message("{value!r} is given twice", value=key.value), line=key.start_mark.line + 1, field=path
                )
            names.add(key.value)
            yield from _lines(value, f"{path}.{key.value}".lstrip("."), file, seen)
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            yield from _lines(value, f"{path}.{number}".lstrip("."), file, seen)
