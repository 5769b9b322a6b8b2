"""A report or a rule in, text on a terminal out; the only part of `report` that needs more than the standard library."""

from vllmdoctor.report.text.layout import write_text
from vllmdoctor.report.text.rule import write_rule

__all__ = ["write_rule", "write_text"]
