"""A campaign of stored layouts, completed from their database, with the layouts it evaluates.

What the file says wrongly is refused with its place there.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vindeby.assembly.stored_layouts import NotStoredError, StoredLayouts
from vindeby.campaign import Campaign
from vindeby.campaign.reading.places import mappings, parts_of, set_whole
from vindeby.campaign.reading.problems import checked
from vindeby.campaign.reading.stored_rows import NOBODY, AskedOfStored, Placed, Row
from vindeby.campaign.reading.yaml_text import Document
from vindeby.campaign.reading.yaml_text import Path as DataPath
from vindeby.campaign.tasks import cell_key
from vindeby.errors import InputError
from vindeby.text import listed

_AT: DataPath = ("method", "stored")
_OF_LAYOUTS = ("seeds", "start", "scenarios", "n_turbines", "capacity_mw", "mix")
"""Fields that stored layouts decide."""
_OF_SEARCH = {"method", "start", "scenarios", "objective"}
"""Fields of the database's campaign that may differ between its layouts, as evaluations do not have them."""
_FIELDS = Campaign.model_fields


def stored_campaign(document: Document) -> Document:
    """Return the data of a campaign of stored layouts with everything that a run needs; nothing refers to its file.

    CampaignError or DataError says what is wrong, or missing in the database.
    """
    asked = checked(AskedOfStored, document)
    if asked.stored.database is None:
        document.refuse((*_AT, "database"), "is missing", "write the path of the database with the layouts")
    path = Path(asked.stored.database).absolute()
    try:
        stored = StoredLayouts(path)
    except InputError as error:
        document.refuse((*_AT, "database"), str(error), "name a database with layouts", str(path))
    try:
        return _WholeCampaign(document, asked, stored).document()
    finally:
        stored.close()


