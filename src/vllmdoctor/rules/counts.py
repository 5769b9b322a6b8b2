"""Numbers of rules, remedies and facts in, the sentence that tells them out."""

from __future__ import annotations

from vllmdoctor.languages import Counted, Message


def counted_things(rules: int, remedies: int, facts: int) -> Message:
    return Message(
        "{rules}, {remedies}, {facts}",
        rules=Counted("{count} rule", "{count} rules", rules),
        remedies=Counted("{count} remedy", "{count} remedies", remedies),
        facts=Counted("{count} fact", "{count} facts", facts),
    )
