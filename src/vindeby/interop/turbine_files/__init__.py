"""Readers of the turbine files of other tools: one module per format, each giving an entry of ``turbines``."""
