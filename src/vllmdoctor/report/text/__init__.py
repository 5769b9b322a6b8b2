"""A report or a rule in, text on a terminal out, with rich: the only part of `report` beyond the standard library."""

from vllmdoctor.report.text.layout import write_text
from vllmdoctor.report.text.rule import write_rule

__all__ = ["write_rule", "write_text"]
