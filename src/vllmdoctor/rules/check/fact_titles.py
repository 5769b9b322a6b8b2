"""A file of facts in, the titles of the facts for the catalogues out: an extraction method of Babel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO

import yaml

Extracted = tuple[int, str, str, list[str]]


def extracted(
    file: BinaryIO, keywords: Sequence[str], comment_tags: Sequence[str], options: Mapping[str, str]
) -> Iterator[Extracted]:
    """Line number, function name (none), text and comments of each title."""
    root = yaml.compose(file.read().decode("utf-8"), Loader=yaml.SafeLoader)
    for entry in _values(root, "facts"):
        for node in entry.value if isinstance(entry, yaml.SequenceNode) else ():
            for title in _values(node, "title"):
                yield title.start_mark.line + 1, "", str(title.value), []


def _values(node: yaml.Node | None, key: str) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        yield from (value for name, value in node.value if name.value == key)
