"""Where the code that a campaign names comes from, found out before anything of it is executed.

A campaign file can name any function that Python can import, and somebody who was sent a campaign with a module beside
it may not expect that ``run`` executes it. So ``run`` says which file it is about to execute, unless the file belongs
to the standard library or to an installed package, which the user chose to trust when it was installed.
"""

from __future__ import annotations

from collections.abc import Sequence

from vindeby.assembly.energy import engine_warning
from vindeby.campaign import Campaign
from vindeby.campaign.reading.code_files import file_of, is_installed

__all__ = ["file_of", "is_installed", "warning"]


def warning(campaign: Campaign, search_path: Sequence[str]) -> str:
    """What to say before code of a campaign's is imported; empty where there is nothing to say."""
    for step in campaign.method:
        if step.call is not None:
            file = file_of(step.call.function.partition(":")[0], search_path)
            if file is not None and not is_installed(file):
                return (
                    f"method.call: {step.call.function} is not from an installed package: {file} will be executed, and "
                    "may do whatever you may do; run only code that you trust"
                )
    return engine_warning(campaign, search_path)
