"""Templates and their links to signatures in, what share of vLLM's messages the rules know out, and what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from vllmdoctor.rules.model import Signature
from vllmdoctor.rules.versions import Release
from vllmdoctor.upstream.areas import AREAS, START, Area, area_of
from vllmdoctor.upstream.internal import Key, key_of
from vllmdoctor.upstream.matching import Link
from vllmdoctor.upstream.templates import ERROR, MESSAGE_KINDS, RAISE, WARNING, Template

# Rules for whole families: they name the option or the feature, and no cause of its own.
GENERIC_RULES = ("invalid-argument-value", "unsupported-feature-combination")
ASSERT = "assert"
KINDS = (RAISE, ASSERT, ERROR, WARNING)
_FEWEST_WORDS = 2  # with fewer, the message is what a placeholder holds


@dataclass(frozen=True, slots=True)
class Share:
    """How many templates there are, known by a rule of their own, and known only by a rule for a whole family.

    `internal` are those that no rule knows and none should: no configuration of an operator reaches them.
    """

    total: int = 0
    specific: int = 0
    generic: int = 0
    internal: int = 0

    @property
    def known(self) -> int:
        return self.specific + self.generic

    @property
    def percent(self) -> float:
        """The share that some rule knows; of nothing everything is known."""
        return _percent(self.known, self.total)

    @property
    def operator_facing(self) -> int:
        """How many an operator may cause."""
        return self.total - self.internal

    @property
    def operator_percent(self) -> float:
        """The share that some rule knows of those that an operator may cause."""
        return _percent(self.known, self.operator_facing)

    def __add__(self, other: Share) -> Share:
        return Share(
            self.total + other.total,
            self.specific + other.specific,
            self.generic + other.generic,
            self.internal + other.internal,
        )


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 100.0


@dataclass(frozen=True, slots=True)
class Coverage:
    """Shares by area and kind (raise, assert, error, warning), and the templates that no rule knows, in order.

    Internal templates are not among `uncovered`. `categories` counts what the rules of a category know; `wordless`
    templates print nothing but a value.
    """

    shares: Mapping[tuple[str, str], Share]
    categories: Mapping[str, int]
    uncovered: tuple[Template, ...]
    wordless: int

    def share(self, areas: Iterable[str] | None = None, kinds: Sequence[str] = KINDS) -> Share:
        """The sum over some areas (all by default) and kinds."""
        names = {area.name for area in AREAS} if areas is None else set(areas)
        return sum((s for (area, kind), s in self.shares.items() if area in names and kind in kinds), Share())


def kind_of(template: Template) -> str:
    """An assertion is raised as well, but guards vLLM against itself more than against its operator."""
    return ASSERT if template.kind == RAISE and template.exception == "AssertionError" else template.kind


def coverage_of(
    templates: Sequence[Template],
    links: Sequence[Link],
    rules: Sequence[tuple[str, Signature]],
    categories: Mapping[str, str],
    release: Release | None,
    internal: AbstractSet[Key] = frozenset(),
) -> Coverage:
    """`rules` holds the rule's id with each signature that the links speak of; only templates of the release count."""
    known: dict[int, set[str]] = {}
    for link in links:
        known.setdefault(link.template, set()).add(rules[link.signature][0])
    shares: dict[tuple[str, str], Share] = {}
    by_category: Counter[str] = Counter()
    uncovered: list[Template] = []
    wordless = 0
    for index, template in enumerate(templates):
        area = area_of(template.file)
        if area is None or template.kind not in MESSAGE_KINDS or not (release is None or template.exists_in(release)):
            continue
        if template.words < _FEWEST_WORDS:
            wordless += 1
            continue
        names = known.get(index, set())
        is_internal = not names and key_of(template.file, template.text) in internal
        key = (area.name, kind_of(template))
        shares[key] = shares.get(key, Share()) + _share_of(names, is_internal)
        by_category.update({categories.get(name, "") for name in names})
        if not names and not is_internal:
            uncovered.append(template)
    return Coverage(shares, dict(sorted(by_category.items())), tuple(sorted(uncovered, key=_importance)), wordless)


def _share_of(names: set[str], is_internal: bool) -> Share:
    specific = bool(names - set(GENERIC_RULES))
    return Share(1, int(specific), int(bool(names) and not specific), int(is_internal))


def _importance(template: Template) -> tuple[object, ...]:
    """What ends a start comes before what is only logged, start-up before serving, long-lived before short-lived."""
    area: Area | None = area_of(template.file)
    assert area is not None
    first = template.first or (0, 0, 0)
    return (
        KINDS.index(kind_of(template)),
        area.stage != START,
        first,
        AREAS.index(area),
        template.file,
        template.text,
    )
