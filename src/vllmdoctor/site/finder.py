"""All wordings and titles of a language in, the index by which the search box recognizes a pasted message out.

The theme's search weighs single words, and those of an error message are everywhere. `finder.mjs` reads this index.
"""

from __future__ import annotations

import json
from typing import Any

from vllmdoctor.report.inline import plain_text
from vllmdoctor.rules.model import Rule, Signature
from vllmdoctor.rules.prefilter import compiled
from vllmdoctor.site.context import Site
from vllmdoctor.site.messages import wordings
from vllmdoctor.site.pages.home import FREQUENT

_OTHER_SCOPES = ("end", "traceback", "gpus")  # matched against more than one line
# A pattern that fits these says nothing without the log around it.
_EMPTY_MESSAGES = tuple(f"{name}: something went wrong" for name in ("ValueError", "TypeError", "RuntimeError"))


def index_text(site: Site) -> str:
    """JSON with a line per rule: id, title, rank, wordings, patterns (see `_patterns`).

    The rank, 0 to 1, decides between pages that have one message in common.
    """
    rows = [json.dumps(_row(rule, site), ensure_ascii=False, separators=(",", ":")) for rule in _rules(site)]
    return "[\n" + ",\n".join(rows) + "\n]\n"


def _rules(site: Site) -> list[Rule]:
    return [site.catalogue.rules[name] for name in sorted(site.catalogue.rules)]


def _row(rule: Rule, site: Site) -> dict[str, Any]:
    return {
        "id": rule.id,
        "title": plain_text(site.title(rule)),
        "rank": round(1 - FREQUENT.index(rule.id) / len(FREQUENT), 2) if rule.id in FREQUENT else 0,
        "wordings": [wording.text for wording in wordings(rule)],
        "patterns": [_patterns(signature) for signature in rule.signatures if _tells(signature)],
    }


def _tells(signature: Signature) -> bool:
    if signature.scope in _OTHER_SCOPES:
        return False
    pattern = compiled(signature.pattern)
    return not any(pattern.search(message) for message in _EMPTY_MESSAGES)


def _patterns(signature: Signature) -> list[str | int]:
    """Pattern, what must not match beside it, and 1 when the line alone decides (0: the log around it does, too)."""
    alone = not (signature.phases or signature.frames or signature.when)
    return [_for_scripts(signature.pattern), _for_scripts(signature.unless), int(alone)]


def _for_scripts(pattern: str) -> str:
    """The pattern in the spelling of JavaScript."""
    return pattern.replace("(?P<", "(?<").replace(r"\A", "^").replace(r"\Z", "$")
