"""The shipped rules in, their literals out, one a line: what ripgrep is given to look for in benchmarks/scan.py."""

from __future__ import annotations

from typing import Any

from vllmdoctor.rules.load import load_bundle


def literals(document: Any) -> set[str]:
    """The literals of all patterns anywhere in a bundle."""
    found: set[str] = set()
    if isinstance(document, dict):
        for group in document.get("literals") or []:
            found.update(group)
        for value in document.values():
            found |= literals(value)
    elif isinstance(document, list):
        for value in document:
            found |= literals(value)
    return found


if __name__ == "__main__":
    bundle = load_bundle()
    print("\n".join(sorted(literals([bundle["rules"], bundle["facts"]]))))
