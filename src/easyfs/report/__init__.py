"""A report of a selection: one page to read, and the same content as JSON and Markdown."""

from easyfs.report.build import build_report
from easyfs.report.document import Report

__all__ = ["Report", "build_report"]
