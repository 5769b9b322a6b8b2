"""Rule files in, problems with their places out: what `vllmdoctor rules check` runs."""

from vllmdoctor.rules.check.issue import ERROR, NOTE, WARNING, Issue
from vllmdoctor.rules.check.run import check_rules, main_check
from vllmdoctor.rules.check.stamp import stamp_translation

__all__ = ["ERROR", "NOTE", "WARNING", "Issue", "check_rules", "main_check", "stamp_translation"]
