"""What every page of a language is made from: catalogue, sentences, places in the checkout, addresses."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from vllmdoctor.languages import LANGUAGES
from vllmdoctor.report.pages import site_address
from vllmdoctor.report.rendering import Rendering, nothing_known
from vllmdoctor.report.words import Words
from vllmdoctor.rules.load import load_catalogue
from vllmdoctor.rules.model import CATEGORIES, Catalogue, Rule
from vllmdoctor.site.example import NAME, Example, example_of
from vllmdoctor.site.messages import one_line

LOCAL_ADDRESS = "http://127.0.0.1:8000/"


def served_address(environment: Mapping[str, str] = os.environ) -> str:
    """Where the site will be served, with a slash at its end: the configured address, else this machine."""
    return site_address(environment) or LOCAL_ADDRESS


def checkout_root() -> Path:
    """The checkout that this module runs from. Raises FileNotFoundError in an installed package."""
    root = Path(__file__).resolve().parents[3]
    if not (root / "mkdocs.yml").is_file():
        raise FileNotFoundError(f"{root}: the site is built from a checkout, which has mkdocs.yml")
    return root


@dataclass(frozen=True)
class Site:
    """One language of the site. `root` is the checkout, `address` where all languages will be served."""

    language: str
    root: Path
    address: str

    @cached_property
    def catalogue(self) -> Catalogue:
        return load_catalogue(self.language)

    @cached_property
    def words(self) -> Words:
        return Words(self.language)

    @cached_property
    def rendering(self) -> Rendering:
        """Texts outside of a log: every fact is unknown."""
        return nothing_known(self.catalogue, self.words)

    @cached_property
    def by_category(self) -> dict[str, tuple[Rule, ...]]:
        """The rules of each category, by id."""
        rules = sorted(self.catalogue.rules.values(), key=lambda rule: rule.id)
        return {name: tuple(rule for rule in rules if rule.category == name) for name in CATEGORIES}

    @cached_property
    def examples(self) -> dict[str, Example]:
        """What the analyzer says of the example log of each rule, by the rule's id."""
        folder = self.root / "tests" / "fixtures" / "rules"
        paths = {name: folder / name / NAME for name in sorted(self.catalogue.rules)}
        return {name: example_of(path, self.language) for name, path in paths.items() if path.is_file()}

    def message(self, rule: Rule) -> str:
        """The rule's message as it stands in its example, else in its first sample; on one line."""
        example = self.examples.get(rule.id)
        found = [finding for finding in example.report.findings if finding.rule == rule.id] if example else []
        return one_line(found[0].evidence[0].text if found and found[0].evidence else rule.signatures[0].samples[0])

    def title(self, rule: Rule) -> str:
        """The rule's title as Markdown source, without numbers of a log."""
        return self.rendering.text(rule.title)


__all__ = ["LANGUAGES", "LOCAL_ADDRESS", "Site", "checkout_root", "served_address"]
