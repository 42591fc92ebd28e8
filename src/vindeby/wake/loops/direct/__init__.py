"""The loops that evaluate the wake model itself for every pair and wind state: they hold for every model."""
