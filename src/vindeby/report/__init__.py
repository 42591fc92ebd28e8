"""The self-contained page about a campaign: ``vindeby report``."""

from vindeby.report.page import build_report

__all__ = ["build_report"]
