"""Sites: wind roses and time series, turbulence, and local wind."""
