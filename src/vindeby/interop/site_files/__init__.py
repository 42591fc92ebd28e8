"""Readers of the site files of other tools: one module per format, each giving a ``site`` section of a campaign."""