class _WholeCampaign:
    """A file beside its database: the layouts that it means, and the campaign that evaluates them."""

    def __init__(self, document: Document, asked: AskedOfStored, stored: StoredLayouts) -> None:
        self.given, self.asked, self.stored, self.refuse = document.data, asked, stored, document.refuse
        # Values below farms and types in the file are at other paths in the campaign.
        moved = {
            path for path in document.origins if path[:1] in (("farms",), ("turbines",)) and len(path) > 1
        }
        self.origins = {path: origin for path, origin in document.origins.items() if path not in moved}
        self.notes = document.notes
        self.source = stored.campaign.variants[0]
        self.farm_names = [farm.name for farm in self.source.farms]
        self.type_names = [turbine.name for turbine in self.source.turbines]
        for key in _OF_LAYOUTS:
            if key in self.given:
                remedy = "leave it out; method: {stored: {seeds: ...}} says which layouts are evaluated"
                self.refuse((key,), "is that of the stored layouts", remedy)
        self._refuse_what_differs()

    def document(self) -> Document:
        """Return the data of the whole campaign, and the origin of each value."""
        section = self.asked.stored
        farms = self._numbers("farms", section.farms, self.farm_names)
        types, seeds = self._types(farms), self._seeds()
        data = self._filled_in()
        data["turbines"] = self._by_name("turbines", data["turbines"])
        data["farms"] = self._by_name("farms", data["farms"])
        self._put_neighbours(data)
        layouts = {
            cell_key(farms.index(farm), types.index(cell.type_idx)): [
                str(self.stored.pinned(cell, seed)) for seed in seeds
            ]
            for farm in farms
            for cell in self.stored.cells[farm]
            if cell.mix or cell.type_idx in types
        }
        method = {
            **section.model_dump(mode="json", exclude_none=True),
            "database": str(self.stored.path),
            "digest": self.stored.digest,
            "campaign": self.stored.campaign.name,
            "turbines": data["turbines"],
            "layouts": layouts,
        }
        data["farms"] = [data["farms"][index] for index in farms]
        data["turbines"] = [data["turbines"][index] for index in types]
        data |= {"seeds": [0] if seeds == ["best"] else seeds, "method": {"stored": method}}
        return Document(data, self.origins, self.notes)

    def _refuse_what_differs(self) -> None:
        """Refuse a database whose layouts come from several winds, wakes or numbers, unless the file chooses one."""
        for axis, values in (self.stored.campaign.vary or {}).items():
            for path in parts_of(axis, next(iter(values.values())), _FIELDS):
                field = path.partition(".")[0]
                said = self.given.keys() | set_whole(self.given, _FIELDS).keys()
                if field not in said | _OF_SEARCH:
                    wrong = f"has layouts of {len(values)} values of the axis {axis!r}, which sets {path}"
                    remedy = f"write {field}: ... beside method, as it is for the evaluation"
                    self.refuse((*_AT, "database"), wrong, remedy)

    def _numbers(self, key: str, given: Sequence[str] | None, known: Sequence[str]) -> list[int]:
        for index, name in enumerate(given or ()):
            if name not in known:
                remedy = f"{self.stored.path.name} has: {', '.join(known)}"
                self.refuse((*_AT, key, index), "is not in the database", remedy, name)
            if name in (given or ())[:index]:
                self.refuse((*_AT, key, index), "is listed twice", "list it once", name)
        return list(range(len(known))) if given is None else sorted(known.index(name) for name in given)

    def _types(self, farms: Sequence[int]) -> list[int]:
        types = self._numbers("types", self.asked.stored.types, self.type_names)
        mixes = [self.stored.cells[farm][0].mix for farm in farms]
        needed = {kind for mix in mixes for kind, _ in mix}
        if all(mixes):
            return sorted(needed)
        if not needed <= {*types}:
            message = "lacks types of farms that mix several"
            self.refuse((*_AT, "types"), message, "evaluate farms with a mix in a campaign of their own")
        return types

    def _seeds(self) -> list[int | str]:
        given = self.asked.stored.seeds
        if isinstance(given, str):
            return ["best"] if given == "best" else list(self.stored.campaign.seeds)
        for index, seed in enumerate(given):
            if seed not in self.stored.campaign.seeds:
                remedy = f"its seeds are {listed(self.stored.campaign.seeds)}"
                self.refuse((*_AT, "seeds", index), "is not a seed of the database", remedy, seed)
        return list(given)

    def _filled_in(self) -> dict[str, Any]:
        """Return the data of the database's campaign without its search, with the file's own data in their place."""
        given, data = self.given, self.source.to_data()
        for name in ("name", "description", "run", "method", "scenarios", "start"):
            data.pop(name, None)
        compared = self.source.objective
        if compared is None or not compared.is_of_costs or compared.is_priced_by_state:
            data.pop("objective", None)  # stored layouts have their counts and types, other wind other states
        else:
            data["objective"].pop("over", None)
        data |= {key: value for key, value in given.items() if key not in ("farms", "turbines")}
        for wakes in data["wake"].values() if "wake" not in given else ():
            if isinstance(wakes, dict):
                wakes.pop("code", None)  # what evaluates is the code as it is now
        # The layouts lie as they did: other wind from true north is turned to their grid north, too.
        turn = self.source.site.grid_convergence_deg
        for site, _ in mappings(self.given, "site") if turn is not None else ():
            if site.get("local") is None:
                site.setdefault("grid_convergence_deg", turn)
        return data

    def _by_name(self, key: str, known: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the farms or types of the database, replaced by those that the file gives under the same names."""
        names = [one["name"] for one in known]
        for index, one in enumerate(self.given.get(key) or ()):
            name = one.get("name") if isinstance(one, dict) else None
            if name not in names:
                remedy = f"{self.stored.path.name} has: {', '.join(names)}"
                self.refuse((key, index), "is not in the database", remedy, name)
            known[names.index(name)] = one
        return known

    def _put_neighbours(self, data: dict[str, Any]) -> None:
        """Replace the rows of neighbours by the layouts that they mean."""
        if "neighbours" in set_whole(self.given, _FIELDS):
            # The neighbours of the search, when the layouts were found, are in every combination.
            around = data.pop("neighbours", []) if "neighbours" not in self.given else []
            for farm in data["farms"] if around else ():
                farm["neighbours"] = [*around, *farm.get("neighbours", [])]
        placed = self.asked.entries()
        made = {name: self._entries(entries) for name, entries in placed.items()}
        every = [data.get("neighbours"), *(farm.get("neighbours") for farm in data["farms"]), *made.values()]
        for group in (one for groups in every for one in groups or ()):
            if isinstance(group, dict) and "positions" in group:
                _describe_types(group, data["turbines"])
        if "" in made:
            data["neighbours"] = made.pop("")
        if made:
            data["vary"] = {
                **data["vary"],
                "neighbours": {name: entries or NOBODY for name, entries in made.items()},
            }
        for name in made:
            for index, (_, at) in enumerate(placed[name]):
                place = ("vary", "neighbours", name, index)
                self.origins.setdefault(place, Document({}, self.origins).origin(at))

    def _entries(self, entries: Sequence[Placed]) -> list[Any]:
        """Return the neighbours of a combination, each farm once."""
        farms = [row.farm if isinstance(row, Row) else None for row, _ in entries]
        for index, (_, at) in enumerate(entries):
            if farms[index] is not None and farms[index] in farms[:index]:
                self.refuse((*at, "farm"), "is listed twice", "list each farm once", farms[index])
        return [self._entry(row, at) for row, at in entries]

    def _entry(self, row: Any, at: DataPath) -> Any:
        """Return the layout that a row names; groups of turbines are returned unchanged."""
        if not isinstance(row, Row):
            return row
        try:
            pinned = self.stored.named(row.farm, row.type, row.seed)
        except NotStoredError as error:
            self.refuse((*at, error.key), str(error), "name what it has", getattr(row, error.key))
        found = {"stored": str(pinned), "farm": row.farm}
        return found if row.since is None else {**found, "from": row.since}


def _describe_types(group: dict[str, Any], turbines: list[dict[str, Any]]) -> None:
    """Let a group of neighbours describe its types itself: not all of the campaign's are kept."""
    own = list(group.get("turbines", ()))
    known = [turbine["name"] for turbine in own]
    wanted = group.get("type", ())
    wanted = (wanted,) if isinstance(wanted, str) else wanted
    own += [one for one in turbines if one["name"] in wanted and one["name"] not in known]
    group["turbines"] = own
