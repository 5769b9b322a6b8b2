"""A translation file in, the same file with the digest of today's English texts out."""

from __future__ import annotations

import re
from pathlib import Path

from vllmdoctor.errors import RuleError
from vllmdoctor.languages import Message
from vllmdoctor.rules.translate import digest_of
from vllmdoctor.rules.yaml_source import read_rules_folder

_DIGEST = re.compile(r"^digest:.*$", re.MULTILINE)


def stamp_translation(folder: Path, rule_id: str, language: str) -> str:
    """Writes the digest into the translation of a rule or remedy, and returns it. Raises RuleError when there is none.

    Call it after revising the translation: it states that the file says what the English texts say now.
    """
    documents = read_rules_folder(folder)
    original = documents.rules.get(rule_id) or documents.remedies.get(rule_id)
    if original is None:
        raise RuleError(str(folder), Message("there is no rule or remedy {id!r}", id=rule_id))
    translation = documents.translations.get(language, {}).get(rule_id)
    if translation is None:
        path = (folder.parent / original.file).with_suffix(f".{language}.yaml")
        raise RuleError(str(path), Message("there is no such translation yet; write it first"))
    path = folder.parent / translation.file
    digest = digest_of(original.value)
    line = f'digest: "{digest}"'  # quoted, since twelve digits would be a number
    text = path.read_text(encoding="utf-8")
    found = _DIGEST.search(text)
    stamped = text[: found.start()] + line + text[found.end() :] if found else f"{line}\n{text}"
    path.write_text(stamped, encoding="utf-8", newline="\n")
    return digest
