"""The page of a remedy: what the knob really does, by version, what it costs, and which errors it helps against."""

from __future__ import annotations

from vllmdoctor.memory import directions as d
from vllmdoctor.report import words as w
from vllmdoctor.report.build_fixes import fix_report
from vllmdoctor.report.inline import plain_text
from vllmdoctor.report.model import Commands
from vllmdoctor.rules.model import Fix, Remedy, Rule
from vllmdoctor.rules.texts import EMPTY
from vllmdoctor.site import markdown as md
from vllmdoctor.site import words as s
from vllmdoctor.site.context import Site
from vllmdoctor.site.pages.fixes import command_tabs
from vllmdoctor.site.plain import description

_UTILIZATION = "gpu_memory_utilization"


def page(remedy: Remedy, site: Site) -> str:
    words = site.words
    shown = fix_report(Fix(remedy.id, remedy, EMPTY), 1, site.rendering)
    title = plain_text(shown.title)
    about = description(words(s.REMEDY_DESCRIPTION, title=title))
    meta = {"title": _own_title(remedy, site), "description": about, "tags": [remedy.id]}
    facts = [
        (w.EFFECT, md.inline(shown.effect)),
        (s.COST, md.inline(shown.cost)),
        (s.DIRECTION, md.escaped(words(s.DOWN_OR_UP[remedy.direction])) if remedy.direction else ""),
        (s.SINCE, md.code(remedy.versions.text)),
    ]
    lines = [
        f"# {md.inline(shown.title)} {{ #{remedy.id} }}",
        "",
        *_notice(remedy, site),
        md.code(remedy.id),
        "{ .rule-place }",
        "",
        *md.heading(2, md.escaped(words(s.WHAT_IT_DOES)), "what-it-does"),
        *md.paragraphs(site.rendering.text(remedy.text)),
        *(f"- **{md.escaped(words(label))}**: {text}" for label, text in facts if text),
        *([f"- {md.escaped(words(w.RISKS[shown.risk]))}"] if shown.risk not in ("", "low") else []),
        "",
        *_by_version(remedy, site),
        *_commands(shown.commands, site),
        *_used_by(remedy, site),
    ]
    return md.page(meta, lines)


def overview(site: Site) -> str:
    """All remedies, by title."""
    words = site.words
    lines = [f"# {md.escaped(words(s.REMEDIES))} {{ #remedies }}", "", md.escaped(words(s.REMEDIES_TEXT)), ""]
    titles = {remedy.id: _own_title(remedy, site) for remedy in site.catalogue.remedies.values()}
    by_title = sorted(titles, key=lambda name: (titles[name].casefold(), name))
    lines += [f"- {md.link(titles[name], f'{name}.md')}" for name in by_title]
    return md.page({"title": words(s.REMEDIES), "description": description(words(s.REMEDIES_TEXT))}, lines)


def _own_title(remedy: Remedy, site: Site) -> str:
    """Its title, with its id where another remedy has the same one."""
    titles = [plain_text(site.rendering.text(one.title)) for one in site.catalogue.remedies.values()]
    title = plain_text(site.rendering.text(remedy.title))
    return f"{title} ({remedy.id})" if titles.count(title) > 1 else title


def _notice(remedy: Remedy, site: Site) -> list[str]:
    state = site.catalogue.notices.get(remedy.id, "")
    if not state:
        return []
    message = s.PAGE_MISSING if state == "missing" else s.PAGE_STALE
    link = f"{site.address}en/remedies/{remedy.id}/"
    return md.admonition("warning", site.words(w.NOTE), [site.words(message, link=link)])


def _commands(commands: Commands, site: Site) -> list[str]:
    tabs = command_tabs(commands, site.words)
    return [*md.heading(2, md.escaped(site.words(s.HOW_TO_APPLY)), "commands"), *tabs] if tabs else []


def _used_by(remedy: Remedy, site: Site) -> list[str]:
    rules = sorted(
        (rule for rule in site.catalogue.rules.values() if any(fix.remedy.id == remedy.id for fix in rule.fixes)),
        key=lambda rule: rule.id,
    )
    if not rules:
        return []
    rows = []
    for rule in rules:
        link = md.link(plain_text(site.title(rule)), f"../rules/{rule.id}.md")
        rows.append(f"- {link}{_why(rule, remedy, site)}")
    return [*md.heading(2, md.escaped(site.words(s.USED_BY)), "helps-against"), *rows, ""]


def _why(rule: Rule, remedy: Remedy, site: Site) -> str:
    """What the fix of that rule says about the remedy, on one line."""
    fix = next(fix for fix in rule.fixes if fix.remedy.id == remedy.id)
    text = " ".join(site.rendering.text(fix.text).split())
    return f": {md.inline(text)}" if text else ""


def _by_version(remedy: Remedy, site: Site) -> list[str]:
    """For the share of the GPU: which way it helps, symptom by symptom, era by era."""
    if _UTILIZATION not in remedy.changes.arguments:
        return []
    words = site.words
    header = [words(s.LOG_SAYS), *(words.said(column) for column in d.COLUMNS)]
    rows = [
        [md.escaped(words.said(symptom)), *(_way(d.direction_for(symptom, column), site) for column in d.COLUMNS)]
        for symptom in d.SYMPTOMS
    ]
    return [
        *md.heading(2, md.escaped(words(s.BY_VERSION)), "by-version"),
        md.inline(words(s.BY_VERSION_TEXT)),
        "",
        *md.table([md.escaped(cell) for cell in header], rows),
        "",
    ]


def _way(direction: d.Direction, site: Site) -> str:
    words = site.words
    shown = [words(s.WAYS[direction.utilization])]
    if direction.bounded:
        shown.append(words(s.BOUNDED))
    return md.escaped(", ".join(shown))
