"""A diagnosis in, the report out: in words (`build_report`), as JSON (`report_json`), on a terminal (`report.text`)."""

from vllmdoctor.report.build import build_report
from vllmdoctor.report.json import report_json
from vllmdoctor.report.model import InputReport, Report

__all__ = ["InputReport", "Report", "build_report", "report_json"]
