"""One page that tells everything about a campaign, in one file that needs nothing else: ``vindeby report``."""

from vindeby.report.page import build_report

__all__ = ["build_report"]
