"""How a campaign is run. Nothing here changes what a task's result is, nor its fingerprint."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, Strict

from vindeby.campaign.values import Count, Part, Positive, refusal


def _count_or_percent(value: int | str) -> int | str:
    if isinstance(value, str) and not re.fullmatch(r"(100|[0-9]{1,2})(\.0+)?%|[0-9]{1,2}\.[0-9]+%", value):
        raise refusal("is neither a number of tasks nor a percentage", remedy='write it like 20 or "5%"')
    return value


class RunOptions(Part):
    """Workers, limits and retries."""

    workers: Count | Literal["auto"] = "auto"
    time_limit_s: Positive | None = None
    memory_limit_mb: Positive | None = None
    retries: Annotated[int, Strict(), Field(ge=0, le=100)] = 3
    max_failures: (
        Annotated[
            Annotated[int, Strict(), Field(ge=0)] | Annotated[str, Strict()],
            AfterValidator(_count_or_percent),
        ]
        | None
    ) = None
