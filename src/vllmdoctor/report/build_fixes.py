"""A fix and the facts in force in, the fix in words with its commands out."""

from __future__ import annotations

import re
from dataclasses import replace

from vllmdoctor.diagnosis.model import ChosenFix
from vllmdoctor.diagnosis.sense import plain_arguments, shadowed
from vllmdoctor.facts.model import COMPUTED, Fact
from vllmdoctor.report import words as w
from vllmdoctor.report.commands import commands_for, rendered_changes
from vllmdoctor.report.model import FixReport
from vllmdoctor.report.rendering import Rendering
from vllmdoctor.rules.expressions import Unknown
from vllmdoctor.rules.model import Fix
from vllmdoctor.rules.texts import EMPTY, Text


def chosen_fix_report(chosen: ChosenFix, rank: int, rendering: Rendering) -> FixReport:
    condition = ""
    if not chosen.sure and chosen.deciding:
        facts = rendering.words.listed(rendering.title_of(name) for name in chosen.deciding)
        condition = rendering.words(w.DEPENDS_ON, facts=facts)
    return fix_report(chosen.fix, rank, rendering, condition)


def fix_report(fix: Fix, rank: int, rendering: Rendering, condition: str = "") -> FixReport:
    """The fix with its computed arguments; one that cannot be computed is unknown, whatever the log says."""
    inner = _with_arguments(fix, rendering)
    remedy = fix.remedy
    return FixReport(
        id=fix.id,
        rank=rank,
        title=inner.text(remedy.title),
        why="\n\n".join(filter(None, (inner.text(fix.text), inner.text(remedy.text)))),
        effect=_marked_effect(remedy.effect, inner),
        cost=inner.text(fix.cost or remedy.cost),
        risk=remedy.risk,
        condition=condition,
        arguments=dict(rendered_changes(remedy.changes, inner.lookup).arguments),
        commands=commands_for(remedy.changes, inner.lookup, inner.command, rendering.words),
    )


def _with_arguments(fix: Fix, rendering: Rendering) -> Rendering:
    values = plain_arguments(fix, rendering.lookup)
    facts = dict(rendering.facts)
    for name, value in values.items():
        facts.pop(name, None)
        if not isinstance(value, Unknown):
            facts[name] = Fact(name, value, rendering.book.unit_of(name), COMPUTED)
    return replace(rendering, lookup=shadowed(rendering.lookup, values), facts=facts)


def _marked_effect(effect: Text, rendering: Rendering) -> str:
    """The effect; a computed number in it is called an estimate when the text itself does not do so."""
    shown = "" if effect == EMPTY else rendering.text(effect)
    said = re.search(rendering.words(w.ESTIMATE_WORDS), shown, re.IGNORECASE)
    if not shown or said or not rendering.uses_computed(effect):
        return shown
    return shown.rstrip(".。") + rendering.words(w.ESTIMATE)
