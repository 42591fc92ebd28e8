"""Turbine types: power and thrust as functions of wind speed, and as the compiled loops see them."""
