"""The compiled loops over directions, turbines and wind speeds; ``choice`` says which of them evaluates a farm."""
