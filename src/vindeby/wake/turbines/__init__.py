"""Turbine types: power and thrust as functions of wind speed, and their arrays for the compiled loops."""
