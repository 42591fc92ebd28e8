"""The contrast of two colours, by the Web Content Accessibility Guidelines."""

from __future__ import annotations

from typing import Any

from matplotlib.colors import to_rgb


def contrast(one: Any, other: Any) -> float:
    """Return the contrast ratio of two colours, 1 to 21."""
    low, high = sorted(_luminance(colour) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: Any) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
