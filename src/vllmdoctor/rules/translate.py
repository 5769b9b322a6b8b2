"""An English document and its translation in, the document in the other language out; and the digest that ties them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

TEXTS = ("title", "summary", "first_check", "text", "effect", "cost")
GROUPS = ("causes", "fixes", "does_not_help", "verify")


def item_id(item: Mapping[str, Any]) -> str:
    """The id under which an entry of causes, fixes, … is translated; a fix that names a remedy may have none itself."""
    return str(item.get("id") or item.get("remedy") or "")


def english_texts(document: Mapping[str, Any]) -> dict[str, Any]:
    """All translatable texts of a rule or remedy, in the shape of a translation file."""
    texts: dict[str, Any] = {key: document[key] for key in TEXTS if document.get(key)}
    for group in GROUPS:
        entries = {}
        for item in document.get(group) or []:
            found = {key: item[key] for key in TEXTS if item.get(key)}
            if found:
                entries[item_id(item)] = found
        if entries:
            texts[group] = entries
    return texts


def digest_of(document: Mapping[str, Any]) -> str:
    """First 12 hex digits of the SHA-256 of the English texts in canonical JSON."""
    canonical = json.dumps(english_texts(document), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:12]


def translated(document: Mapping[str, Any], translation: Mapping[str, Any]) -> dict[str, Any]:
    """The document with the texts that the translation has; English stays where it has none."""
    result = {**document, **_texts(translation)}
    for group in GROUPS:
        words = translation.get(group) or {}
        if document.get(group):
            result[group] = [{**item, **_texts(words.get(item_id(item)) or {})} for item in document[group]]
    return result


def _texts(translation: Mapping[str, Any]) -> dict[str, Any]:
    return {key: translation[key] for key in TEXTS if translation.get(key)}
