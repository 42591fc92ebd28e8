"""Fill in the energy of results whose layout is good: what an older script stored as 0 or not at all.

The energy is computed with the campaign's site, turbine and wake model, and the record says so
(``aep_origin = "recomputed"``). Amended records are published and merged like any result; those that they replace are
kept in the run directory. A layout that is outside its boundary, too dense or of the wrong size is left: ``run``
computes it again.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from vindeby.assembly.done import Judge, judge, not_done
from vindeby.assembly.physics import CampaignCheck, CellCheck
from vindeby.assembly.value import VALUES, values_of
from vindeby.campaign import Campaign
from vindeby.campaign.reading.code_files import file_of, is_installed, search_path
from vindeby.campaign.sections.wake_model import NamedCode
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.format.rows import batches
from vindeby.store.format.shard import ShardWriter
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.read.database import Database
from vindeby.text import plural

_PACKAGES = {"pywake": "py_wake", "floris": "floris"}


def engine_name(campaign: Campaign) -> str:
    """For example ``vindeby jensen`` or ``py_wake 2.6.20 py_wake.literature:Nygaard_2022``.

    A model of the user's own has a digest of its code, too: ``py_wake 2.6.20 mywakes:Mine (code 0f3a2b1c5d6e7f80)``.
    """
    given = campaign.wake.engine
    if given is None:
        return f"vindeby {campaign.wake.chosen[0]}"
    package = _PACKAGES.get(campaign.wake.chosen[0], "vindeby")
    try:
        package = package if campaign.wake.python else f"{package} {version(package)}"
    except PackageNotFoundError:
        package = f"{package} (not installed)"
    if not isinstance(given, NamedCode):
        return f"{package} {given.title.removeprefix('floris ')}"
    code = given.with_code().code
    return f"{package} {given.model} (code {code})" if code else f"{package} {given.model}"


def engine_warning(campaign: Campaign, path: Sequence[str] | None = None) -> str:
    """What to say before the model that a campaign names is imported; empty where there is nothing to say."""
    named = (one.wake.named_code for one in campaign.distinct("wake"))
    texts = (code_warning(f"wake.{given.key}", given.model, path) for given in named if given is not None)
    return next(filter(None, texts), "")


def code_warning(field: str, name: str, path: Sequence[str] | None = None) -> str:
    """What to say before ``package.module:name`` is imported; empty where it is installed, or not found."""
    file = file_of(name.partition(":")[0], search_path() if path is None else path)
    if file is None or is_installed(file):
        return ""
    return (
        f"{field}: {name} is not from an installed package: {file} will be executed, and "
        "may do whatever you may do; run only code that you trust"
    )


ORIGIN = "aep_origin"
"""The attribute that says where an energy comes from, where it is not the search that found the layout."""
RECOMPUTED = "recomputed"
_MANY = 1000


@dataclass
class Filled:
    """What came of it."""

    amended: list[str] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)
    """Keys of invalid results whose layout is not good, and why."""

    def to_json(self) -> dict[str, object]:
        """For --json."""
        return {"recomputed": self.amended, "left": self.left}

    def __str__(self) -> str:
        text = plural(
            len(self.amended), "energy computed from its layout", "energies computed from their layouts"
        )
        return text + (f"; {plural(len(self.left), 'invalid result')} left" if self.left else "")


def fill_in_energies(
    run: RunDirectory, campaign: Campaign, progress: Callable[[str], None] = lambda _: None
) -> Filled:
    """Give every result of a database that lacks only its energy the one that the campaign's engine gives."""
    if warning := engine_warning(campaign):
        progress(warning)
    filled, invalid = Filled(), set[str]()
    judge_, check = Judge(campaign), CampaignCheck(campaign)

    def amended() -> Iterator[Record]:
        for key, why in missing.items():
            record = _with_energy(database[key], check.of(key))
            if record is None or (wrong := judge_.why_not(record)):
                filled.left[key] = why if record is None else wrong
                continue
            filled.amended.append(key)
            yield record

    with Database(run) as database:
        missing = not_done(database, judge(database, judge_))
        invalid = {database.checksum(key) for key in missing}
        for batch in batches(amended()):
            run.create()
            ShardWriter(run).publish(batch)
            if len(filled.amended) >= _MANY:
                progress(f"{len(filled.amended):,} energies computed")
    if filled.amended:
        merge(run, MergeOptions(invalid=invalid, wait_s=600.0, progress=progress))
    return filled


def _with_energy(record: Record, check: CellCheck | None) -> Record | None:
    energy_gwh = None if check is None else check.energy_gwh(record)
    if energy_gwh is None or check is None:
        return None
    arrays = {**record.arrays, "aep": np.array(energy_gwh), **check.scenario_arrays(record)}
    kept = {name: value for name, value in record.attributes.items() if name not in {"aep", *VALUES}}
    attributes = {**kept, **values_of(check.campaign, check.cell, arrays), ORIGIN: RECOMPUTED}
    return Record(record.key, record.fingerprint, arrays, attributes)
