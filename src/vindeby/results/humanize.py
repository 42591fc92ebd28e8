"""Figures as people read them: durations, sizes, rates, times."""

import time


def duration(seconds: float) -> str:
    """Return a rounded duration, in at most two units."""
    if seconds < 0.0995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.2g} s"
    whole = round(seconds)
    for unit, size, smaller, smaller_size in (
        ("d", 86400, "h", 3600),
        ("h", 3600, "min", 60),
        ("min", 60, "s", 1),
    ):
        if whole >= size:
            rest = whole % size // smaller_size
            return f"{whole // size} {unit} {rest} {smaller}" if rest else f"{whole // size} {unit}"
    return f"{whole} s"


def size(count: float) -> str:
    """Return a number of bytes in the unit that fits."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 999.5:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 99.5 else f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


def rate(per_second: float) -> str:
    """Return a rate in results per second, minute or hour, whichever reads best."""
    if per_second >= 99.95:
        return f"{per_second:,.0f} per second"
    if per_second >= 1:
        return f"{per_second:.1f} per second"
    if per_second * 60 >= 1:
        return f"{per_second * 60:.1f} per minute"
    return f"{per_second * 3600:.1f} per hour"


def moment(seconds: float) -> str:
    """Return a time in UTC as text."""
    return time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime(seconds))
