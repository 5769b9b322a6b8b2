"""The hand-written guides in, their pages out: the program's own output filled in, a notice where they are stale."""

from __future__ import annotations

from collections.abc import Mapping

from vllmdoctor.report import words as w
from vllmdoctor.site import markdown as md
from vllmdoctor.site import words as s
from vllmdoctor.site.context import Site
from vllmdoctor.site.guides import GUIDES, Guide, guide_notice, read_guide
from vllmdoctor.site.markers import filled

CALCULATOR = "<!-- calculator -->"


def guides_of(site: Site) -> dict[str, Guide]:
    """All guides by name, in the order of reading. Raises InputError for one that is wrong."""
    return {name: read_guide(name, site.language) for name in GUIDES}


def page(guide: Guide, site: Site) -> str:
    """Raises InputError for a marker that is wrong."""
    lines = filled(guide.body, guide.language, name=guide.file).strip("\n").split("\n")
    state = guide_notice(guide.name, site.language)
    if state:
        lines = [lines[0], "", *_notice(state, guide.name, site), *lines[1:]]
    meta = {"title": guide.title, "description": guide.description}
    if CALCULATOR in guide.body:
        meta["template"] = "calculator.html"  # lets WebAssembly run, and loads the scripts
    return md.page(meta, lines)


def titles(guides: Mapping[str, Guide]) -> dict[str, str]:
    return {name: guide.title for name, guide in guides.items()}


def _notice(state: str, name: str, site: Site) -> list[str]:
    message = s.PAGE_MISSING if state == "missing" else s.PAGE_STALE
    text = site.words(message, link=f"{site.address}en/guide/{name}/")
    return md.admonition("warning", site.words(w.NOTE), [text])
