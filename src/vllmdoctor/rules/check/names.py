"""Check `name`: groups, conditions and placeholders use facts that exist."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vllmdoctor.errors import ExpressionError
from vllmdoctor.languages import Message
from vllmdoctor.rules.build_facts import fact_groups
from vllmdoctor.rules.check.folder import RuleFolder, at, entries, issue
from vllmdoctor.rules.check.issue import Issue
from vllmdoctor.rules.check.prose import Wording, commands_of, own_prose
from vllmdoctor.rules.expressions import parse_expression
from vllmdoctor.rules.fields import Field

_LISTS = ("causes", "fixes", "does_not_help", "verify")


class NameCheck:
    name = "name"

    def issues(self, folder: RuleFolder) -> Iterator[Issue]:
        declared = frozenset(folder.fact_names())
        for _, document in folder.built_rules():
            yield from self._rule(document, declared)
        for item in folder.fact_entries("derived"):
            yield from self._expressions(item, ("value", "when"), declared)
        yield from self._parameters(folder, declared)

    def _rule(self, document: Field, declared: frozenset[str]) -> Iterator[Issue]:
        yield from self._texts(own_prose(document), declared)
        for group in _LISTS:
            for item in entries(document, group):
                computed = _arguments(item)
                yield from self._texts([*own_prose(item), *commands_of(item)], declared | computed.keys())
                yield from self._expressions(item, ("when",), declared)
                for argument in computed.values():
                    yield from self._expression(argument, declared)
        for signature in entries(document, "signatures"):
            yield from self._expressions(signature, ("when",), declared)
            for name in fact_groups(signature.value["pattern"]):
                if name not in declared:
                    problem = Message(
                        "the group {name!r} is no declared fact; declare it in facts/, or take its name off", name=name
                    )
                    yield issue(at(signature, "pattern"), self.name, problem)

    def _texts(self, texts: Iterable[Wording], known: frozenset[str]) -> Iterator[Issue]:
        for wording in texts:
            for name in sorted(set(_names_in_texts([wording])) - known):
                problem = Message("the placeholder uses {name!r}, which no fact is called", name=name)
                yield issue(wording.place, self.name, problem)

    def _expressions(self, item: Field, keys: tuple[str, ...], known: frozenset[str]) -> Iterator[Issue]:
        for key in keys:
            found = item.get(key)
            if found is not None:
                yield from self._expression(found, known)

    def _expression(self, place: Field, known: frozenset[str]) -> Iterator[Issue]:
        for name in sorted(_names_in_expression(place) - known):
            problem = Message("the condition uses {name!r}, which no fact is called", name=name)
            yield issue(place, self.name, problem)

    def _parameters(self, folder: RuleFolder, declared: frozenset[str]) -> Iterator[Issue]:
        """Of remedies: a placeholder is a fact or an argument that some fix gives; of fixes: each argument is used."""
        given: dict[str, set[str]] = {}
        for rule, document in folder.built_rules():
            own = {name for signature in rule.signatures for name in fact_groups(signature.pattern)}
            for fix, place in zip(rule.fixes, entries(document, "fixes"), strict=True):
                given.setdefault(fix.remedy.id, set()).update(fix.arguments, own)
                remedy = folder.documents.remedies.get(fix.remedy.id)
                if remedy is None and "remedy" in place.value:
                    continue  # a shipped remedy, of which only the built form is at hand
                texts = [text for item in (place, remedy) if item for text in (*own_prose(item), *commands_of(item))]
                unused = fix.arguments.keys() - set(_names_in_texts(texts))
                for name in sorted(unused):
                    problem = Message("no text of the remedy uses the argument {name!r}", name=name)
                    yield issue(at(place, "arguments"), self.name, problem)
        for remedy_model, document in folder.built_remedies():
            texts = [*own_prose(document), *commands_of(document)]
            yield from self._texts(texts, declared | given.get(remedy_model.id, set()))


def _names_in_texts(texts: Iterable[Wording]) -> Iterator[str]:
    for wording in texts:
        template = wording.template()
        yield from template.facts() if template else ()


def _names_in_expression(place: Field) -> frozenset[str]:
    try:
        return parse_expression(str(place.value)).facts()
    except ExpressionError:
        return frozenset()


def _arguments(fix: Field) -> dict[str, Field]:
    found = fix.get("arguments") if isinstance(fix.value, dict) else None
    return dict(found.entries()) if found and isinstance(found.value, dict) else {}
