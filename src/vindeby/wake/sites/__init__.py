"""Sites: wind roses and time series, turbulence, and wind that differs from place to place."""
