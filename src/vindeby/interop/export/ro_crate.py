"""RO-Crate 1.1 (https://w3id.org/ro/crate/1.1): results with where they come from, for repositories and archives.

A folder with the campaign, the results as tables, the database itself if all of it was asked for, and a description of
each in ``ro-crate-metadata.json`` (JSON-LD): which file came from which, and which versions of which software computed
them, as the results say. People, organisations and licences are not known here, and none are made up.
"""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vindeby.interop.export.chosen import Chosen
from vindeby.interop.export.columns import result_columns, turbine_columns, write_csv
from vindeby.interop.export.exporting import NAME, Options, write_mark
from vindeby.text import plural

METADATA = "ro-crate-metadata.json"
_SPECIFICATION = "https://w3id.org/ro/crate/1.1"
_Entity = dict[str, Any]


def write(path: Path, file_format: str, chosen: Chosen, _: Options) -> None:
    """Write the folder."""
    files = _write_files(path, chosen)
    write_mark(path, file_format, chosen)
    files.append(_file(path / NAME, "application/json", "What the export took, for vindeby"))
    made = [one for one in files if one["@id"] != "campaign.yaml"]
    software = _software(chosen)
    computing: _Entity = {
        "@id": "#computation",
        "@type": "CreateAction",
        "name": "Computation of the results",
        **({"instrument": _links(software)} if software else {}),
        "result": _links(made),
        "object": _links([one for one in files if one not in made]),
        "endTime": _time(chosen.database),
    }
    licence = {
        "@id": "#licence",
        "@type": "CreativeWork",
        "name": "No licence is stated",
        "description": "The file does not say under which terms the results may be used. Replace this entity before "
        "you publish the crate.",
    }
    name = chosen.database.stem if chosen.campaign is None else chosen.campaign.name
    root: _Entity = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"Wind-farm layouts: {name}",
        "description": (chosen.campaign and chosen.campaign.description)
        or f"{plural(len(chosen), 'result')} of the campaign {name}, computed and exported by vindeby",
        "datePublished": datetime.now(UTC).date().isoformat(),
        "license": _link(licence),
        "hasPart": _links(files),
        "mentions": _link(computing),
    }
    descriptor: _Entity = {
        "@id": METADATA,
        "@type": "CreativeWork",
        "conformsTo": {"@id": _SPECIFICATION},
        "about": _link(root),
    }
    graph = [descriptor, root, *files, computing, *software, licence]
    data = {"@context": f"{_SPECIFICATION}/context", "@graph": graph}
    (path / METADATA).write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _write_files(path: Path, chosen: Chosen) -> list[_Entity]:
    """Write the campaign and the results; what each file is."""
    files = []
    if chosen.campaign is not None:
        (path / "campaign.yaml").write_text(chosen.campaign.published_text(), encoding="utf-8")
        files.append(
            _file(
                path / "campaign.yaml",
                "application/yaml",
                "The campaign: everything that decides the results",
            )
        )
    write_csv(path / "results.csv", result_columns(chosen))
    files.append(
        _file(
            path / "results.csv",
            "text/csv",
            "One row per result: farm, turbine type, seed, energy, provenance",
        )
    )
    if turbines := turbine_columns(chosen)["x_m"].size:
        write_csv(path / "turbines.csv", turbine_columns(chosen))
        files.append(
            _file(
                path / "turbines.csv", "text/csv", f"One row per turbine ({turbines:,}): its place and type"
            )
        )
    if chosen.whole and chosen.database.is_file():
        copy = path / "database.h5"
        shutil.copyfile(chosen.database, copy)
        files.append(
            _file(copy, "application/x-hdf5", "The database with all results, which vindeby validates")
        )
    return files


def _file(path: Path, kind: str, about: str) -> _Entity:
    return {
        "@id": path.name,
        "@type": "File",
        "name": about.partition(":")[0],
        "description": about,
        "encodingFormat": kind,
        "contentSize": str(path.stat().st_size),
    }


def _software(chosen: Chosen) -> list[_Entity]:
    """The versions of vindeby that computed the results, and the engines, as far as the results name them."""
    columns = result_columns(chosen)
    versions = {str(one) for one in columns.get("version", ())} - {""}
    engines = {str(one) for one in columns.get("engine", ())} - {""}
    own = [
        {
            "@id": f"#vindeby-{version}",
            "@type": "SoftwareApplication",
            "name": "vindeby",
            "softwareVersion": version,
        }
        for version in sorted(versions)
    ]
    others = [
        {
            "@id": f"#engine-{number}",
            "@type": "SoftwareApplication",
            "name": engine,
            "softwareVersion": engine,
        }
        for number, engine in enumerate(sorted(engines))
    ]
    return [*own, *others]


def _link(entity: _Entity) -> dict[str, str]:
    return {"@id": entity["@id"]}


def _links(entities: list[_Entity]) -> Any:
    """Links to several entities; a single one is not a list."""
    links = [_link(one) for one in entities]
    return links[0] if len(links) == 1 else links


def _time(path: Path) -> str:
    """When a file was last written; when it is a run that still goes on, now."""
    seconds = path.stat().st_mtime if path.exists() else datetime.now(UTC).timestamp()
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
