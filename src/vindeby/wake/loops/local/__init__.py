"""The free wind of each turbine, where it differs from place to place."""
