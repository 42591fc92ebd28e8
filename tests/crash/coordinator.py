"""Runs a campaign file, so that the tests can kill whoever does: ``coordinator.py CAMPAIGN OUT.h5``."""

from __future__ import annotations

import sys

from vindeby.campaign import Campaign
from vindeby.runner import run

if __name__ == "__main__":
    sys.exit(0 if run(Campaign.load(sys.argv[1]), sys.argv[2]).complete else 1)
