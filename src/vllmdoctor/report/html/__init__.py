"""A report in, HTML to be put into a page out: without scripts, styles or handlers, safe whatever the log holds."""

from vllmdoctor.report.html.page import report_html
from vllmdoctor.report.html.plan import plan_html

__all__ = ["plan_html", "report_html"]
