"""A guide in, its prose, code blocks, headings and links out."""

from __future__ import annotations

import re

from vllmdoctor.site.guides import read_guide

BLOCK = re.compile(r"^(?P<fence>`{3,})(?P<language>\w*)\n(?P<text>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^(#+) .*?\{ #([\w-]+) \}$", re.MULTILINE)
LINK = re.compile(r"\]\(([^()\s]+)\)")


def body(name: str, language: str) -> str:
    return read_guide(name, language).body


def prose(name: str, language: str) -> str:
    return BLOCK.sub("", body(name, language))


def blocks(name: str, language: str) -> list[tuple[str, str]]:
    return [(found["language"], found["text"]) for found in BLOCK.finditer(body(name, language))]
