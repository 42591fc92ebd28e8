"""Where turbines may stand: boundaries, zones, spacing, and the nearest step that keeps to them."""
