"""Saves what can be saved from damaged files; originals are never changed, and nothing is believed lightly."""

from vindeby.store.salvage.salvage import SalvageReport, salvage

__all__ = ["SalvageReport", "salvage"]
