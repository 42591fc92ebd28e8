"""The loops for Gaussian wakes by their width: any turbulence, any types, time series."""
