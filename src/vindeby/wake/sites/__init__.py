"""What wind blows: sites, turbulence, and wind that differs from place to place."""
