"""The loops that read pairs of turbines from tables: one turbulence intensity, few turbine types."""
