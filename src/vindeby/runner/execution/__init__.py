"""Doing one task after another and publishing what comes out: what every worker does, whatever pool it belongs to."""
