"""What jobs of a SLURM cluster ask for, as options of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from vindeby.errors import ArgumentError

if TYPE_CHECKING:
    from vindeby.campaign import Campaign
    from vindeby.campaign.sections.run_options import SlurmOptions

NodesOption = Annotated[int | None, typer.Option("--nodes", metavar="N", help="Jobs, each on one node.")]
TimeOption = Annotated[
    str | None, typer.Option("--time", metavar="HH:MM:SS", help="How long a job may take.")
]
CoresOption = Annotated[
    int | None, typer.Option("--cores", metavar="N", help="Cores, and workers, of a job.")
]
MemoryOption = Annotated[str | None, typer.Option("--memory", metavar="16GB", help="Memory of a job.")]
PartitionOption = Annotated[
    str | None, typer.Option("--partition", metavar="NAME", help="SLURM's partition.")
]
AccountOption = Annotated[str | None, typer.Option("--account", metavar="NAME", help="Whom SLURM charges.")]
DirectiveOption = Annotated[
    list[str] | None,
    typer.Option(
        "--directive", metavar="OPTION", help="Another option of sbatch, e.g. --qos=low; repeatable."
    ),
]


def given_options(campaign: Campaign, **given: Any) -> SlurmOptions:
    """What the campaign says about jobs, with what the command line says before it."""
    from pydantic import ValidationError

    try:
        return campaign.run.slurm.overridden(**given)
    except ValidationError as error:
        first = error.errors()[0]
        name = option_name(str(first["loc"][0])) if first["loc"] else ""
        told = first.get("ctx", {})
        remedy = f"; {told['remedy']}" if "remedy" in told else ""
        message = told.get("message") or first["msg"]
        raise ArgumentError(f"--{name}: {first.get('input')!r}: {message}{remedy}") from None


def option_name(field: str) -> str:
    """The option that gives a field of the section."""
    return "directive" if field == "directives" else field
