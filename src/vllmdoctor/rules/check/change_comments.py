"""A file of a rule or remedy in, the comments in what its fixes add out: an extraction method of Babel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO

import yaml

from vllmdoctor.rules.comments import COMMENT

Extracted = tuple[int, str, str, list[str]]
_LANGUAGES_OF_CODE = ("compose", "kubernetes", "python")


def extracted(
    file: BinaryIO, keywords: Sequence[str], comment_tags: Sequence[str], options: Mapping[str, str]
) -> Iterator[Extracted]:
    """Line number, function name (none), text and comments of each comment."""
    text = file.read().decode("utf-8")
    if "changes:" in text and COMMENT.search(text):
        yield from _comments(yaml.compose(text, Loader=yaml.SafeLoader), of_changes=False)


def _comments(node: yaml.Node | None, *, of_changes: bool) -> Iterator[Extracted]:
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if of_changes and name.value in _LANGUAGES_OF_CODE:
                for scalar in _scalars(value):
                    for found in COMMENT.finditer(str(scalar.value)):
                        yield scalar.start_mark.line + 1, "", found["comment"], []
            yield from _comments(value, of_changes=name.value == "changes")
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _comments(item, of_changes=False)


def _scalars(node: yaml.Node) -> Iterator[yaml.Node]:
    """One text, or its wordings for known and unknown facts."""
    if isinstance(node, yaml.ScalarNode):
        yield node
    elif isinstance(node, yaml.MappingNode):
        yield from (value for _, value in node.value if isinstance(value, yaml.ScalarNode))
