"""The allowed area of turbines: boundaries, zones, spacing, and the nearest allowed step."""
