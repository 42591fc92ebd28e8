"""Stored layouts under another site, wake model or engine, and among neighbours that stand or do not."""
