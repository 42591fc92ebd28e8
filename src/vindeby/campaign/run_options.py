"""How a campaign is run. Nothing here changes what a task's result is, nor its fingerprint."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, Strict

from vindeby.campaign.values import Part, Positive, refusal

_PERCENTAGE = re.compile(r"(100|[0-9]{1,2}(\.[0-9]+)?)%")


def _is_count(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _workers(value: Any) -> Any:
    if value != "auto" and not _is_count(value, least=1):
        raise refusal(
            "must be auto or a number of at least 1", remedy="auto means one for each core", value=value
        )
    return value


def _failures(value: Any) -> Any:
    percentage = isinstance(value, str) and _PERCENTAGE.fullmatch(value)
    if value is not None and not percentage and not _is_count(value, least=0):
        raise refusal(
            "is neither a number of tasks nor a percentage", remedy='write 20 or "5%", say', value=value
        )
    return value


class RunOptions(Part):
    """Workers, limits and retries."""

    workers: Annotated[int | str, BeforeValidator(_workers)] = "auto"
    time_limit_s: Positive | None = None
    memory_limit_mb: Positive | None = None
    retries: Annotated[int, Strict(), Field(ge=0, le=100)] = 3
    max_failures: Annotated[int | str | None, BeforeValidator(_failures)] = None
